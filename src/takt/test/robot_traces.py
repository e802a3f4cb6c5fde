# SPDX-License-Identifier: Apache-2.0
"""Made-up traces of a robot that reads a scan and plans, for the tests of ``takt gate``."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import trace_files as make

from takt.judge.model import Judgement, Quantity, Verdict
from takt.schedule.trace.file import Type

MS = 1_000_000
READ, STEP = 0, 1
SCAN = 7
PERIOD, DEADLINE = 20 * MS, 10 * MS


def callbacks(*more: dict[str, Any]) -> list[dict[str, Any]]:
    """A sensor that writes a scan, and a plan that reads it; the plan's deadline is 10 ms."""
    sensor = {"node": "sensor", "period": PERIOD, "writes": ["scan"]}
    plan = {"node": "plan", "period": PERIOD, "deadline": DEADLINE}
    return [
        {"name": "sensor.read", "execution": {"worst": 2 * MS}, **sensor},
        {
            "name": "plan.step",
            "execution": {"worst": 3 * MS},
            "reads": [{"topic": "scan", "max_age": 40 * MS}],
            **plan,
        },
        *more,
    ]


def application(**keys: Any) -> bytes:
    topics = [{"name": "scan", "bytes": 512}]
    flat = {"version": 1, "name": "robot", "callbacks": callbacks(), "topics": topics, **keys}
    return make.name("attribute", 0, "application=" + json.dumps(flat))


def job(
    task: int, number: int, response: int, *, wait: int = 0, read: bool | None = True
) -> list[bytes]:
    """A job that starts after ``wait`` and executes until its response; the plan reads.

    ``read``: False: there is no data; None: not recorded.
    """
    release = number * PERIOD + task * 5 * MS
    deadline = release + (DEADLINE if task == STEP else PERIOD)
    records = [
        make.event(release, Type.release, task, number, deadline),
        make.event(release + wait, Type.start, task, number, 50),
    ]
    if task == READ:
        records.append(
            make.event(release + response, Type.publish, task, number, number, topic=SCAN)
        )
    elif read is not None:
        used = number if read else -1
        records.append(make.event(release + wait, Type.use, task, number, used, topic=SCAN))
    records.append(make.event(release + response, Type.end, task, number, response - wait))
    if release + response > deadline:
        late = make.event(release + response, Type.deadline_miss, task, number, deadline)
        records.append(late)
    return records


def recorded(
    folder: Path,
    plan: Sequence[list[bytes]],
    *,
    count: int = 50,
    more: Sequence[bytes] = (),
    lost: int = 0,
    keys: dict[str, Any] | None = None,
    head: bytes | None = None,
) -> Path:
    records = [
        make.name("task", READ, "sensor.read"),
        make.name("task", STEP, "plan.step"),
        make.name("topic", SCAN, "/scan"),
        make.name("attribute", 1, f"duration_ns={count * PERIOD}"),
        application(**(keys or {})),
    ]
    for number in range(count):
        records += job(READ, number, MS)
    for one in plan:
        records += one
    records += more
    return make.write(folder / "robot.takttrace", records, head or make.header(lost=lost))


def steps(count: int = 50, response: Callable[[int], int] = lambda _: 3 * MS) -> list[list[bytes]]:
    return [job(STEP, number, response(number)) for number in range(count)]


def of(verdict: Verdict, subject: str, quantity: Quantity) -> Judgement:
    (found,) = (
        one for one in verdict.judgements if one.subject == subject and one.quantity is quantity
    )
    return found


def stolen(number: int, piece: int) -> bytes:
    return make.event(number * PERIOD + 13 * MS, Type.stolen, value=piece)
