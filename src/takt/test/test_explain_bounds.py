# SPDX-License-Identifier: Apache-2.0
"""Responses above their bound whose causes are known, because the traces are made by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import trace_files as make
from explained_traces import HIGH, LOW, MS, begin, end, explained, names

from takt.schedule.explain import Explanation, explain
from takt.schedule.explain.html import render
from takt.schedule.explain.model import ShareKind
from takt.schedule.trace.file import Type


def bounded(**more: Any) -> bytes:
    """Two callbacks of distinct priorities, whose bounds are 2 and 6 ms."""
    flat = {
        "version": 1,
        "name": "bounded",
        "policy": "fp",
        "callbacks": [
            {
                "name": name,
                "node": name,
                "period": period * MS,
                "priority": priority,
                "execution": {"worst": worst * MS},
            }
            for name, period, priority, worst in (("high", 10, 80, 2), ("low", 20, 10, 4))
        ],
        **more,
    }
    return make.name("attribute", 0, "application=" + json.dumps(flat))


def why(found: Explanation) -> tuple[ShareKind | None, dict[ShareKind, float]]:
    """Of the one response above its bound: its cause, and the ms that the bound does not know."""
    (late,) = [one for one in found.details if one.above]
    assert late.above is not None
    assert found.bounds is not None
    assert found.bounds.above == 1
    assert found.bounds.by_cause == ({} if late.above.cause is None else {late.above.cause: 1})
    return late.above.cause, {kind: us / 1000 for kind, us in late.above.unknown_us.items()}


def test_responses_within_their_bounds_are_counted_and_not_reported(tmp_path: Path) -> None:
    found = explained(
        tmp_path,
        bounded(),
        begin(HIGH, 0, 0, deadline=10 * MS),
        end(HIGH, 2 * MS, 2 * MS),
        begin(LOW, 0, 2 * MS, deadline=20 * MS),
        end(LOW, 6 * MS, 4 * MS),
    )
    assert found.bounds is not None
    assert (found.bounds.responses, found.bounds.above, found.details) == (2, 0, [])


def test_a_response_above_its_bound_is_attributed_to_stolen_time(tmp_path: Path) -> None:
    """Its thread was on the core all the while, and its clock stood still."""
    found = explained(
        tmp_path,
        bounded(),
        make.name("attribute", 0, "waits_from_ns=10000"),
        begin(LOW, 0, 0, deadline=20 * MS),
        end(LOW, 9 * MS, 4 * MS),
    )
    assert why(found) == (ShareKind.stolen, {ShareKind.stolen: 5})
    (late,) = found.details
    assert (late.missed, late.above and late.above.above_us) == (False, 3000)
    assert "CPU clock stood still" in late.shares[0].evidence
    assert "responded in 9.000 ms, 3.000 ms above its bound of 6.000 ms: stolen" in render(found)


@pytest.mark.parametrize(("sleeps", "waited"), [(1, 0), (0, 5 * MS)])
def test_time_that_the_thread_slept_or_the_kernel_took_is_not_stolen(
    tmp_path: Path, sleeps: int, waited: int
) -> None:
    found = explained(
        tmp_path,
        bounded(),
        make.name("attribute", 0, "waits_from_ns=10000"),
        begin(LOW, 0, 0, deadline=20 * MS),
        make.event(9 * MS, Type.wait, LOW, 0, waited, detail=1 + sleeps),
        end(LOW, 9 * MS, 4 * MS),
    )
    assert why(found) == (ShareKind.not_scheduled, {ShareKind.not_scheduled: 5})


def test_waiting_for_the_core_is_distinguished_from_a_late_wake_up(tmp_path: Path) -> None:
    found = explained(
        tmp_path,
        bounded(),
        make.name("attribute", 0, "waits_from_ns=10000"),
        make.event(0, Type.release, LOW, 0, 20 * MS),
        make.event(5 * MS, Type.start, LOW, 0, 10),
        make.event(5 * MS, Type.wait, LOW, 0, 3 * MS, detail=0),
        end(LOW, 9 * MS, 4 * MS),
    )
    assert why(found) == (ShareKind.not_scheduled, {ShareKind.not_scheduled: 3, ShareKind.late: 2})
    shares = {one.kind: one.us / 1000 for one in found.details[0].shares}
    assert shares == {ShareKind.executed: 4, ShareKind.not_scheduled: 3, ShareKind.late: 2}


def test_what_held_up_the_jobs_before_counts_too(tmp_path: Path) -> None:
    """Low is released when the theft is over, and yet late for it: high is not done."""
    found = explained(
        tmp_path,
        bounded(),
        make.name("attribute", 0, "waits_from_ns=10000"),
        begin(HIGH, 0, 0, deadline=10 * MS),
        end(HIGH, 6 * MS, 2 * MS),
        begin(LOW, 3 * MS, 6 * MS, deadline=23 * MS),
        begin(HIGH, 10 * MS, 10 * MS, number=1, deadline=20 * MS),
        end(HIGH, 10 * MS + 500_000, 500_000, number=1),
        end(LOW, 10 * MS + 500_000, 4 * MS),
    )
    causes = {one.callback: one.above.cause for one in found.details if one.above}
    assert causes == {"high": ShareKind.stolen, "low": ShareKind.stolen}
    assert found.details[1].above
    assert found.details[1].above.busy_since_us == -3000


def test_a_response_above_its_bound_without_any_reason_is_unexplained(tmp_path: Path) -> None:
    """As it would be if the analysis were wrong: high comes more often than it declares."""
    found = explained(
        tmp_path,
        bounded(),
        begin(HIGH, 0, 0, deadline=10 * MS),
        end(HIGH, 2 * MS, 2 * MS),
        begin(HIGH, 2 * MS, 2 * MS, number=1, deadline=12 * MS),
        end(HIGH, 4 * MS, 2 * MS, number=1),
        begin(LOW, 0, 4 * MS, deadline=20 * MS),
        end(LOW, 8 * MS, 4 * MS),
    )
    assert why(found) == (None, {})
    assert found.bounds is not None
    assert found.bounds.unexplained == 1


def test_overheads_belong_to_the_bound_where_they_are_declared(tmp_path: Path) -> None:
    records = [
        *names(),
        bounded(),
        *begin(LOW, 0, 100_000, deadline=20 * MS),
        end(LOW, 4 * MS + 200_000, 4 * MS),
        *begin(HIGH, 10 * MS, 10 * MS, deadline=20 * MS),
        end(HIGH, 12 * MS + 200_000, 2 * MS + 200_000),
    ]
    path = make.write(tmp_path / "t.takttrace", records)
    without, counted = explain(path), explain(path, {"dispatch": 300_000})
    assert without.bounds is not None
    assert counted.bounds is not None
    assert without.bounds.by_cause == {ShareKind.overran: 1}
    assert any("--overheads" in one for one in without.remarks)
    assert (counted.bounds.above, counted.bounds.overheads) == (0, True)


def test_baselines_have_no_bounds(tmp_path: Path) -> None:
    found = explained(
        tmp_path,
        bounded(),
        make.name("attribute", 0, "approach=baseline1"),
        begin(LOW, 0, 0, deadline=20 * MS),
        end(LOW, 19 * MS, 4 * MS),
    )
    assert found.bounds is None


def small(tmp_path: Path, overheads: dict[str, int] | None) -> Explanation:
    """High is released while low runs, woken 60 µs late, and takes 20 µs more than declared."""
    late, more = 60_000, 20_000
    records = [
        *names(),
        bounded(),
        make.name("attribute", 0, "policy=fp"),
        *begin(LOW, 9 * MS, 9 * MS, deadline=29 * MS),
        *begin(HIGH, 10 * MS, 10 * MS + late, deadline=20 * MS),
        end(HIGH, 12 * MS + late + more, 2 * MS + more),
        end(LOW, 14 * MS + more, 3 * MS),
    ]
    return explain(make.write(tmp_path / "t.takttrace", records), overheads)


def test_a_program_that_ran_until_a_thread_was_woken_is_no_overhead(
    tmp_path: Path,
) -> None:
    found = small(tmp_path, None)
    cause, unknown = why(found)
    assert (cause, unknown) == (ShareKind.overheads, {ShareKind.overheads: 0.08})
    assert any(
        "up to 0.080 ms of an excess" in one and "--overheads" in one for one in found.remarks
    )
    (late,) = found.details
    assert late.above
    assert late.above.jobs == 2


def test_with_overheads_that_are_too_small_their_kinds_are_reported(tmp_path: Path) -> None:
    cause, unknown = why(small(tmp_path, {"dispatch": 10_000}))
    assert cause is ShareKind.late
    assert set(unknown) == {ShareKind.late, ShareKind.overran}


def test_what_takes_long_is_no_overhead(tmp_path: Path) -> None:
    found = explained(
        tmp_path,
        bounded(),
        begin(HIGH, 0, MS, deadline=10 * MS),
        end(HIGH, 3 * MS + 20_000, 2 * MS + 20_000),
    )
    cause, unknown = why(found)
    assert (cause, unknown) == (ShareKind.late, {ShareKind.late: 1, ShareKind.overheads: 0.02})


def scenarios(*, switched: int) -> list[bytes]:
    change = {"task": "low", "expected_execution": 2 * MS}
    return [
        bounded(
            scenarios=[{"name": "full", "tasks": []}, {"name": "light", "tasks": [change]}],
            default_scenario="full",
            switches=[{"at": switched, "scenario": "light"}],
        ),
        make.name("scenario", 1, "light"),
        make.event(switched, Type.scenario, value=1),
    ]


@pytest.mark.parametrize(("switched", "overran"), [(0, 5), (15 * MS, 3)])
def test_a_job_may_take_what_the_scenario_of_its_release_declares(
    tmp_path: Path, switched: int, overran: int
) -> None:
    found = explained(
        tmp_path,
        scenarios(switched=switched),
        begin(LOW, 10 * MS, 10 * MS, deadline=30 * MS),
        end(LOW, 17 * MS, 7 * MS),
    )
    assert why(found) == (ShareKind.overran, {ShareKind.overran: overran})
    assert f"declared {7 - overran}000 µs" in found.details[0].shares[0].evidence


@pytest.mark.parametrize(("switched", "cause"), [(3 * MS, ShareKind.switched), (30 * MS, None)])
def test_a_bound_does_not_hold_where_its_busy_period_has_a_switch(
    tmp_path: Path, switched: int, cause: ShareKind | None
) -> None:
    """High comes more often than it declares."""
    found = explained(
        tmp_path,
        scenarios(switched=switched),
        begin(HIGH, 0, 0, deadline=10 * MS),
        end(HIGH, 2 * MS, 2 * MS),
        begin(HIGH, 2 * MS, 2 * MS, number=1, deadline=12 * MS),
        end(HIGH, 4 * MS, 2 * MS, number=1),
        begin(LOW, 0, 4 * MS, deadline=20 * MS),
        end(LOW, 8 * MS, 4 * MS),
    )
    assert why(found) == (cause, {})


def test_who_went_before_is_no_cause_where_the_deadline_is_guaranteed_with_it(
    tmp_path: Path,
) -> None:
    """Low waits for high's 2 ms, as its bound of 6 ms knows, and is woken 1 ms late."""
    found = explained(
        tmp_path,
        bounded(),
        begin(HIGH, 10 * MS, 11 * MS, deadline=20 * MS),
        end(HIGH, 13 * MS, 2 * MS),
        begin(LOW, 10 * MS, 13 * MS, deadline=16 * MS + MS // 2),
        end(LOW, 17 * MS, 4 * MS),
    )
    assert found.by_cause == {ShareKind.late: 1}
    (low,) = [one for one in found.details if one.callback == "low"]
    assert (low.cause, low.by, low.shares[1].kind) == (ShareKind.late, None, ShareKind.waited)


def test_lost_time_counts_whatever_the_analysis_says_of_a_loss_at_the_start(
    tmp_path: Path,
) -> None:
    """It goes by offsets, and knows of jobs as they are released from the start on."""
    flat = {
        "version": 1,
        "name": "idle",
        "policy": "cw-edf",
        "callbacks": [
            {
                "name": name,
                "node": name,
                "period": period * MS,
                "offset": offset * MS,
                "deadline": deadline * MS,
                "execution": {"worst": worst * MS},
            }
            for name, period, offset, deadline, worst in (
                ("high", 10, 9, 6, 1),
                ("low", 20, 19, 11, 1),
                ("other", 40, 0, 30, 7),
            )
        ],
    }
    found = explained(
        tmp_path,
        make.name("attribute", 0, "application=" + json.dumps(flat)),
        make.name("attribute", 0, "policy=cw-edf"),
        begin(HIGH, 9 * MS, 9 * MS + 40_000, deadline=15 * MS),
        end(HIGH, 10 * MS + 40_000, MS),
    )
    assert why(found) == (ShareKind.overheads, {ShareKind.overheads: 0.04})


SUPPLY = [{"cpu": 0, "supply": {"rate": 900_000_000, "delay": 4 * MS}}]


@pytest.mark.parametrize(
    ("ended", "above", "above_whole"), [(6, 0, 0), (9, 0, 1), (12, 0, 1), (13, 1, 1)]
)
def test_a_response_is_held_to_the_supply_of_its_core(
    tmp_path: Path, ended: int, above: int, above_whole: int
) -> None:
    """Its bound is 4 ms, and 8 ms of work at a rate of 0.9: 12.9 ms; on a whole core 6 ms."""
    found = explained(
        tmp_path,
        bounded(cores=SUPPLY),
        make.name("attribute", 0, "waits_from_ns=10000"),
        begin(LOW, 0, 0, deadline=20 * MS),
        end(LOW, ended * MS, 4 * MS),
    )
    (trace,) = tmp_path.glob("*.takttrace")
    whole = explain(trace, whole_cores=True)
    assert found.bounds is not None
    assert whole.bounds is not None
    assert (found.bounds.above, whole.bounds.above) == (above, above_whole)
    if above:  # what exceeded the supply is named
        assert found.bounds.by_cause == {ShareKind.stolen: 1}


def pipeline() -> bytes:
    """Low releases high, which preempts it."""
    flat = {
        "version": 1,
        "name": "pipeline",
        "policy": "fp",
        "callbacks": [
            {
                "name": "low",
                "node": "low",
                "period": 20 * MS,
                "priority": 10,
                "execution": {"worst": 4 * MS},
                "writes": ["scan"],
            },
            {
                "name": "high",
                "node": "high",
                "kind": "message",
                "trigger": "scan",
                "period": 20 * MS,
                "priority": 80,
                "execution": {"worst": 2 * MS},
            },
        ],
    }
    return make.name("attribute", 0, "application=" + json.dumps(flat))


def test_what_a_jobs_own_message_releases_is_part_of_its_bound(tmp_path: Path) -> None:
    """Low publishes after 4 ms, and high runs before low has ended: 6 ms is the bound of low."""
    found = explained(
        tmp_path,
        pipeline(),
        begin(LOW, 0, 0),
        begin(HIGH, 4 * MS, 4 * MS),
        end(HIGH, 6 * MS, 2 * MS),
        end(LOW, 6 * MS, 4 * MS),
    )
    assert found.bounds is not None
    assert found.bounds.above == 0
