# SPDX-License-Identifier: Apache-2.0
"""``takt lab``: what is booted, how its end is judged, and what is made of its numbers."""

from __future__ import annotations

import json
import shutil
import stat
import subprocess
from pathlib import Path

import pytest

from takt.errors import Failure
from takt.lab import application, cells, cyclictest, guest, initramfs, jobs, kernels, trial, verdict
from takt.lab.compare import PROGRAMS, measured_programs
from takt.lab.guest import Boot, Share
from takt.lab.kernels import Kernel
from takt.lab.model import KernelResult
from takt.lab.modes import WAYS, Mode
from takt.measure.results.model import Status
from takt.processes import transport

RT = Kernel("rt", "6.12.1-rt-amd64", Path("/k/vmlinuz"), Path("/k/modules"), real_time=True)
FULL = Kernel("stock-full", "6.12.1-amd64", Path("/k/v"), Path("/k/m"), ("preempt=full",))
WHOLE = f"[ 0.0] Linux\n{guest.UP}\n{guest.STEP}cyclictest-idle\r\n{guest.DONE}\r\n"


def module(name: str, *needs: str) -> bytes:
    return b"\x7fELF\0name=" + name.encode() + b"\0depends=" + ",".join(needs).encode() + b"\0"


@pytest.fixture
def modules(tmp_path: Path) -> Path:
    folder = tmp_path / "modules"
    folder.mkdir()
    for name, needs in {
        "9p": ["9pnet", "netfs"],
        "netfs": [],
        "9pnet": [],
        "9pnet_virtio": ["9pnet", "virtio", "virtio_ring"],
        "virtio": [],
        "virtio_ring": ["virtio"],
        "virtio_pci": ["virtio", "virtio_ring"],
    }.items():
        (folder / f"{name}.ko").write_bytes(module(name, *needs))
    return folder


def boot(tmp_path: Path, mode: Mode = Mode.icount, kernel: Kernel = RT) -> Boot:
    out = Share("out", Path("/here/out,1"), writable=True)
    shares = [out, Share("host0", Path("/usr"))]
    return Boot(kernel, mode, tmp_path / "initramfs", tmp_path / "console.log", shares)


# the kernels


def test_the_newest_version_that_is_there_as_stock_and_as_rt_is_taken() -> None:
    names = [
        "linux-image-6.1.0-56-amd64",
        "linux-image-6.1.0-56-rt-amd64",
        "linux-image-6.12.9+deb12-amd64",
        "linux-image-6.12.9+deb12-rt-amd64",
        "linux-image-6.12.117+deb12-amd64",
        "linux-image-6.12.117+deb12-rt-amd64",
        "linux-image-6.15.1+deb12-amd64",  # without its RT twin
        "linux-image-6.12.118+deb12-cloud-amd64",
        "linux-image-6.12.118+deb12-amd64-unsigned",
        "linux-image-6.12.118+deb12-rt-amd64-dbg",
    ]
    assert kernels.pair(names) == (
        "linux-image-6.12.117+deb12-amd64",
        "linux-image-6.12.117+deb12-rt-amd64",
    )
    assert kernels.pair(["linux-image-generic", "linux-image-6.1.0-56-amd64"]) is None


def fake_apt(folder: Path, monkeypatch: pytest.MonkeyPatch, known: str, get: str) -> None:
    for name, text in {
        "apt-cache": f"echo '{known}'",
        "apt-get": get,
        "dpkg-deb": "exit 1",
    }.items():
        file = folder / name
        file.write_text(f"#!/bin/sh\n{text}\n")
        file.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")


def test_apt_without_such_a_kernel_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_apt(tmp_path, monkeypatch, "linux-image-generic - x", "exit 1")
    with pytest.raises(Failure, match="no version of Debian's kernel") as told:
        kernels.find(tmp_path / "cache")
    assert told.value.remedy
    assert "apt-get update" in told.value.remedy


def test_a_download_that_fails_is_told_in_apts_words_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = "linux-image-6.1.0-5-amd64 - x\nlinux-image-6.1.0-5-rt-amd64 - y"
    fake_apt(tmp_path, monkeypatch, known, "echo 'E: no network here' >&2; exit 100")
    with pytest.raises(Failure, match="no network here"):
        kernels.find(tmp_path / "cache")
    assert list((tmp_path / "cache").iterdir()) == []


def test_what_is_in_the_cache_is_not_fetched_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_apt(tmp_path, monkeypatch, "", "exit 1")
    for name in ("linux-image-6.1.0-5-amd64", "linux-image-6.1.0-5-rt-amd64"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "vmlinuz").write_bytes(b"x")
    stock, full, rt = kernels.find(tmp_path)
    assert (stock.release, rt.release) == ("6.1.0-5-amd64", "6.1.0-5-rt-amd64")
    assert full.options == ("preempt=full",)
    assert (stock.real_time, rt.real_time) == (False, True)


# the initramfs


def test_a_module_comes_after_what_it_needs(modules: Path) -> None:
    order = [name for name, _ in initramfs.in_order(modules, initramfs.WANTED)]
    assert set(order) == {file.stem for file in modules.iterdir()}
    for first, then in (("virtio", "virtio_ring"), ("9pnet", "9p"), ("virtio_ring", "virtio_pci")):
        assert order.index(first) < order.index(then)


def test_a_module_that_is_not_there_is_told_unless_it_is_built_in(modules: Path) -> None:
    (modules / "virtio_pci.ko").unlink()  # wanted, needed by none: built in
    assert "virtio_pci" not in dict(initramfs.in_order(modules, initramfs.WANTED))
    (modules / "9pnet.ko").unlink()
    with pytest.raises(Failure, match="needs the module 9pnet"):
        initramfs.in_order(modules, initramfs.WANTED)


@pytest.mark.skipif(not shutil.which("busybox"), reason="busybox is not installed")
def test_the_archive_has_the_same_bytes_twice_and_is_what_cpio_reads(modules: Path) -> None:
    def build() -> bytes:
        return initramfs.build(
            modules, "#!/lab/busybox sh\n", [Path("/bin/sh")], {"lab/a.xml": "a"}
        )

    archive = build()
    assert archive == build()
    for how in (["cpio", "-it", "--quiet"], ["busybox", "cpio", "-t"]):
        if shutil.which(how[0]):
            done = subprocess.run(how, input=archive, capture_output=True, timeout=60)
            names = done.stdout.decode().split()
            assert done.returncode == 0
            assert {"init", "lib", "lab/busybox", "lab/a.xml", "usr/bin/sh"} <= set(names)


def test_an_archive_has_folders_before_files_and_links_as_links() -> None:
    archive = initramfs.Archive()
    archive.file("a/b/c", b"text", executable=True)
    archive.link("l", "a/b")
    assert stat.S_ISDIR(archive.files["a"][0])
    assert stat.S_ISLNK(archive.files["l"][0])
    packed = archive.packed()
    assert packed.index(b"a/b\0") < packed.index(b"a/b/c\0") < packed.index(b"TRAILER!!!\0")
    assert len(packed) % 4 == 0


# the guest


def test_the_guest_sees_the_named_folders_only_and_may_write_to_one(tmp_path: Path) -> None:
    words = guest.command(boot(tmp_path))
    shares = [words[at + 1] for at, word in enumerate(words) if word == "-virtfs"]
    assert [("readonly=on" in one, "path=/usr," in one) for one in shares] == [
        (False, False),
        (True, True),
    ]
    assert "path=/here/out,,1," in shares[0]
    assert "-nodefaults" in words  # no network


def test_instruction_time_has_one_cpu_and_its_seed_and_full_its_option(tmp_path: Path) -> None:
    words = guest.command(boot(tmp_path, kernel=FULL))
    assert words[words.index("-smp") + 1] == "1"
    assert words[words.index("-icount") + 1] == "shift=1,sleep=off"
    assert words[words.index("-seed") + 1] == "1"
    assert "preempt=full" in words[words.index("-append") + 1].split()
    assert "-icount" not in guest.command(boot(tmp_path, Mode.functional))


def test_a_guest_that_says_that_it_is_done_is(tmp_path: Path) -> None:
    guest.judge(boot(tmp_path), WHOLE, 0, "", 10)


@pytest.mark.parametrize(
    ("console", "code", "said", "what"),
    [
        (WHOLE.replace(guest.DONE, ""), 0, "", "ended early"),
        (WHOLE.replace(guest.DONE, "almost " + guest.DONE), None, "", "did not end in 10 s"),
        ("x\n[ 1.0] Kernel panic - not syncing: no init\n", 0, "", "panicked"),
        ("", None, "KVM internal error. Suberror: 1", "panicked"),
        ("", 1, "qemu: no such device", "QEMU did not start: qemu: no such device"),
    ],
)
def test_a_guest_that_is_not_done_is_told_with_its_last_words(
    tmp_path: Path, console: str, code: int | None, said: str, what: str
) -> None:
    with pytest.raises(Failure, match=what) as told:
        guest.judge(boot(tmp_path), console, code, said, 10)
    assert told.value.where
    if console:
        assert console.splitlines()[-1].strip() in told.value.what


def test_a_guest_that_hangs_is_ended_with_what_it_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = tmp_path / guest.QEMU
    fake.write_text(
        "#!/bin/sh\nfor word; do case $word in file:*) echo $$ >${word#file:};; esac; done\n"
        "sleep 600\n"
    )
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    (tmp_path / "initramfs").write_bytes(b"x")
    image = tmp_path / "vmlinuz"
    image.write_bytes(b"x")
    hung = boot(tmp_path, kernel=Kernel("rt", "1", image, tmp_path))
    with pytest.raises(Failure, match="did not end in 2 s"):
        guest.run(hung, 2)
    if said := guest.console_text(hung.console):
        assert not Path(f"/proc/{said.strip()}").exists()


def test_kvm_that_is_not_there_is_told_before_anything_boots(tmp_path: Path) -> None:
    with pytest.raises(Failure, match="no KVM") as told:
        trial.trial(RT, tmp_path / "kvm")
    assert told.value.remedy


# the jobs


def test_the_loaded_jobs_are_between_the_start_and_the_end_of_the_load() -> None:
    todo = [jobs.cyclictest(load, 5) for load in (jobs.LOADED, jobs.IDLE)]
    script = jobs.init(todo, [Share("out", Path("/out"), writable=True)], Path("/out"))
    order = [
        "step cyclictest-idle",
        "\nload_on",
        "step cyclictest-loaded",
        "\nload_off",
        "mount -t 9p",
    ]
    places = [script.rindex(one) for one in order]
    assert places == sorted(places)
    assert subprocess.run(["sh", "-n"], input=script.encode(), timeout=60).returncode == 0


def test_what_needs_the_host_runs_after_its_folders_are_there() -> None:
    ros = jobs.Job("ping", jobs.IDLE, (("pong", "a b"), ("ping",)), 9, from_host=True)
    shares = [Share("host0", Path("/usr"))]
    script = jobs.init([ros, jobs.cyclictest(jobs.IDLE, 5)], shares, Path("/out"))
    assert script.index("step cyclictest") < script.index("mount -t 9p") < script.index("step ping")
    assert "ro,cache=loose host0 /usr" in script
    assert "timeout 9 pong 'a b' >>$log 2>&1 & b=$!" in script


def test_a_folder_inside_another_one_is_not_shared_twice(tmp_path: Path) -> None:
    (tmp_path / "install" / "lib").mkdir(parents=True)
    environment = {
        "TAKT_PREFIX": str(tmp_path / "install"),
        "LD_LIBRARY_PATH": f"{tmp_path / 'install' / 'lib'}:/usr/lib:/nowhere",
    }
    assert {one.folder for one in cells.shares(environment)} == {
        Path("/usr"),
        (tmp_path / "install").resolve(),
    }
    assert not any(one.writable for one in cells.shares(environment))


# the numbers


def thread(maximum: int, histogram: dict[str, int], cycles: int | None = None) -> dict[str, object]:
    return {
        "histogram": histogram,
        "cycles": sum(histogram.values()) if cycles is None else cycles,
        "min": min(map(int, histogram), default=0),
        "max": maximum,
        "avg": 5.0,
    }


def test_the_threads_of_cyclictest_are_summed_up_together() -> None:
    document = {"thread": {"0": thread(7, {"5": 98, "7": 1}), "1": thread(9, {"5": 99, "9": 2})}}
    found = cyclictest.summed(document, "idle")
    assert (found.count, found.min_us, found.p50_us, found.p99_us, found.max_us) == (
        200,
        5,
        5,
        7,
        9,
    )


def test_a_percentile_beyond_the_histogram_is_the_maximum() -> None:
    document = {"thread": {"0": thread(30_000, {"5": 90}, cycles=100)}}
    assert cyclictest.summed(document, "idle").p99_us == 30_000


@pytest.mark.parametrize(
    "content", ["", "{}", '{"thread": {}}', '{"thread": {"0": {"cycles": 1}}}']
)
def test_a_result_that_is_none_is_told(tmp_path: Path, content: str) -> None:
    file = tmp_path / "cyclictest-idle.json"
    with pytest.raises(Failure, match="left no result"):
        cyclictest.read(file, "idle")
    file.write_text(content)
    with pytest.raises(Failure, match="cannot be read"):
        cyclictest.read(file, "idle")


def result(kernel: str, loaded: float) -> KernelResult:
    return KernelResult(
        kernel=kernel,
        release="6",
        mode=Mode.icount,
        preemption="",
        idle_max_us=1,
        loaded_max_us=loaded,
        latencies=[],
        results="",
    )


@pytest.mark.parametrize(("stock", "holds"), [(149.9, False), (150.0, True), (4000.0, True)])
def test_the_stock_kernels_maximum_is_to_be_ten_times_that_of_rt(stock: float, holds: bool) -> None:
    both = [result("stock", stock), result("stock-full", 1.0), result("rt", 15.0)]
    judged = verdict.judge(both, Mode.icount)
    assert judged.holds is holds
    assert WAYS[Mode.icount].numbers in judged.headline


def test_an_emulators_times_are_no_verdict_and_one_kernel_is_none() -> None:
    both = [result("stock", 150.0), result("rt", 15.0)]
    assert verdict.judge(both, Mode.functional).holds is None
    assert verdict.judge(both[:1], Mode.icount).holds is None
    assert verdict.ratio(both[1:]) is None


def test_a_probe_that_left_nothing_is_a_failed_cell_with_its_words(tmp_path: Path) -> None:
    made, plan, found = cells.experiment(1, ros=False)
    assert made.name == "lab"
    planned, texts = cells.planned(plan.cells, found, tmp_path)
    assert {one.job.load for one in planned} == {jobs.IDLE, jobs.LOADED}
    assert all(name.startswith("lab/") for name in texts)
    (tmp_path / f"{planned[0].job.name}.log").write_text("no such memory\n")
    (tmp_path / f"{planned[0].job.name}.code").write_text("1\n")
    cell = cells.measured(planned[0], tmp_path, tmp_path, "instruction time", found)
    assert cell.status is Status.failed
    assert cell.error
    assert "no such memory" in cell.error.why


# what it executes


def test_the_application_is_described_for_one_core_and_its_files_are_in_the_guest() -> None:
    texts = application.texts()
    described = json.loads(texts["lab/application.json"])
    assert set(described.get("cpus", [0])) == {0}
    assert {one["name"] for one in described["callbacks"]} == {
        "control.step",
        "sensor.read",
        "parser.parse",
    }
    job = application.job(jobs.LOADED, 3)
    assert job.from_host
    assert "/lab/application.json" in job.commands[0]
    profile = Path(dict(job.environment)[transport.PROFILE])
    assert str(profile).lstrip("/") in texts


def test_an_execution_that_left_no_trace_is_told_in_its_own_words(tmp_path: Path) -> None:
    (tmp_path / "application-idle.log").write_text("app_runner: no memory\n")
    with pytest.raises(Failure, match="app_runner: no memory"):
        list(application.measured(tmp_path, jobs.IDLE))


@pytest.mark.thorough
def test_a_real_kernel_boots_and_measures(tmp_path: Path) -> None:
    lacking = [one for one in (guest.QEMU, "busybox", *PROGRAMS) if not shutil.which(one)]
    if lacking:
        pytest.skip(f"not installed: {', '.join(lacking)}")
    try:
        rt = kernels.find()[-1]
    except Failure as failure:
        pytest.skip(f"no kernel: {failure.what}")
    out = tmp_path / "out"
    out.mkdir()
    init = jobs.init([jobs.cyclictest(jobs.IDLE, 1)], [Share("out", out, writable=True)], out)
    image = tmp_path / "initramfs"
    image.write_bytes(initramfs.build(rt.modules, init, measured_programs(), {}))
    shares = [Share("out", out, writable=True)]
    steps: list[str] = []
    made = Boot(rt, Mode.icount, image, tmp_path / "console.log", shares)
    guest.run(made, 900, step=steps.append)
    assert steps == ["cyclictest-idle"]
    assert cyclictest.read(out / "cyclictest-idle.json", jobs.IDLE).count > 1000
    assert (out / "machine/sys/kernel/realtime").read_text().strip() == "1"
