# SPDX-License-Identifier: Apache-2.0
"""Reads what takt record wrote: a file of each process, as events by time.

The layout is that of src/takt_record/src/recording.hpp; the file itself names its events. A process
that was killed leaves a file that ends anywhere: what was written whole counts.
"""

from __future__ import annotations

import heapq
import mmap
import operator
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from pathlib import Path

from takt.errors import TaktError, shortened
from takt.schedule.ros2 import control
from takt.schedule.ros2.event import Event, Value

SUFFIX = ".taktrecord"
PAUSE = "takt:pause"
MAGIC = b"TAKTREC2"
_HEADER = struct.Struct("<8sQQQqqiIQQ")
_HEAD = struct.Struct("<IHHqqII")
_START = struct.Struct("<IH")
_NUMBER = struct.Struct("<q")
_ADDRESS = struct.Struct("<Q")
_GID_BYTES = 16
_MOST_EVENT_BYTES = 1 << 16
_BLOCK_BYTES = 1 << 16  # of a ring, with its number
BLOCK_ROOM = _BLOCK_BYTES - 8
_NO_EVENT = 0xFFFF  # fills the end of a block
_UNFINISHED = 1 << 31  # of the size of an event that a thread was writing
# Threads take their place in the file before they take the time: so many events are sorted anew.
_WINDOW = 4096


@dataclass(frozen=True)
class Recording:
    """One process; times in ns."""

    file: Path
    process: int
    program: str  # its arguments, by spaces
    begin: int  # CLOCK_MONOTONIC
    realtime: int  # CLOCK_REALTIME at the same moment
    dropped: int  # events for which there was no space
    size: int  # bytes that were written
    first: int  # byte of the first event
    ring: int  # byte of its first block; 0: there is no ring
    ring_end: int  # bytes of events that the ring was given
    blocks: int  # of the ring
    kinds: list[tuple[str, list[tuple[str, str]]]]  # events: name, fields with their kinds

    @property
    def short_program(self) -> str:
        """``ros2 launch …`` is a script of an interpreter: the last part of the first word."""
        return self.program.split(" ", maxsplit=1)[0].rsplit("/", 1)[-1] or "process"


def is_recorded(path: Path) -> bool:
    """Whether this is a folder of takt record."""
    return path.is_dir() and any(path.glob(f"*{SUFFIX}"))


def recordings(folder: Path) -> list[Recording]:
    """The processes of a folder, by their begin; raises TaktError for a file that is none."""
    return sorted(map(read, begun(folder)), key=lambda one: one.begin)


def begun(folder: Path) -> list[Path]:
    """Its files but those that their processes are making, or were when they were killed."""
    return [one for one in sorted(folder.glob(f"*{SUFFIX}")) if _has_begun(one)]


def _has_begun(file: Path) -> bool:
    try:
        with file.open("rb") as stream:  # its magic number is written last
            return any(stream.read(len(MAGIC)))
    except OSError:
        return True  # whoever reads it says why it cannot be read


def read(file: Path) -> Recording:
    """What the begin of a recording says; raises TaktError for a file that is none."""
    try:
        with file.open("rb") as stream:
            head = stream.read(_HEADER.size)
            if len(head) < _HEADER.size:
                raise _damaged(file, "it has no header")
            magic, space, end, dropped, monotonic, realtime, process, text, ring, ring_end = (
                _HEADER.unpack(head)
            )
            if magic != MAGIC:
                raise _damaged(file, "it begins otherwise than a recording")
            there = file.stat().st_size
            if ring and not _HEADER.size + text <= ring <= space:
                raise _damaged(file, "its ring begins outside of it")
            blocks = (space - ring) // _BLOCK_BYTES if ring else 0
            used = ring + min(ring_end // BLOCK_ROOM + 2, blocks) * _BLOCK_BYTES
            size = min(used if ring else end, space, there)
            names = stream.read(text)
    except OSError as error:
        raise TaktError(f"cannot read the recording: {error.strerror}", where=str(file)) from None
    if len(names) < text:
        raise _damaged(file, "it ends within its names")
    lines, _, arguments = names.partition(b"\0")
    kinds = [_kind(file, line) for line in lines.decode("utf-8", "replace").splitlines()]
    program = arguments.rstrip(b"\0").replace(b"\0", b" ").decode("utf-8", "replace")
    first = _HEADER.size + text
    size = max(size, first)
    kept = (ring, ring_end, blocks)
    return Recording(
        file, process, program, monotonic, realtime, dropped, size, first, *kept, kinds
    )


def _kind(file: Path, line: str) -> tuple[str, list[tuple[str, str]]]:
    """The name of an event, and its fields with their kinds."""
    if not re.fullmatch(r"\w+( \w+=[pisg])*", line):
        raise _damaged(file, f"it names no event: {shortened(line, 60)!r}")
    name, *fields = line.split()
    return name, [(one[:-2], one[-1]) for one in fields]


def events(folder: Path) -> Iterator[Event]:
    """The events of all processes of a folder, by time; raises TaktError for a damaged file.

    An event PAUSE stands where the recording was paused.
    """
    streams = [_sorted(one) for one in recordings(folder)]
    ends = [end for _, end in control.stretches(folder) if end is not None]
    pauses = iter([Event(end, PAUSE, {}) for end in ends])
    return heapq.merge(*streams, pauses, key=lambda event: event.time)


def _sorted(recording: Recording) -> Iterator[Event]:
    heap: list[tuple[int, int, Event]] = []
    for number, event in enumerate(of(recording)):
        heapq.heappush(heap, (event.time, number, event))
        if len(heap) > _WINDOW:
            yield heapq.heappop(heap)[2]
    while heap:
        yield heapq.heappop(heap)[2]


def of(recording: Recording) -> Iterator[Event]:
    """The events of one process, in the order of the file."""
    with (
        recording.file.open("rb") as stream,
        mmap.mmap(stream.fileno(), recording.size, access=mmap.ACCESS_READ) as data,
    ):
        yield from _line(recording, data)
        if recording.ring:
            yield from _ring(recording, data)


def _line(recording: Recording, data: mmap.mmap) -> Iterator[Event]:
    """All events, or those before the ring."""
    at = recording.first
    end = min(recording.ring or recording.size, recording.size)
    while at + _HEAD.size <= end:
        size, event = _HEAD.unpack_from(data, at)[:2]
        if size == 0:  # a thread was about to write it when the process ended: find the next
            at += 8
            continue
        finished, size = not size & _UNFINISHED, size & ~_UNFINISHED
        if size % 8 or not _HEAD.size <= size <= _MOST_EVENT_BYTES:
            raise _damaged(recording.file, f"no event begins at byte {at}")
        if finished and event >= len(recording.kinds):
            raise _damaged(recording.file, f"it does not name event {event}")
        if at + size > end:
            return
        if finished:
            yield _event(recording, data, at)
        at += size


def _ring(recording: Recording, data: mmap.mmap) -> Iterator[Event]:
    """Block by block, the oldest first; an event whose check is wrong was written over."""
    last = recording.ring_end // BLOCK_ROOM
    for number in range(max(0, last - recording.blocks + 1), last + 1):
        begin = recording.ring + number % max(recording.blocks, 1) * _BLOCK_BYTES
        end = begin + _BLOCK_BYTES
        if end > recording.size or _ADDRESS.unpack_from(data, begin)[0] != number + 1:
            continue
        at = begin + 8
        while at + 8 <= end:
            size, event = _START.unpack_from(data, at)
            fits = size > 0 and size % 8 == 0 and at + size <= end
            if fits and event == _NO_EVENT:
                at += size
            elif (
                fits
                and size >= _HEAD.size
                and event < len(recording.kinds)
                and _is_whole(data[at : at + size], number * BLOCK_ROOM + at - begin - 8)
            ):
                yield _event(recording, data, at)
                at += size
            else:
                at += 8


def _is_whole(event: bytes, place: int) -> bool:
    """As check_of() in recording.cpp computes it."""
    words = memoryview(event).cast("Q")
    check = words[3] >> 32
    folded = reduce(operator.xor, words, place) ^ check << 32
    return (folded ^ folded >> 32) & 0xFFFFFFFF == check


def _event(recording: Recording, data: mmap.mmap, at: int) -> Event:
    size, event, core, time, cpu, thread, _ = _HEAD.unpack_from(data, at)
    name, kinds = recording.kinds[event]
    fields: dict[str, Value] = {"vpid": recording.process, "vtid": thread, "core": core}
    if cpu >= 0:
        fields["cpu_time"] = cpu
    fields |= _fields(data[at + _HEAD.size : at + size], kinds)
    return Event(time, f"ros2:{name}", fields)


def _fields(data: bytes, kinds: list[tuple[str, str]]) -> dict[str, Value]:
    """The arguments of an event; those that were cut off are left out."""
    found: dict[str, Value] = {}
    at = 0
    for name, kind in kinds:
        if at + 8 > len(data):
            break
        if kind == "g":
            found[name] = data[at : at + _GID_BYTES].hex()
            at += _GID_BYTES
            continue
        layout = _NUMBER if kind == "i" else _ADDRESS
        (value,) = layout.unpack_from(data, at)
        at += 8
        if kind == "s":
            found[name] = data[at : at + value].decode("utf-8", "replace")
            at += (value + 7) // 8 * 8
        else:
            found[name] = value
    return found


def _damaged(file: Path, what: str) -> TaktError:
    return TaktError(
        f"not a recording of takt record: {what}",
        where=str(file),
        fix="give the folder that takt record wrote",
    )
