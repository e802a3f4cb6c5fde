# SPDX-License-Identifier: Apache-2.0
"""What a page shows of a trace: jobs, who had which core, and messages; times in ns."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from takt.schedule.metrics.series import Series
from takt.schedule.trace.file import (
    NONE,
    NOT_RECORDED,
    RECORDING,
    Step,
    Table,
    Trace,
    Type,
    by_number,
    chosen,
)

_JOBS = ("task", "job", "core", "release", "start", "end", "deadline", "cpu_time")
_JOB_KEY = 48  # bits of a job's number


@dataclass
class Gathered:
    """All columns of one table have one length."""

    jobs: Table  # that started, by task and start; with missed, preempted, cpu
    slices: Table  # who had the core (in a recording: the thread), by core and begin
    messages: Table  # from their publication to each use, by the time of the use
    published: dict[int, NDArray[np.int64]]  # times, by topic
    writers: dict[int, set[int]]  # tasks, by topic; NONE: somebody outside
    begin: int
    end: int
    chains: list[NDArray[np.int64]] = field(default_factory=list)  # latencies


class Latencies:
    """The sink of the chains alone."""

    def __init__(self, chains: int) -> None:
        self._chains = [Series() for _ in range(chains)]

    def take(self, step: Step) -> None:
        """The next stretch."""
        arrivals = step.arrivals
        for chain, (age, first_use) in by_number(
            arrivals["chain"], arrivals["age"], arrivals["first"]
        ):
            self._chains[chain].extend(age[first_use])

    def result(self) -> list[NDArray[np.int64]]:
        """By chain."""
        return [one.all() for one in self._chains]


class Gathering:
    """The sink; some hundred bytes of memory a job. Its result is taken once."""

    def __init__(self, trace: Trace, chains: int = 0) -> None:
        self._trace = trace
        self._jobs: list[Table] = []
        self._slices: list[Table] = []
        self._cpus: list[Table] = []
        self._published: list[Table] = []
        self._uses: list[Table] = []
        self._chains = Latencies(chains)
        self._span: tuple[int, int] | None = None

    def take(self, step: Step) -> None:
        """The next stretch."""
        events = step.events
        if len(events["time"]):
            first, last = int(events["time"][0]), int(events["time"][-1])
            self._span = (self._span[0] if self._span else first, last)
        kinds = events["type"]
        if self._trace.source == RECORDING:
            self._cpus.append(_some(events, kinds == Type.start, ("task", "job", "detail")))
        columns = ("task", "topic", "value", "time")
        self._published.append(_some(events, kinds == Type.publish, columns))
        used = (kinds == Type.use) & (events["value"] >= 0)
        self._uses.append(_some(events, used, columns))
        started = step.jobs["start"] != NOT_RECORDED
        self._jobs.append(_some(step.jobs, started, (*_JOBS, "missed", "preemptions")))
        self._slices.append({name: step.slices[name] for name in ("core", "task", "job")})
        self._slices[-1] |= {name: step.slices[name] for name in ("begin", "end")}
        self._chains.take(step)

    def result(self) -> Gathered:
        """To be called when the trace is replayed."""
        begin, end = self._span or (0, 0)
        jobs = _joined(self._jobs)
        jobs["cpu"] = self._cpu(jobs)
        first = jobs["start"][:1].tolist()
        _sort(jobs, np.lexsort((jobs["start"], jobs["task"])))
        slices = _joined(self._slices)
        _sort(slices, np.lexsort((slices["begin"], slices["core"])))
        published = _joined(self._published)
        writers: dict[int, set[int]] = defaultdict(set)
        times = {}
        for topic, (moments, tasks) in by_number(
            published["topic"], published["time"], published["task"]
        ):
            times[topic] = moments
            writers[topic] = set(np.unique(tasks).tolist())
        return Gathered(
            jobs=jobs,
            slices=slices,
            messages=_messages(published, _joined(self._uses)),
            published=times,
            writers=dict(writers),
            begin=min([begin, *first]),
            end=end,
            chains=self._chains.result(),
        )

    def _cpu(self, jobs: Table) -> NDArray[np.int64]:
        """Where each job of a recording began; -1: not recorded, and no recording."""
        if not any(len(part["task"]) for part in self._cpus):
            return np.full(len(jobs["task"]), -1)
        starts = _joined(self._cpus)
        keys = _key(starts)
        order = np.argsort(keys, kind="stable")
        places = np.searchsorted(keys[order], _key(jobs))
        found = starts["detail"][order][np.minimum(places, len(order) - 1)].astype(np.int64)
        return found - 1


def _some(table: Table, rows: NDArray[np.bool_], names: Sequence[str]) -> Table:
    return {name: table[name][rows] for name in names}


def _joined(parts: list[Table]) -> Table:
    """Column by column, each taken out of the parts: of a long trace nothing is there twice."""
    return {name: np.concatenate([part.pop(name) for part in parts]) for name in list(parts[0])}


def _sort(table: Table, order: NDArray[np.intp]) -> None:
    for name, column in table.items():
        table[name] = column[order]


def _key(table: Table) -> NDArray[np.uint64]:
    mask = np.uint64((1 << _JOB_KEY) - 1)
    task = table["task"].astype(np.uint64) << np.uint64(_JOB_KEY)
    found: NDArray[np.uint64] = task | (table["job"].astype(np.uint64) & mask)
    return found


def _messages(published: Table, uses: Table) -> Table:
    """Each use with its publication; those of which the publication is missing are left out."""
    numbers = {name: np.empty(0, np.int64) for name in ("from", "to", "maker", "user", "topic")}
    if not len(published["time"]) or not len(uses["time"]):
        return numbers
    keys = _message(published)
    by_key = np.argsort(keys, kind="stable")
    asked = _message(uses)
    places = np.minimum(np.searchsorted(keys[by_key], asked), len(by_key) - 1)
    known = keys[by_key][places] == asked
    places, uses = by_key[places[known]], chosen(uses, known)
    found = {
        "from": published["time"][places],
        "to": uses["time"],
        "maker": published["task"][places].astype(np.int64),
        "user": uses["task"].astype(np.int64),
        "topic": uses["topic"].astype(np.int64),
    }
    inside = (found["user"] != NONE) & (found["from"] <= found["to"])
    found = chosen(found, inside)
    return chosen(found, np.argsort(found["to"], kind="stable"))


def _message(table: Table) -> NDArray[np.int64]:
    """A number for each topic and sequence; of a damaged trace some may be equal."""
    sequence = table["value"] & ((1 << _JOB_KEY - 1) - 1)
    found: NDArray[np.int64] = table["topic"].astype(np.int64) << _JOB_KEY - 1 | sequence
    return found
