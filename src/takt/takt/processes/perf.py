# SPDX-License-Identifier: Apache-2.0
"""Events of the kernel on one CPU, through perf events: a ring that this process shares with it.

Each has the time of CLOCK_MONOTONIC. No file system is mounted, and the kernel forgets the events
with this process. It needs CAP_PERFMON (root has it), or ``kernel.perf_event_paranoid`` below 1.
See perf_event_open(2).
"""

from __future__ import annotations

import ctypes
import fcntl
import mmap
import os
import platform
import struct
import threading
from collections.abc import Sequence
from dataclasses import dataclass

#: Kinds of records, of linux/perf_event.h.
LOST, COMM_CHANGED, FORK, SAMPLE, SWITCHED = 2, 3, 7, 9, 15
OUT = 1 << 13  # a flag of SWITCHED: a thread leaves the CPU
PAGES = 256  # of a ring, a power of two: 26,000 switches between two looks
_CALL = {"x86_64": 298, "aarch64": 241}  # the number of perf_event_open
_TIME, _SAMPLE_ID_ALL, _USE_CLOCKID = 1 << 2, 1 << 18, 1 << 25
_CLOCK_MONOTONIC = 1
_CLOSED_ON_EXEC = 8
_SET_OUTPUT = 0x2405
_SIZE, _AT_CLOCK = 128, 92
_AT_HEAD, _AT_TAIL = 1024, 1032


@dataclass(frozen=True)
class Event:
    """What is recorded, in the words of perf_event_open(2)."""

    kind: int
    config: int
    sampled: int  # fields of its records besides the time
    flags: int = 0
    period: int = 0  # 1: each one


class Ring:
    """What the kernel records of one CPU."""

    def __init__(self, cpu: int, events: Sequence[Event]) -> None:
        """Raises OSError where the kernel refuses."""
        self.cpu = cpu
        self._barrier = threading.Lock()
        self._files: list[int] = []
        page = mmap.PAGESIZE
        try:
            for event in events:
                self._files.append(_opened(cpu, event))
            self._shared = mmap.mmap(self._files[0], (1 + PAGES) * page)
            for other in self._files[1:]:
                fcntl.ioctl(other, _SET_OUTPUT, self._files[0])
        except OSError:
            self._close_files()
            raise
        self._begin, self._size = page, PAGES * page

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
        """Stops recording."""
        self._shared.close()
        self._close_files()

    def _close_files(self) -> None:
        for file in self._files:
            os.close(file)
        self._files = []

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


def lost(body: bytes) -> int:
    """How many records a LOST one stands for."""
    return int(struct.unpack_from("<QQ", body)[1])


def _opened(cpu: int, event: Event) -> int:
    """A file of an event on one CPU; raises OSError."""
    number = _CALL.get(platform.machine())
    if number is None:
        raise OSError(0, f"its number on {platform.machine()} is not known")
    about = bytearray(_SIZE)
    flags = event.flags | _SAMPLE_ID_ALL | _USE_CLOCKID
    fields = (event.kind, _SIZE, event.config, event.period, event.sampled | _TIME, 0, flags)
    struct.pack_into("<IIQQQQQ", about, 0, *fields)
    struct.pack_into("<i", about, _AT_CLOCK, _CLOCK_MONOTONIC)
    libc = ctypes.CDLL(None, use_errno=True)
    shared = (ctypes.c_char * _SIZE).from_buffer(about)
    file = int(libc.syscall(number, shared, -1, cpu, -1, _CLOSED_ON_EXEC))
    if file < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
    return file
