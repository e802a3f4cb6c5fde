# SPDX-License-Identifier: Apache-2.0
"""``takt clean``: what a killed Takt left goes, what lives or can be resumed stays."""

from __future__ import annotations

import fcntl
import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from shared_memory import note
from test_process import gone, until

from takt.documents import own
from takt.errors import Failure
from takt.measure.run.samples import header
from takt.network import addresses, domain
from takt.network.sweeper import SWEEPER
from takt.processes import dead, leftovers, process, remains, scratch
from takt.processes.recording import SUFFIX
from takt.schedule.execution import execute

# Starts a program that outlives it.
LEAVING = """
import os, subprocess
from takt.processes.recording import SUFFIX
from takt.processes import guard
os.environ[guard.MARK] = guard.identity(os.getpid())
left = subprocess.Popen(["sleep", "600"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
print(left.pid, flush=True)
"""


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """In place of /tmp; the processes of other tests are left alone."""
    monkeypatch.setattr(remains, "orphans", lambda: iter(()))
    folder = tmp_path / "tmp"
    folder.mkdir()
    return folder


def killed(memory: Path, run: Path, *, resumable: bool, samples: int = 0) -> Path:
    """The scratch folder of a run that was killed."""
    run.mkdir(exist_ok=True)
    held = scratch.open_for(run, memory, resumable=resumable)
    if samples:
        (held.folder / f"cell{SUFFIX}").write_bytes(header(samples) + bytes(32 * samples))
    held.release(keep=True)  # what the kernel does with the locks of a killed process
    return held.folder


def test_an_orphan_is_found_by_its_mark_and_ended() -> None:
    done = subprocess.run([sys.executable, "-c", LEAVING], capture_output=True, text=True)
    pid = int(done.stdout)
    assert pid in set(remains.orphans())
    remains.end({pid: "sleep"})
    assert until(lambda: gone(pid))


def test_what_a_living_takt_has_started_is_no_orphan() -> None:
    started = process.Process(["sleep", "600"])
    try:
        assert until(lambda: b"sleep" in Path(f"/proc/{started.pid}/cmdline").read_bytes()[:20])
        assert started.pid not in set(remains.orphans())
    finally:
        started.end(0)


def test_a_killed_execution_leaves_nothing_and_advises_nothing(
    memory: Path, tmp_path: Path, temporary: Path
) -> None:
    left = killed(memory, tmp_path / "out", resumable=False)
    found = remains.clean(SWEEPER, dry_run=True, memory=memory, temporary=temporary)
    assert found.lines == [f"scratch folder: {left}"]
    assert found.kept == []
    assert left.exists()
    assert leftovers.sweep_dead_runs(SWEEPER, memory) == []  # the next run does the same
    assert not left.exists()
    assert list((tmp_path / "out").iterdir()) == []


def test_a_recording_that_can_be_resumed_stays_on_the_disk(
    memory: Path, tmp_path: Path, temporary: Path
) -> None:
    run = tmp_path / "run"
    left = killed(memory, run, resumable=True, samples=3)
    recorded = (left / f"cell{SUFFIX}").read_bytes()
    for dry_run in (True, False):
        assert (left / f"cell{SUFFIX}").read_bytes() == recorded
        found = remains.clean(SWEEPER, dry_run=dry_run, memory=memory, temporary=temporary)
        assert found.lines == [f"scratch folder: {left}"]
        assert found.kept == [f"recordings of a killed run; continue with: takt run --resume {run}"]
    assert list(memory.iterdir()) == []
    (kept,) = scratch.recordings(run / scratch.ON_DISK)
    assert (kept.name, kept.read_bytes()) == (f"cell{SUFFIX}", recorded)
    assert not (run / scratch.LOCK).exists()


def test_what_no_resume_would_take_over_stays_where_it_is(
    memory: Path, tmp_path: Path, temporary: Path
) -> None:
    left = killed(memory, tmp_path / "run", resumable=True, samples=3)
    (tmp_path / "run" / scratch.LOCK).write_text(f"takt-{os.getuid()}-ffffffff\n")
    found = remains.clean(SWEEPER, dry_run=False, memory=memory, temporary=temporary)
    assert found.lines == []
    assert found.kept == [
        f"recordings of a killed run whose results folder no longer exists: {left}"
    ]
    assert scratch.recordings(left)


def test_a_recording_for_which_the_disk_has_no_room_stays_in_memory(
    memory: Path, tmp_path: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = killed(memory, tmp_path / "run", resumable=True, samples=3)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(dead.shutil, "copyfile", full)
    found = remains.clean(SWEEPER, dry_run=False, memory=memory, temporary=temporary)
    assert found.lines == []
    assert scratch.recordings(left)
    assert scratch.recordings(tmp_path / "run" / scratch.ON_DISK) == []


def test_shared_memory_of_a_killed_run_goes_and_of_others_stays(
    memory: Path, tmp_path: Path, temporary: Path
) -> None:
    left = killed(memory, tmp_path / "run", resumable=False)
    for name in ("fastdds_0123", "cyclictest77", "fastdds_4567"):
        (memory / name).write_bytes(bytes(4096))
    note(left, "fastdds_0123", "cyclictest77", memory=memory)
    remains.clean(SWEEPER, dry_run=False, memory=memory, temporary=temporary)
    assert [one.name for one in memory.iterdir()] == ["fastdds_4567"]


def test_a_live_run_is_unchanged(memory: Path, tmp_path: Path, temporary: Path) -> None:
    alive = scratch.open_for(tmp_path, memory)
    with scratch.temporary(memory) as folder, domain.own_domain(temporary):
        found = remains.clean(SWEEPER, dry_run=False, memory=memory, temporary=temporary)
        assert (found.lines, found.kept) == ([], [])
        assert folder.exists()
        assert len(list(temporary.iterdir())) == 1
    assert not folder.exists()
    assert alive.folder.exists()
    alive.release(keep=False)
    found = remains.clean(SWEEPER, dry_run=False, memory=memory, temporary=temporary)
    assert found.lines == []
    assert list(temporary.iterdir()) == []


def test_the_lock_of_a_domain_that_nobody_holds_goes(memory: Path, temporary: Path) -> None:
    left = temporary / f"takt-domain-{domain.FIRST}.lock"
    left.touch()
    for dry_run in (True, False):
        assert left.exists()
        found = remains.clean(SWEEPER, dry_run=dry_run, memory=memory, temporary=temporary)
        assert found.lines == [f"locks of ROS domains: {left}"]
    assert not left.exists()


def test_the_lock_of_the_addresses_that_nobody_holds_goes(memory: Path, temporary: Path) -> None:
    left = temporary / addresses.LOCK.format(os.geteuid())
    left.touch(0o600)
    other = temporary / addresses.LOCK.format(os.geteuid() + 1)
    other.touch(0o600)
    with own.opened(temporary) as place:
        lock = place.lock(left.name, how=fcntl.LOCK_SH)
        assert lock is not None
        assert remains.clean(SWEEPER, dry_run=False, memory=memory, temporary=temporary).lines == []
        lock.close()
    found = remains.clean(SWEEPER, dry_run=False, memory=memory, temporary=temporary)
    assert found.lines == [f"lock of the host's addresses: {left}"]
    assert not left.exists()
    assert other.exists()


def test_a_folder_whose_maker_was_killed_goes_when_it_is_old(memory: Path, temporary: Path) -> None:
    half = memory / f"takt-{os.getuid()}-00000000"
    half.mkdir(0o700)
    assert remains.clean(SWEEPER, dry_run=False, memory=memory, temporary=temporary).lines == []
    os.utime(half, (0, 0))
    remains.clean(SWEEPER, dry_run=False, memory=memory, temporary=temporary)
    assert not half.exists()


def test_the_folder_of_a_killed_bench_goes_and_of_a_living_one_stays(
    memory: Path, temporary: Path
) -> None:
    names = (
        "takt_bench_aB3xY9",
        "takt_bench_living",
        "takt_bench_fresh1",
        "takt_bench_x",
        "takt_b",
    )
    for name in names:
        (memory / name).mkdir(0o700)
        (memory / name / "record.taktsamples").touch()
        if name != "takt_bench_fresh1":
            os.utime(memory / name, (0, 0))
    (memory / "takt_bench_linked").symlink_to(temporary)
    with own.opened(memory / "takt_bench_living") as living:
        fcntl.flock(living.descriptor, fcntl.LOCK_EX)
        for dry_run in (True, False):
            assert (memory / names[0]).exists()
            found = remains.clean(SWEEPER, dry_run=dry_run, memory=memory, temporary=temporary)
            assert found.lines == [f"scratch folder of a bench: {memory / names[0]}"]
    assert {one.name for one in memory.iterdir()} == {*names[1:], "takt_bench_linked"}
    assert temporary.is_dir()


def test_what_fast_dds_has_open_for_a_moment_is_noted_with_its_port(
    memory: Path, tmp_path: Path, temporary: Path
) -> None:
    of_a_port = ["fastdds_port7660", "fastdds_port7660_el", "fastdds_port7660_sl"]
    names = [*of_a_port, "sem.fastdds_port7660_mutex", "fastdds_0123456789abcdef"]
    names += ["fastdds_0123456789abcdef_el"]
    others = ["fastdds_port7661", "sem.fastdds_port7661_mutex", "fastdds_aaaaaaaaaaaaaaaa_el"]
    for name in (*names, *others):
        (memory / name).write_bytes(bytes(32))
    left = killed(memory, tmp_path / "run", resumable=False)
    journal = leftovers.Journal(left, memory)
    with (memory / names[0]).open("rb"), (memory / names[4]).open("rb"):
        assert journal.note([os.getpid()])
        assert not journal.note([os.getpid()])
        assert leftovers.in_use(left, memory)
        leftovers.sweep_dead_runs(SWEEPER, memory)
        assert left.exists()  # its journal is wanted when they are free
    found = remains.clean(SWEEPER, dry_run=False, memory=memory, temporary=temporary)
    assert sorted(found.shared_memory) == sorted(
        f"shared memory: {memory / name}" for name in names
    )
    assert sorted(one.name for one in memory.iterdir()) == sorted(others)


def test_a_pipe_in_place_of_a_lock_hangs_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(domain, "LAST", domain.FIRST + 1)
    monkeypatch.setattr(domain, "used_domains", set)
    pipe = tmp_path / f"takt-domain-{domain.FIRST}.lock"
    os.mkfifo(pipe)
    with domain.own_domain(tmp_path) as number:
        assert number == domain.FIRST + 1
    (tmp_path / f"takt-domain-{domain.FIRST + 1}.lock").mkdir()
    with pytest.raises(Failure, match="in use"), domain.own_domain(tmp_path):
        pass
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_an_execution_says_that_it_cannot_be_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[dict[str, object]] = []

    def run(self: object, *_: object) -> None:
        folder = self._folder  # type: ignore[attr-defined]
        calls.append(json.loads((folder / scratch.OWNER).read_text()))
        raise Failure("enough")

    monkeypatch.setattr(sys.modules["takt.schedule.execution.execute"]._Executing, "run", run)
    monkeypatch.setattr("takt.network.stacks.program", lambda _: Path("/bin/true"))
    application = {
        "name": "x",
        "cpus": [],
        "callbacks": [{"name": "a.b", "execution": {"worst": 1}}],
    }
    with pytest.raises(Failure, match="enough"):
        execute(application, "takt", trace=tmp_path / "t.takttrace")
    assert calls[0]["resumable"] is False


@pytest.mark.parametrize("dry_run", [True, False])
def test_shared_memory_that_no_journal_names_is_reported_and_stays(
    memory: Path, tmp_path: Path, temporary: Path, dry_run: bool
) -> None:
    left = killed(memory, tmp_path / "run", resumable=False)
    for name in ("fastdds_0123456789abcdef", "sem.fastdds_port7411_mutex", "robot"):
        (memory / name).write_bytes(bytes(4096))
    note(left, "fastdds_0123456789abcdef", memory=memory)
    found = remains.clean(SWEEPER, dry_run=dry_run, memory=memory, temporary=temporary)
    (reported,) = (line for line in found.kept if "without any process" in line)
    assert "sem.fastdds_port7411_mutex" in reported
    assert "0123456789abcdef" not in reported  # removed, or would be
    assert "robot" not in reported
    assert (memory / "sem.fastdds_port7411_mutex").exists()
