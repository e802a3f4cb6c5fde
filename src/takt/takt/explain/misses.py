# SPDX-License-Identifier: Apache-2.0
"""Reads a trace once and explains every deadline miss in it."""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from takt.explain.account import Part, account, main_cause
from takt.explain.inputs import Inputs
from takt.explain.model import (
    Bar,
    CallbackMisses,
    Explanation,
    Kind,
    Miss,
    Share,
)
from takt.trace import file as files
from takt.trace.declared import Declared, declared
from takt.trace.file import NO_DEADLINE, Event, Events, Trace, Type
from takt.trace.timeline import Job, Slice, replay

DETAILS = 200  # misses that are told one by one: those that were latest
_STEAL_SETTLES = 20_000_000  # ns: the kernel tells steal in ticks, and the trace every 10 ms
_MARGIN = 0.25  # of the neighbourhood around a response
_NOTABLY_LONGER = 1.05  # than declared: else it is no news of another callback
_NOTABLE_PAUSE = 10_000_000  # ns: what the kernel's limit for real-time threads would take at least


def explain(path: Path, progress: Callable[[int], None] = lambda _: None) -> Explanation:
    """Why deadlines were missed; raises TaktError for a file that is no trace."""
    trace = files.read(path)
    watching = _Watching(trace)
    replay(trace, [watching], progress)
    return watching.result()


@dataclass
class _Waiting:
    """A miss that is explained when what happened around it is known."""

    job: Job
    inputs: list[str]
    due: int


@dataclass
class _Of:
    """What is gathered of one task."""

    executions: int = 0
    by_cause: Counter[Kind] = field(default_factory=Counter)
    ns: Counter[Kind] = field(default_factory=Counter)


class _Watching:
    """The sink: keeps what happened lately on each core."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._names = trace.names
        self._application = declared(trace.names)
        self._urgency = _urgency(trace)
        self._inputs = Inputs(trace, self._application)
        self._slices: dict[int, deque[Slice]] = defaultdict(deque)  # by core
        self._stolen: deque[Event] = deque()
        self._released: dict[tuple[int, int], int] = {}  # not yet ended
        self._waiting: deque[_Waiting] = deque()
        self._tasks: dict[int, _Of] = defaultdict(_Of)
        self._latest: list[tuple[int, int, Miss]] = []  # a heap by lateness
        self._told = 0  # what tells apart those that are equally late
        self._unexplained = 0

    def block(self, events: Events) -> None:
        """Follows the inputs, and forgets what no open job can need."""
        types = events["type"]
        self._stolen.extend(Event._make(row) for row in events[types == Type.stolen].tolist())
        now = int(events["time"][0])
        self._forget(now)
        for row in events[types == Type.release].tolist():
            event = Event._make(row)
            self._released[event.task, event.job] = event.time
        self._inputs.block(events)

    def slice(self, slice_: Slice) -> None:
        """Remembers who had the core."""
        self._slices[slice_.core].append(slice_)
        self._explain_until(slice_.begin)

    def job(self, job: Job) -> None:
        """A job whose events are all known."""
        self._released.pop((job.task, job.job), None)
        inputs = self._inputs.pop(job)
        if job.end is None:
            return
        self._tasks[job.task].executions += 1
        if not job.missed:
            return
        if job.release is None or job.start is None or job.deadline is None:
            self._unexplained += 1
            return
        span = job.end - job.release
        due = job.end + max(int(span * _MARGIN), _STEAL_SETTLES)
        self._waiting.append(_Waiting(job, inputs, due))

    def result(self) -> Explanation:
        """To be called when the trace is replayed."""
        self._explain_until(None)
        trace, tasks = self._trace, sorted(self._tasks.items())
        counted = [(number, of) for number, of in tasks if self._is_counted(number)]
        by_cause: Counter[Kind] = Counter()
        for _, of in counted:
            by_cause.update(of.by_cause)
        approaches = self._names.values("approach")
        ordered = sorted(self._latest, key=lambda one: (one[2].release_ns, one[1]))
        return Explanation(
            trace=str(trace.path),
            source=trace.source,
            approach=approaches[0] if approaches else None,
            executions=sum(of.executions for _, of in counted),
            misses=by_cause.total() + self._unexplained,
            unexplained=self._unexplained,
            by_cause=dict(by_cause.most_common()),
            callbacks=[
                CallbackMisses(
                    callback=self._names.task(number),
                    misses=of.by_cause.total(),
                    by_cause=dict(of.by_cause.most_common()),
                    us_by_kind={kind: ns / 1000 for kind, ns in of.ns.most_common()},
                )
                for number, of in counted
                if of.by_cause
            ],
            details=[miss for _, _, miss in ordered],
            remarks=self._remarks(),
        )

    def _explain_until(self, time: int | None) -> None:
        while self._waiting and (time is None or self._waiting[0].due < time):
            waiting = self._waiting.popleft()
            self._explain(waiting.job, waiting.inputs)

    def _explain(self, job: Job, inputs: list[str]) -> None:
        release, end = job.release or 0, job.end or 0
        core = -1 if job.core is None else job.core
        callback = self._declared(job.task)
        near = [one for one in self._slices[core] if one.end > release and one.begin < end]
        stolen = self._stolen_within(core, release, end)
        parts = account(
            job,
            near,
            declared=callback.worst if callback and callback.worst else None,
            stolen=stolen,
            less_urgent=self._urgency,
        )
        cause = main_cause(parts)
        of = self._tasks[job.task]
        of.by_cause[cause.kind] += 1
        for part in parts:
            of.ns[part.kind] += part.ns
        late = end - (job.deadline or 0)
        if len(self._latest) >= DETAILS and late <= self._latest[0][0]:
            return
        self._told += 1
        miss = Miss(
            callback=self._names.task(job.task),
            job=job.job,
            core=core,
            release_ns=release,
            start_us=((job.start or 0) - release) / 1000,
            deadline_us=((job.deadline or 0) - release) / 1000,
            end_us=(end - release) / 1000,
            late_us=late / 1000,
            cause=cause.kind,
            by=None if cause.task is None else self._names.task(cause.task),
            shares=[self._share(part, job, stolen) for part in parts],
            inputs=inputs,
            neighbourhood=self._neighbourhood(job),
        )
        heapq.heappush(self._latest, (late, self._told, miss))
        if len(self._latest) > DETAILS:
            heapq.heappop(self._latest)

    def _share(self, part: Part, job: Job, stolen: int) -> Share:
        by = None if part.task is None else self._names.task(part.task)
        return Share(
            kind=part.kind, by=by, us=part.ns / 1000, evidence=self._evidence(part, job, stolen)
        )

    def _evidence(self, part: Part, job: Job, stolen: int) -> str:
        match part.kind:
            case Kind.executed | Kind.overran:
                return self._evidence_of_own(job)
            case Kind.late:
                return (
                    "released, no traced job on the core, and it had not started: the kernel woke "
                    "its thread late or ran something else"
                )
            case Kind.not_scheduled:
                return self._evidence_of_nobody(part)
            case Kind.stolen:
                return f"the kernel tells of {stolen / 1e6:.0f} ms stolen from the core then"
            case _:
                return self._evidence_of_other(part, job)

    def _evidence_of_own(self, job: Job) -> str:
        own = self._declared(job.task)
        said = f", declared {own.worst / 1000:.0f} µs" if own and own.worst else ""
        if job.cpu_time is None:
            return f"on the core without a break{said}; its CPU time was not measured"
        return f"CPU time {job.cpu_time / 1000:.0f} µs{said}"

    def _evidence_of_nobody(self, part: Part) -> str:
        kernel = "the kernel ran something else, or the callback slept"
        if part.job is None:
            text = f"its CPU time is so much less than the time that it had the core for: {kernel}"
        else:
            name = f"{self._names.task(part.job.task)}[{part.job.job}]"
            text = (
                f"{name} had the core for {part.job.running / 1e6:.1f} ms and got "
                f"{(part.job.cpu_time or 0) / 1e6:.1f} ms of CPU time: {kernel}"
            )
        share = self._names.values("rt_share")
        if share and part.ns > _NOTABLE_PAUSE:
            text += f". It lets real-time threads have {share[0]} of the time"
        return text

    def _evidence_of_other(self, part: Part, job: Job) -> str:
        other = part.job
        if other is None:
            return ""
        name = self._names.task(other.task)
        text = f"{part.jobs} jobs of it" if part.jobs > 1 else f"its job {other.job}"
        if other.priority is not None and job.priority is not None:
            text += f", priority {other.priority} against {job.priority}"
        mine, its = self._declared(job.task), self._declared(other.task)
        if part.kind is Kind.blocked and mine and its and mine.group and mine.group == its.group:
            text += f", both in the exclusive group {mine.group}"
        if its and its.worst and (other.cpu_time or 0) > its.worst * _NOTABLY_LONGER:
            text += (
                f"; {name} used {(other.cpu_time or 0) / 1000:.0f} µs of CPU time, "
                f"declared {its.worst / 1000:.0f} µs"
            )
        return text

    def _neighbourhood(self, job: Job) -> list[Bar]:
        release, end = job.release or 0, job.end or 0
        margin = int((end - release) * _MARGIN)
        return [
            Bar(
                task=self._names.task(one.job.task),
                job=one.job.job,
                core=core,
                begin_us=(one.begin - release) / 1000,
                end_us=(one.end - release) / 1000,
            )
            for core, slices in sorted(self._slices.items())
            for one in slices
            if one.end > release - margin and one.begin < end + margin
        ]

    def _stolen_within(self, core: int, begin: int, end: int) -> int:
        """What the kernel told for a time that this may have been in: it tells in late ticks."""
        return sum(
            event.value
            for event in self._stolen
            if event.core == core
            and event.time > begin
            and event.time - event.job < end + _STEAL_SETTLES // 2
        )

    def _forget(self, now: int) -> None:
        needed = min(self._released.values(), default=now)
        if self._waiting:
            needed = min(needed, *((one.job.release or 0) for one in self._waiting))
        needed -= int((now - needed) * _MARGIN) + _STEAL_SETTLES
        for slices in self._slices.values():
            while slices and slices[0].end < needed:
                slices.popleft()
        while self._stolen and self._stolen[0].time < needed:
            self._stolen.popleft()

    def _declared(self, task: int) -> Declared | None:
        if self._application is None:
            return None
        return self._application.callbacks.get(self._names.task(task))

    def _is_counted(self, task: int) -> bool:
        return self._application is None or self._names.task(task) in self._application.callbacks

    def _remarks(self) -> list[str]:
        lines = [
            f"no evidence of real-time behaviour: {one}" for one in self._names.values("shortfall")
        ]
        if self._application is None:
            lines.append(
                "the trace does not carry its application: whether a job executed longer than "
                "declared is not known"
            )
        if self._trace.lost:
            lines.append(f"{self._trace.lost} events are lost: shares may be wrong")
        return lines


def _urgency(trace: Trace) -> Callable[[Job, Job], bool]:
    """Whether the first of two jobs is less urgent, by what the policy goes by."""
    policies = [one for one in trace.names.attributes if one.startswith(("policy=", "policy."))]
    if any("edf" in one.partition("=")[2] for one in policies):
        return lambda a, b: (a.deadline or NO_DEADLINE) > (b.deadline or NO_DEADLINE)
    return lambda a, b: (a.priority or 0) < (b.priority or 0)
