# SPDX-License-Identifier: Apache-2.0
"""What somebody does to a machine that is measured: sets its clock, takes a part away, uses it.

No sample is lost by either: all times are CLOCK_MONOTONIC, which nobody sets and which stands still
while the machine is suspended, and Linux moves the threads of a CPU that goes to others. But who
reads the results has to know.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from pathlib import Path

from takt.processes.others import USUAL, Limit, Others, Ours, Taken
from takt.processes.rivals import Rivals
from takt.processes.taken_away import Groups, Interfaces, cpus_of

ONLINE = Path("/sys/devices/system/cpu/online")
_LEAST_STEP_NS = 10_000_000
_MOST_SLEW = 1e-3  # twice of what adjtimex allows; more is a step
_AT_ONCE_NS = 1_000_000  # for the two clocks to count as read together
_TRIES = 10


class Disturbances:
    """Looks now and then; what happened between two looks is told once."""

    def __init__(self, allowed: Limit = USUAL, ours: Ours | None = None) -> None:
        self.reported: list[tuple[str, str]] = []  # what, and what it means
        self._monotonic, self._offset = _clocks()
        self._suspended = _suspended()
        self._cpus = online()
        self._interfaces, self._groups = Interfaces(), Groups()
        self._rivals = Rivals()
        self._others = Others(allowed, ours)
        self.by_others: Taken | None = None  # None: not known

    def look(self, pids: Collection[int] = ()) -> None:
        """Compares with the look before; ``pids`` are the processes that are measured."""
        self.reported += self._interfaces.look() + self._groups.look(pids)
        slept = self._look_for_suspensions()
        monotonic, offset = _clocks()
        if self._offset is not None and offset is not None:
            step = offset - self._offset - slept
            slewed = _MOST_SLEW * (monotonic - self._monotonic)
            if abs(step) > _LEAST_STEP_NS + slewed:
                why = (
                    "samples use a clock that is never set; dates and ages "
                    "derived from the wall clock may be wrong"
                )
                self.reported.append((f"the wall clock was set by {step / 1e9:+.3f} s", why))
        if offset is not None:
            self._monotonic, self._offset = monotonic, offset
        cpus = online()
        for gone in sorted(self._cpus - cpus):
            why = "Linux moved its threads to other CPUs, including pinned threads"
            self.reported.append((f"CPU {gone} was taken offline", why))
        for come in sorted(cpus - self._cpus):
            self.reported.append((f"CPU {come} came online", "threads may have moved to it"))
        self._cpus = cpus

    def _look_for_suspensions(self) -> int:
        """For how many ns the machine slept since the look before."""
        before, suspended = self._suspended, _suspended()
        if before is None or suspended is None:
            self._suspended = suspended if before is None else before
            return 0
        slept = suspended - before
        if slept < _LEAST_STEP_NS:
            return 0
        self._suspended = suspended
        why = (
            "samples use a clock that stands still meanwhile: no latency contains this time, "
            "and what others sent was not received"
        )
        self.reported.append((f"the machine was suspended for {slept / 1e9:.3f} s", why))
        return slept

    def measured(self) -> None:
        """What was measured has ended, and the load still runs: its time is still known."""
        self.by_others = self._others.taken()

    def end(self, cpus: Collection[int] = ()) -> None:
        """The last look, when what was measured on these CPUs (none: on any) has ended."""
        self.look()
        why = "threads of lower priority on this CPU wait for it and may not run at all"
        self.reported += [(one, why) for one in self._rivals.reported(cpus)]


def online() -> frozenset[int]:
    """The CPUs that run; empty where the kernel does not say."""
    try:
        text = ONLINE.read_text(encoding="ascii").strip()
    except OSError:
        return frozenset()
    return cpus_of(text)


def _clocks() -> tuple[int, int | None]:
    """CLOCK_MONOTONIC, and how far CLOCK_REALTIME is from it; None: never read at once."""
    return _read_beside(time.time_ns)


def _suspended() -> int | None:
    """For how many ns the machine was suspended since it booted; None: as above."""
    return _read_beside(lambda: time.clock_gettime_ns(time.CLOCK_BOOTTIME))[1]


def _read_beside(clock: Callable[[], int]) -> tuple[int, int | None]:
    for _ in range(_TRIES):
        before, value, after = time.monotonic_ns(), clock(), time.monotonic_ns()
        if after - before < _AT_ONCE_NS:
            return before, value - before
    return time.monotonic_ns(), None
