# SPDX-License-Identifier: Apache-2.0
"""Runs keep apart from each other, and clean up after their dead: domains and shared memory."""

from __future__ import annotations

import fcntl
import mmap
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from shared_memory import note

from takt.cli import session
from takt.errors import Failure, TaktError
from takt.network import domain
from takt.network.sweeper import SWEEPER
from takt.processes import leftovers, scratch


def test_runs_at_once_get_different_domains(tmp_path: Path) -> None:
    with domain.own_domain(tmp_path) as first, domain.own_domain(tmp_path) as second:
        assert first != second
        assert {first, second} <= set(range(domain.FIRST, domain.LAST + 1))


def test_a_domain_is_free_again_after_its_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(domain, "LAST", domain.FIRST)
    monkeypatch.setattr(domain, "used_domains", set)
    with (
        domain.own_domain(tmp_path),
        pytest.raises(Failure, match="are in use"),
        domain.own_domain(tmp_path),
    ):
        pass
    with domain.own_domain(tmp_path) as again:
        assert again == domain.FIRST
    assert list(tmp_path.iterdir()) == []


def test_a_domain_in_shared_memory_only_is_taken_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory, locks = tmp_path / "memory", tmp_path / "locks"
    memory.mkdir()
    locks.mkdir()
    for number in range(domain.FIRST, domain.LAST + 1):
        port = domain.PORT_BASE + domain.PORTS_PER_DOMAIN * number
        if number != 42:
            (memory / f"fastdds_port{port + 11}").touch()
    (memory / "fastdds_port7411").touch()  # of domain 0, which is none of ours
    found = domain.domains_in_memory(memory)
    assert found == set(range(domain.FIRST, domain.LAST + 1)) - {42}
    monkeypatch.setattr(domain, "used_domains", set)
    monkeypatch.setattr(domain, "domains_in_memory", lambda: found)
    with domain.own_domain(locks) as first, domain.own_domain(locks) as second:
        assert first == 42
        assert second in found


def test_who_waits_for_a_lock_whose_file_goes_has_none(tmp_path: Path) -> None:
    path = tmp_path / "takt-domain-1.lock"
    held = domain.lock(path)
    assert held is not None
    late = os.open(path, os.O_RDONLY)  # by another run, a moment before the file goes
    assert domain.free_locks(tmp_path, remove=True) == []  # not while it is held
    domain._drop(path, held)
    fcntl.flock(late, fcntl.LOCK_EX | fcntl.LOCK_NB)
    with_it = domain.lock(path)
    assert with_it is not None  # a file of its own, whatever the other one has
    os.close(with_it)
    os.close(late)


def test_a_domain_whose_ports_are_in_use_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        for candidate in range(domain.FIRST, domain.LAST):
            try:
                taken.bind(("127.0.0.1", 7400 + 250 * candidate + 10))
                break
            except OSError:
                continue
        assert candidate in domain.used_domains()
        monkeypatch.setattr(domain, "FIRST", candidate)
        monkeypatch.setattr(domain, "LAST", candidate)
        with pytest.raises(Failure), domain.own_domain(tmp_path):
            pass


HOLDER = """
import mmap, os, sys
file = os.open(sys.argv[1], os.O_RDWR)
if sys.argv[2] != "open":
    kept = mmap.mmap(file, 4096)
    if sys.argv[2] == "made":  # as glibc makes a semaphore
        os.link(sys.argv[1], sys.argv[3])
        os.unlink(sys.argv[1])
    os.close(file)
print("ready", flush=True)
sys.stdin.read()
"""


def shared_file(memory: Path, name: str) -> Path:
    path = memory / name
    path.write_bytes(bytes(4096))
    return path


@pytest.mark.parametrize("how", ["map", "open"])
@pytest.mark.parametrize("name", ["fastrtps_0123456789abcdef", "sem.fastdds_port7412_mutex"])
def test_shared_memory_goes_when_its_last_user_is_dead(memory: Path, how: str, name: str) -> None:
    path = shared_file(memory, name)
    with subprocess.Popen(
        [sys.executable, "-IS", "-c", HOLDER, path, how],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as probe:
        assert probe.stdout is not None
        probe.stdout.readline()
        journal = leftovers.Journal(memory, memory)
        journal.note([probe.pid])
        assert journal.sweep() == []
        assert path.exists()
        probe.kill()
    # The journal is read back from its file: the tool itself may have died in between.
    assert leftovers.Journal(memory, memory).sweep() == [name]
    assert not path.exists()


def test_what_nobody_has_open_of_a_port_in_use_stays(memory: Path) -> None:
    # Fast DDS opens a port's mutex only while it opens the port; another one of the same name, made
    # meanwhile, would let two processes in at once.
    port, mutex = shared_file(memory, "fastdds_port7412"), "sem.fastdds_port7412_mutex"
    for name in (mutex, "fastdds_port74_sl", "sem.fastdds_port741_mutex"):
        shared_file(memory, name)
    with subprocess.Popen(
        [sys.executable, "-IS", "-c", HOLDER, port, "map"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as probe:
        assert probe.stdout is not None
        probe.stdout.readline()
        gone = leftovers.sweep_since([], memory)
        assert gone == ["fastdds_port74_sl", "sem.fastdds_port741_mutex"]
        probe.kill()
    assert leftovers.sweep_since([], memory) == [port.name, mutex]


def test_what_a_process_had_that_was_killed_before_it_was_noted_goes_too(memory: Path) -> None:
    there = shared_file(memory, "fastdds_port7400")
    before = leftovers.present(memory)
    path = shared_file(memory, "fastdds_0123456789abcdef")
    with subprocess.Popen(
        [sys.executable, "-IS", "-c", HOLDER, path, "map"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as probe:
        assert probe.stdout is not None
        probe.stdout.readline()
        assert leftovers.sweep_since(before, memory) == []
        probe.kill()
    assert leftovers.sweep_since(before, memory) == [path.name]
    assert there.exists()


@pytest.mark.parametrize("how", ["map", "made"])
def test_a_semaphore_goes_with_its_maker_whatever_its_name_was(memory: Path, how: str) -> None:
    created = shared_file(memory, "sem.aB3xY9")
    semaphore = memory / "sem.fastdds_port7413_mutex"
    journal = leftovers.Journal(memory, memory)
    with subprocess.Popen(
        [sys.executable, "-IS", "-c", HOLDER, created, how, semaphore],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as maker:
        assert maker.stdout is not None
        maker.stdout.readline()
        left = semaphore if how == "made" else created
        journal.note([maker.pid])
        assert journal.sweep() == []
        assert leftovers.sweep_since([], memory) == []
        assert left.exists()
        maker.kill()
    assert journal.sweep() == [left.name]
    assert not left.exists()


def test_files_of_the_same_names_in_a_container_are_no_use_of_ours(
    memory: Path, disk: Callable[[str], Path]
) -> None:
    path = shared_file(memory, "fastdds_port7000")  # Fast DDS has such a one in every domain
    theirs = shared_file(disk("1m"), path.name)
    command = ["unshare", "--mount", "--propagation", "private", "sh", "-c"]
    command += ['mount --bind "$0" "$1" && shift && exec "$@"', str(theirs.parent), str(memory)]
    with subprocess.Popen(
        [*command, sys.executable, "-IS", "-c", HOLDER, path, "map"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as container:
        assert container.stdout is not None
        assert container.stdout.readline()
        assert str(path) in Path(f"/proc/{container.pid}/maps").read_text()
        assert leftovers.sweep_since([], memory) == [path.name]
        container.kill()
    assert theirs.exists()


def test_shared_memory_of_others_is_never_touched(memory: Path) -> None:
    others = [
        shared_file(memory, name)
        for name in ("fastrtps_of_somebody_else", "sem.fastdds_port1_mutex", "lttng-ust-wait-6")
    ]
    lines = ["../../etc/passwd", "lttng-ust-wait-6", "fastrtps_of_somebody_else", ".", ""]
    lines += [f"lttng-ust-wait-6 {others[2].stat().st_ino}", "fastrtps_of_somebody_else 1"]
    (memory / leftovers.JOURNAL).write_text("\n".join(lines))
    (memory / leftovers.JOURNAL).chmod(0o600)
    journal = leftovers.Journal(memory, memory)
    journal.note([os.getpid()])
    assert journal.sweep() == []
    assert all(path.exists() for path in others)


def test_what_a_living_process_maps_stays(memory: Path) -> None:
    path = shared_file(memory, "fastdds_0123")
    note(memory, path.name, memory=memory)
    with path.open("r+b") as file, mmap.mmap(file.fileno(), 4096):
        assert leftovers.Journal(memory, memory).sweep() == []
    assert leftovers.Journal(memory, memory).sweep() == ["fastdds_0123"]


def test_a_run_that_is_active_cannot_be_started_again(memory: Path, tmp_path: Path) -> None:
    first = scratch.open_for(tmp_path, memory)
    with pytest.raises(TaktError, match="is executing this run"):
        scratch.open_for(tmp_path, memory)
    assert leftovers.sweep_dead_runs(SWEEPER, memory) == []
    first.release(keep=False)
    assert list(memory.iterdir()) == []
    scratch.open_for(tmp_path, memory).release(keep=False)


def test_a_full_memory_is_not_used_at_all(
    memory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scratch, "free_bytes", lambda folder: 0 if folder == memory else 1 << 40)
    run = scratch.open_for(tmp_path, memory)
    assert run.folder.parent == tmp_path
    assert run.place_for(1000) == run.folder
    run.release(keep=False)
    assert list(tmp_path.iterdir()) == []


def test_a_dead_run_is_found_and_keeps_its_folder(memory: Path, tmp_path: Path) -> None:
    run = scratch.open_for(tmp_path, memory)
    (tmp_path / "run.json").touch()
    shared_file(memory, "fastdds_4567")
    note(run.folder, "fastdds_4567", memory=memory)
    run.release(keep=True)  # what the kernel does with the locks of a killed process
    dead = leftovers.sweep_dead_runs(SWEEPER, memory)
    assert [one.run_folder for one in dead] == [tmp_path]
    assert not (memory / "fastdds_4567").exists()
    again = scratch.open_for(tmp_path, memory)
    assert again.folder == run.folder
    again.release(keep=False)


def test_a_run_that_died_before_it_was_on_record_advises_nothing(
    memory: Path, tmp_path: Path
) -> None:
    scratch.open_for(tmp_path, memory).release(keep=True)
    assert leftovers.sweep_dead_runs(SWEEPER, memory) == []
    assert list(memory.iterdir()) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="another user's lock takes root")
def test_locks_that_other_users_hold_do_not_hold_up_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    stranger = 54321
    monkeypatch.setattr(domain, "LAST", domain.FIRST)
    monkeypatch.setattr(domain, "used_domains", set)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o1777)
        path = Path(folder) / f"takt-domain-{domain.FIRST}.lock"
        path.touch()
        os.chown(path, stranger, stranger)
        words = ["flock", str(path), "sh", "-c", "echo held; exec sleep 60"]
        with subprocess.Popen(words, user=stranger, stdout=subprocess.PIPE, text=True) as holder:
            assert holder.stdout is not None
            assert holder.stdout.readline() == "held\n"
            with domain.own_domain(Path(folder)) as number:
                assert number == domain.FIRST
            monkeypatch.setattr(domain, "used_domains", lambda: {domain.FIRST})
            with (
                pytest.raises(Failure, match="are in use"),
                domain.own_domain(Path(folder)),
            ):
                pass
            holder.kill()


@pytest.mark.parametrize(
    ("count", "where"),
    [
        (1, "its results folder no longer exists; its recordings are in m/a0"),
        (3, "their results folders no longer exist; their recordings are in m/a0 to a2"),
    ],
)
def test_recordings_without_a_run_are_one_line(count: int, where: str) -> None:
    (line,) = session.abandoned([Path("m") / f"a{number}" for number in reversed(range(count))])
    assert line.endswith(where)
    assert session.abandoned([]) == []
