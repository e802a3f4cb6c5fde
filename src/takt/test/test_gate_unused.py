# SPDX-License-Identifier: Apache-2.0
"""``takt gate`` tells why messages were never used: lost, overwritten, superseded, skipped."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import trace_files as make
from robot_traces import MS, PERIOD, READ, SCAN, STEP, job, of, recorded

from takt.judge.gate import judge as gate
from takt.judge.limits import Limits
from takt.judge.model import Quantity
from takt.schedule.trace.file import Type

COUNT = 50
JUDGED = COUNT - 1  # the last message may still be on its way
READS: dict[str, Any] = {"reads": [{"topic": "/scan"}]}
TRIGGERED: dict[str, Any] = {"kind": "message", "trigger": "/scan"}
LIMITS = Limits.model_validate({"reads": {"plan.step": {"scan": {"unused": "0%"}}}})


def settings(**keys: Any) -> bytes:
    """What Takt's executors record of each task."""
    return make.name("attribute", 2, "task=" + json.dumps({"name": "plan.step"} | keys))


def reader(number: int, delivered: int) -> list[bytes]:
    """A job that gets so many messages and uses the newest."""
    records = job(STEP, number, 3 * MS, read=True if delivered else None)
    time = number * PERIOD + 5 * MS
    deliver = make.event(time, Type.deliver, STEP, number, MS, topic=SCAN, detail=delivered)
    return [*records, *([deliver] if delivered else [])]


def more(per_job: int) -> list[bytes]:
    """Further messages before each job, older than the one that ``recorded`` publishes."""
    return [
        make.event(
            number * PERIOD + one, Type.publish, READ, number, 1000 * (1 + number) + one, topic=SCAN
        )
        for number in range(COUNT)
        for one in range(per_job)
    ]


def reason(folder: Path, plan: list[list[bytes]], *records: bytes, depth: int = 1) -> str:
    keys = {"topics": [{"name": "scan", "bytes": 512, "depth": depth}]}
    path = recorded(folder, plan, more=records, keys=keys)
    return of(gate(path, LIMITS), "plan.step ← scan", Quantity.unused).reason


def test_what_was_not_delivered_into_a_queue_with_room_was_lost(tmp_path: Path) -> None:
    plan = [reader(number, number % 5 != 0) for number in range(COUNT)]
    assert reason(tmp_path, plan, settings(**READS)) == (
        f"10 of {JUDGED} messages unused (10 lost on their way)"
    )


def test_what_did_not_fit_into_the_queue_was_overwritten(tmp_path: Path) -> None:
    plan = [reader(number, 1) for number in range(COUNT)]
    said = reason(tmp_path, plan, settings(**READS), *more(2))
    assert said.endswith(f"({2 * JUDGED} overwritten in its queue (depth 1))")


def test_what_was_delivered_and_not_used_came_with_a_newer_one(tmp_path: Path) -> None:
    plan = [reader(number, 3) for number in range(COUNT)]
    said = reason(tmp_path, plan, settings(**READS), *more(2), depth=3)
    assert said.endswith(f"({2 * JUDGED} delivered together with a newer one)")


def test_each_way_has_its_number(tmp_path: Path) -> None:
    """Of four a job, the queue holds three and two arrive."""
    plan = [reader(number, 2) for number in range(COUNT)]
    said = reason(tmp_path, plan, settings(**READS), *more(3), depth=3)
    assert said.endswith(
        f"({JUDGED} lost on their way, {JUDGED} overwritten in its queue (depth 3), "
        f"{JUDGED} delivered together with a newer one)"
    )


def released(number: int) -> list[bytes]:
    return job(STEP, number, 3 * MS)


def skipped(number: int) -> bytes:
    return make.event(number * PERIOD + 4 * MS, Type.skip, STEP, number, 1)


def test_lost_messages_are_distinguished_from_skipped_jobs(tmp_path: Path) -> None:
    plan = [released(number) for number in range(COUNT) if number % 5]
    every = [skipped(number) for number in range(COUNT) if number % 10 == 0]
    said = reason(tmp_path, plan, settings(**TRIGGERED), *every)
    assert said.endswith("(5 lost on their way, 5 skipped by the overrun policy)")


def test_a_release_whose_message_was_replaced_is_overwritten(tmp_path: Path) -> None:
    plan = [released(number) for number in range(COUNT)]
    said = reason(tmp_path, plan, settings(**TRIGGERED), *more(1))
    assert said.endswith(f"({JUDGED} lost on their way)")
    further = [
        make.event(number * PERIOD + 4 * MS, Type.release, STEP, COUNT + number, 10**12)
        for number in range(COUNT)
    ]
    said = reason(tmp_path, plan, settings(**TRIGGERED), *more(1), *further)
    assert said.endswith(f"({JUDGED} overwritten in its queue)")


@pytest.mark.parametrize("lacks", ["settings", "counts"])
def test_a_trace_that_does_not_record_arrivals_gives_no_reasons(tmp_path: Path, lacks: str) -> None:
    plan = [reader(number, 255 if lacks == "counts" else 1) for number in range(COUNT)]
    records = [settings(**READS)] if lacks == "counts" else []
    assert reason(tmp_path, plan, *records, *more(2)).endswith("messages unused")


def test_without_a_declared_depth_lost_and_overwritten_stay_together(tmp_path: Path) -> None:
    plan = [reader(number, number % 5 != 0) for number in range(COUNT)]
    path = recorded(tmp_path, plan, more=[settings(**READS)], keys={"topics": []})
    found = of(gate(path, LIMITS), "plan.step ← scan", Quantity.unused).reason
    assert found.endswith("(10 lost on their way or overwritten in its queue)")
