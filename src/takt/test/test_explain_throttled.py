# SPDX-License-Identifier: Apache-2.0
"""Processes that a reservation or a quota throttles are told from those that others preempt."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import trace_files as make
from explained_traces import HIGH, LOW, MS, begin, end, explained

from takt.schedule.application.file import read_application
from takt.schedule.application.flat import flat
from takt.schedule.explain import Explanation, explain
from takt.schedule.explain.model import ShareKind
from takt.schedule.explain.show import sentence
from takt.schedule.simulation.simulate import simulate
from takt.schedule.trace.file import Type

EXAMPLE = Path(__file__).parents[3] / "examples" / "reservations.app.yaml"
RESERVATION = {"runtime": 4 * MS, "deadline": 10 * MS, "period": 10 * MS}
WAITS = make.name("attribute", 0, "waits_from_ns=10000")


def robot(scheduling: dict[str, Any]) -> bytes:
    """Low is alone in a process that is scheduled like that, high in one with a priority."""
    processes = [
        {"name": "budgeted", "policy": "np-fp", "cpu": 0, **scheduling},
        {"name": "other", "policy": "fp", "cpu": 0, "priority": 50},
    ]
    callbacks = [
        {
            "name": name,
            "node": name,
            "process": process,
            "period": 50 * MS,
            "priority": priority,
            "execution": {"worst": worst * MS},
        }
        for name, process, priority, worst in (
            ("low", "budgeted", 10, 5),
            ("high", "other", 80, 2),
        )
    ]
    text = json.dumps(
        {"version": 1, "name": "robot", "processes": processes, "callbacks": callbacks}
    )
    return make.name("attribute", 0, "application=" + text)


def waited(at: int, ns: int, task: int = LOW) -> bytes:
    return make.event(at, Type.wait, task, 0, ns, detail=1)


def of_low(
    tmp_path: Path, scheduling: dict[str, Any], cpu: int, wait: int, *more: bytes
) -> tuple[Explanation, dict[ShareKind, float], str]:
    """A job of low that computes and waits for so many ms: its shares in ms, and the evidence."""
    found = explained(
        tmp_path,
        robot(scheduling),
        WAITS,
        *more,
        begin(LOW, 0, 0, deadline=MS),
        waited((cpu + wait) * MS, wait * MS),
        end(LOW, (cpu + wait) * MS, cpu * MS),
    )
    (late,) = [one for one in found.details if one.callback == "low"]
    shares = {one.kind: one.us / 1000 for one in late.shares}
    kinds = {ShareKind.throttled, ShareKind.not_scheduled}
    return found, shares, " ".join(one.evidence for one in late.shares if one.kind in kinds)


def test_it_is_throttled_when_its_budget_is_used_up(tmp_path: Path) -> None:
    found, shares, evidence = of_low(tmp_path, {"reservation": RESERVATION}, cpu=5, wait=6)
    assert shares == {ShareKind.executed: 5, ShareKind.throttled: 6}
    assert found.by_cause == {ShareKind.throttled: 1}
    assert "throttled, its budget was used up" in sentence(found.details[0])
    assert "process budgeted has a reservation of 4ms in every 10ms, and computed for 5.0" in (
        evidence
    )


def test_a_quota_throttles_as_well(tmp_path: Path) -> None:
    quota = {"nice": 5, "quota": {"budget": 4 * MS, "period": 10 * MS}}
    _, shares, evidence = of_low(tmp_path, quota, cpu=4, wait=6)
    assert shares == {ShareKind.executed: 4, ShareKind.throttled: 6}
    assert "quota (nice 5, cpu_max 4ms 10ms)" in evidence


def test_no_longer_than_the_kernel_counted(tmp_path: Path) -> None:
    quota = {"nice": 5, "quota": {"budget": 4 * MS, "period": 10 * MS}}
    counted = make.name("attribute", 0, f"quota={2 * MS} 1 7 budgeted")
    _, shares, evidence = of_low(tmp_path, quota, 4, 6, counted)
    assert (shares[ShareKind.throttled], shares[ShareKind.not_scheduled]) == (2, 4)
    assert "was throttled in 1 of 7 periods of its quota, for 2.0 ms together" in evidence
    counted = make.name("attribute", 0, "quota=0 0 7 budgeted")
    _, shares, evidence = of_low(tmp_path, quota, 4, 6, counted)
    assert shares == {ShareKind.executed: 4, ShareKind.not_scheduled: 6}
    assert "process budgeted was never throttled (7 periods of its quota)" in evidence


def test_no_longer_than_until_the_next_period(tmp_path: Path) -> None:
    _, shares, evidence = of_low(tmp_path, {"reservation": RESERVATION}, cpu=4, wait=9)
    assert shares[ShareKind.throttled] == 6
    assert shares[ShareKind.not_scheduled] == 3
    assert "throttled for at most 6.000 ms" in evidence


def test_who_has_budget_left_was_not_throttled(tmp_path: Path) -> None:
    _, shares, evidence = of_low(tmp_path, {"reservation": RESERVATION}, cpu=3, wait=6)
    assert shares == {ShareKind.executed: 3, ShareKind.not_scheduled: 6}
    assert "computed for 3.000 ms" in evidence
    assert "so it was not throttled" in evidence


def test_what_its_thread_computed_between_its_jobs_is_of_its_budget(tmp_path: Path) -> None:
    between = make.event(0, Type.dispatch, LOW, 0, MS)
    _, shares, _ = of_low(tmp_path, {"reservation": RESERVATION}, 3, 6, between)
    assert shares == {ShareKind.executed: 3, ShareKind.throttled: 6}


def test_a_budget_that_may_have_been_cut_is_said(tmp_path: Path) -> None:
    early = {**RESERVATION, "deadline": 8 * MS}
    _, shares, evidence = of_low(tmp_path, {"reservation": early}, cpu=3, wait=6)
    assert ShareKind.throttled not in shares
    assert "the kernel may have cut it when the process woke up" in evidence


def test_a_reservation_that_was_refused_throttles_nobody(tmp_path: Path) -> None:
    refused = "not_granted=process 'budgeted' under SCHED_DEADLINE (4 ms in every 10 ms): EPERM"
    more = make.name("attribute", 0, refused)
    _, shares, _ = of_low(tmp_path, {"reservation": RESERVATION}, 5, 6, more)
    assert shares == {ShareKind.executed: 5, ShareKind.not_scheduled: 6}


def test_the_bound_knows_of_throttling(tmp_path: Path) -> None:
    """Of the 15 ms for which it waited, 12 are those of two budgets that were used up."""
    found, _, _ = of_low(tmp_path, {"reservation": RESERVATION}, cpu=9, wait=15)
    (low,) = [one for one in found.details if one.above]
    assert low.above is not None
    assert low.above.unknown_us == {ShareKind.overran: 4000, ShareKind.not_scheduled: 3000}
    assert low.above.cause is ShareKind.overran


def test_between_processes_no_priorities_of_callbacks_count(tmp_path: Path) -> None:
    """High has the priority 80 within its process, and this one goes after the reservation."""
    found = explained(
        tmp_path,
        robot({"reservation": RESERVATION}),
        begin(HIGH, 0, 0),
        begin(LOW, 0, 2 * MS, deadline=MS),
        end(HIGH, 2 * MS, 2 * MS),
        end(LOW, 7 * MS, 5 * MS),
    )
    kinds = {one.kind: one.us / 1000 for one in found.details[0].shares}
    assert kinds == {ShareKind.executed: 5, ShareKind.throttled: 2}
    found = explained(
        tmp_path,
        robot({"priority": 90}),
        begin(HIGH, 0, 0),
        begin(LOW, 0, 2 * MS, deadline=MS),
        end(HIGH, 2 * MS, 2 * MS),
        end(LOW, 7 * MS, 5 * MS),
    )
    kinds = {one.kind: one.us / 1000 for one in found.details[0].shares}
    assert kinds == {ShareKind.executed: 5, ShareKind.late: 2}


FLUSH = "wcet: 5ms, priority: 10"


@pytest.mark.parametrize(
    ("late", "changes"),
    [
        ("detector.detect", [("wcet: 4500us, deadline: 40ms", "wcet: 4500us, deadline: 8ms")]),
        (
            "log.flush",
            [("nice: 5", "nice: 5, cpu_max: 2ms 10ms"), (FLUSH, f"deadline: 11ms, {FLUSH}")],
        ),
    ],
)
def test_simulated_misses_of_a_budget_are_throttled(
    tmp_path: Path, late: str, changes: list[tuple[str, str]]
) -> None:
    text = EXAMPLE.read_text(encoding="utf-8")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    file, trace = tmp_path / "robot.app.yaml", tmp_path / "robot.takttrace"
    file.write_text(text, encoding="utf-8")
    simulate(flat(read_application(file)), where="", duration=400 * MS, trace=trace)
    found = explain(trace)
    (of,) = found.callbacks
    assert (of.callback, set(of.by_cause)) == (late, {ShareKind.throttled})
    if late == "detector.detect":
        shares = {(share.kind, share.us) for one in found.details for share in one.shares}
        assert shares == {(ShareKind.executed, 4500), (ShareKind.throttled, 6000)}


@pytest.mark.parametrize(
    ("scheduling", "limited"),
    [({"priority": 40}, True), ({"nice": 0}, False), ({"reservation": RESERVATION}, False)],
)
def test_the_limit_of_real_time_threads_is_named_where_it_counts(
    tmp_path: Path, scheduling: dict[str, Any], limited: bool
) -> None:
    found = explained(
        tmp_path,
        robot(scheduling),
        make.name("attribute", 0, "rt_share=950 of 1000 ms"),
        begin(LOW, 0, 0, deadline=5 * MS),
        end(LOW, 60 * MS, 5 * MS),
    )
    (miss,) = found.details
    evidence = " ".join(share.evidence for share in miss.shares)
    assert ("950 of 1000 ms" in evidence) == limited, evidence
