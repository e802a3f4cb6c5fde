# SPDX-License-Identifier: Apache-2.0
"""``takt lab``: what is booted, how its end is judged, and what is made of its numbers."""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
from pathlib import Path

import pytest

from takt.errors import Failure
from takt.lab import (
    cyclictest,
    guest,
    initramfs,
    jobs,
    kernels,
    trial,
)
from takt.lab.compare import PROGRAMS, measured_programs
from takt.lab.guest import Boot, Share
from takt.lab.image import target
from takt.lab.kernels import Kernel
from takt.lab.modes import Mode

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


def test_a_missing_kernel_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_apt(tmp_path, monkeypatch, "linux-image-generic - x", "exit 1")
    with pytest.raises(Failure, match="no version of Debian's kernel") as caught:
        kernels.find(tmp_path / "cache")
    assert caught.value.fix
    assert "apt-get update" in caught.value.fix


def test_a_download_that_fails_is_reported_in_apts_words_and_leaves_nothing(
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


def test_what_a_guest_needs_of_a_package_is_kept() -> None:
    folder = "./lib/modules/6.12.9+deb12-rt-amd64/kernel/"
    needed = {"net/9p/9pnet.ko.xz", "net/sched/sch_etf.ko.xz", "drivers/net/veth.ko.xz"}
    other = {"net/sched/act_gact.ko.xz", "sound/core/snd.ko.xz"}
    kept = {one for one in needed | other if kernels._kept(folder + one)}
    assert kept == needed


def test_a_cache_without_a_pcs_modules_is_fetched_anew_for_a_pc(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_apt(tmp_path, monkeypatch, "", "echo 'E: no network here' >&2; exit 100")
    for name in ("linux-image-6.1.0-5-amd64", "linux-image-6.1.0-5-rt-amd64"):
        (tmp_path / name / "modules").mkdir(parents=True)
        (tmp_path / name / "vmlinuz").write_bytes(b"x")
    assert len(kernels.find(tmp_path)) == 3
    with pytest.raises(Failure, match="no network here"):
        kernels.real_time(kernels.OF_A_PC, tmp_path)
    assert (tmp_path / "linux-image-6.1.0-5-rt-amd64" / "vmlinuz").is_file()  # as it was
    (tmp_path / "linux-image-6.1.0-5-rt-amd64" / "modules" / "usb-storage.ko.xz").write_bytes(b"x")
    found = kernels.real_time(kernels.OF_A_PC, tmp_path)
    assert (found.release, found.real_time) == ("6.1.0-5-rt-amd64", True)


# the initramfs


def test_a_module_comes_after_what_it_needs(modules: Path) -> None:
    order = [name for name, _ in initramfs.in_order(modules, initramfs.WANTED)]
    assert set(order) == {file.stem for file in modules.iterdir()}
    for first, then in (("virtio", "virtio_ring"), ("9pnet", "9p"), ("virtio_ring", "virtio_pci")):
        assert order.index(first) < order.index(then)


def test_a_module_that_is_not_there_is_reported_unless_it_is_built_in(modules: Path) -> None:
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
            done = subprocess.run(how, input=archive, capture_output=True, timeout=150)
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


def test_what_the_guest_would_hide_behind_folders_of_its_own_is_refused(tmp_path: Path) -> None:
    program = Path("/dev/shm") / f"takt-test-{os.getpid()}"
    shutil.copy("/bin/sh", program)
    try:
        with pytest.raises(Failure, match="hidden in the guest") as caught:
            initramfs.Archive().program(program)
    finally:
        program.unlink()
    assert caught.value.fix


@pytest.mark.skipif(os.geteuid() != 0, reason="mounts: needs root")
@pytest.mark.parametrize("init", [jobs.init([], [], Path("/out")), target.INIT])
@pytest.mark.parametrize("place", ["tmp/clone/probe", "run/clone/probe", "root/clone/probe"])
def test_a_probe_is_there_after_the_guests_mounts_wherever_the_clone_lies(
    tmp_path: Path, init: str, place: str
) -> None:
    """The mounts of its first program, done below a folder in a namespace of their own."""
    archive = initramfs.Archive()
    for name in ("dev/shm", "tmp", "run", "root"):
        archive.folder(name)
    archive.file(place, b"#!/bin/sh\n", executable=True)
    for name, (mode, content) in sorted(archive.files.items()):
        file = tmp_path / name
        file.mkdir() if stat.S_ISDIR(mode) else file.write_bytes(content)
    mounts = init[init.index("for place in /dev/shm") :]
    script = mounts[: mounts.index("done") + 4]
    script = re.sub(r" /(dev/shm|tmp|run)\b", rf" {tmp_path}/\1", script)
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-ec", f"{script}\ntest -f {tmp_path / place}\nmount"],
        capture_output=True,
        text=True,
        timeout=150,
    )
    if "unshare" in done.stderr:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, done.stderr
    assert f" {tmp_path}/dev/shm " in done.stdout  # where nothing lies, memory of its own


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


@pytest.mark.parametrize("mode", [Mode.icount, Mode.functional])
def test_an_emulated_kernel_never_runs_what_it_has_just_replaced(
    tmp_path: Path, mode: Mode
) -> None:
    words = guest.command(boot(tmp_path, mode))
    assert "thread=single" in words[words.index("-accel") + 1].split(",")


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
def test_a_guest_that_is_not_done_is_reported_with_its_last_words(
    tmp_path: Path, console: str, code: int | None, said: str, what: str
) -> None:
    with pytest.raises(Failure, match=what) as caught:
        guest.judge(boot(tmp_path), console, code, said, 10)
    assert caught.value.where
    if console:
        assert console.splitlines()[-1].strip() in caught.value.what


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


def test_kvm_that_is_not_there_is_reported_before_anything_boots(tmp_path: Path) -> None:
    with pytest.raises(Failure, match="no KVM") as caught:
        trial.trial(RT, tmp_path / "kvm")
    assert caught.value.exit_code == 2
    assert caught.value.fix


@pytest.mark.thorough
@pytest.mark.timeout(1200)
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
    started = Boot(rt, Mode.icount, image, tmp_path / "console.log", shares)
    guest.run(started, 900, step=steps.append)
    assert steps == ["cyclictest-idle"]
    assert cyclictest.read(out / "cyclictest-idle.json", jobs.IDLE, Mode.icount).count > 1000
    assert (out / "machine/sys/kernel/realtime").read_text().strip() == "1"
