# SPDX-License-Identifier: Apache-2.0
"""What became of each task, in numbers."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from takt.schedule.trace.file import NONE, Step, Table, Trace, Type, by_number, recorded

SCHEMA_VERSION = 1


class TaskSummary(BaseModel):
    """One task; responses run from the intended release to the end."""

    model_config = ConfigDict(extra="forbid")

    task: str
    releases: int  # in the trace; skipped ones included
    skipped: int
    jobs: int  # that ended
    misses: int
    response_p50_us: float | None
    response_p99_us: float | None
    response_max_us: float | None
    preemptions: int
    preempted_us: float
    early_releases: int
    age_violations: int
    budget_overruns: int
    unfinished: int  # released or started, and not ended when the trace did
    incomplete: int  # events of the job are missing: lost, or before the begin of the trace


class TraceSummary(BaseModel):
    """The document of ``./takt trace FILE --json``."""

    model_config = ConfigDict(extra="forbid")

    schema_version: int = SCHEMA_VERSION
    trace: str
    source: str
    closed_in_order: bool
    duration_ms: float
    events: int
    lost: int
    unknown: int
    not_nested: int
    switches: int
    attributes: list[str]
    tasks: list[TaskSummary]
    written: list[str] = []


@dataclass
class _Of:
    """What is gathered of one task."""

    counts: Counter[int] = field(default_factory=Counter)  # of events, by type
    skipped: int = 0
    jobs: int = 0
    misses: int = 0
    responses: list[NDArray[Any]] = field(default_factory=list)
    preemptions: int = 0
    preempted: int = 0
    unfinished: int = 0
    incomplete: int = 0


class Summing:
    """The sink that counts; eight bytes of memory a job."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._tasks: dict[int, _Of] = {number: _Of() for number in sorted(trace.names.tasks)}
        self._switches = 0
        self._span: tuple[int, int] | None = None

    def take(self, step: Step) -> None:
        """Counts events by task and type, and jobs."""
        events = step.events
        if len(events["time"]):
            first, last = int(events["time"][0]), int(events["time"][-1])
            self._span = (self._span[0] if self._span else first, last)
        self._switches += int(np.count_nonzero(events["type"] == Type.scenario))
        kinds, counts = np.unique(
            events["task"].astype(np.int64) << 8 | events["type"], return_counts=True
        )
        for kind, count in zip(kinds.tolist(), counts.tolist(), strict=True):
            if kind >> 8 != NONE:
                self._of(kind >> 8).counts[kind & 0xFF] += count
        skips = (events["type"] == Type.skip) & (events["task"] != NONE)
        for task, (values,) in by_number(events["task"][skips], events["value"][skips]):
            self._of(task).skipped += sum(values.tolist())
        self._count(step.jobs)

    def _count(self, jobs: Table) -> None:
        ended = recorded(jobs["end"])
        whole = recorded(jobs["release"])
        started = recorded(jobs["start"])
        response = jobs["end"] - jobs["release"]
        preempted = np.where(ended & started, jobs["end"] - jobs["start"] - jobs["running"], 0)
        columns = (ended, whole, started, response, preempted, jobs["missed"], jobs["preemptions"])
        for task, (done, released, began, responses, lost, missed, preemptions) in by_number(
            jobs["task"], *columns
        ):
            of = self._of(task)
            of.misses += int(np.count_nonzero(missed))
            of.preemptions += int(preemptions.sum())
            of.unfinished += int(np.count_nonzero(~done))
            of.jobs += int(np.count_nonzero(done))
            of.preempted += int(lost[done].sum())
            of.responses.append(responses[done & released])
            of.incomplete += int(np.count_nonzero(done & ~(released & began)))

    def result(self, not_nested: int) -> TraceSummary:
        """The sums; to be called when the trace is replayed."""
        trace = self._trace
        first, last = self._span or (0, 0)
        return TraceSummary(
            trace=str(trace.path),
            source=trace.source,
            closed_in_order=trace.closed_in_order,
            duration_ms=(last - first) / 1e6,
            events=trace.events,
            lost=trace.lost,
            unknown=trace.unknown,
            not_nested=not_nested,
            switches=self._switches,
            attributes=trace.names.attributes,
            tasks=[self._summary(number, of) for number, of in sorted(self._tasks.items())],
        )

    def _of(self, task: int) -> _Of:
        return self._tasks.setdefault(task, _Of())

    def _summary(self, number: int, of: _Of) -> TaskSummary:
        p50, p99, worst = None, None, None
        if sum(map(len, of.responses)):
            responses = np.concatenate(of.responses) / 1000
            p50, p99 = (float(value) for value in np.percentile(responses, [50, 99]))
            worst = float(responses.max())
        return TaskSummary(
            task=self._trace.names.task(number),
            releases=of.counts[Type.release] + of.skipped,
            skipped=of.skipped,
            jobs=of.jobs,
            misses=of.misses,
            response_p50_us=p50,
            response_p99_us=p99,
            response_max_us=worst,
            preemptions=of.preemptions,
            preempted_us=of.preempted / 1000,
            early_releases=of.counts[Type.early_release],
            age_violations=of.counts[Type.age_violation],
            budget_overruns=of.counts[Type.budget_overrun],
            unfinished=of.unfinished,
            incomplete=of.incomplete,
        )
