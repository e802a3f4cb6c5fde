# SPDX-License-Identifier: Apache-2.0
"""Made-up runs on both sides of each limit: what is met, what fails, what stays undecided."""

from __future__ import annotations

from pathlib import Path

import pytest
import trace_files as make
from robot_traces import (
    DEADLINE,
    MS,
    PERIOD,
    SCAN,
    STEP,
    callbacks,
    job,
    of,
    recorded,
    steps,
    stolen,
)

from takt.errors import TaktError
from takt.judge.gate import judge as gate
from takt.judge.limits import Limits, read_limits
from takt.judge.model import Quantity
from takt.schedule.trace.file import NOT_WHOLE, Type
from takt.statistics.judgement import Outcome


def test_a_run_that_keeps_its_deadlines_meets(tmp_path: Path) -> None:
    verdict = gate(recorded(tmp_path, steps()), Limits())
    found = of(verdict, "plan.step", Quantity.response)
    assert verdict.outcome is Outcome.meets
    assert (found.exceeded, found.count, found.limit_us, found.worst_us) == (0, 50, 10_000, 3_000)


def test_a_slower_callback_fails_with_the_job_that_decides(tmp_path: Path) -> None:
    slower = steps(response=lambda number: 12 * MS if number == 7 else 3 * MS)
    verdict = gate(recorded(tmp_path, slower), Limits())
    found = of(verdict, "plan.step", Quantity.response)
    assert verdict.outcome is found.outcome is Outcome.fails
    (one,) = found.jobs
    assert (one.job, one.response_us, one.over_us) == (7, 12_000, 2_000)
    assert one.cause.startswith("executed")


def test_what_the_hypervisor_took_leaves_a_miss_undecided(tmp_path: Path) -> None:
    plan = steps()
    plan[7] = job(STEP, 7, 12 * MS, wait=9 * MS)
    verdict = gate(recorded(tmp_path, plan, more=[stolen(7, 9 * MS)]), Limits())
    found = of(verdict, "plan.step", Quantity.response)
    assert verdict.outcome is found.outcome is Outcome.undecided
    assert (found.exceeded, found.excused, found.jobs) == (1, 1, [])


def test_a_little_stolen_time_does_not_excuse_a_slow_job(tmp_path: Path) -> None:
    plan = steps()
    plan[7] = job(STEP, 7, 14 * MS, wait=MS)
    verdict = gate(recorded(tmp_path, plan, more=[stolen(7, MS)]), Limits())
    assert of(verdict, "plan.step", Quantity.response).outcome is Outcome.fails


def test_jobs_that_never_came_fail(tmp_path: Path) -> None:
    verdict = gate(recorded(tmp_path, steps(30)), Limits())
    found = of(verdict, "plan.step", Quantity.completeness)
    assert (found.outcome, found.reason) == (Outcome.fails, "30 of 50 expected releases")
    allowed = gate(recorded(tmp_path, steps(30)), Limits.model_validate({"absent": "60%"}))
    assert of(allowed, "plan.step", Quantity.completeness).outcome is Outcome.meets


def test_a_callback_that_is_not_in_the_trace_fails(tmp_path: Path) -> None:
    ghost = {"name": "ghost.run", "node": "ghost", "period": PERIOD, "execution": {"worst": MS}}
    keys = {"callbacks": callbacks(ghost)}
    verdict = gate(recorded(tmp_path, steps(), keys=keys), Limits())
    assert of(verdict, "ghost.run", Quantity.completeness).outcome is Outcome.fails


def test_a_reader_without_data_fails(tmp_path: Path) -> None:
    plan = [job(STEP, number, 3 * MS, read=False) for number in range(50)]
    verdict = gate(recorded(tmp_path, plan), Limits())
    found = of(verdict, "plan.step ← scan", Quantity.age)
    assert (found.outcome, found.reason) == (Outcome.fails, "it never had data")


def test_the_worst_age_counts_from_the_sampling_as_its_limit_does(tmp_path: Path) -> None:
    fresh = of(gate(recorded(tmp_path, steps()), Limits()), "plan.step ← scan", Quantity.age)
    assert (fresh.outcome, fresh.worst_us) == (Outcome.meets, None)  # of these nobody told
    old = [
        make.event(number * PERIOD, Type.age_violation, STEP, number, age, topic=SCAN)
        for number, age in ((4, 41 * MS), (9, 45 * MS), (12, -1))
    ]
    found = of(gate(recorded(tmp_path, steps(), more=old), Limits()), fresh.subject, Quantity.age)
    assert (found.exceeded, found.limit_us, found.worst_us) == (2, 40_000, 45_000)


CHAIN = {
    "chains": [{"name": "brake", "callbacks": ["sensor.read", "plan.step"], "max_latency": 9 * MS}]
}


def test_a_chain_is_judged_by_its_latency_and_fails_where_nothing_passes(tmp_path: Path) -> None:
    whole = gate(recorded(tmp_path, steps(), keys=CHAIN), Limits())
    assert of(whole, "brake", Quantity.latency).outcome is Outcome.meets
    slow = gate(recorded(tmp_path, steps(response=lambda _: 5 * MS), keys=CHAIN), Limits())
    assert of(slow, "brake", Quantity.latency).exceeded == 50
    plan = [job(STEP, number, 3 * MS, read=False) for number in range(50)]
    never = of(gate(recorded(tmp_path, plan, keys=CHAIN), Limits()), "brake", Quantity.latency)
    assert (never.outcome, never.reason) == (Outcome.fails, "no data passed the chain")


def test_absence_is_undecided_where_the_trace_does_not_record_uses(tmp_path: Path) -> None:
    plan = [job(STEP, number, 3 * MS, read=None) for number in range(50)]
    verdict = gate(recorded(tmp_path, plan, keys=CHAIN), Limits())
    for subject, quantity in (("brake", Quantity.latency), ("plan.step ← scan", Quantity.age)):
        found = of(verdict, subject, quantity)
        assert found.outcome is Outcome.undecided
        assert "does not record which messages were used" in found.reason
    assert verdict.outcome is Outcome.undecided


@pytest.mark.parametrize(
    ("head", "reason"),
    [
        (make.header(lost=3), "3 events are lost"),
        (make.header(flags=0), NOT_WHOLE),
        (make.header(records=9_999), NOT_WHOLE),
    ],
)
def test_a_trace_that_lacks_something_decides_nothing(
    tmp_path: Path, head: bytes, reason: str
) -> None:
    verdict = gate(recorded(tmp_path, steps(), head=head), Limits())
    found = of(verdict, "trace", Quantity.record)
    assert (verdict.outcome, found.outcome, found.reason) == (
        Outcome.undecided,
        Outcome.undecided,
        reason,
    )


def limits(folder: Path, text: str) -> Limits:
    file = folder / "robot.limits.yaml"
    file.write_text(text, encoding="utf-8")
    return read_limits(file)


@pytest.mark.parametrize(
    ("response", "late", "outcome"),
    [
        ("3ms", "0%", Outcome.meets),
        ("2999us", "0%", Outcome.fails),
        ("2ms", "100%", Outcome.meets),
        ("2ms", "50%", Outcome.fails),
        ("3ms", "10%", Outcome.meets),  # without an event of 50: below 5.8 %
        ("3ms", "1%", Outcome.undecided),
    ],
)
def test_limits_of_a_file(tmp_path: Path, response: str, late: str, outcome: Outcome) -> None:
    text = f"callbacks:\n  plan.step: {{response: {response}, late: {late}}}\n"
    verdict = gate(recorded(tmp_path, steps()), limits(tmp_path, text))
    found = of(verdict, "plan.step", Quantity.response)
    assert found.outcome is outcome
    assert (found.needed is not None) == (outcome is Outcome.undecided)


def test_a_job_that_never_ends_is_late(tmp_path: Path) -> None:
    plan = steps()
    plan[40] = plan[40][:-1]
    text = "callbacks:\n  plan.step: {response: 8ms}\n"
    trace = recorded(tmp_path, plan)
    assert of(gate(trace, Limits()), "plan.step", Quantity.response).exceeded == 1
    found = of(gate(trace, limits(tmp_path, text)), "plan.step", Quantity.response)
    assert (found.exceeded, found.outcome) == (1, Outcome.fails)


def test_skipped_releases_are_judged_where_the_file_says_so(tmp_path: Path) -> None:
    skip = make.event(20 * PERIOD, Type.skip, STEP, 20, 1)
    trace = recorded(tmp_path, steps(49), more=[skip])
    found = gate(trace, limits(tmp_path, "callbacks:\n  plan.step: {skipped: 0%}\n"))
    assert of(found, "plan.step", Quantity.skipped).outcome is Outcome.fails


def test_a_limit_for_a_name_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    text = "callbacks:\n  plan.stop: {response: 8ms}\n"
    with pytest.raises(TaktError, match=r"plan\.stop") as error:
        gate(recorded(tmp_path, steps()), limits(tmp_path, text))
    assert "plan.step" in str(error.value)
    text = "reads:\n  plan.step: {scam: {age: 8ms}}\n"
    with pytest.raises(TaktError, match="scam"):
        gate(recorded(tmp_path, steps()), limits(tmp_path, text))


def test_late_data_of_disturbed_jobs_is_undecided(tmp_path: Path) -> None:
    plan = steps()
    plan[7] = job(STEP, 7, 12 * MS, wait=9 * MS)
    chain = {"chains": [{**CHAIN["chains"][0], "max_latency": 12 * MS}]}
    more = [stolen(7, 9 * MS)]
    found = of(
        gate(recorded(tmp_path, plan, more=more, keys=chain), Limits()), "brake", Quantity.latency
    )
    assert (found.exceeded, found.outcome) == (1, Outcome.undecided)
    plan[7] = job(STEP, 7, 12 * MS)
    found = of(gate(recorded(tmp_path, plan, keys=chain), Limits()), "brake", Quantity.latency)
    assert (found.exceeded, found.outcome) == (1, Outcome.fails)


def test_a_callback_without_a_job_is_undecided_where_no_period_says_how_many(
    tmp_path: Path,
) -> None:
    waiting = {"name": "arm.move", "node": "arm", "kind": "message", "trigger": "scan"}
    arm = {**waiting, "deadline": DEADLINE, "execution": {"worst": MS}}
    more = [make.name("task", 2, "arm.move")]
    for active, outcome in ((True, Outcome.undecided), (False, Outcome.meets)):
        keys = {"callbacks": callbacks({**arm, "active": active})}
        verdict = gate(recorded(tmp_path, steps(), more=more, keys=keys), Limits())
        assert verdict.outcome is outcome
        names = [one.subject for one in verdict.of(Outcome.undecided)]
        assert names == (["arm.move"] if active else [])


def test_a_limit_of_the_file_excuses_what_other_programs_took(tmp_path: Path) -> None:
    """A job that had the core and did not execute: by the trace, not by a bound."""
    text = "callbacks:\n  plan.step: {response: 6ms}\n"
    waits = make.name("attribute", 9, "waits_from_ns=10000")
    plan = steps()
    plan[7] = job(STEP, 7, 8 * MS)
    start = 7 * PERIOD + 5 * MS
    for executed, outcome in ((3 * MS, Outcome.undecided), (8 * MS, Outcome.fails)):
        waited = make.event(start + 8 * MS, Type.wait, STEP, 7, 8 * MS - executed, detail=1)
        plan[7][-1] = make.event(start + 8 * MS, Type.end, STEP, 7, executed)
        more = [waits, *([waited] if executed < 8 * MS else [])]
        verdict = gate(recorded(tmp_path, plan, more=more), limits(tmp_path, text))
        found = of(verdict, "plan.step", Quantity.response)
        assert (found.outcome, found.exceeded) == (outcome, 1)
        assert [one.job for one in found.jobs] == ([7] if outcome is Outcome.fails else [])


def test_a_trace_without_a_record_of_other_programs_says_so(tmp_path: Path) -> None:
    remark = "does not record waits for a core"
    assert any(remark in one for one in gate(recorded(tmp_path, steps()), Limits()).remarks)
    waits = make.name("attribute", 9, "waits_from_ns=10000")
    verdict = gate(recorded(tmp_path, steps(), more=[waits]), Limits())
    assert not any(remark in one for one in verdict.remarks)


def test_the_programs_that_had_the_core_of_a_late_job_are_named(tmp_path: Path) -> None:
    plan = steps()
    plan[7] = job(STEP, 7, 12 * MS, wait=9 * MS)
    start = 7 * PERIOD + 5 * MS
    held = f"held=0 {start} {start + 9 * MS} 77 stress"
    texts = ["waits_from_ns=10000", "held_from_ns=10000", held]
    more = [make.name("attribute", 9 + at, text) for at, text in enumerate(texts)]
    verdict = gate(recorded(tmp_path, plan, more=more), Limits())
    assert verdict.outcome is Outcome.undecided
    named = "other programs had the cores of late jobs: stress (process 77) 9.000 ms"
    assert named in verdict.remarks
