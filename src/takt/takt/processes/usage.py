# SPDX-License-Identifier: Apache-2.0
"""What processes and CPUs have done up to now, as the kernel counts it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

_PROC = Path("/proc")
_TICK_NS = 10**9 // os.sysconf("SC_CLK_TCK")
_FLAGS, _UTIME, _CSTIME = 6, 11, 14  # of /proc/PID/stat, behind the name; utime to cstime are four
_IRQ, _SOFTIRQ = 5, 6  # of the first line of /proc/stat, behind its name
_KTHREADD = 2  # starts all threads of the kernel
_IS_KERNEL = 0x00200000  # PF_KTHREAD, of the flags


@dataclass(frozen=True)
class Used:
    """By several processes together."""

    processes: int
    cpu_ns: int
    written: int  # bytes given to write calls
    stored: int  # bytes of these that a disk will get


@dataclass(frozen=True)
class Cpus:
    """Several CPUs together."""

    idle_ns: int  # also while somebody waits for a disk
    total_ns: int  # idle, busy and stolen


def family(pids: Iterable[int]) -> list[int]:
    """These processes and all that they have started and that is still there."""
    found = list(pids)
    for pid in found:
        tasks: list[Path] = []
        with contextlib.suppress(OSError):  # it has ended meanwhile
            tasks = list((_PROC / str(pid) / "task").iterdir())
        for task in tasks:
            with contextlib.suppress(OSError):
                found += map(int, (task / "children").read_text(encoding="ascii").split())
    return found


def of(pids: Iterable[int]) -> Used:
    """What those have used that are still there."""
    used = [one for one in map(_of_one, pids) if one]
    return Used(
        len(used),
        sum(one.cpu_ns for one in used),
        sum(one.written for one in used),
        sum(one.stored for one in used),
    )


def cpus(numbers: Collection[int]) -> Cpus:
    """What these CPUs have done since boot."""
    idle = total = 0
    for line in (_PROC / "stat").read_text(encoding="ascii").splitlines():
        name, *fields = line.split()
        if name[:3] == "cpu" and name[3:].isdecimal() and int(name[3:]) in numbers:
            ticks = list(map(int, fields[:8]))
            idle += ticks[3] + ticks[4]
            total += sum(ticks)
    return Cpus(idle * _TICK_NS, total * _TICK_NS)


def process_s(pid: int) -> float:
    """Of a process and of its children that have ended, in seconds; 0 where it is gone."""
    return sum(map(int, _stat(pid)[_UTIME : _CSTIME + 1])) * _TICK_NS / 1e9


def kernel_threads() -> list[int]:
    """Those of the kernel; empty in a container that does not show them."""
    flags = _stat(_KTHREADD)[_FLAGS : _FLAGS + 1]
    return family([_KTHREADD]) if flags and int(flags[0]) & _IS_KERNEL else []


def interrupts_s() -> float:
    """What interrupts and softirqs have taken of all CPUs since boot, in seconds."""
    fields = (_PROC / "stat").read_text(encoding="ascii").split("\n", 1)[0].split()[1:]
    return sum(map(int, fields[_IRQ : _SOFTIRQ + 1])) * _TICK_NS / 1e9


class Spent:
    """CPU time of processes that come and go; what those spent that have ended stays counted."""

    def __init__(self, pids: Callable[[], Iterable[int]]) -> None:
        self._pids = pids
        self.each: dict[int, float] = {}  # seconds by process id, as of the last look
        self.look()

    def look(self) -> float:
        """Seconds of all of them up to now; never less than before."""
        for pid in self._pids():
            self.each[pid] = max(self.each.get(pid, 0.0), process_s(pid))
        return sum(self.each.values())


class KernelWork:
    """CPU time of the kernel's own threads, interrupts and softirqs, in seconds since boot."""

    def __init__(self) -> None:
        self._threads = Spent(kernel_threads)

    def look(self) -> float:
        """Up to now."""
        return self._threads.look() + interrupts_s()


def _stat(pid: int) -> list[str]:
    """The fields of a process behind its name; none where it is gone."""
    with contextlib.suppress(OSError):
        text = (_PROC / str(pid) / "stat").read_text(encoding="utf-8", errors="replace")
        return text.rpartition(")")[2].split()
    return []


def _of_one(pid: int) -> Used | None:
    folder = _PROC / str(pid)
    try:
        # Exact, where utime and stime of a short-lived thread may both be 0.
        cpu_ns = sum(
            int((task / "schedstat").read_text(encoding="ascii").split()[0])
            for task in (folder / "task").iterdir()
        )
        lines = (folder / "io").read_text(encoding="ascii").splitlines()
    except (OSError, IndexError, ValueError):
        return None
    fields = dict(line.split(": ") for line in lines)
    return Used(1, cpu_ns, int(fields.get("wchar", 0)), int(fields.get("write_bytes", 0)))
