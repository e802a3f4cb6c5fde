# SPDX-License-Identifier: Apache-2.0
"""A job and a stretch of time, as explanations look at them: rows of the core's columns."""

from __future__ import annotations

from dataclasses import dataclass

from takt.schedule.trace.file import NOT_RECORDED, Table


@dataclass
class Job:
    """One release of a task and what became of it; times in ns, None: not in the trace."""

    task: int
    job: int
    serial: int = 0
    release: int | None = None
    start: int | None = None
    end: int | None = None
    deadline: int | None = None  # None also where it has none
    priority: int | None = None
    core: int | None = None
    cpu_time: int | None = None  # None also where it is not measured
    running: int = 0  # for how long it had a core
    missed: bool = False  # ended after its deadline
    by_deadline: bool = False  # its core went by deadlines when it was released, not by priorities
    # For how long its thread could have run and did not: between its last job and this one, and in
    # this one, in which it slept so often. Only where the trace tells (attribute waits_from_ns).
    waited_before: int = 0
    waited: int = 0
    sleeps: int = 0

    @property
    def response(self) -> int | None:
        """From the intended release to the end."""
        return None if self.release is None or self.end is None else self.end - self.release


@dataclass
class Slice:
    """A stretch of time in which one job had the core."""

    job: Job
    core: int
    begin: int
    end: int


_ALWAYS = ("running", "waited_before", "waited", "sleeps")
_WHERE_REPORTED = ("release", "start", "end", "deadline", "priority", "cpu_time")


def job_of(jobs: Table, row: int) -> Job:
    """A row of the core's jobs."""
    task, number, serial = (int(jobs[name][row]) for name in ("task", "job", "serial"))
    job = Job(task, number, serial)
    for name in _ALWAYS:
        setattr(job, name, int(jobs[name][row]))
    for name in _WHERE_REPORTED:
        value = int(jobs[name][row])
        setattr(job, name, None if value == NOT_RECORDED else value)
    job.core = None if job.start is None else int(jobs["core"][row])
    job.missed, job.by_deadline = bool(jobs["missed"][row]), bool(jobs["by_deadline"][row])
    return job


def less_urgent(one: Job, other: Job) -> bool:
    """Whether the first goes after the second, by what the policy of the second one's core goes by.

    What is in the trace decides: absolute deadlines, and priorities as they were at the start.
    """
    if other.by_deadline:
        return _due(one) > _due(other)
    return (one.priority or 0) < (other.priority or 0)


def _due(job: Job) -> float:
    return float("inf") if job.deadline is None else job.deadline
