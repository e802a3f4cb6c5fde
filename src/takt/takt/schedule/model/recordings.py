# SPDX-License-Identifier: Apache-2.0
"""Reads what takt record wrote: a file of each process, as events by time.

The layout is that of src/takt_record/src/recording.hpp; the file itself names its events. A process
that was killed leaves a file that ends anywhere: what was written whole counts.
"""

from __future__ import annotations

import heapq
import mmap
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from takt.errors import TaktError, shortened
from takt.schedule.model.event import Event, Value

SUFFIX = ".taktrecord"
MAGIC = b"TAKTREC1"
_HEADER = struct.Struct("<8sQQQqqiI")
_HEAD = struct.Struct("<IHHqqII")
_NUMBER = struct.Struct("<q")
_ADDRESS = struct.Struct("<Q")
_GID_BYTES = 16
_MOST_EVENT_BYTES = 1 << 16
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
    kinds: list[tuple[str, list[tuple[str, str]]]]  # events: name, fields with their kinds


def is_recorded(path: Path) -> bool:
    """Whether this is a folder of takt record."""
    return path.is_dir() and any(path.glob(f"*{SUFFIX}"))


def recordings(folder: Path) -> list[Recording]:
    """The processes of a folder, by their begin; raises TaktError for a file that is none."""
    found = [read(file) for file in sorted(folder.glob(f"*{SUFFIX}"))]
    return sorted(found, key=lambda one: one.begin)


def read(file: Path) -> Recording:
    """What the begin of a recording says; raises TaktError for a file that is none."""
    try:
        with file.open("rb") as stream:
            head = stream.read(_HEADER.size)
            if len(head) < _HEADER.size:
                raise _damaged(file, "it has no header")
            magic, space, end, dropped, monotonic, realtime, process, text = _HEADER.unpack(head)
            if magic != MAGIC:
                raise _damaged(file, "it begins otherwise than a recording")
            size = min(end, space, file.stat().st_size)
            names = stream.read(text)
    except OSError as error:
        raise TaktError(f"cannot read the recording: {error.strerror}", where=str(file)) from None
    if len(names) < text:
        raise _damaged(file, "it ends within its names")
    lines, _, arguments = names.partition(b"\0")
    kinds = [_kind(file, line) for line in lines.decode("utf-8", "replace").splitlines()]
    program = arguments.rstrip(b"\0").replace(b"\0", b" ").decode("utf-8", "replace")
    first = _HEADER.size + text
    return Recording(
        file, process, program, monotonic, realtime, dropped, max(size, first), first, kinds
    )


def _kind(file: Path, line: str) -> tuple[str, list[tuple[str, str]]]:
    """The name of an event, and its fields with their kinds."""
    if not re.fullmatch(r"\w+( \w+=[pisg])*", line):
        raise _damaged(file, f"it names no event: {shortened(line, 60)!r}")
    name, *fields = line.split()
    return name, [(one[:-2], one[-1]) for one in fields]


def events(folder: Path) -> Iterator[Event]:
    """The events of all processes of a folder, by time; raises TaktError for a damaged file."""
    streams = [_sorted(one) for one in recordings(folder)]
    return heapq.merge(*streams, key=lambda event: event.time)


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
        at = recording.first
        while at + _HEAD.size <= recording.size:
            size, event, core, time, cpu, thread, _ = _HEAD.unpack_from(data, at)
            if size == 0:  # a thread was about to write it when the process ended: find the next
                at += 8
                continue
            if size % 8 or not _HEAD.size <= size <= _MOST_EVENT_BYTES:
                raise _damaged(recording.file, f"no event begins at byte {at}")
            if event >= len(recording.kinds):
                raise _damaged(recording.file, f"it does not name event {event}")
            if at + size > recording.size:
                return
            name, kinds = recording.kinds[event]
            fields: dict[str, Value] = {"vpid": recording.process, "vtid": thread, "core": core}
            if cpu >= 0:
                fields["cpu_time"] = cpu
            fields |= _fields(data[at + _HEAD.size : at + size], kinds)
            yield Event(time, f"ros2:{name}", fields)
            at += size


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
