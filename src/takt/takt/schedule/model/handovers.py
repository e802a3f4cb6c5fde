# SPDX-License-Identifier: Apache-2.0
"""How long messages between the processes of a trace took, from publication to release."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from takt.schedule.metrics.series import Series
from takt.schedule.trace.file import Table, Type, by_number, recorded

Times = NDArray[np.int64]


@dataclass(frozen=True)
class Taken:
    """What messages of other processes released."""

    task: int
    topic: int
    jobs: Times  # of the task
    published: Times
    writers: Times  # their tasks


class Handovers:
    """Gathers when messages were made, and when the jobs that they released were."""

    def __init__(self) -> None:
        # By topic: their numbers, when they were made, and by which tasks.
        self._made: dict[int, tuple[Series, Series, Series]] = defaultdict(_three)
        self._used: dict[tuple[int, int], tuple[Series, Series]] = defaultdict(_two)
        self._writers: dict[int, set[int]] = defaultdict(set)

    def take(self, events: Table) -> None:
        """The next events of the trace."""
        made, used = events["type"] == Type.publish, events["type"] == Type.use
        columns = ("task", "time", "value")
        for topic, (tasks, times, numbers) in by_number(
            events["topic"][made], *(events[name][made] for name in columns)
        ):
            self._made[topic][0].extend(numbers)
            self._made[topic][1].extend(times)
            self._made[topic][2].extend(tasks)
            self._writers[topic].update(np.unique(tasks).tolist())
        used &= events["value"] >= 0
        for topic, (tasks, jobs, numbers) in by_number(
            events["topic"][used], events["task"][used], events["job"][used], events["value"][used]
        ):
            for task, (its_jobs, its_numbers) in by_number(tasks, jobs, numbers):
                self._used[topic, task][0].extend(its_jobs)
                self._used[topic, task][1].extend(its_numbers)

    def between(
        self, homes: Mapping[int, str], triggers: Mapping[int, str], topics: Mapping[int, str]
    ) -> Iterator[Taken]:
        """For each task that messages of other processes release."""
        for (topic, task), (jobs, numbers) in self._used.items():
            writers = self._writers[topic] & homes.keys()
            others = {homes[one] for one in writers} - {homes.get(task, "")}
            if triggers.get(task) != topics[topic] or not others or len(others) < len(writers):
                continue
            known, times, tasks = (one.all() for one in self._made[topic])
            order = np.argsort(known, kind="stable")
            places = np.searchsorted(known[order], numbers.all())
            there = places < len(known)
            there[there] = known[order][places[there]] == numbers.all()[there]
            found = places[there]
            yield Taken(task, topic, jobs.all()[there], times[order][found], tasks[order][found])

    def sent(self, topic: int, writers: Collection[int], until: int) -> int:
        """How many messages these tasks have made up to a moment, and at it."""
        _, times, tasks = (one.all() for one in self._made[topic])
        return int(np.count_nonzero(np.isin(tasks, list(writers)) & (times <= until)))


def handover_times(jobs: Times, releases: Times, used: Times, made: Times) -> Times:
    """From the publication of messages to the releases of the jobs that used them."""
    order = np.argsort(jobs, kind="stable")
    places = np.searchsorted(jobs[order], used)
    there = places < len(jobs)
    there[there] = jobs[order][places[there]] == used[there]
    released = releases[order][places[there]]
    whole = recorded(released)
    found: Times = (released - made[there])[whole]
    return found


def _two() -> tuple[Series, Series]:
    return Series(), Series()


def _three() -> tuple[Series, Series, Series]:
    return Series(), Series(), Series()
