# SPDX-License-Identifier: Apache-2.0
"""Trace files made by hand, as docs/reference/trace.md describes them."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from pathlib import Path

from takt.schedule.trace.file import NO_DEADLINE, NONE, Type

KINDS = {"task": 1, "topic": 2, "scenario": 3, "attribute": 4}


def header(
    *,
    lost: int = 0,
    source: int = 1,
    flags: int = 1,
    records: int = 0,
    magic: bytes = b"TAKTTRC1",
) -> bytes:
    begin = struct.pack("<8sIIQqII8x", magic, 64, 32, lost, 1_000_000_007, source, flags)
    return begin + struct.pack("<Q8x", records)


def event(
    time: int,
    type_: Type | int,
    task: int = NONE,
    job: int = 0,
    value: int = 0,
    core: int = 0,
    topic: int = NONE,
    detail: int = 0,
) -> bytes:
    return struct.pack("<qQqHHHBB", time, job, value, task, topic, core, type_, detail)


def name(kind: str, number: int, text: str) -> bytes:
    raw = text.encode()
    pieces = [raw[at : at + 24] for at in range(0, len(raw), 24)] or [b""]
    return b"".join(
        struct.pack("<24sHHHBB", piece, number, KINDS[kind], part, 1, len(piece))
        for part, piece in enumerate(pieces)
    )


def write(path: Path, records: Iterable[bytes], head: bytes | None = None) -> Path:
    path.write_bytes((header() if head is None else head) + b"".join(records))
    return path


def two_tasks() -> list[bytes]:
    """A low task that is preempted once, and a high one whose second job misses its deadline.

    low:   0 [10 … 20) (45 … 70]      high: [20 … 45], [100 … 131]
    """
    return [
        name("attribute", 0, "policy.default=fp"),
        name("task", 0, "planner.low_with_a_name_that_needs_two_records"),
        name("task", 1, "guard.brake"),
        name("topic", 3, "/scan"),
        name("scenario", 1, "docking"),
        event(0, Type.release, task=0, value=200_000),
        event(10_000, Type.start, task=0, value=10),
        event(70_000, Type.end, task=0, value=-1),
        event(20_000, Type.release, task=1, value=50_000),
        event(20_000, Type.start, task=1, value=80),
        event(21_000, Type.deliver, task=1, topic=3, value=4_000, detail=2),
        event(45_000, Type.end, task=1, value=24_000),
        event(90_000, Type.scenario, value=1),
        event(100_000, Type.release, task=1, job=1, value=130_000),
        event(100_500, Type.start, task=1, job=1, value=80),
        event(131_000, Type.end, task=1, job=1, value=-1),
        event(131_000, Type.deadline_miss, task=1, job=1, value=130_000),
        event(110_000, Type.skip, task=0, job=1, value=3),
    ]


def periodic(count: int) -> list[bytes]:
    """One task with so many jobs."""
    records = [name("task", 0, "one")]
    for job in range(count):
        begin = job * 1_000_000
        records += [
            event(begin, Type.release, task=0, job=job, value=NO_DEADLINE),
            event(begin + 1000 + job, Type.start, task=0, job=job, value=50),
            event(begin + 2000 + job, Type.end, task=0, job=job, value=-1),
        ]
    return records
