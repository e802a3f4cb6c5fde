# SPDX-License-Identifier: Apache-2.0
"""CPU time that other programs take while something is measured.

What all CPUs did is elapsed time without the idle and the stolen time of ``/proc/stat``. Kernels
with NO_HZ, as all common ones, measure idle time exactly; they count busy time by ticks, which a
periodic thread hits always or never. The time of this process and of its descendants, which are
what it measures and the declared load, is subtracted. The rest are other programs, and the kernel's
own work.
"""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from takt.processes import usage

PROC = Path("/proc")
_TICK_S = 1 / os.sysconf("SC_CLK_TCK")
_IDLE, _IOWAIT, _STEAL = 3, 4, 7  # of the numbers of a line of /proc/stat


@dataclass(frozen=True)
class Limit:
    """How much others may take."""

    share: float  # of the time of all CPUs
    cpus: float  # in use by others, however many CPUs there are
    stolen: bool  # whether what a hypervisor takes counts as well


USUAL = Limit(0.05, 1.0, stolen=False)  # stolen time is another quantity there
IDLE = Limit(0.02, 0.2, stolen=True)  # of a machine that was declared idle


@dataclass(frozen=True)
class Taken:
    """What others took of a span of time."""

    seconds: float  # CPU time, all CPUs together
    much: bool  # so much that figures may be other than on an idle machine


# Seconds of CPU time, and when they were read (CLOCK_MONOTONIC); None: at once.
Ours = Callable[[], tuple[float, float | None]]


@dataclass(frozen=True)
class _Look:
    at_s: float
    unused_s: float  # by all CPUs: idle, or stolen
    stolen_s: float
    cpus: int
    own_s: float


class Others:
    """Other programs, from now on.

    ``ours`` gives the seconds of programs that are part of the measurement, but not started by
    this process: those of workers on this machine, who may answer late while all CPUs are busy.
    """

    def __init__(self, limit: Limit = USUAL, ours: Ours | None = None) -> None:
        self._limit, self._ours = limit, ours
        self._before = _look(ours)

    def taken(self) -> Taken:
        """What they took since."""
        before, now = self._before, _look(self._ours)
        elapsed = now.at_s - before.at_s
        busy = elapsed * now.cpus - (now.unused_s - before.unused_s)
        seconds = max(0.0, busy - (now.own_s - before.own_s))
        most = min(self._limit.cpus, self._limit.share * now.cpus) * elapsed
        stolen = now.stolen_s - before.stolen_s if self._limit.stolen else 0.0
        return Taken(round(seconds, 3), seconds + stolen > most)


def _look(ours: Ours | None) -> _Look:
    """Of the moment at which ``ours`` was read: between a look before and one after asking."""
    before = _machine()
    spent, at_s = ours() if ours else (0.0, None)
    after = _machine()
    waited = after.at_s - before.at_s
    share = 1.0 if at_s is None or not waited else (at_s - before.at_s) / waited
    share = min(1.0, max(0.0, share))

    def then(first: float, last: float) -> float:
        return first + share * (last - first)

    return _Look(
        then(before.at_s, after.at_s),
        then(before.unused_s, after.unused_s),
        then(before.stolen_s, after.stolen_s),
        after.cpus,
        then(before.own_s, after.own_s) + spent,
    )


def _machine() -> _Look:
    unused, stolen, cpus = _unused_s()
    return _Look(time.monotonic(), unused, stolen, cpus, own_s())


def _unused_s() -> tuple[float, float, int]:
    """Since boot, what of it was stolen, and how many CPUs that is of."""
    lines = (PROC / "stat").read_text(encoding="ascii").splitlines()
    fields = [int(one) for one in lines[0].split()[1:]]
    ticks = sum(fields[place] for place in (_IDLE, _IOWAIT, _STEAL) if place < len(fields))
    stolen = fields[_STEAL] if len(fields) > _STEAL else 0
    cpus = sum(line[:3] == "cpu" and line[3:4].isdecimal() for line in lines)
    return ticks * _TICK_S, stolen * _TICK_S, cpus


def own_s() -> float:
    """Of this process and all that it started, also what has ended and was waited for."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    living = (usage.process_s(pid) for pid in usage.family([os.getpid()])[1:])
    return time.process_time() + ended.ru_utime + ended.ru_stime + sum(living)
