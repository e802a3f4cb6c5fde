# SPDX-License-Identifier: Apache-2.0
"""Reads a trace once and sums it up as metrics."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from takt.schedule.metrics.flows import Flows
from takt.schedule.metrics.model import (
    CallbackMetrics,
    ChainMetrics,
    DataAge,
    Freshness,
    Metrics,
    NodeFreshness,
    Overhead,
    spread,
)
from takt.schedule.trace import file as files
from takt.schedule.trace.declared import Application, declared, plain
from takt.schedule.trace.file import Event, Events, Trace, Type
from takt.schedule.trace.timeline import Job, Slice, replay


def measure(path: Path, progress: Callable[[int], None] = lambda _: None) -> Metrics:
    """The metrics of a trace file; raises TaktError for what is none."""
    trace = files.read(path)
    gathering = Gathering(trace)
    replay(trace, [gathering], progress)
    return gathering.result()


@dataclass
class _Of:
    """What is gathered of one task."""

    executions: int = 0
    skipped: int = 0
    unfinished: int = 0
    misses: int = 0
    violations: dict[int, int] = field(default_factory=lambda: defaultdict(int))  # by topic
    has_deadline: bool = False
    responses: array[int] = field(default_factory=lambda: array("q"))
    cpu: array[int] = field(default_factory=lambda: array("q"))


class Gathering:
    """The sink that gathers; some tens of bytes of memory a job."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._names = trace.names
        self._application = declared(trace.names)
        self._flows = Flows(trace.names, self._application)
        self._handovers = _Handovers()
        self._dispatches: array[int] = array("q")
        self._tasks: dict[int, _Of] = {number: _Of() for number in sorted(trace.names.tasks)}
        self._stolen: dict[int, int] = defaultdict(int)
        self._span: tuple[int, int] | None = None

    def block(self, events: Events) -> None:
        """Counts, and follows the messages."""
        first, last = int(events["time"][0]), int(events["time"][-1])
        self._span = (self._span[0] if self._span else first, last)
        types = events["type"]
        self._dispatches.extend(events["value"][types == Type.dispatch].tolist())
        for row in events[types == Type.stolen].tolist():
            event = Event._make(row)
            self._stolen[event.core] += event.value
        for row in events[(types == Type.skip) | (types == Type.age_violation)].tolist():
            event = Event._make(row)
            if event.type == Type.skip:
                self._of(event.task).skipped += event.value
            else:
                self._of(event.task).violations[event.topic] += 1
        followed = (types == Type.release) | (types == Type.start) | (types == Type.end)
        followed |= (types == Type.publish) | (types == Type.use)
        for row in events[followed].tolist():
            event = Event._make(row)
            self._handovers.take(event)
            self._flows.take(event)

    def slice(self, slice_: Slice) -> None:
        """Nothing: metrics are of whole jobs."""

    def job(self, job: Job) -> None:
        """Counts a job."""
        of = self._of(job.task)
        of.has_deadline |= job.deadline is not None
        if job.end is None:
            of.unfinished += 1
            return
        of.executions += 1
        of.misses += job.missed
        if job.response is not None:
            of.responses.append(job.response)
        if job.cpu_time is not None:
            of.cpu.append(job.cpu_time)

    def result(self) -> Metrics:
        """The metrics; to be called when the trace is replayed."""
        trace = self._trace
        counted = {number: of for number, of in self._tasks.items() if self._is_counted(number)}
        ratios = [
            of.misses / of.executions
            for of in counted.values()
            if of.has_deadline and of.executions
        ]
        span = self._span or (0, 0)
        approaches = self._names.values("approach")
        return Metrics(
            trace=str(trace.path),
            source=trace.source,
            approach=approaches[0] if approaches else None,
            policy=[
                one.partition("=")[2]
                for one in self._names.attributes
                if one.startswith(("policy=", "policy."))
            ],
            duration_ms=(span[1] - span[0]) / 1e6,
            closed_in_order=trace.closed_in_order,
            lost=trace.lost,
            shortfalls=self._names.values("shortfall"),
            declared=self._application is not None,
            callbacks=[self._callback(number, of) for number, of in counted.items()],
            helpers=[
                self._names.task(number) for number in self._tasks if not self._is_counted(number)
            ],
            executions=sum(of.executions for of in counted.values()),
            misses=sum(of.misses for of in counted.values()),
            mean_miss_ratio=float(np.mean(ratios)) if ratios else None,
            freshness=self._freshness() if self._flows.told else None,
            data_age=self._ages(),
            chains=self._chains(),
            overhead=Overhead(
                cpu_us=spread(self._dispatches), handover_us=spread(self._handovers.gaps)
            ),
            stolen_ms={core: stolen / 1e6 for core, stolen in sorted(self._stolen.items())},
        )

    def _of(self, task: int) -> _Of:
        return self._tasks.setdefault(task, _Of())

    def _is_counted(self, task: int) -> bool:
        return self._application is None or self._names.task(task) in self._application.callbacks

    def _node(self, task: int) -> str:
        name = self._names.task(task)
        if self._application and name in self._application.callbacks:
            return self._application.callbacks[name].node
        return name.partition(".")[0]

    def _callback(self, number: int, of: _Of) -> CallbackMetrics:
        return CallbackMetrics(
            callback=self._names.task(number),
            node=self._node(number),
            expected=self._expected(number),
            executions=of.executions,
            skipped=of.skipped,
            unfinished=of.unfinished,
            misses=of.misses,
            miss_ratio=of.misses / of.executions if of.has_deadline and of.executions else None,
            on_old_data=self._flows.old.get(number, 0),
            response_us=spread(of.responses),
            cpu_us=spread(of.cpu),
        )

    def _expected(self, task: int) -> int | None:
        application, durations = self._application, self._names.values("duration_ns")
        if application is None or application.switches or not durations:
            return None
        callback = application.callbacks.get(self._names.task(task))
        if callback is None or not callback.timer or callback.period <= 0:
            return None
        return max(0, -(-(int(durations[0]) - callback.offset) // callback.period))

    def _freshness(self) -> Freshness:
        """By node: its timers' executions on old data by all of its timers' executions."""
        executions: dict[str, int] = defaultdict(int)
        old: dict[str, int] = defaultdict(int)
        for number in self._tasks:
            if self._is_periodic(number):
                node = self._node(number)
                executions[node] += self._flows.executions.get(number, 0)
                old[node] += self._flows.old.get(number, 0)
        nodes = [
            NodeFreshness(
                node=node, executions=count, on_old_data=old[node], ratio=old[node] / count
            )
            for node, count in executions.items()
            if count
        ]
        return Freshness(
            nodes=nodes,
            mean_ratio=float(np.mean([one.ratio for one in nodes])) if nodes else 0.0,
            on_old_data=sum(old.values()),
        )

    def _is_periodic(self, task: int) -> bool:
        """Without the application only those that read are known to be callbacks that count."""
        if self._application is None:
            return any(reader == task for reader, _ in self._flows.ages)
        callback = self._application.callbacks.get(self._names.task(task))
        return callback is not None and callback.timer

    def _ages(self) -> list[DataAge]:
        found = []
        for (task, number), ages in sorted(self._flows.ages.items()):
            callback, topic = self._names.task(task), plain(self._names.topic(number))
            limit = _max_age(self._application, callback, topic)
            found.append(
                DataAge(
                    callback=callback,
                    topic=topic,
                    age_us=spread(ages.ages),
                    without_data=ages.without_data,
                    unknown=ages.unknown,
                    max_age_us=limit / 1000 if limit else None,
                    violations=self._of(task).violations.get(number, 0),
                )
            )
        return found

    def _chains(self) -> list[ChainMetrics]:
        if self._application is None:
            return []
        return [
            ChainMetrics(
                chain=chain.name,
                latency_us=spread(path.latency),
                age_us=spread(path.age),
                reaction_us=spread(path.reaction),
                max_latency_us=chain.max_latency / 1000 if chain.max_latency else None,
                violations=sum(one > chain.max_latency for one in path.latency)
                if chain.max_latency
                else 0,
            )
            for chain, path in zip(self._application.chains, self._flows.paths, strict=True)
        ]


@dataclass
class _Handovers:
    """From the end of a job to the start of the next on the core, where that one waited already."""

    gaps: array[int] = field(default_factory=lambda: array("q"))
    _released: dict[tuple[int, int], int] = field(default_factory=dict)
    _running: dict[int, int] = field(default_factory=lambda: defaultdict(int))  # by core
    _ended: dict[int, int] = field(default_factory=dict)  # by core

    def take(self, event: Event) -> None:
        """The next event."""
        match event.type:
            case Type.release:
                self._released[event.task, event.job] = event.time
            case Type.start:
                release = self._released.pop((event.task, event.job), None)
                ended = self._ended.get(event.core)
                waited = release is not None and ended is not None and release <= ended
                if waited and ended is not None and not self._running[event.core]:
                    self.gaps.append(event.time - ended)
                self._running[event.core] += 1
            case Type.end:
                self._running[event.core] = max(0, self._running[event.core] - 1)
                self._ended[event.core] = event.time
            case _:
                pass


def _max_age(application: Application | None, callback: str, topic: str) -> int:
    known = application.callbacks.get(callback) if application else None
    return known.reads.get(topic, 0) if known else 0
