# SPDX-License-Identifier: Apache-2.0
"""Slices and jobs that the core derives from events."""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import trace_files as make
from hypothesis import given
from hypothesis import strategies as some

from takt.schedule.explain.jobs import Job, job_of
from takt.schedule.trace import file as files
from takt.schedule.trace.file import NO_DEADLINE, Step, Type


class Stretch(NamedTuple):
    """A slice."""

    task: int
    begin: int
    end: int


class Kept:
    """A sink that keeps everything."""

    def __init__(self) -> None:
        self.slices: list[Stretch] = []
        self.jobs: list[Job] = []
        self.preemptions: list[int] = []

    def take(self, step: Step) -> None:
        columns = (step.slices[name].tolist() for name in Stretch._fields)
        self.slices += map(Stretch._make, zip(*columns, strict=True))
        self.jobs += [job_of(step.jobs, row) for row in range(len(step.jobs["task"]))]
        self.preemptions += step.jobs["preemptions"].tolist()

    def text(self) -> str:
        ordered = sorted(self.slices, key=lambda one: one.begin)
        return " ".join(f"{one.task}:{one.begin}-{one.end}" for one in ordered)


def at(time: int, kind: Type, task: int, job: int = 0, value: int = 0, core: int = 0) -> bytes:
    return make.event(time, kind, task, job, value, core)


def derive(*events: bytes) -> tuple[Kept, int]:
    kept = Kept()
    with tempfile.TemporaryDirectory() as folder:
        trace = files.read(make.write(Path(folder) / "t", events))
        return kept, files.replay(trace, [kept]).not_nested


def test_preemption_follows_from_nesting() -> None:
    kept, not_nested = derive(
        at(0, Type.start, 1), at(10, Type.start, 2), at(15, Type.start, 3),
        at(20, Type.end, 3), at(30, Type.end, 2), at(50, Type.end, 1),
    )  # fmt: skip
    assert kept.text() == "1:0-10 2:10-15 3:15-20 2:20-30 1:30-50"
    assert not_nested == 0
    assert {job.task: job.running for job in kept.jobs} == {1: 30, 2: 15, 3: 5}
    assert kept.preemptions == [1, 1, 0]


def test_preemptions_of_the_simulator_are_taken_as_they_are() -> None:
    kept, _ = derive(
        at(0, Type.start, 1), at(10, Type.preempt, 1), at(10, Type.start, 2),
        at(30, Type.end, 2), at(30, Type.resume, 1), at(50, Type.end, 1),
    )  # fmt: skip
    assert kept.text() == "1:0-10 2:10-30 1:30-50"
    assert kept.preemptions == [1, 0]


def test_cores_are_kept_apart() -> None:
    kept, _ = derive(
        at(0, Type.start, 1), at(10, Type.start, 2, core=1),
        at(20, Type.end, 1), at(30, Type.end, 2, core=1),
    )  # fmt: skip
    assert kept.text() == "1:0-20 2:10-30"


def test_a_job_that_moved_to_another_core_is_found() -> None:
    kept, _ = derive(at(0, Type.start, 1), at(20, Type.end, 1, core=1))
    assert kept.text() == "1:0-20"
    assert kept.jobs[0].running == 20


def test_jobs_that_end_below_a_running_one_are_counted() -> None:
    kept, not_nested = derive(
        at(0, Type.start, 1), at(10, Type.start, 2), at(20, Type.end, 1), at(30, Type.end, 2)
    )
    assert not_nested == 1
    assert kept.text() == "1:0-10 2:10-30"


def test_a_lost_end_does_not_disturb_what_follows() -> None:
    kept, not_nested = derive(
        at(0, Type.start, 1, job=0), at(100, Type.start, 1, job=1), at(110, Type.end, 1, job=1),
        at(200, Type.start, 2), at(210, Type.end, 2),
    )  # fmt: skip
    assert kept.text() == "1:100-110 2:200-210"
    assert not_nested == 0
    assert [(job.task, job.job, job.end) for job in kept.jobs] == [
        (1, 0, None), (1, 1, 110), (2, 0, 210),
    ]  # fmt: skip


def test_what_the_end_of_the_trace_cuts_has_no_end() -> None:
    kept, _ = derive(
        at(0, Type.release, 1, value=90), at(0, Type.start, 1), at(10, Type.start, 2),
        at(12, Type.release, 3, value=NO_DEADLINE),
    )  # fmt: skip
    assert kept.text() == "1:0-10 2:10-12"
    assert all(job.end is None and job.response is None for job in kept.jobs)
    assert {job.task: job.start for job in kept.jobs} == {1: 0, 2: 10, 3: None}
    assert {job.task: job.deadline for job in kept.jobs} == {1: 90, 2: None, 3: None}


def test_a_release_at_its_intended_time_before_the_end_of_the_job_before_is_the_next_job() -> None:
    kept, _ = derive(
        at(0, Type.release, 1, job=0, value=10), at(0, Type.start, 1, job=0),
        at(10, Type.release, 1, job=1, value=20), at(13, Type.end, 1, job=0),
        at(13, Type.deadline_miss, 1, job=0, value=10),
        at(14, Type.start, 1, job=1), at(17, Type.end, 1, job=1),
    )  # fmt: skip
    assert [(job.job, job.response, job.missed) for job in kept.jobs] == [
        (0, 13, True), (1, 7, False),
    ]  # fmt: skip


@some.composite
def schedules(draw: some.DrawFn) -> list[tuple[int, int, int]]:
    """Jobs as (release, work, priority), each its own task."""
    job = some.tuples(some.integers(0, 40), some.integers(1, 9), some.integers(1, 5))
    return draw(some.lists(job, min_size=1, max_size=12))


@given(schedules())
def test_running_time_is_that_of_a_priority_scheduler_step_by_step(
    jobs: list[tuple[int, int, int]],
) -> None:
    events: list[bytes] = []
    left = {task: work for task, (_, work, _) in enumerate(jobs)}
    ran: dict[int, list[int]] = {task: [] for task in left}
    time = 0
    while left:
        ready = [task for task in left if jobs[task][0] <= time]
        if ready:
            # Started jobs come first among equals, as a thread's own queue has it.
            task = max(ready, key=lambda one: (jobs[one][2], bool(ran[one]), -one))
            if not ran[task]:
                events.append(at(time, Type.start, task, value=jobs[task][2]))
            ran[task].append(time)
            left[task] -= 1
            if not left[task]:
                del left[task]
                events.append(at(time + 1, Type.end, task))
        time += 1
    kept, not_nested = derive(*events)
    assert not_nested == 0
    steps = Counter((one.task, step) for one in kept.slices for step in range(one.begin, one.end))
    assert steps == Counter((task, step) for task, all_ in ran.items() for step in all_)
    for job, preemptions in zip(kept.jobs, kept.preemptions, strict=True):
        assert job.running == jobs[job.task][1]
        gaps = sum(b - a > 1 for a, b in zip(ran[job.task], ran[job.task][1:], strict=False))
        assert preemptions == gaps


def test_a_job_that_starts_again_after_its_end_breaks_nothing() -> None:
    # No executor writes that, a damaged file may hold it.
    kept, _ = derive(
        at(0, Type.start, 1), at(10, Type.end, 1),
        at(20, Type.start, 1), at(30, Type.start, 1), at(40, Type.end, 1),
    )  # fmt: skip
    assert {job.task for job in kept.jobs} == {1}
