# SPDX-License-Identifier: Apache-2.0
"""When which job had which core, derived from the events of a trace.

The kernel preempts, so an executor's threads do not see it. On one core, a job that starts while
another one runs has preempted it, and the other one resumes when it ends. Preempt and resume
events, which the simulator writes, are taken as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from takt.schedule.trace.file import NO_DEADLINE, Event, Events, Trace, Type


@dataclass
class Job:
    """One release of a task and what became of it; times in ns, None: not in the trace."""

    task: int
    job: int
    release: int | None = None
    start: int | None = None
    end: int | None = None
    deadline: int | None = None  # None also where it has none
    priority: int | None = None
    core: int | None = None
    cpu_time: int | None = None  # None also where it is not measured
    running: int = 0  # for how long it had a core
    preemptions: int = 0
    missed: bool = False  # ended after its deadline
    # For how long its thread could have run and did not: between its last job and this one, and in
    # this one, in which it slept so often. Only where the trace tells (attribute waits_from_ns).
    waited_before: int = 0
    waited: int = 0
    sleeps: int = 0

    @property
    def response(self) -> int | None:
        """From the intended release to the end."""
        return None if self.release is None or self.end is None else self.end - self.release

    @property
    def preempted(self) -> int | None:
        """For how long it had started and did not run."""
        if self.start is None or self.end is None:
            return None
        return self.end - self.start - self.running


@dataclass
class Slice:
    """A stretch of time in which one job had a core."""

    job: Job
    core: int
    begin: int
    end: int


class Sink(Protocol):
    """Takes what a trace holds, in the order in which it becomes known."""

    def block(self, events: Events) -> None:
        """Many events, by time."""

    def slice(self, slice_: Slice) -> None:
        """A stretch that has ended, or that the trace's end has cut."""

    def job(self, job: Job) -> None:
        """A job of which no further event will come."""


def replay(
    trace: Trace, sinks: Sequence[Sink], progress: Callable[[int], None] = lambda _: None
) -> int:
    """Feeds all sinks in one pass; returns the number of jobs that do not nest.

    Without real-time priorities, or when a callback sleeps, a job ends while one that started later
    on its core still runs. The slices of such jobs are a guess.
    """
    timeline = Timeline(sinks)
    done = 0
    for block in trace.blocks():
        for sink in sinks:
            sink.block(block)
        for row in block.tolist():
            timeline.take(Event._make(row))
        done += len(block)
        progress(done)
    timeline.close()
    return timeline.not_nested


@dataclass
class _Open:
    """A job that has started and not ended."""

    job: Job
    since: int | None  # when its present stretch began; None: it is preempted


@dataclass
class Timeline:
    """Derives slices and jobs from events by time."""

    sinks: Sequence[Sink]
    not_nested: int = 0
    _cores: dict[int, list[_Open]] = field(default_factory=dict)  # the last started on top
    _jobs: dict[tuple[int, int], Job] = field(default_factory=dict)  # released or started
    _ended: dict[int, Job] = field(default_factory=dict)  # by task: events may follow the end
    _last: int = 0

    def take(self, event: Event) -> None:
        """The next event."""
        self._last = event.time
        ended = self._ended.get(event.task)
        if ended is not None and ended.job != event.job:
            self._report(self._ended.pop(event.task))
        match event.type:
            case Type.release:
                job = self._job(event)
                job.release = event.time
                job.deadline = None if event.value == NO_DEADLINE else event.value
            case Type.start:
                self._start(event)
            case Type.end:
                self._end(event)
            case Type.preempt:
                for open_ in self._found(event):
                    self._pause(open_, event.core, event.time)
            case Type.resume:
                for open_ in self._found(event):
                    open_.since = event.time if open_.since is None else open_.since
            case Type.deadline_miss:
                job = self._job(event)
                job.deadline = event.value
                job.missed = True
            case Type.budget_overrun | Type.wait:
                self._counted(event)
            case _:
                pass

    def close(self) -> None:
        """The trace is over: what is open has no end."""
        for core, stack in self._cores.items():
            for open_ in stack:
                self._slice(open_, core, self._last)
        for job in [*self._ended.values(), *self._jobs.values()]:
            self._report(job)

    def _job(self, event: Event) -> Job:
        ended = self._ended.get(event.task)
        if ended is not None:
            return ended
        key = (event.task, event.job)
        return self._jobs.setdefault(key, Job(*key))

    def _counted(self, event: Event) -> None:
        """What the kernel counted of the job's thread."""
        job = self._job(event)
        if event.type == Type.budget_overrun:
            job.cpu_time = event.value
        elif event.detail == 0:
            job.waited_before = event.value
        else:
            job.waited, job.sleeps = event.value, event.detail - 1

    def _start(self, event: Event) -> None:
        self._drop_lost(event)
        stack = self._cores.setdefault(event.core, [])
        if stack:
            self._pause(stack[-1], event.core, event.time)
        job = self._job(event)
        job.start, job.priority, job.core = event.time, event.value, event.core
        stack.append(_Open(job, event.time))

    def _end(self, event: Event) -> None:
        job = self._job(event)
        job.end = event.time
        job.cpu_time = None if event.value < 0 else event.value
        if job.deadline is not None and job.end > job.deadline:
            job.missed = True
        # A thread that is bound to no core may end its job on another one than it began on.
        for core in [event.core, *self._cores]:
            if self._leave(core, job, event.time):
                break
        self._jobs.pop((event.task, event.job), None)
        self._ended[event.task] = job

    def _leave(self, core: int, job: Job, time: int) -> bool:
        stack = self._cores.get(core, [])
        place = next((place for place, one in enumerate(stack) if one.job is job), None)
        if place is None:
            return False
        open_ = stack.pop(place)
        on_top = place == len(stack)
        self.not_nested += not on_top
        self._slice(open_, core, time)
        if on_top and stack and stack[-1].since is None:
            stack[-1].since = time
        return True

    def _drop_lost(self, event: Event) -> None:
        """A task has one job at a time: where another starts, the end of the former was lost."""
        for stack in self._cores.values():
            for place, open_ in enumerate(stack):
                if open_.job.task == event.task:
                    del stack[place]
                    self._report(self._jobs.pop((open_.job.task, open_.job.job), open_.job))
                    return

    def _found(self, event: Event) -> list[_Open]:
        stack = self._cores.get(event.core, [])
        return [one for one in stack if (one.job.task, one.job.job) == (event.task, event.job)]

    def _pause(self, open_: _Open, core: int, time: int) -> None:
        if open_.since is None:
            return
        # In virtual time a job may seem to resume between two others, for no time at all.
        if open_.since < time or open_.job.preemptions == 0:
            open_.job.preemptions += 1
        self._slice(open_, core, time)
        open_.since = None

    def _slice(self, open_: _Open, core: int, time: int) -> None:
        begin = open_.since
        if begin is None or begin == time:
            return
        open_.job.running += time - begin
        for sink in self.sinks:
            sink.slice(Slice(open_.job, core, begin, time))

    def _report(self, job: Job) -> None:
        for sink in self.sinks:
            sink.job(job)
