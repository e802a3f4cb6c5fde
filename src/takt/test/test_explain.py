# SPDX-License-Identifier: Apache-2.0
"""Deadline misses whose causes are known, because the traces are made by hand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
import trace_files as make
from explained_traces import HIGH, LOW, MS, OTHER, SCAN, application, begin, end, explained
from hypothesis import given
from hypothesis import strategies as some

from takt.schedule.explain import Explanation, explain
from takt.schedule.explain.account import account
from takt.schedule.explain.causes import cause_of
from takt.schedule.explain.html import render
from takt.schedule.explain.jobs import Job, Slice, less_urgent
from takt.schedule.explain.model import Late, ShareKind
from takt.schedule.trace.file import NONE, NOT_WHOLE, Type


def only(found: Explanation) -> tuple[Late, dict[tuple[ShareKind, str | None], float]]:
    """The one miss, and its shares in ms; they add up to its response."""
    (miss,) = found.details
    assert found.misses == 1
    assert sum(round(one.us * 1000) for one in miss.shares) == round(miss.end_us * 1000)
    return miss, {(one.kind, one.by): one.us / 1000 for one in miss.shares}


def test_preempted_by_a_job_that_started_later(tmp_path: Path) -> None:
    found = explained(
        tmp_path,
        application(),
        begin(LOW, 0, 0, deadline=10 * MS),
        begin(HIGH, 2 * MS, 2 * MS),
        end(HIGH, 9 * MS, 7 * MS),
        end(LOW, 12 * MS, 5 * MS),
    )
    miss, shares = only(found)
    assert (miss.cause, miss.by) == (ShareKind.preempted, "high")
    assert shares == {(ShareKind.preempted, "high"): 7, (ShareKind.executed, None): 5}
    evidence = miss.shares[0].evidence
    assert "priority 80 against 10" in evidence
    assert "high used 7000 µs of CPU time, declared 5000 µs" in evidence
    assert miss.late_us == 2000


def test_waited_for_jobs_that_were_more_urgent(tmp_path: Path) -> None:
    found = explained(
        tmp_path,
        application(),
        begin(HIGH, 0, 0),
        end(HIGH, 4 * MS, 4 * MS),
        begin(OTHER, 1 * MS, 4 * MS),
        end(OTHER, 7 * MS, 3 * MS),
        begin(LOW, 1 * MS, 7 * MS, deadline=8 * MS),
        end(LOW, 9 * MS, 2 * MS),
    )
    miss, shares = only(found)
    assert (miss.cause, miss.by) == (ShareKind.waited, "high")
    assert shares == {
        (ShareKind.waited, "high"): 3,
        (ShareKind.waited, "other"): 3,
        (ShareKind.executed, None): 2,
    }


@pytest.mark.parametrize(("group", "reported"), [("arm", True), ("", False)])
def test_blocked_by_a_less_urgent_job_and_by_which_group(
    tmp_path: Path, group: str, reported: bool
) -> None:
    found = explained(
        tmp_path,
        application(group=group),
        begin(LOW, 0, 0),
        end(LOW, 6 * MS, 6 * MS),
        begin(HIGH, 1 * MS, 6 * MS, deadline=5 * MS),
        end(HIGH, 7 * MS, MS),
    )
    miss, shares = only(found)
    assert (miss.cause, miss.by) == (ShareKind.blocked, "low")
    assert shares == {(ShareKind.blocked, "low"): 5, (ShareKind.executed, None): 1}
    assert ("exclusive group arm" in miss.shares[0].evidence) is reported


def test_under_edf_the_job_with_the_later_deadline_is_less_urgent(tmp_path: Path) -> None:
    found = explained(
        tmp_path,
        application("edf"),
        make.name("attribute", 0, "policy.default=edf"),
        begin(LOW, 0, 0, deadline=6 * MS),  # of lower priority, and yet more urgent
        end(LOW, 5 * MS, 5 * MS),
        begin(HIGH, 1 * MS, 5 * MS, deadline=7 * MS),
        end(HIGH, 8 * MS, 3 * MS),
    )
    miss, _ = only(found)
    assert (miss.cause, miss.by) == (ShareKind.waited, "low")


def test_a_policy_of_ones_own_does_not_go_by_deadlines_for_its_name(tmp_path: Path) -> None:
    found = explained(
        tmp_path,
        application(),
        make.name("attribute", 0, "policy.default=needlessly-edf-like"),
        begin(LOW, 0, 0, deadline=6 * MS),
        end(LOW, 5 * MS, 5 * MS),
        begin(HIGH, 1 * MS, 5 * MS, deadline=7 * MS),
        end(HIGH, 8 * MS, 3 * MS),
    )
    miss, _ = only(found)
    assert (miss.cause, miss.by) == (ShareKind.blocked, "low")


def test_who_ran_on_though_nothing_let_it_did_not_block(tmp_path: Path) -> None:
    """Preemptive, and no group: the kernel had not woken the thread, or let nobody run."""
    ran_on = [
        make.name("attribute", 0, "policy=fp"),
        make.name("attribute", 0, "waits_from_ns=10000"),
        *begin(LOW, 0, 0),
        make.event(1 * MS, Type.release, HIGH, 0, 6 * MS),
        make.event(6 * MS, Type.start, HIGH, 0, 80),
        make.event(6 * MS, Type.wait, HIGH, 0, 2 * MS, detail=0),
        end(HIGH, 8 * MS, 2 * MS),
        end(LOW, 9 * MS, 7 * MS),
    ]
    miss, shares = only(explained(tmp_path, application(worst=7 * MS), ran_on))
    assert (miss.cause, miss.by) == (ShareKind.late, "low")
    assert shares == {
        (ShareKind.late, "low"): 3,
        (ShareKind.not_scheduled, "low"): 2,  # for so long it could have run
        (ShareKind.executed, None): 2,
    }
    assert "low[0] of lower precedence continued without blocking it" in miss.shares[0].evidence
    assert "noticed late, behind low" in render(explained(tmp_path, application(), ran_on))
    for may in (application(group="g", worst=7 * MS), application("np-fp", worst=7 * MS)):
        policy = [make.name("attribute", 0, "policy=np-fp")] if b"np-fp" in may else []
        miss, shares = only(explained(tmp_path, may, policy, ran_on))
        assert shares == {(ShareKind.blocked, "low"): 5, (ShareKind.executed, None): 2}


def test_its_own_former_job_was_not_done(tmp_path: Path) -> None:
    found = explained(
        tmp_path,
        application(),
        begin(LOW, 0, 0),
        end(LOW, 8 * MS, 8 * MS),
        begin(LOW, 5 * MS, 8 * MS, deadline=8 * MS, number=1),
        end(LOW, 9 * MS, MS, number=1),
    )
    miss, shares = only(found)
    assert (miss.cause, miss.by) == (ShareKind.former, "low")
    assert shares[ShareKind.former, "low"] == 3


def test_executed_longer_than_declared(tmp_path: Path) -> None:
    found = explained(
        tmp_path, application(), begin(LOW, 0, 0, deadline=10 * MS), end(LOW, 12 * MS, 12 * MS)
    )
    miss, shares = only(found)
    assert miss.cause is ShareKind.overran
    assert shares == {(ShareKind.executed, None): 5, (ShareKind.overran, None): 7}


def test_a_deadline_that_its_own_execution_does_not_fit_into(tmp_path: Path) -> None:
    found = explained(
        tmp_path, application(), begin(LOW, 0, 0, deadline=2 * MS), end(LOW, 4 * MS, 4 * MS)
    )
    miss, shares = only(found)
    assert miss.cause is ShareKind.executed
    assert shares == {(ShareKind.executed, None): 4}


def test_noticed_late(tmp_path: Path) -> None:
    found = explained(
        tmp_path, application(), begin(LOW, 0, 6 * MS, deadline=5 * MS), end(LOW, 7 * MS, MS)
    )
    miss, shares = only(found)
    assert miss.cause is ShareKind.late
    assert shares == {(ShareKind.late, None): 6, (ShareKind.executed, None): 1}


def test_not_scheduled_by_the_kernel(tmp_path: Path) -> None:
    found = explained(
        tmp_path, application(), begin(LOW, 0, 0, deadline=5 * MS), end(LOW, 9 * MS, 2 * MS)
    )
    miss, shares = only(found)
    assert miss.cause is ShareKind.not_scheduled
    assert shares == {(ShareKind.not_scheduled, None): 7, (ShareKind.executed, None): 2}


def test_the_kernel_let_nobody_run(tmp_path: Path) -> None:
    """As where it keeps a part of each second for ordinary threads."""
    found = explained(
        tmp_path,
        application(),
        make.name("attribute", 0, "rt_share=950 of 1000 ms"),
        begin(HIGH, 0, 0),
        begin(LOW, 1 * MS, 54 * MS, deadline=40 * MS),
        end(HIGH, 54 * MS, 4 * MS),
        end(LOW, 56 * MS, 2 * MS),
    )
    miss, shares = only(found)
    assert (miss.cause, miss.by) == (ShareKind.not_scheduled, "high")
    spread = 53 * 50 / 54  # what high lacks, spread evenly over the time that it had the core for
    assert shares[ShareKind.not_scheduled, "high"] == pytest.approx(spread, abs=1e-4)
    assert shares[ShareKind.waited, "high"] == pytest.approx(53 - spread, abs=1e-4)
    evidence = miss.shares[0].evidence
    assert "high[0] was dispatched for 54.0 ms and got 4.0 ms of CPU time" in evidence
    assert "950 of 1000 ms" in evidence


def test_stolen_cpu_time_with_the_kernels_word_for_it(tmp_path: Path) -> None:
    found = explained(
        tmp_path,
        application(),
        begin(LOW, 0, 0, deadline=5 * MS),
        end(LOW, 15 * MS, 2 * MS),
        make.event(18 * MS, Type.stolen, NONE, 10 * MS, 10 * MS),
        make.event(18 * MS, Type.stolen, NONE, 10 * MS, 10 * MS, core=1),  # another core's
        make.event(500 * MS, Type.stolen, NONE, 10 * MS, 10 * MS),  # long after
    )
    miss, shares = only(found)
    assert miss.cause is ShareKind.stolen
    assert shares == {
        (ShareKind.stolen, None): 10,
        (ShareKind.not_scheduled, None): 3,
        (ShareKind.executed, None): 2,
    }
    assert (
        "10 ms stolen" in next(one for one in miss.shares if one.kind is ShareKind.stolen).evidence
    )


def test_stale_and_late_inputs_are_reported(tmp_path: Path) -> None:
    found = explained(
        tmp_path,
        application(),
        make.event(0, Type.publish, NONE, 0, 3, topic=SCAN),
        make.event(1, Type.publish, NONE, 0, 4, topic=SCAN),
        begin(LOW, 1 * MS, 1 * MS, deadline=5 * MS),
        make.event(1 * MS, Type.age_violation, LOW, 0, 50 * MS, topic=SCAN),
        make.event(1 * MS, Type.use, LOW, 0, 3, topic=SCAN),
        end(LOW, 7 * MS, 5 * MS),
    )
    miss, _ = only(found)
    assert miss.inputs == [
        "scan: 50.0 ms old, above its age limit",
        "scan: used message 3, although message 4 was published before its start",
    ]


def test_without_an_application_what_was_declared_is_not_known(tmp_path: Path) -> None:
    found = explained(tmp_path, begin(LOW, 0, 0, deadline=5 * MS), end(LOW, 9 * MS, 9 * MS))
    miss, shares = only(found)
    assert shares == {(ShareKind.executed, None): 9}
    assert miss.cause is ShareKind.executed
    assert any("declared" in one for one in found.remarks)


def test_a_miss_whose_start_was_lost_is_counted_and_not_explained(tmp_path: Path) -> None:
    found = explained(
        tmp_path,
        make.event(0, Type.release, LOW, 0, 5 * MS),
        end(LOW, 9 * MS),
        make.event(9 * MS, Type.deadline_miss, LOW, 0, 5 * MS),
    )
    assert (found.misses, found.unexplained, found.details) == (1, 1, [])


def test_a_trace_without_its_end_is_explained_as_far_as_it_goes(tmp_path: Path) -> None:
    for flags in (0, 1):
        path = make.write(tmp_path / "t", make.two_tasks(), make.header(flags=flags))
        assert (NOT_WHOLE in explain(path).remarks) == (flags == 0)


@given(
    spans=some.lists(some.tuples(some.integers(0, 60), some.integers(1, 20)), max_size=8),
    marks=some.tuples(some.integers(0, 40), some.integers(0, 20), some.integers(1, 40)),
    cpu=some.none() | some.integers(0, 80),
    declared=some.none() | some.integers(0, 80),
    stolen=some.integers(0, 50),
    waits=some.tuples(some.booleans(), some.integers(0, 60), some.integers(0, 60)),
    may_block=some.booleans(),
)
def test_shares_always_add_up_to_the_response(
    spans: Sequence[tuple[int, int]],
    marks: tuple[int, int, int],
    cpu: int | None,
    declared: int | None,
    stolen: int,
    waits: tuple[bool, int, int],
    may_block: bool,
) -> None:
    """Whatever overlaps, is unmeasured, or contradicts itself."""
    release, wait, length = marks
    job = Job(0, 0, release=release, start=release + wait, end=release + wait + length, deadline=1)
    job.cpu_time = cpu
    reported, job.waited_before, job.waited = waits
    slices = [
        Slice(Job(1 + place % 3, place, 1 + place, priority=place), 0, first, first + length)
        for place, (first, length) in enumerate(spans)
    ]
    parts = account(
        job,
        slices,
        declared=declared,
        stolen=stolen,
        less_urgent=less_urgent,
        may_block=lambda other, job: may_block and other is not job,
        waits=reported,
        interrupts=lambda begin, end: Counter(clock=(end - begin) // 3),
    )
    assert sum(part.ns for part in parts) == wait + length
    assert all(part.ns > 0 for part in parts)
    lateness = (wait + length) // 2
    cause = cause_of(parts, lateness=lateness, declared=declared is not None)
    assert cause.ns == sum(part.ns for part in parts if part.kind is cause.kind)
    assert cause.partly == (cause.ns < lateness)
