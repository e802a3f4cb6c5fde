# SPDX-License-Identifier: Apache-2.0
"""Reads a trace once and sums it up as metrics."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
import takt_core

from takt.errors import TaktError
from takt.schedule.metrics import data_log
from takt.schedule.metrics.absences import absences
from takt.schedule.metrics.against import against
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
from takt.schedule.metrics.receivers import received
from takt.schedule.metrics.series import Series
from takt.schedule.ros2.topics import plain, topic_name
from takt.schedule.trace import file as files
from takt.schedule.trace.file import (
    Step,
    Table,
    Trace,
    Type,
    by_number,
    overdue,
    recorded,
)


def measure(
    path: Path,
    progress: Callable[[int], None] = lambda _: None,
    application: Path | None = None,
) -> Metrics:
    """The metrics of a trace file, or of logged lines; raises TaktError for what is none.

    ``application``: the file that declares what was asked for, instead of what the trace carries.
    """
    is_log = None if files.is_trace(path) else data_log.is_log(path)
    if is_log:
        if application is not None:
            what = "logged lines name no callbacks that an application could declare"
            raise TaktError(what, where=str(path), fix="leave out --against")
        return data_log.measure(path)
    if is_log is False:
        what = (
            f"this is not a trace, and not a log: no line has {data_log.MAKES} or {data_log.USES}"
        )
        fix = "give what takt execute, simulate or record wrote, or a log with such lines"
        raise TaktError(what, where=str(path), fix=fix)
    trace = against(files.read(path), application)
    flat = files.description(trace.names)
    declared = None if flat is None else files.declared(flat, trace)
    gathering = Gathering(trace, declared)
    chains = [
        [trace.recorded(name) for name in chain.callbacks]
        for chain in (declared.chains if declared else [])
    ]
    replayed = files.replay(trace, [gathering], progress, chains)
    return gathering.result(replayed)


@dataclass
class _Of:
    """What is gathered of one task."""

    executions: int = 0
    skipped: int = 0
    unfinished: int = 0
    overdue: int = 0
    misses: int = 0
    violations: dict[int, int] = field(default_factory=lambda: defaultdict(int))  # by topic
    has_deadline: bool = False
    responses: Series = field(default_factory=Series)
    cpu: Series = field(default_factory=Series)


@dataclass
class _Ages:
    """Of one reader and one topic."""

    ages: Series = field(default_factory=Series)
    without_data: int = 0
    unknown: int = 0


@dataclass
class _Path:
    """Of one chain."""

    latency: Series = field(default_factory=Series)
    age: Series = field(default_factory=Series)
    reaction: Series = field(default_factory=Series)


class Gathering:
    """The sink that gathers; some tens of bytes of memory a job."""

    def __init__(self, trace: Trace, declared: takt_core.Declared | None) -> None:
        self._trace = trace
        self._names = trace.names
        self._application = declared
        self._callbacks = {one.name: one for one in declared.callbacks} if declared else {}
        self._dispatches, self._handovers = Series(), Series()
        self._tasks: dict[int, _Of] = {number: _Of() for number in sorted(trace.names.tasks)}
        self._ages: dict[tuple[int, int], _Ages] = defaultdict(_Ages)
        self._paths = [_Path() for _ in (declared.chains if declared else [])]
        self._stolen: dict[int, int] = defaultdict(int)
        self._published: dict[int, int] = defaultdict(int)  # by topic: messages
        self._span: tuple[int, int] | None = None
        self._executions: dict[int, tuple[int, int]] = {}  # by task: all, on old data

    def take(self, step: Step) -> None:
        """Counts."""
        events = step.events
        if len(events["time"]):
            first, last = int(events["time"][0]), int(events["time"][-1])
            self._span = (self._span[0] if self._span else first, last)
        self._count_events(events)
        self._count_jobs(step.jobs)
        self._count_uses(step.uses)
        self._handovers.extend(step.handovers)
        arrivals = step.arrivals
        for chain, (age, reaction, is_first) in by_number(
            arrivals["chain"], arrivals["age"], arrivals["reaction"], arrivals["first"]
        ):
            path = self._paths[chain]
            path.age.extend(age)
            path.latency.extend(age[is_first])
            path.reaction.extend(reaction[recorded(reaction)])

    def _count_events(self, events: Table) -> None:
        types, values = events["type"], events["value"]
        publishes = types == Type.publish
        for topic, (times,) in by_number(events["topic"][publishes], events["time"][publishes]):
            self._published[topic] += len(times)
        self._dispatches.extend(values[types == Type.dispatch])
        stolen, skips = types == Type.stolen, types == Type.skip
        for core, (times,) in by_number(events["core"][stolen], values[stolen]):
            self._stolen[core] += sum(times.tolist())
        for task, (counts,) in by_number(events["task"][skips], values[skips]):
            self._of(task).skipped += sum(counts.tolist())
        # Below 0: there was no data yet, which is told apart.
        violations = (types == Type.age_violation) & (values >= 0)
        for task, (topics,) in by_number(events["task"][violations], events["topic"][violations]):
            for topic in topics.tolist():
                self._of(task).violations[topic] += 1

    def _count_jobs(self, jobs: Table) -> None:
        names = ("release", "end", "deadline", "cpu_time", "missed")
        for task, (release, end, deadline, cpu, missed) in by_number(
            jobs["task"], *(jobs[name] for name in names)
        ):
            of, ended = self._of(task), recorded(end)
            of.has_deadline |= bool(recorded(deadline).any())
            of.unfinished += int(np.count_nonzero(~ended))
            of.overdue += overdue(self._end(), deadline[~ended], missed[~ended])
            of.executions += int(np.count_nonzero(ended))
            of.misses += int(np.count_nonzero(missed & ended))
            of.responses.extend((end - release)[ended & recorded(release)])
            of.cpu.extend(cpu[ended & recorded(cpu)])

    def _count_uses(self, uses: Table) -> None:
        both = uses["task"].astype(np.int64) << 16 | uses["topic"]
        for number, (sequence, age, started) in by_number(
            both, uses["sequence"], uses["age"], uses["started"]
        ):
            ages, known = self._ages[number >> 16, number & 0xFFFF], recorded(age)
            ages.ages.extend(age[known])
            ages.without_data += int(np.count_nonzero(started & (sequence < 0)))
            ages.unknown += int(np.count_nonzero(started & (sequence >= 0) & ~known))

    def result(self, replayed: takt_core.Replay) -> Metrics:
        """The metrics; to be called when the trace is replayed."""
        trace = self._trace
        self._executions = replayed.executions
        counted = {number: of for number, of in self._tasks.items() if self._is_counted(number)}
        ratios = [
            of.misses / of.executions
            for of in counted.values()
            if of.has_deadline and of.executions
        ]
        span = self._span or (0, 0)
        approaches = self._names.values("approach")
        metrics = Metrics(
            trace=str(trace.path),
            source=trace.source,
            approach=approaches[0] if approaches else None,
            policy=self._names.policies(),
            duration_ms=(span[1] - span[0]) / 1e6,
            closed_in_order=trace.closed_in_order,
            lost=trace.lost,
            not_granted=self._names.not_granted(),
            notes=self._names.values("note"),
            declared=self._application is not None,
            callbacks=[self._callback(number, of) for number, of in counted.items()],
            absent=self._absent(),
            helpers=[
                self._names.task(number) for number in self._tasks if not self._is_counted(number)
            ],
            executions=sum(of.executions for of in counted.values()),
            misses=sum(of.misses for of in counted.values()),
            mean_miss_ratio=float(np.mean(ratios)) if ratios else None,
            freshness=self._freshness() if self._ages else None,
            data_age=self._data_ages(),
            chains=self._chains(),
            overhead=Overhead(
                cpu_us=spread(self._dispatches.all()), handover_us=spread(self._handovers.all())
            ),
            received=received(
                self._names.values("receivers"),
                files.description(self._names),
                {topic_name(self._names.topic(one)): n for one, n in self._published.items()},
            ),
            stolen_ms={core: stolen / 1e6 for core, stolen in sorted(self._stolen.items())},
        )
        metrics.absences = list(absences(metrics, self._application))
        return metrics

    def _of(self, task: int) -> _Of:
        return self._tasks.setdefault(task, _Of())

    def _is_counted(self, task: int) -> bool:
        return self._application is None or self._names.task(task) in self._callbacks

    def _absent(self) -> list[str]:
        known = set(self._names.tasks.values())
        return [
            one.name for one in self._callbacks.values() if one.active and one.name not in known
        ]

    def _end(self) -> int:
        return self._span[1] if self._span else 0

    def _node(self, task: int) -> str:
        name = self._names.task(task)
        known = self._callbacks.get(name)
        return known.node if known else name.partition(".")[0]

    def _callback(self, number: int, of: _Of) -> CallbackMetrics:
        return CallbackMetrics(
            callback=self._names.task(number),
            node=self._node(number),
            expected=self._expected(number),
            executions=of.executions,
            skipped=of.skipped,
            unfinished=of.unfinished,
            overdue=of.overdue,
            misses=of.misses,
            miss_ratio=of.misses / of.executions if of.has_deadline and of.executions else None,
            on_old_data=self._executions.get(number, (0, 0))[1],
            response_us=spread(of.responses.all()),
            cpu_us=spread(of.cpu.all()),
        )

    def _expected(self, task: int) -> int | None:
        application, duration = self._application, self._duration
        if application is None or application.switches or duration is None:
            return None
        callback = self._callbacks.get(self._names.task(task))
        if callback is None or not callback.timer or callback.period <= 0:
            return None
        if not callback.active:
            return 0
        return max(0, -(-(duration - callback.offset) // callback.period))

    @cached_property
    def _duration(self) -> int | None:
        """In ns, as asked for; of a run that was stopped, until then. None: the trace tells none.

        One that was not has nothing to tell after its last releases, for a period at most.
        """
        whole = files.duration_ns(self._names)
        if whole is None:
            return None
        first, last = self._span or (0, 0)
        timers = [one for one in self._callbacks.values() if one.timer and one.active]
        silent = max((one.period + one.offset for one in timers), default=0)
        return whole if last - first + silent >= whole else last - first

    def _freshness(self) -> Freshness:
        """By node: its timers' executions on old data by all of its timers' executions."""
        executions: dict[str, int] = defaultdict(int)
        old: dict[str, int] = defaultdict(int)
        for number in self._tasks:
            if self._is_periodic(number):
                node = self._node(number)
                every, on_old_data = self._executions.get(number, (0, 0))
                executions[node] += every
                old[node] += on_old_data
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
            return any(reader == task for reader, _ in self._ages)
        callback = self._callbacks.get(self._names.task(task))
        return callback is not None and callback.timer

    def _data_ages(self) -> list[DataAge]:
        found = []
        for (task, number), ages in sorted(self._ages.items()):
            callback, topic = self._names.task(task), plain(self._names.topic(number))
            limit = self._max_age(callback, topic)
            found.append(
                DataAge(
                    callback=callback,
                    topic=topic,
                    age_us=spread(ages.ages.all()),
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
                latency_us=spread(path.latency.all()),
                age_us=spread(path.age.all()),
                reaction_us=spread(path.reaction.all()),
                max_latency_us=chain.max_latency / 1000 if chain.max_latency else None,
                violations=int(np.count_nonzero(path.latency.all() > chain.max_latency))
                if chain.max_latency
                else 0,
            )
            for chain, path in zip(self._application.chains, self._paths, strict=True)
        ]

    def _max_age(self, callback: str, topic: str) -> int:
        known = self._callbacks.get(callback)
        return known.reads.get(topic, 0) if known else 0
