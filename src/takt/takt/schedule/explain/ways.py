# SPDX-License-Identifier: Apache-2.0
"""The way of a datum along a chain: which jobs had it, and which messages they passed it in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from takt.schedule.explain.jobs import Job
from takt.schedule.explain.recent import Recent
from takt.schedule.trace.file import Step, Table, Type, chosen


@dataclass(frozen=True)
class Hop:
    """A job on the way."""

    job: Job
    published: int  # when it published the message for the next one; of the last: when it ended
    topic: int | None  # of that message; None: of the last, and of what a join keeps


class Ways:
    """Keeps what was published and used lately."""

    def __init__(self, recent: Recent, joins: Mapping[int, int]) -> None:
        """``joins``: by task, the number of the join to which it belongs."""
        self._recent = recent
        self._joins = joins
        self._kept: list[tuple[int, tuple[Table, Table]]] = []
        self._together: tuple[Table, Table] | None = None

    def add(self, step: Step) -> None:
        """The next step."""
        times = step.events["time"]
        until = int(times[-1]) if len(times) else 0
        published = chosen(step.events, step.events["type"] == Type.publish)
        self._kept.append((until, (step.uses, published)))
        self._together = None

    def forget(self, needed: int) -> None:
        """Nobody asks any more for what is older."""
        kept = [one for one in self._kept if one[0] >= needed]
        if len(kept) < len(self._kept):
            self._kept, self._together = kept, None

    def of(self, tasks: Sequence[int], release: int, end: int) -> list[Hop]:
        """Of the datum that a job of the first task, released then, began with; empty: unknown.

        It arrived as a job of the last task ended.
        """
        for job in self._recent.ended(tasks[-1], end, end):
            for way in self._before([Hop(job, end, None)], tasks, release):
                return way
        return []

    def _before(self, way: list[Hop], tasks: Sequence[int], release: int) -> Iterator[list[Hop]]:
        """The ways that begin with that release and go on as known; the newest messages first."""
        first = way[0].job
        place = len(tasks) - len(way)
        if place == 0:
            if first.release == release:
                yield way
            return
        for task, number, time, topic in self.sources(first):
            if task == tasks[place - 1]:
                job = self._recent.numbered(task, number)
                hops = [] if job is None else [Hop(job, time, topic)]
            elif self._joins.get(task, -1) == self._joins.get(tasks[place - 1], -2):
                # The other callback of the join published what this one had kept.
                kept = self._recent.ended(tasks[place - 1], release, time)[:1]
                hops = [Hop(job, time, topic) for job in kept]
            else:
                continue
            for hop in hops:
                yield from self._before([hop, *way], tasks, release)

    def sources(self, job: Job) -> Iterator[tuple[int, int, int, int]]:
        """The messages that it used: the task and job that made each, when, and the topic."""
        uses, published = self._whole()
        rows = (uses["task"] == job.task) & (uses["job"] == job.job) & (uses["sequence"] >= 0)
        for row in np.flatnonzero(rows)[::-1].tolist():
            topic, sequence = int(uses["topic"][row]), int(uses["sequence"][row])
            sent = (published["topic"] == topic) & (published["value"] == sequence)
            for one in np.flatnonzero(sent)[-1:].tolist():
                yield (
                    int(published["task"][one]),
                    int(published["job"][one]),
                    int(published["time"][one]),
                    topic,
                )

    def _whole(self) -> tuple[Table, Table]:
        if self._together is None:
            uses, published = (
                {name: np.concatenate([one[at][name] for _, one in self._kept]) for name in names}
                for at, names in (
                    (0, ("task", "job", "topic", "sequence")),
                    (1, ("task", "job", "topic", "value", "time")),
                )
            )
            self._together = uses, published
        return self._together
