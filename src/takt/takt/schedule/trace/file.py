# SPDX-License-Identifier: Apache-2.0
"""Trace files (docs/reference/trace.md): their header, names, and events by time.

The writer may have been killed at any moment, so a file that ends anywhere is read as far as it is
whole. A trace of hours is larger than memory: events come in blocks.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from takt.documents.reading import opened
from takt.errors import TaktError

MAGIC = b"TAKTTRC1"
HEADER_BYTES = 64
NONE = 0xFFFF  # no task, topic or core
NO_DEADLINE = 2**63 - 1
RECORD = np.dtype(
    [
        ("time", "<i8"),
        ("job", "<u8"),
        ("value", "<i8"),
        ("task", "<u2"),
        ("topic", "<u2"),
        ("core", "<u2"),
        ("type", "u1"),
        ("detail", "u1"),
    ]
)
_HEADER = struct.Struct("<8sIIQqIIi")
_CLOSED_IN_ORDER = 1
_TEXT_BYTES = 24
_BLOCK = 1 << 16  # records looked at together

Events = NDArray[np.void]


class Type(IntEnum):
    """What happened; what the fields of its event mean is said in the reference."""

    piece_of_name = 1
    release = 2
    skip = 3
    start = 4
    preempt = 5
    resume = 6
    end = 7
    deadline_miss = 8
    deliver = 9
    age_violation = 10
    budget_overrun = 11
    early_release = 12
    scenario = 13
    overflow = 14
    publish = 15
    use = 16
    stolen = 17
    dispatch = 18
    wait = 19


class Event(NamedTuple):
    """One record that is not a name; times in ns."""

    time: int
    job: int
    value: int
    task: int
    topic: int
    core: int
    type: int
    detail: int


@dataclass
class Names:
    """What the numbers in the events stand for; a number without a name is shown as it is."""

    tasks: dict[int, str] = field(default_factory=dict)
    topics: dict[int, str] = field(default_factory=dict)
    scenarios: dict[int, str] = field(default_factory=dict)
    attributes: list[str] = field(default_factory=list)  # "key=value"

    def task(self, number: int) -> str:
        """The name of a task."""
        return self.tasks.get(number, f"task {number}")

    def topic(self, number: int) -> str:
        """The name of a topic."""
        return self.topics.get(number, f"topic {number}")

    def scenario(self, number: int) -> str:
        """The name of a scenario."""
        return self.scenarios.get(number, f"scenario {number}")

    def values(self, key: str) -> list[str]:
        """The attributes of one key."""
        return [one.partition("=")[2] for one in self.attributes if one.startswith(f"{key}=")]


@dataclass(frozen=True)
class Trace:
    """A trace file; ``blocks`` maps it, so read it only while it exists."""

    path: Path
    source: str  # "executor" or "simulator"
    closed_in_order: bool
    lost: int  # events that the file lacks, as far as the writer could tell
    write_error: int  # errno of the first write that failed; 0: none did
    realtime_offset_ns: int
    names: Names
    unknown: int  # records of a type that this version does not know; they are left out
    events: int
    _records: Events
    _earliest: NDArray[np.int64]  # of all events from each block on

    def blocks(self) -> Iterator[Events]:
        """All events by time; those of one time in the order of the file.

        Threads write one after the other what happened at the same time, and a release stands with
        its intended time: an event waits here until no later block has an earlier one.
        """
        waiting = self._records[:0]
        for number, block in enumerate(_split(self._records)):
            waiting = np.concatenate([waiting, block[_known(block)]])
            waiting = waiting[np.argsort(waiting["time"], kind="stable")]
            ready = int(np.searchsorted(waiting["time"], self._earliest[number + 1], side="right"))
            if ready:
                yield waiting[:ready]
                waiting = waiting[ready:]


def read(path: Path) -> Trace:
    """Opens a trace; raises TaktError, with the reason, for what is none."""
    try:
        with opened(path) as file:
            head = file.read(HEADER_BYTES)
            size = file.seek(0, 2)
    except FileNotFoundError as error:
        raise TaktError(f"the trace cannot be read: {error.strerror}", where=str(path)) from None
    header_bytes, lost, offset, source, flags, write_error = _header(head, path)
    count = max(0, size - header_bytes) // RECORD.itemsize
    records: Events = np.empty(0, RECORD)
    if count:
        records = np.memmap(path, RECORD, mode="r", offset=header_bytes, shape=(count,))
    names, unknown, events, overflowed = Names(), 0, 0, 0
    earliest = []
    for block in _split(records):
        for row in block[block["type"] == Type.piece_of_name]:
            _add(names, row)
        known = block[_known(block)]
        events += len(known)
        unknown += int(np.count_nonzero(block["type"] != Type.piece_of_name)) - len(known)
        overflowed += int(known["value"][known["type"] == Type.overflow].sum())
        earliest.append(int(known["time"].min()) if len(known) else NO_DEADLINE)
    earliest.append(NO_DEADLINE)
    return Trace(
        path=path,
        source={1: "executor", 2: "simulator"}.get(source, f"source {source}"),
        closed_in_order=bool(flags & _CLOSED_IN_ORDER),
        lost=max(lost, overflowed),
        write_error=write_error,
        realtime_offset_ns=offset,
        names=names,
        unknown=unknown,
        events=events,
        _records=records,
        _earliest=np.minimum.accumulate(np.array(earliest, np.int64)[::-1])[::-1],
    )


def is_trace(path: Path) -> bool:
    """Whether the file begins as a trace does."""
    try:
        with opened(path) as file:
            return file.read(len(MAGIC)) == MAGIC
    except (OSError, TaktError):
        return False


def _header(head: bytes, path: Path) -> tuple[int, int, int, int, int, int]:
    where = str(path)
    if head[: len(MAGIC) - 1] != MAGIC[:-1]:
        raise TaktError(
            "this is no trace: it does not begin with TAKTTRC",
            where=where,
            remedy="give the file that Options::trace of the executor names",
        )
    if head[: len(MAGIC)] != MAGIC:
        raise TaktError(
            f"this is a trace of version {head[7:8].decode('latin1')}, this Takt reads version 1",
            where=where,
            remedy="read it with the Takt that wrote it",
        )
    if len(head) < HEADER_BYTES:
        raise TaktError(
            f"the trace ends within its header: {len(head)} of {HEADER_BYTES} bytes", where=where
        )
    _, header_bytes, record_bytes, lost, offset, source, flags, failed = _HEADER.unpack_from(head)
    if header_bytes < HEADER_BYTES or record_bytes != RECORD.itemsize:
        raise TaktError(
            f"the header of the trace is damaged: it tells of a header of {header_bytes} bytes "
            f"and of records of {record_bytes}",
            where=where,
        )
    return header_bytes, lost, offset, source, flags, failed


def _split(records: Events) -> Iterator[Events]:
    for first in range(0, len(records), _BLOCK):
        yield records[first : first + _BLOCK]


def _known(block: Events) -> NDArray[np.bool_]:
    types = block["type"]
    known: NDArray[np.bool_] = (types > Type.piece_of_name) & (types <= max(Type))
    return known


def _add(names: Names, row: np.void) -> None:
    """Takes up a piece of a name: id, kind and part lie where task, topic and core are."""
    count = min(int(row["detail"]), _TEXT_BYTES)
    text = row.tobytes()[:count].decode("utf-8", "replace")
    number, kind, part = int(row["task"]), int(row["topic"]), int(row["core"])
    if kind == 4:
        if part == 0 or not names.attributes:
            names.attributes.append(text)
        else:
            names.attributes[-1] += text
        return
    table = {1: names.tasks, 2: names.topics, 3: names.scenarios}.get(kind)
    if table is not None:  # later versions may name more
        table[number] = text if part == 0 else table.get(number, "") + text
