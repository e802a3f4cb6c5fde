# SPDX-License-Identifier: Apache-2.0
"""What a trace recorded of everything that can have a limit: values in ns, and what is absent."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

import numpy as np

from takt.schedule.metrics.series import Series
from takt.schedule.trace.file import Step, Table, Type, by_number, recorded
from takt.statistics import Int64

_LACK = ("running", "sleeps")
MANY = 255  # messages of one delivery, as far as they are counted


@dataclass
class GotOf:
    """Messages that a task got, or releases of it, so many at a time."""

    times: Series = field(default_factory=Series)
    counts: Series = field(default_factory=Series)  # of a delivery MANY: that many or more

    def extend(self, times: Int64, counts: Int64) -> None:
        """Further ones."""
        self.times.extend(times)
        self.counts.extend(counts)

    def until(self, time: int) -> int:
        """How many there were before that time."""
        return int(self.counts.all()[self.times.all() < time].sum())


@dataclass
class JobsOf:
    """The jobs of one task."""

    responses: Series = field(default_factory=Series)  # of jobs that completed
    pending: Series = field(default_factory=Series)  # time since the release, of those that did not
    executions: Series = field(default_factory=Series)  # CPU time, where it is recorded
    # Of each of the responses: while the job had the core and did not sleep, time without CPU time.
    lacking: Series = field(default_factory=Series)
    skipped: int = 0
    missed: int = 0  # deadlines, overdue jobs included
    cores: set[int] = field(default_factory=set)
    last_starts: list[int] = field(default_factory=list)  # of its last two jobs, in ns
    starts: Series = field(default_factory=Series)
    releases: GotOf = field(default_factory=GotOf)
    skips: GotOf = field(default_factory=GotOf)


@dataclass
class PathOf:
    """The arrivals at the end of one chain."""

    latency: Series = field(default_factory=Series)
    age: Series = field(default_factory=Series)


@dataclass
class SyntheticOf:
    """The messages of one topic."""

    times: Series = field(default_factory=Series)
    sequences: Series = field(default_factory=Series)


class Recorded:
    """The sink that collects them."""

    def __init__(self, chains: int) -> None:
        self.jobs: dict[int, JobsOf] = defaultdict(JobsOf)
        self.chains = [PathOf() for _ in range(chains)]
        self.uses: dict[tuple[int, int], Series] = defaultdict(Series)  # by task and topic
        self.too_old: dict[tuple[int, int], int] = {}  # the oldest, by the executor's own judgement
        self.published: dict[int, SyntheticOf] = defaultdict(SyntheticOf)  # by topic
        self.used: dict[tuple[int, int], Series] = defaultdict(Series)  # sequences, as uses
        self.delivered: dict[tuple[int, int], GotOf] = defaultdict(GotOf)  # by task and topic
        self.stolen: dict[int, list[int]] = defaultdict(list)  # pieces by core
        self.end = 0

    def take(self, step: Step) -> None:
        """The next stretch."""
        events = step.events
        if len(events["time"]):
            self.end = int(events["time"][-1])
        types, values = events["type"], events["value"]
        stolen, skips = types == Type.stolen, types == Type.skip
        for core, (pieces,) in by_number(events["core"][stolen], values[stolen]):
            self.stolen[core] += pieces.tolist()
        columns = (events["time"][skips], values[skips])
        for task, (times, counts) in by_number(events["task"][skips], *columns):
            self.jobs[task].skipped += int(counts.sum())
            self.jobs[task].skips.extend(times, counts)
        is_publish = types == Type.publish
        columns = (events["time"][is_publish], values[is_publish])
        for topic, (times, sequences) in by_number(events["topic"][is_publish], *columns):
            self.published[topic].times.extend(times)
            self.published[topic].sequences.extend(sequences)
        starts = types == Type.start
        for task, (times,) in by_number(events["task"][starts], events["time"][starts]):
            self.jobs[task].starts.extend(times)
            last = sorted([*self.jobs[task].last_starts, *times[-2:].tolist()])
            self.jobs[task].last_starts = last[-2:]
        releases = types == Type.release
        for task, (times,) in by_number(events["task"][releases], events["time"][releases]):
            self.jobs[task].releases.extend(times, np.ones_like(times))
        self._take_deliveries(events)
        self._take_violations(events)
        self._take_jobs(step.jobs)
        both = step.uses["task"].astype(np.int64) << 16 | step.uses["topic"]
        for number, (age, used) in by_number(both, step.uses["age"], step.uses["sequence"]):
            pair = number >> 16, number & 0xFFFF
            self.uses[pair].extend(age[recorded(age)])
            self.used[pair].extend(used[used >= 0])
        arrivals = step.arrivals
        for chain, (age, first) in by_number(arrivals["chain"], arrivals["age"], arrivals["first"]):
            self.chains[chain].age.extend(age)
            self.chains[chain].latency.extend(age[first])

    def _take_deliveries(self, events: Table) -> None:
        """Messages that jobs got of what they read."""
        found = events["type"] == Type.deliver
        both = events["task"][found].astype(np.int64) << 16 | events["topic"][found]
        columns = (events["time"][found], events["detail"][found].astype(np.int64))
        for number, (times, counts) in by_number(both, *columns):
            self.delivered[number >> 16, number & 0xFFFF].extend(times, counts)

    def _take_violations(self, events: Table) -> None:
        """How old data was that was older than declared, since its sampling."""
        found = events["type"] == Type.age_violation
        both = events["task"][found].astype(np.int64) << 16 | events["topic"][found]
        for number, (ages,) in by_number(both, events["value"][found]):
            pair = number >> 16, number & 0xFFFF
            self.too_old[pair] = max(self.too_old.get(pair, 0), int(ages.max()))

    def _take_jobs(self, jobs: Table) -> None:
        names = ("release", "end", "deadline", "missed", "core", "cpu_time", *_LACK)
        columns = (jobs[name] for name in names)
        for task, found in by_number(jobs["task"], *columns):
            release, end, deadline, missed, core, cpu, running, sleeps = found
            of, ended, released = self.jobs[task], recorded(end), recorded(release)
            of.responses.extend((end - release)[ended & released])
            lack = np.where((cpu >= 0) & (sleeps == 0), np.maximum(running - cpu, 0), 0)
            of.lacking.extend(lack[ended & released])
            of.executions.extend(cpu[ended & (cpu >= 0)])
            of.pending.extend((self.end - release)[~ended & released])
            overdue = ~ended & recorded(deadline) & (deadline < self.end)
            of.missed += int(np.count_nonzero(missed | overdue))
            of.cores.update(np.unique(core[core >= 0]).tolist())

    def excused(self, cores: set[int], limit: int) -> int:
        """The most events later than that limit that stolen time makes (verdict.md).

        A piece of length s makes at most s / limit + 1 of them late on its core. Of jobs whose core
        is not recorded, any core's counts.
        """
        pieces = [
            piece
            for core, found in self.stolen.items()
            if not cores or core in cores
            for piece in found
        ]
        return sum(piece // max(limit, 1) + 1 for piece in pieces if piece > 0)


def above(values: Int64, limit: int) -> int:
    """How many are above it."""
    return int(np.count_nonzero(values > limit))


def worst_us(values: Int64) -> float | None:
    """The largest, in µs; None where there is none."""
    return float(values.max()) / 1000 if len(values) else None
