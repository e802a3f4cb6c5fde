# SPDX-License-Identifier: Apache-2.0
"""Context switches as the kernel records them: whose they are, and for how long."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import time
from collections.abc import Callable

import pytest

from takt.processes import perf
from takt.processes import switches as tested
from takt.processes.switches import LEAST_NS, Held, Switches

_BUSY = "import os, sys, time\nos.sched_setaffinity(0, {int(sys.argv[1])})\nprint()\n"
_FOR_CPU_TIME = (
    f"{_BUSY}sys.stdout.flush()\n"
    "while time.process_time() < float(sys.argv[2]): pass\n"
    "print(time.process_time(), flush=True)\n"
    "sys.stdin.read()\n"
)


def cpu() -> int:
    return max(os.sched_getaffinity(0))


def recording(ignored: Callable[[int, str], bool] | None = None) -> Switches:
    found = Switches([cpu()], ignored)
    if found.refused:
        pytest.skip(f"the kernel does not record switches for this user: {found.refused}")
    return found


def busy(seconds: float) -> subprocess.Popen[str]:
    """A program that has used so much CPU time on that CPU when its second line is there."""
    command = [sys.executable, "-c", _FOR_CPU_TIME, str(cpu()), str(seconds)]
    program = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert program.stdout
    program.stdout.readline()
    return program


def used(program: subprocess.Popen[str]) -> float:
    assert program.stdout
    return float(program.stdout.readline())


def total_s(held: list[Held], process: int) -> float:
    return sum(one.end - one.begin for one in held if one.process == process) / 1e9


def test_stretches_are_those_of_the_program_and_add_up_to_its_cpu_time() -> None:
    switches = recording()
    with busy(0.5) as program:
        seconds = used(program)
        switches.end()
        held = [one for one in switches.held if one.process == program.pid]
        program.communicate("")
    # A hypervisor that takes the CPU away counts for the stretch, and for the thread's clock.
    if not switches.lost:
        assert total_s(held, program.pid) == pytest.approx(seconds, rel=0.4)
    assert len({one.name for one in held}) == 1
    assert all(one.cpu == cpu() and one.end - one.begin >= LEAST_NS for one in held)
    assert all(one.end <= next_.begin for one, next_ in itertools.pairwise(held))


def test_who_had_the_cpu_before_and_still_has_it_is_recorded() -> None:
    """Neither its first switch nor its last is there; its time counts all the same."""
    with busy(30) as program:
        switches = recording()
        time.sleep(0.3)  # alone on its CPU it never leaves it: only the end shows that it ran
        switches.end()
        program.kill()
        program.communicate()
    assert total_s(switches.held, program.pid) > 0 or any(
        one.name == "unknown" for one in switches.held
    )


def test_ignored_threads_are_not_kept() -> None:
    switches = recording(lambda process, _: process == ignored)
    with busy(0.1) as program:
        ignored = program.pid
        used(program)
        switches.end()
        program.communicate("")
    assert total_s(switches.held, program.pid) == 0


def test_a_full_ring_counts_what_it_loses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(perf, "PAGES", 1)  # 100 switches
    switches = recording()
    yielding = f"{_BUSY}for _ in range(20_000): os.sched_yield()\ntime.sleep(0.0)\n"
    for _ in range(10):
        command = [sys.executable, "-c", yielding, str(cpu())]
        both = [subprocess.Popen(command, stdout=subprocess.DEVNULL) for _ in range(2)]
        assert [one.wait() for one in both] == [0, 0]
        switches.look()  # the kernel says what it lost with the next record that it can write
        if switches.lost:
            break
        time.sleep(0.1)
    switches.end()
    assert switches.lost > 0
    assert all(one.begin < one.end for one in switches.held)


def test_the_longest_are_kept_and_the_others_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tested, "MOST", 3)
    switches = recording()
    for _ in range(5):
        with busy(0.02) as program:
            used(program)
            switches.look()
            program.communicate("")
    switches.end()
    assert len(switches.held) == 3
    assert switches.left_out > 0


@pytest.mark.parametrize(
    ("machine", "reason"), [("x86_64", "Permission denied"), ("riscv64", "riscv64 is not known")]
)
def test_a_refusal_is_named_and_no_error(
    monkeypatch: pytest.MonkeyPatch, machine: str, reason: str
) -> None:
    class Refusing:
        def syscall(self, *_: object) -> int:
            return -1

    monkeypatch.setattr("platform.machine", lambda: machine)
    monkeypatch.setattr("ctypes.CDLL", lambda *_, **__: Refusing())
    monkeypatch.setattr("ctypes.get_errno", lambda: 13)
    switches = Switches([0, 1])
    switches.look()
    switches.end()
    assert switches.refused is not None
    assert reason in switches.refused
    assert switches.held == []
