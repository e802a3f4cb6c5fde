# SPDX-License-Identifier: Apache-2.0
"""Who outlives a killed run sweeps its shared memory, and nobody else's."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from takt.network import domain
from takt.processes import guard, scratch

LIMIT_S = 150.0
PROGRAM = """
import ctypes, pathlib, signal, sys, time
if %r:  # as one that wants to end in order when its parent dies, and does not
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    ctypes.CDLL(None).prctl(1, signal.SIGTERM)
pathlib.Path(sys.argv[1]).touch()
time.sleep(600)
"""
RUN = """
import os, signal, sys, time
from pathlib import Path
from takt.processes import process, scratch
from takt.network import domain
memory, results, how = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
if how == "making":  # it is killed before it has said whose the folder is
    def reached(_):
        print(next(memory.glob("takt-*")), 0, flush=True)
        sys.stdin.read()
    scratch.json.dumps = reached
held = scratch.open_for(results, memory, resumable=how not in ("killed", "becoming"))
one = domain.own_domain()
one.__enter__()
program = process.Process([sys.executable, "-c", sys.argv[4], memory / "started"])
while not (memory / "started").exists():
    time.sleep(0.01)
(memory / "fastdds_of_the_run").touch()
print(held.folder, program.pid, flush=True)
if how == "becoming" and not os.fork():  # as who starts a program, the moment before it is one
    for number in map(int, os.listdir("/proc/self/fd")):
        try:
            if os.readlink(f"/proc/self/fd/{number}") != str(held.folder / scratch.LOCK):
                os.close(number)
        except OSError:
            continue
    time.sleep(3)
    os._exit(0)
if how == "interrupted":
    os.killpg(0, signal.SIGINT)
sys.stdin.read()
program.end()
one.__exit__(None, None, None)
held.release(keep=False)
"""

NESTED = """
import sys
from pathlib import Path
from takt.processes import scratch
memory = Path(sys.argv[1])
with scratch.temporary(memory) as folder:  # as a bench, whose run is in a folder that goes with it
    (folder / "run").mkdir()
    held = scratch.open_for(folder / "run", memory, resumable=False)
    for number in range(300):
        (folder / "run" / f"{number}.parquet").touch()
    print(folder, held.folder, flush=True)
    sys.stdin.read()
"""


def until(holds: Callable[[], bool]) -> bool:
    limit = time.monotonic() + LIMIT_S
    while not holds() and time.monotonic() < limit:
        time.sleep(0.02)
    return holds()


def watching(folder: Path) -> list[int]:
    """The undertakers of a scratch folder."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                words = (entry / "cmdline").read_bytes().decode(errors="replace").split("\0")
            except OSError:
                continue
            if str(folder) in words and any(one.endswith("undertaker.py") for one in words):
                found.append(int(entry.name))
    return found


class Tool:
    """A run whose shared memory is a folder of the test's."""

    def __init__(self, folder: Path, how: str) -> None:
        self.memory, self.results = folder / "memory", folder / "results"
        self.temporary = folder / "tmp"
        for watched in (self.memory, self.results, self.temporary):
            watched.mkdir()
        self.before = self.memory / "fastdds_of_before"
        self.before.touch()
        program = PROGRAM % (how == "hanging")
        self.process = subprocess.Popen(
            [sys.executable, "-c", RUN, self.memory, self.results, how, program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "TMPDIR": str(self.temporary)},
            text=True,
            start_new_session=True,
        )
        assert self.process.stdout
        place, pid = self.process.stdout.readline().split()
        self.scratch, self.program = Path(place), int(pid)
        self.run = self.memory / "fastdds_of_the_run"

    @property
    def undertakers(self) -> list[int]:
        return watching(self.scratch)


def test_a_killed_run_leaves_no_shared_memory_and_no_lock(tmp_path: Path) -> None:
    tool = Tool(tmp_path, "killed")
    assert len(tool.undertakers) == 1
    assert len(list(tool.temporary.glob(domain.LOCKS))) == 1
    tool.process.kill()
    tool.process.communicate()
    assert until(lambda: not tool.undertakers)
    assert list(tool.temporary.iterdir()) == []
    assert not tool.run.exists()
    assert not tool.scratch.exists()
    assert tool.before.exists()


def test_a_process_killed_as_it_creates_its_folder_leaves_none(tmp_path: Path) -> None:
    tool = Tool(tmp_path, "making")
    assert tool.scratch.is_dir()
    tool.process.kill()
    tool.process.communicate()
    assert until(lambda: not tool.undertakers)
    assert not tool.scratch.exists()
    assert list(tool.results.iterdir()) == []


@pytest.mark.parametrize("number", range(5))
def test_a_killed_run_within_another_leaves_neither(tmp_path: Path, number: int) -> None:
    memory = tmp_path / "memory"
    memory.mkdir()
    tool = subprocess.Popen(
        [sys.executable, "-c", NESTED, memory],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
        text=True,
    )
    assert tool.stdout
    folders = [Path(one) for one in tool.stdout.readline().split()]
    assert [len(watching(one)) for one in folders] == [1, 1]
    tool.kill()
    tool.communicate()
    assert until(lambda: not any(map(watching, folders)))
    assert list(memory.iterdir()) == []


def test_a_program_that_hangs_when_its_tool_is_killed_is_ended(tmp_path: Path) -> None:
    tool = Tool(tmp_path, "hanging")
    tool.process.kill()
    tool.process.communicate()
    assert until(lambda: not tool.undertakers)
    assert not guard.identity(tool.program)
    assert not tool.run.exists()


def test_who_is_about_to_become_a_program_of_a_killed_run_is_waited_for(tmp_path: Path) -> None:
    tool = Tool(tmp_path, "becoming")
    assert until(lambda: len(holders(tool.scratch / scratch.LOCK)) == 2)
    tool.process.kill()
    tool.process.communicate()
    assert until(lambda: not tool.undertakers)
    assert not tool.scratch.exists()
    assert list(tool.results.iterdir()) == []


def holders(lock: Path) -> list[int]:
    """Processes that have it open."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                open_files = [one.readlink() for one in (entry / "fd").iterdir()]
            except OSError:
                continue
            if lock in open_files:
                found.append(int(entry.name))
    return found


def test_a_killed_run_that_can_be_resumed_keeps_its_recordings(tmp_path: Path) -> None:
    tool = Tool(tmp_path, "resumable")
    recording = tool.scratch / "cell.taktsamples"
    recording.write_bytes(bytes(24) + (1).to_bytes(8, "little") + bytes(64))
    tool.process.kill()
    tool.process.communicate()
    assert until(lambda: not tool.undertakers)
    assert not tool.run.exists()
    assert recording.exists()


def test_what_is_in_use_stays(tmp_path: Path) -> None:
    tool = Tool(tmp_path, "killed")
    with tool.run.open("rb"):
        tool.process.kill()
        tool.process.communicate()
        assert until(lambda: not tool.undertakers)
        assert tool.run.exists()


@pytest.mark.parametrize("how", ["killed", "interrupted"])
def test_a_run_that_ends_in_order_is_unchanged(tmp_path: Path, how: str) -> None:
    tool = Tool(tmp_path, how)
    if how == "interrupted":  # as by Ctrl-C in a terminal: the tool's group gets it, nobody else
        assert until(lambda: tool.process.poll() is not None)
        tool.process.communicate()
    else:
        tool.process.communicate("")
    assert until(lambda: not tool.undertakers)
    assert tool.run.exists() == (how == "killed")


def test_requests_to_end_are_ignored(tmp_path: Path) -> None:
    tool = Tool(tmp_path, "killed")
    (pid,) = tool.undertakers
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        os.kill(pid, number)
    tool.process.kill()
    tool.process.communicate()
    assert until(lambda: not tool.undertakers)
    assert not tool.run.exists()
