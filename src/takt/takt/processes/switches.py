# SPDX-License-Identifier: Apache-2.0
"""Which other threads had some CPUs, and when: the kernel's context switches (perf.py)."""

from __future__ import annotations

import contextlib
import heapq
import struct
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from takt.processes.perf import COMM_CHANGED, FORK, LOST, OUT, SWITCHED, Event, Ring, lost

PROC = Path("/proc")
LEAST_NS = 10_000  # shorter stretches are not kept, as waits in a trace
MOST = 200_000  # stretches that are kept: the longest
_KNOWN_S = 1.0  # a name is asked for again after that: a program may have started another one
# Of linux/perf_event.h.
_SOFTWARE, _DUMMY = 1, 9
_TID, _CPU = 1 << 1, 1 << 7
_COMM, _TASK, _SWITCHES = 1 << 9, 1 << 13, 1 << 26
_EVENT = Event(_SOFTWARE, _DUMMY, _TID | _CPU, _COMM | _TASK | _SWITCHES)


KERNEL = "perf_event_open"  # how a refusal begins that is the kernel's
INTERRUPT = -2  # the process of a stretch in which an interrupt had a CPU


@dataclass(frozen=True, order=True)
class Held:
    """A stretch in which a thread or an interrupt had a CPU; ns of CLOCK_MONOTONIC."""

    begin: int
    end: int
    cpu: int
    process: int  # -1: not known; or INTERRUPT
    name: str  # of the thread
    thread: int = -1  # its number; -1: not known


class Longest:
    """The longest of many stretches: MOST of them."""

    def __init__(self) -> None:
        self.left_out = 0  # stretches
        self._heap: list[tuple[int, Held]] = []  # by length

    def add(self, one: Held) -> None:
        """Keeps it if it is one of them so far."""
        heapq.heappush(self._heap, (one.end - one.begin, one))
        if len(self._heap) > MOST:
            heapq.heappop(self._heap)
            self.left_out += 1

    def by_time(self) -> list[Held]:
        """Those that are kept."""
        return sorted(one for _, one in self._heap)


R = TypeVar("R", bound=Ring)


class Stretches(Generic[R]):
    """What is kept of the rings of some CPUs. ``refused`` says why nothing is recorded."""

    def __init__(self) -> None:
        self.refused: str | None = None
        self.lost = 0  # records of the kernel
        self._kept = Longest()
        self._rings: list[R] = []

    @property
    def held(self) -> list[Held]:
        """By time."""
        return self._kept.by_time()

    @property
    def left_out(self) -> int:
        """Stretches that are not kept: there were longer ones."""
        return self._kept.left_out

    def close(self) -> None:
        """Stops recording; what was taken is kept."""
        for ring in self._rings:
            ring.close()
        self._rings = []


class Switches(Stretches["_Ring"]):
    """The threads that have these CPUs, from now on. Look often: a full ring loses switches."""

    def __init__(
        self,
        cpus: Collection[int],
        ignored: Callable[[int, str], bool] | None = None,
    ) -> None:
        """``ignored`` tells, by process and thread name, whose stretches are not kept.

        Raises no error: ``refused`` says why nothing is recorded.
        """
        super().__init__()
        self._ignored = ignored
        self._names: dict[int, tuple[str, float]] = {}  # by thread; and when /proc said so
        try:
            for cpu in sorted(cpus):
                self._rings.append(_Ring(cpu))
        except OSError as error:
            self.refused = f"{KERNEL}: {error.strerror}"
            self.close()

    def look(self) -> None:
        """Takes what the kernel has recorded since the last look."""
        for ring in self._rings:
            self._take(ring)

    def end(self) -> None:
        """The last look: threads that still run are counted until now."""
        self.look()
        now = time.monotonic_ns()
        for ring in self._rings:
            self._ended(ring, now, ring.running)
        self.close()

    def _take(self, ring: _Ring) -> None:
        for kind, misc, body in ring.records():
            if kind == SWITCHED:
                _, _, process, thread, at = struct.unpack_from("<IIiiQ", body)
                if not misc & OUT:
                    ring.running, ring.since = (process, thread), at
                    continue
                # A thread that has ended has no numbers any more.
                self._ended(ring, at, (process, thread) if thread >= 0 else ring.running)
            elif kind == COMM_CHANGED:
                _, thread = struct.unpack_from("<II", body)
                self._names[thread] = (_text(body[8:]), time.monotonic())
            elif kind == FORK:
                _, _, thread, parent = struct.unpack_from("<IIII", body)
                self._names[thread] = (self._name(parent, parent), 0.0)
            elif kind == LOST:
                self.lost += lost(body)
                ring.running = ring.since = None

    def _ended(self, ring: _Ring, at: int, who: tuple[int, int] | None) -> None:
        began, ring.since, ring.running = ring.since, None, None
        if began is None or at - began < LEAST_NS:
            return
        process, thread = who or (-1, -1)
        if thread == 0:  # the idle one
            return
        name = self._name(process, thread)
        if self._ignored is not None and self._ignored(process, name):
            return
        self._kept.add(Held(began, at, ring.cpu, process, name, thread))

    def _name(self, process: int, thread: int) -> str:
        """As the kernel has it; threads may end before anybody asks."""
        name, read = self._names.get(thread, (f"thread {thread}" if thread > 0 else "unknown", 0.0))
        now = time.monotonic()
        if thread > 0 and now - read > _KNOWN_S:
            with contextlib.suppress(OSError):
                comm = PROC / str(process) / "task" / str(thread) / "comm"
                name = comm.read_text(errors="replace").strip()
            self._names[thread] = (name, now)
        return name


class _Ring(Ring):
    """The switches of one CPU."""

    def __init__(self, cpu: int) -> None:
        super().__init__(cpu, [_EVENT])
        self.running: tuple[int, int] | None = None  # process and thread; None: not known
        self.since: int | None = time.monotonic_ns()  # the thread runs; None: not known


def _text(raw: bytes) -> str:
    return raw.split(b"\0", 1)[0].decode(errors="replace")
