# SPDX-License-Identifier: Apache-2.0
"""Reads a trace once and explains every job in it that was late."""

from __future__ import annotations

import heapq
import json
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from takt.schedule.application.under import as_run
from takt.schedule.explain.above import AboveBounds
from takt.schedule.explain.account import account
from takt.schedule.explain.arrivals import Arrivals
from takt.schedule.explain.blocking import Blocking
from takt.schedule.explain.causes import cause_of_job
from takt.schedule.explain.chains import Chains
from takt.schedule.explain.declarations import Declarations
from takt.schedule.explain.evidence import Evidence
from takt.schedule.explain.inputs import Inputs
from takt.schedule.explain.jobs import Job, job_of
from takt.schedule.explain.lock_waits import LockWaits
from takt.schedule.explain.model import (
    DISTURBANCES,
    Explanation,
    Late,
    Program,
    Share,
    ShareKind,
    Stretch,
)
from takt.schedule.explain.recent import BUSY, STEAL_SETTLES, Recent
from takt.schedule.explain.throttled import Throttling
from takt.schedule.explain.totals import Sums, Totals
from takt.schedule.explain.urgency import Urgency
from takt.schedule.explain.ways import Ways
from takt.schedule.metrics.against import against
from takt.schedule.trace import file as files
from takt.schedule.trace.file import Step, Table, Trace, by_number, recorded
from takt.schedule.trace.programs import Programs

DETAILS = 200  # late jobs that are told one by one: those that were latest
_MARGIN = 0.25  # of the neighbourhood around a response
_LONGEST = 1_000_000_000  # ns that an explanation waits for what still runs


def explain(
    path: Path,
    overheads: dict[str, int] | None = None,
    progress: Callable[[int], None] = lambda _: None,
    application: Path | None = None,
    limits: Mapping[str, int] | None = None,
    *,
    whole_cores: bool = False,
) -> Explanation:
    """Why deadlines were missed, and bounds exceeded; raises TaktError for a file that is no trace.

    ``overheads``, in ns, count as declared, instead of those that the trace's application has.
    ``application``: the file whose bounds hold, instead of what the trace carries. ``limits``, in
    ns by callback: the longest response, in place of the deadlines that its jobs have.
    ``whole_cores``: the bounds are those of cores that provide all of their time.
    """
    trace = against(files.read(path), application)
    watching = _Watching(trace, overheads, limits or {}, whole_cores=whole_cores)
    files.replay(trace, [watching], progress, watching.chains)
    return watching.result()


@dataclass
class _Waiting:
    """A late job that is explained when what happened around it is known."""

    job: Job
    due: int


class _Watching:
    """The sink: keeps what happened lately on each core."""

    def __init__(
        self,
        trace: Trace,
        overheads: dict[str, int] | None,
        limits: Mapping[str, int],
        *,
        whole_cores: bool,
    ) -> None:
        self._trace = trace
        self._limits = limits
        self._names = trace.names
        flat = _flat(trace, overheads)
        if flat is not None and whole_cores:
            flat = {key: value for key, value in flat.items() if key != "cores"}
        self._application = None if flat is None else files.declared(json.dumps(flat), trace)
        costs = flat.get("overheads", {}) if flat and self._application else {}
        self._overheads: dict[str, int] = {name: ns for name, ns in costs.items() if ns}
        callbacks = self._application.callbacks if self._application else []
        self._callbacks = {one.name for one in callbacks}
        self._waits = bool(trace.names.values("waits_from_ns"))
        self._inputs = Inputs(trace.names)
        self._recent = Recent()
        self._ways = Ways(self._recent, self._joins(flat))
        self._programs = Programs(trace.names)
        self._held: Counter[tuple[str, int]] = Counter()  # ns by program and process
        self._declared = Declarations(self._application, trace.names, self._recent)
        self._urgency = Urgency(trace.names, flat)
        self._blocking = Blocking(trace.names.policies(), self._declared, self._urgency)
        self._lock_waits = LockWaits()
        self._throttling = Throttling(
            trace.names,
            flat,
            self._recent,
            self._urgency,
            recording=trace.source == files.RECORDING,
        )
        locks = [one["name"] for one in (flat or {}).get("locks", [])]
        self._evidence = Evidence(
            trace.names, self._declared, self._throttling, locks, self._urgency, waits=self._waits
        )
        self._above = AboveBounds(
            trace.names,
            flat,
            self._declared,
            self._recent,
            self._blocking,
            self._lock_waits,
            self._urgency,
            self._throttling,
            Arrivals(trace.names, flat, self._recent, self._ways),
            overheads=bool(self._overheads),
            waits=self._waits,
            simulated=trace.source == "simulator",
        )
        self._bounds = self._above.bounds
        self._chains = Chains(
            trace.names,
            flat if self._bounds else None,
            self._application.chains if self._application and self._bounds else [],
            self._ways,
            self._above,
            self._recent,
        )
        self._waiting: deque[_Waiting] = deque()
        self._tasks: dict[int, Sums] = defaultdict(Sums)
        self._latest: list[tuple[int, int, Late]] = []  # a heap by lateness
        self._number = 0  # orders those that are equally late
        self._unexplained = 0
        self._end = 0

    def take(self, step: Step) -> None:
        """Remembers what happened, and explains what is known by now."""
        self._recent.add(step)
        self._lock_waits.add(step)
        self._inputs.add(step)
        if self._bounds:
            self._ways.add(step)
        self._chains.add(step)
        times = step.events["time"]
        if len(times):
            self._end = int(times[-1])
        for row in self._late(step.jobs):
            job = self._limited(job_of(step.jobs, row))
            if job.release is None or job.start is None or (job.missed and job.deadline is None):
                self._unexplained += job.missed
                continue
            span = (job.end or 0) - job.release
            self._waiting.append(
                _Waiting(job, (job.end or 0) + max(int(span * _MARGIN), STEAL_SETTLES))
            )
        if len(times):
            until = max(step.settled, int(times[-1]) - _LONGEST)
            self._explain_until(until)
            self._chains.explain_until(until)
            self._forget(step, int(times[-1]))

    def _limited(self, job: Job) -> Job:
        """With the limit of its callback as its deadline, where there is one."""
        limit = self._limits.get(self._names.task(job.task))
        if limit is not None and job.release is not None and job.end is not None:
            job.deadline = job.release + limit
            job.missed = job.end > job.deadline
        return job

    def _late(self, jobs: Table) -> list[int]:
        """Counts, and gives the rows of the jobs that were late, in their order."""
        rows = np.arange(len(jobs["task"]))
        late = [np.empty(0, np.int64)]
        columns = (rows, jobs["release"], jobs["end"], jobs["missed"], jobs["deadline"])
        for task, (places, release, end, missed, deadline) in by_number(jobs["task"], *columns):
            ended = recorded(end)
            whole = ended & recorded(release)
            response = np.where(whole, end - release, 0)
            of = self._tasks[task]
            of.executions += int(np.count_nonzero(ended))
            of.overdue += files.overdue(self._end, deadline[~ended], missed[~ended])
            of.response = max(of.response, int(response.max(initial=0)))
            wanted = missed & ended
            if (limit := self._limits.get(self._names.task(task))) is not None:
                wanted = response > limit
            bound = self._bounds.get(self._names.task(task))
            if bound is not None:
                wanted |= response > bound
            late.append(places[wanted])
        found: list[int] = np.sort(np.concatenate(late)).tolist()
        return found

    @property
    def chains(self) -> list[list[str]]:
        """The callbacks of those whose data is followed, by their names in the file."""
        declared = self._application.chains if self._application else []
        return [[self._trace.recorded(name) for name in chain.callbacks] for chain in declared]

    def _joins(self, flat: dict[str, Any] | None) -> dict[int, int]:
        numbers = {name: number for number, name in self._names.tasks.items()}
        joins = files.joins_of(flat.get("callbacks", [])) if flat else []
        return {
            numbers[name]: join
            for join, callbacks in enumerate(joins)
            for name in callbacks
            if name in numbers
        }

    def result(self) -> Explanation:
        """To be called when the trace is replayed."""
        self._explain_until(None)
        self._chains.explain_until(None)
        trace = self._trace
        totals = Totals(
            callbacks=[
                (self._names.task(number), sums)
                for number, sums in sorted(self._tasks.items())
                if self._is_counted(number)
            ],
            bounds=self._bounds,
            overheads=self._overheads,
        )
        by_cause = totals.by_cause()
        counted = [sums for _, sums in totals.callbacks]
        approaches = self._names.values("approach")
        ordered = sorted(self._latest, key=lambda one: (one[2].release_ns, one[1]))
        return Explanation(
            trace=str(trace.path),
            source=trace.source,
            approach=approaches[0] if approaches else None,
            executions=sum(sums.executions for sums in counted),
            misses=sum(by_cause.values()) + self._unexplained,
            overdue=sum(sums.overdue for sums in counted),
            unexplained=self._unexplained,
            partly=sum(sums.partly for sums in counted),
            by_cause=by_cause,
            bounds=totals.against_bounds(),
            callbacks=totals.late(),
            chains=self._chains.result(),
            programs=[_program(*program, ns) for program, ns in self._held.most_common()],
            details=[late for _, _, late in ordered],
            threads=self._names.threads(),
            remarks=self._all_remarks(totals),
        )

    def _explain_until(self, time: int | None) -> None:
        while self._waiting and (time is None or self._waiting[0].due < time):
            waiting = self._waiting.popleft()
            self._explain(waiting.job)

    def _explain(self, job: Job) -> None:
        release, end = job.release or 0, job.end or 0
        core = -1 if job.core is None else job.core
        before = self._recent.before(job)
        stolen = self._recent.stolen_within(core, release, end)
        declared, of_job = self._declared.worst(job), self._declared.of(job)
        idle = self._above.idling.before(job, before)
        slices = self._above.idling.without_others(job, before, idle)
        parts = account(
            job,
            [one for one in slices if one.end > release],
            declared=declared,
            stolen=stolen,
            suspension=of_job.suspension if of_job else 0,
            less_urgent=self._urgency.less,
            may_block=self._blocking.may,
            waits=self._waits,
            interrupts=lambda begin, until: self._programs.interrupts(core, begin, until),
            lock_waits=self._lock_waits.of,
            kept_idle=idle,
        )
        parts = self._throttling.named(parts, job)
        above = self._above.why(job, before)
        cause = cause_of_job(job, parts, above, declared=declared is not None)
        of = self._tasks[job.task]
        if job.missed:
            of.misses[cause.kind] += 1
            of.partly += cause.partly
        programs = self._programs.within(core, release, end)
        if job.missed:
            self._held.update({(one.name, one.process): one.ns for one in programs})
            for part in parts:
                of.ns[part.kind] += part.ns
        if above:
            of.above[above.cause] += 1
            overheads = above.unknown_us.get(ShareKind.overheads, 0)
            of.overheads = max(of.overheads, round(overheads * 1000))
        late = end - (job.deadline if job.deadline is not None else end)
        lost = sum(part.ns for part in parts if part.kind in DISTURBANCES)
        of.disturbed += job.missed and lost >= late
        rank = max(late if job.missed else 0, self._above.by(job))
        if len(self._latest) >= DETAILS and rank <= self._latest[0][0]:
            return
        self._number += 1
        late_job = Late(
            callback=self._names.task(job.task),
            job=job.job,
            core=core,
            release_ns=release,
            start_us=((job.start or 0) - release) / 1000,
            deadline_us=None if job.deadline is None else (job.deadline - release) / 1000,
            end_us=(end - release) / 1000,
            missed=job.missed,
            late_us=late / 1000,
            above=above,
            cause=cause.kind,
            cause_us=cause.ns / 1000,
            partly=cause.partly,
            by=None if cause.task is None else self._names.task(cause.task),
            shares=[
                Share(
                    kind=part.kind,
                    by=None if part.task is None else self._names.task(part.task),
                    us=part.ns / 1000,
                    evidence=self._evidence.of(part, job, stolen),
                )
                for part in parts
            ],
            programs=[_program(one.name, one.process, one.ns) for one in programs],
            inputs=self._inputs.of(job),
            neighbourhood=self._neighbourhood(job),
        )
        heapq.heappush(self._latest, (rank, self._number, late_job))
        if len(self._latest) > DETAILS:
            heapq.heappop(self._latest)

    def _neighbourhood(self, job: Job) -> list[Stretch]:
        release, end = job.release or 0, job.end or 0
        margin = int((end - release) * _MARGIN)
        return [
            Stretch(
                task=self._names.task(one.job.task),
                job=one.job.job,
                core=one.core,
                begin_us=(one.begin - release) / 1000,
                end_us=(one.end - release) / 1000,
            )
            for one in self._recent.around(job, margin)
        ]

    def _forget(self, step: Step, now: int) -> None:
        releases = step.unfinished["release"]
        needed = int(releases[recorded(releases)].min(initial=now))
        needed = min([needed, *((one.job.release or 0) for one in self._waiting)])
        needed -= int((now - needed) * _MARGIN) + STEAL_SETTLES
        needed = min(needed, self._chains.needed(now))
        self._recent.forget(needed)
        self._lock_waits.forget(needed - BUSY)
        self._ways.forget(needed - BUSY)
        self._inputs.forget(needed)

    def _is_counted(self, task: int) -> bool:
        return self._application is None or self._names.task(task) in self._callbacks

    def _all_remarks(self, totals: Totals) -> list[str]:
        lines = [f"no evidence of real-time behaviour: {one}" for one in self._names.not_granted()]
        lines += [*self._names.values("note"), *self._above.remarks]
        lines += totals.remarks(self._trace, self._application)
        lines += self._programs.remarks(missed=any(sums.misses for _, sums in totals.callbacks))
        if self._trace.lost:
            lines.append(f"{self._trace.lost} events were lost: shares may be wrong")
        if not self._trace.closed_in_order:
            lines.append(files.NOT_WHOLE)
        return lines


def _program(name: str, process: int, ns: int) -> Program:
    return Program(name=name, process=process, us=ns / 1000)


def _flat(trace: Trace, overheads: dict[str, int] | None) -> dict[str, Any] | None:
    """The application of a trace in its flat form; None: it does not tell. Raises TaktError."""
    text = files.description(trace.names)
    if text is None:
        return None
    files.declared(text, trace)  # raises for a damaged one
    flat: dict[str, Any] = json.loads(text)
    for approach in trace.names.values("approach"):
        flat = as_run(flat, approach)
    return flat if overheads is None else {**flat, "overheads": overheads}
