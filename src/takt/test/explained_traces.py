# SPDX-License-Identifier: Apache-2.0
"""Traces made by hand of three callbacks, low, high and other, and what is explained of them."""

from __future__ import annotations

import json
from pathlib import Path

import trace_files as make

from takt.schedule.explain import Explanation, explain
from takt.schedule.trace.file import NO_DEADLINE, Type

MS = 1_000_000
LOW, HIGH, OTHER = 0, 1, 2
SCAN = 7


def names() -> list[bytes]:
    return [
        make.name("task", LOW, "low"),
        make.name("task", HIGH, "high"),
        make.name("task", OTHER, "other"),
        make.name("topic", SCAN, "/scan"),
    ]


def application(policy: str = "fp", group: str = "", worst: int = 5 * MS) -> bytes:
    flat = {
        "version": 1,
        "name": "late",
        "policy": policy,
        "callbacks": [
            {
                "name": name,
                "node": name,
                "priority": priority,
                "execution": {"worst": worst},
                "group": group,
                "reads": [{"topic": "scan"}],
            }
            for name, priority in (("low", 10), ("high", 80), ("other", 50))
        ],
    }
    return make.name("attribute", 0, "application=" + json.dumps(flat))


def begin(
    task: int, release: int, start: int, *, deadline: int = NO_DEADLINE, number: int = 0
) -> list[bytes]:
    priority = {LOW: 10, HIGH: 80, OTHER: 50}[task]
    return [
        make.event(release, Type.release, task, number, deadline),
        make.event(start, Type.start, task, number, priority),
    ]


def end(task: int, at: int, cpu: int = -1, number: int = 0) -> bytes:
    return make.event(at, Type.end, task, number, cpu)


def explained(path: Path, *records: bytes | list[bytes]) -> Explanation:
    flat = [each for one in records for each in (one if isinstance(one, list) else [one])]
    return explain(make.write(path / "made.takttrace", [*names(), *flat]))
