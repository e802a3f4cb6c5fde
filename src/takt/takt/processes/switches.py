# SPDX-License-Identifier: Apache-2.0
"""Which other threads had some CPUs, and when: the kernel's context switches, through perf events.

One event per CPU records each switch with CLOCK_MONOTONIC, into a ring that this process shares
with the kernel: no file system is mounted, and the kernel forgets the events with this process. It
needs CAP_PERFMON (root has it), or ``kernel.perf_event_paranoid`` below 1. See perf_event_open(2).
"""

from __future__ import annotations

import contextlib
import ctypes
import heapq
import mmap
import os
import platform
import struct
import threading
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")
LEAST_NS = 10_000  # shorter stretches are not kept, as waits in a trace
MOST = 200_000  # stretches that are kept: the longest
_KNOWN_S = 1.0  # a name is asked for again after that: a program may have started another one
_PAGES = 256  # of a ring, a power of two: 26,000 switches between two looks
_CALL = {"x86_64": 298, "aarch64": 241}  # the number of perf_event_open
# Of linux/perf_event.h.
_SOFTWARE, _DUMMY = 1, 9
_TID, _TIME, _CPU = 1 << 1, 1 << 2, 1 << 7
_COMM, _TASK, _SAMPLE_ID_ALL, _USE_CLOCKID, _SWITCHES = 1 << 9, 1 << 13, 1 << 18, 1 << 25, 1 << 26
_CLOCK_MONOTONIC = 1
_CLOSED_ON_EXEC = 8
_SIZE, _AT_CLOCK = 128, 92
_AT_HEAD, _AT_TAIL = 1024, 1032
_LOST, _COMM_CHANGED, _FORK, _SWITCHED = 2, 3, 7, 15
_OUT = 1 << 13


@dataclass(frozen=True, order=True)
class Held:
    """A stretch in which a thread had a CPU; ns of CLOCK_MONOTONIC."""

    begin: int
    end: int
    cpu: int
    process: int  # -1: not known
    name: str  # of the thread
    thread: int = -1  # its number; -1: not known


class Switches:
    """The threads that have these CPUs, from now on. Look often: a full ring loses switches."""

    def __init__(
        self,
        cpus: Collection[int],
        ignored: Callable[[int, str], bool] | None = None,
    ) -> None:
        """``ignored`` tells, by process and thread name, whose stretches are not kept.

        Raises no error: ``refused`` says why nothing is recorded.
        """
        self.refused: str | None = None
        self.lost = 0  # switches
        self.left_out = 0  # stretches beyond MOST
        self._ignored = ignored
        self._names: dict[int, tuple[str, float]] = {}  # by thread; and when /proc said so
        self._kept: list[tuple[int, Held]] = []  # a heap by length
        self._rings: list[_Ring] = []
        try:
            for cpu in sorted(cpus):
                self._rings.append(_Ring(cpu))
        except OSError as error:
            self.refused = f"perf_event_open: {error.strerror}"
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

    @property
    def held(self) -> list[Held]:
        """What is kept, by time."""
        return sorted(held for _, held in self._kept)

    def close(self) -> None:
        """Stops recording; what was taken is kept."""
        for ring in self._rings:
            ring.close()
        self._rings = []

    def _take(self, ring: _Ring) -> None:
        for kind, misc, body in ring.records():
            if kind == _SWITCHED:
                _, _, process, thread, at = struct.unpack_from("<IIiiQ", body)
                if not misc & _OUT:
                    ring.running, ring.since = (process, thread), at
                    continue
                # A thread that has ended has no numbers any more.
                self._ended(ring, at, (process, thread) if thread >= 0 else ring.running)
            elif kind == _COMM_CHANGED:
                _, thread = struct.unpack_from("<II", body)
                self._names[thread] = (_text(body[8:]), time.monotonic())
            elif kind == _FORK:
                _, _, thread, parent = struct.unpack_from("<IIII", body)
                self._names[thread] = (self._name(parent, parent), 0.0)
            elif kind == _LOST:
                self.lost += struct.unpack_from("<QQ", body)[1]
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
        heapq.heappush(self._kept, (at - began, Held(began, at, ring.cpu, process, name, thread)))
        if len(self._kept) > MOST:
            heapq.heappop(self._kept)
            self.left_out += 1

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


class _Ring:
    """What the kernel records of one CPU."""

    def __init__(self, cpu: int) -> None:
        self.cpu = cpu
        self.running: tuple[int, int] | None = None  # process and thread; None: not known
        self.since: int | None = time.monotonic_ns()  # the thread runs; None: not known
        self._file = _opened(cpu)
        self._barrier = threading.Lock()
        page = mmap.PAGESIZE
        try:
            self._shared = mmap.mmap(self._file, (1 + _PAGES) * page)
        except OSError:
            os.close(self._file)
            raise
        self._begin, self._size = page, _PAGES * page

    def records(self) -> list[tuple[int, int, bytes]]:
        """Kind, flags and content of each new record."""
        head, tail = struct.unpack_from("<QQ", self._shared, _AT_HEAD)
        with self._barrier:  # what is read below was written before the head
            raw = self._between(tail, head)
        struct.pack_into("<Q", self._shared, _AT_TAIL, head)
        found = []
        at = 0
        while at < len(raw):
            kind, misc, size = struct.unpack_from("<IHH", raw, at)
            found.append((kind, misc, raw[at + 8 : at + size]))
            at += size
        return found

    def close(self) -> None:
        self._shared.close()
        os.close(self._file)

    def _between(self, tail: int, head: int) -> bytes:
        first, last = tail % self._size, head % self._size
        if tail == head:
            return b""
        if first < last:
            return self._shared[self._begin + first : self._begin + last]
        end = self._begin + self._size
        return (
            self._shared[self._begin + first : end] + self._shared[self._begin : self._begin + last]
        )


def _opened(cpu: int) -> int:
    """A file of the context switches of one CPU; raises OSError."""
    number = _CALL.get(platform.machine())
    if number is None:
        raise OSError(0, f"its number on {platform.machine()} is not known")
    about = bytearray(_SIZE)
    flags = _COMM | _TASK | _SAMPLE_ID_ALL | _USE_CLOCKID | _SWITCHES
    sampled = _TID | _TIME | _CPU
    struct.pack_into("<IIQQQQQ", about, 0, _SOFTWARE, _SIZE, _DUMMY, 0, sampled, 0, flags)
    struct.pack_into("<i", about, _AT_CLOCK, _CLOCK_MONOTONIC)
    libc = ctypes.CDLL(None, use_errno=True)
    shared = (ctypes.c_char * _SIZE).from_buffer(about)
    file = int(libc.syscall(number, shared, -1, cpu, -1, _CLOSED_ON_EXEC))
    if file < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
    return file


def _text(raw: bytes) -> str:
    return raw.split(b"\0", 1)[0].decode(errors="replace")
