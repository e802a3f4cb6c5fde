# SPDX-License-Identifier: Apache-2.0
"""The verdict is honest: what it says follows from the samples, and worse samples never help."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from synthetic_cells import synthetic_run

from takt.doctor.finding import Finding, Severity
from takt.measure.check.verdict import RANKS, assess, judge
from takt.measure.results.model import (
    Cell,
    Exceedance,
    Note,
    Percentiles,
    ProbeResult,
    Run,
    Statistics,
    Status,
)

LOOP_RATES_HZ = (10, 20, 50, 100, 200, 250, 500, 1000, 2000, 4000, 10_000)
LOST = None

Response = float | None  # µs; None is a lost message


def exceedance(responses: Sequence[float], limit_us: float) -> Exceedance:
    exceeded = sum(response > limit_us for response in responses)
    return Exceedance(
        deadline_us=limit_us,
        exceeded=exceeded,
        count=len(responses),
        probability=exceeded / len(responses),
        upper_bound=1.0,
        confidence=0.95,
    )


def percentiles(responses: Sequence[float]) -> Percentiles:
    ordered = sorted(responses)

    def at(share: float) -> float:
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))]

    return Percentiles(
        count=len(ordered),
        min_us=ordered[0],
        mean_us=sum(ordered) / len(ordered),
        stddev_us=0.0,
        p50_us=at(0.5),
        p90_us=at(0.9),
        p99_us=at(0.99),
        p999_us=at(0.999),
        p9999_us=at(0.9999),
        p99999_us=at(0.99999),
        max_us=ordered[-1],
    )


def cell(responses: Sequence[Response], repetition: int = 0, **changes: Any) -> Cell:
    """A real-time wake-up cell with these responses."""
    received = [response for response in responses if response is not None]
    cell_judged = Cell(
        id=f"point-r{repetition}",
        key="point",
        repetition=repetition,
        order=repetition,
        status=Status.complete,
        stack="raw",
        kind="wakeup",
        transport="nanosleep",
        payload_bytes=0,
        scheduling="fifo",
        priority=80,
        cpu=[1],
        period_us=1000.0,
        samples_requested=len(responses),
        deadline_us=1000.0,
        lost_after_us=500_000.0,
        subscribers=1,
        reliability="reliable",
        depth=10,
        count=len(received),
        sent=len(responses),
        lost=len(responses) - len(received),
        seconds=2.5,
        probes=[ProbeResult(role="both", status="complete", granted={"policy": "fifo"})],
    )
    if received:
        known = percentiles(received)
        cell_judged.statistics = Statistics(
            latency=known,
            response=known,
            first_us=0.0,
            highest=[],
            lowest=[],
            exceedance=exceedance(received, cell_judged.deadline_us),
            loop_exceedance=[exceedance(received, 1e6 / rate) for rate in LOOP_RATES_HZ],
        )
        cell_judged.p50_us, cell_judged.p99_us = known.p50_us, known.p99_us
        cell_judged.p999_us, cell_judged.max_us = known.p999_us, known.max_us
    return cell_judged.model_copy(update=changes)


def preemption(severity: Severity = Severity.good, value: str = "PREEMPT_RT") -> Finding:
    return Finding(id="preemption", title="", severity=severity, value=value, why="")


def run(*cells: Cell, doctor: Sequence[Finding] = (preemption(),), **changes: Any) -> Run:
    return synthetic_run("check", cells, doctor=list(doctor), **changes)


def rank(level: str) -> int:
    return [str(one) for one in RANKS].index(level)


def level_of(*cells: Cell, **changes: Any) -> str:
    return judge(run(*cells, **changes)).level


def said(*cells: Cell, **changes: Any) -> str:
    verdict = judge(run(*cells, **changes))
    return "\n".join([verdict.headline, *verdict.reasons])


# what the levels mean


def test_quick_responses_on_a_real_time_kernel_are_good() -> None:
    assert level_of(cell([20.0] * 7500)) == "good"


def test_responses_in_time_that_leave_no_room_for_the_control_law_are_fair() -> None:
    assert level_of(cell([600.0] * 7500)) == "fair"


def test_one_in_a_hundred_late_is_bad_and_says_which_loop_is_kept() -> None:
    verdict = judge(run(cell([20.0] * 7400 + [1500.0] * 100)))
    assert verdict.level == "bad"
    assert "does not meet a 1 kHz loop" in verdict.headline
    assert "meets a 500 Hz loop" in verdict.headline


def test_a_single_maximum_never_decides() -> None:
    assert level_of(cell([20.0] * 7499 + [400_000.0])) == "good"


def test_without_samples_the_verdict_is_unknown() -> None:
    assert level_of() == "unknown"
    assert level_of(cell([])) == "unknown"
    assert level_of(cell([], status=Status.pending)) == "unknown"


def test_too_few_samples_prove_nothing() -> None:
    assert level_of(cell([20.0] * 500)) == "unknown"
    said_of_it = said(cell([20.0] * 500))
    assert said_of_it.endswith(
        "0 of 500 responses came after 1\u2009ms; too few samples to show fewer than 1 in 1000."
    ), said_of_it


def test_where_nothing_can_be_reported_the_headline_lists_no_layers() -> None:
    few = [cell([20.0] * 500), cell([20.0] * 500, id="o-r0", key="o", kind="timer-cyclic")]
    assert judge(run(*few)).headline == (
        "This run does not show whether this machine meets a 1 kHz loop."
    )
    enough = cell([20.0] * 7500, id="o-r0", key="o", kind="timer-cyclic")
    assert (
        "does not show whether this machine meets a 1 kHz loop: no answer for "
        in judge(run(few[0], enough)).headline
    )


def test_repetitions_are_judged_together() -> None:
    thirds = [cell([20.0] * 2500, repetition) for repetition in range(3)]
    assert level_of(thirds[0]) == "unknown"
    assert level_of(*thirds) == "good"


def test_the_worst_layer_decides() -> None:
    good = cell([20.0] * 7500)
    bad = cell([2000.0] * 7500, id="other-r0", key="other")
    assert level_of(good, bad) == level_of(bad, good) == "bad"


def test_cells_at_normal_priority_do_not_count_where_real_time_was_asked_for() -> None:
    normal = cell([2000.0] * 7500, id="n-r0", key="n", scheduling="other", priority=0)
    assert level_of(cell([20.0] * 7500), normal) == "good"
    assert level_of(normal) == "bad"


def test_without_a_miss_2995_samples_show_one_in_a_thousand() -> None:
    # the bound is 1 - 0.05^(1/n)
    assert level_of(cell([20.0] * 2994)) == "unknown"
    assert level_of(cell([20.0] * 2995)) == "good"


def test_a_rate_faster_than_the_measured_one_is_never_claimed() -> None:
    slow = cell([20.0] * 7500, period_us=10_000.0)
    assert [one.rate_hz for one in assess(run(slow))] == [100]


# what lowers a good level to fair, and is named


def test_lost_messages_are_named_and_at_most_fair() -> None:
    assert level_of(cell([20.0] * 7499 + [LOST])) == "fair"
    assert "1 of 7\u202f500 are missing" in said(cell([20.0] * 7499 + [LOST]))


def test_what_was_never_sent_did_not_arrive_and_is_late() -> None:
    half = cell([20.0] * 3750, samples_requested=7500)
    assert level_of(half) == "bad"
    assert "3\u202f750 of 7\u202f500 are missing" in said(half)
    stopped = half.model_copy(update={"status": Status.partial})  # it was not due yet
    assert level_of(stopped) == "fair"


def test_repetitions_that_obtained_another_policy_are_not_pooled_with_the_others() -> None:
    """A run that root began and somebody else went on with."""
    got = {"policy": "other", "priority": 0}
    refused = ProbeResult(role="both", status="complete", granted=got)
    cells = [cell([20.0] * 3750, place) for place in range(2)]
    cells.append(cell([900.0] * 3750, 2, probes=[refused]))
    assert [len(one.layer.cells) for one in assess(run(*cells))] == [1, 2]
    assert "FIFO 80 was not granted: part of this was measured under normal." in said(*cells)


def test_many_lost_messages_are_late_responses() -> None:
    assert level_of(cell([20.0] * 7400 + [LOST] * 100)) == "bad"


def test_settings_that_were_refused_are_named_and_at_most_fair() -> None:
    note = Note(what="SCHED_FIFO 80 was refused", why="no permission", fix="set rtprio")
    probe = ProbeResult(role="both", status="complete", notes=[note])
    refused = cell([20.0] * 7500, probes=[probe])
    assert level_of(refused) == "fair"
    assert "SCHED_FIFO 80 was refused" in said(refused)
    assert "Fix: Set rtprio." in said(refused)


def test_a_policy_that_silently_was_not_given_is_noticed() -> None:
    probe = ProbeResult(role="both", status="complete", granted={"policy": "other"})
    assert level_of(cell([20.0] * 7500, probes=[probe])) == "fair"


def test_another_kernel_is_at_most_fair_however_quick_it_was() -> None:
    stock = preemption(Severity.warning, "PREEMPT_DYNAMIC")
    assert level_of(cell([20.0] * 7500), doctor=[stock]) == "fair"
    assert "PREEMPT_DYNAMIC" in said(cell([20.0] * 7500), doctor=[stock])


def test_a_stack_that_is_not_installed_is_named() -> None:
    asked = {"measurements": [{"stack": ["raw", "rcl"]}]}
    assert level_of(cell([20.0] * 7500), experiment=asked) == "fair"
    assert "rcl is not installed" in said(cell([20.0] * 7500), experiment=asked)


@given(st.sampled_from(["real-time", "normal"]), st.booleans())
def test_every_failed_cell_is_named(kind: str, samples_kept: bool) -> None:
    scheduling = "fifo" if kind == "real-time" else "other"
    failed = cell(
        [20.0] * 3000 if samples_kept else [],
        id="broken-r1",
        key="broken",
        scheduling=scheduling,
        status=Status.failed,
        error=Note(what="the ping died: signal 11", why=""),
    )
    text = said(cell([20.0] * 7500), failed)
    assert "broken-r1 failed: the ping died: signal 11" in text
    assert text.count("broken-r1") == 1
    if kind == "real-time":
        assert level_of(cell([20.0] * 7500), failed) != "good"


# stolen time


def test_misses_that_stolen_time_explains_do_not_convict() -> None:
    late = [20.0] * 7450 + [5000.0] * 50
    assert level_of(cell(late)) == "bad"
    stolen = cell(late, steal_seconds=0.060)
    assert level_of(stolen) == "unknown"
    assert "hypervisor stole 60" in said(stolen)


def test_more_misses_than_stolen_time_explains_do_convict() -> None:
    assert level_of(cell([20.0] * 7000 + [5000.0] * 500, steal_seconds=0.060)) == "bad"


def test_stolen_time_never_makes_an_unproven_level_good() -> None:
    assert level_of(cell([20.0] * 500, steal_seconds=1.0)) == "unknown"
    assert level_of(cell([600.0] * 7500, steal_seconds=1.0)) == "fair"


# properties

responses = st.lists(
    st.one_of(st.floats(1.0, 200.0), st.floats(200.0, 1e6), st.none()), min_size=1, max_size=60
)


@st.composite
def samples(draw: st.DrawFn) -> list[Response]:
    """A few thousand responses: quick ones and a drawn rest, so that every level comes up."""
    return [draw(st.floats(1.0, 900.0))] * draw(st.integers(0, 9000)) + draw(responses)


def worsened(draw: st.DrawFn, old: Sequence[Response]) -> list[Response]:
    """The same samples with some of them later or lost."""
    new = list(old)
    tail = draw(st.integers(0, 200))
    late = draw(st.one_of(st.none(), st.floats(1.0, 1e6)))
    for index in range(min(tail, len(new))):
        before = new[index]
        new[index] = None if before is None or late is None else before + late
    return new


@settings(max_examples=200, deadline=None)
@given(st.data(), samples(), st.floats(0.0, 0.2))
def test_worse_samples_never_give_a_better_verdict(
    data: st.DataObject, before: list[Response], steal: float
) -> None:
    after = worsened(data.draw, before)
    better = level_of(cell(before, steal_seconds=steal))
    worse = level_of(cell(after, steal_seconds=steal))
    assert rank(worse) >= rank(better)


@settings(max_examples=100, deadline=None)
@given(samples())
def test_the_rate_that_is_kept_never_grows_with_worse_samples(before: list[Response]) -> None:
    after = [None if response is None else 2 * response + 100.0 for response in before]
    first, second = (assess(run(cell(one)))[0].rate_hz or 0 for one in (before, after))
    assert second <= first


@settings(max_examples=50, deadline=None)
@given(samples(), st.sampled_from(list(Severity)))
def test_a_verdict_always_gives_reasons(found: list[Response], severity: Severity) -> None:
    verdict = judge(run(cell(found), doctor=[preemption(severity)]))
    assert verdict.headline
    assert verdict.reasons
    assert all(reason.strip() == reason and reason.endswith(".") for reason in verdict.reasons)
