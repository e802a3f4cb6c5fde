# SPDX-License-Identifier: Apache-2.0
"""Whether a response is above the bound that the core proves of its callback, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import takt_core

from takt.schedule.analysis.bounds import Bounds as Analysed
from takt.schedule.application.executors import STOCK_EXECUTORS
from takt.schedule.explain.arrivals import Arrivals
from takt.schedule.explain.blocking import Blocking
from takt.schedule.explain.declarations import Declarations
from takt.schedule.explain.excess import Unknown, unknown_to_the_bound
from takt.schedule.explain.idling import Idling
from takt.schedule.explain.jobs import Job, Slice
from takt.schedule.explain.lock_waits import LockWaits
from takt.schedule.explain.model import Above, ShareKind
from takt.schedule.explain.recent import Recent
from takt.schedule.explain.throttled import Throttling
from takt.schedule.explain.urgency import Urgency
from takt.schedule.trace.file import SCHEDULED, Names


class AboveBounds:
    """Of the application that a trace carries, where its executor has bounds."""

    def __init__(
        self,
        names: Names,
        flat: dict[str, Any] | None,
        declared: Declarations,
        recent: Recent,
        blocking: Blocking,
        lock_waits: LockWaits,
        urgency: Urgency,
        throttling: Throttling,
        arrivals: Arrivals,
        *,
        overheads: bool,
        waits: bool,
        simulated: bool,
    ) -> None:
        self._names = names
        self._declared = declared
        self._blocking = blocking
        self._lock_waits = lock_waits
        self._urgency = urgency
        self._throttling = throttling
        self._arrivals = arrivals
        self._overheads = overheads
        self._recent = recent
        self._waits = waits
        self.remarks: list[str] = []
        self._handovers = _handovers(flat or {}, simulated=simulated)
        self._queues = _queues(flat or {})
        self._analysed = self._analyse(flat)
        self.bounds = self._analysed.of if self._analysed else {}
        never_idle = self._analysed.never_idle if self._analysed else ()
        self.idling = Idling(names, flat, never_idle)

    def by(self, job: Job) -> int:
        """By how much a response is above its bound, in ns; 0: it is not, or has none."""
        bound = self.bounds.get(self._names.task(job.task))
        return 0 if bound is None or job.response is None else max(0, job.response - bound)

    def why(self, job: Job, before: Sequence[Slice]) -> Above | None:
        """What its bound does not know of; ``before``: the slices of its core."""
        excess = self.by(job)
        if excess <= 0 or self._analysed is None:
            return None
        core, response = -1 if job.core is None else job.core, job.response or 0
        name = self._names.task(job.task)
        found = self.unknown(job, before)
        cause = found.cause(lambda lost: self.suffices(name, core, lost, response))
        if cause is None:
            found = self.unknown(job, before, arrivals=True)
            cause = found.cause(lambda lost: self.suffices(name, core, lost, response))
        if cause is None and self._recent.switched_within(core, found.since, job.end or 0):
            cause = ShareKind.switched  # the bounds hold while one scenario does
        return Above(
            bound_us=(response - excess) / 1000,
            above_us=excess / 1000,
            cause=cause,
            jobs=found.jobs,
            busy_since_us=(found.since - (job.release or 0)) / 1000,
            unknown_us={kind: ns / 1000 for kind, ns in found.by_kind.items()},
        )

    def suffices(self, name: str, core: int, lost: int, took: int) -> bool:
        """Whether so much lost time on a core explains that a response or a chain took so long."""
        bound = self.bounds.get(name)
        if bound is None or self._analysed is None:
            return False
        if lost >= took - bound:
            return True
        return self._analysed.explains(name, core, lost, took)  # a little may be enough

    def unknown(self, job: Job, before: Sequence[Slice], *, arrivals: bool = False) -> Unknown:
        """What the bound of a whole job does not know of, whether it is above it or not.

        ``arrivals``: also jobs that ran before it because they came later than bounds allow.
        """
        core, name = -1 if job.core is None else job.core, self._names.task(job.task)
        counted = self._analysed.blocking if self._analysed else {}
        kept = self.idling.before(job, before)
        found = unknown_to_the_bound(
            job,
            self.idling.without_others(job, before, kept),
            declared=self._declared,
            stolen=lambda begin, end: self._recent.stolen_within(core, begin, end),
            less_urgent=self._urgency.less,
            blocking=self._blocking,
            lock_waits=self._lock_waits.of,
            counted=counted.get(name, 0),
            overheads=self._overheads,
            waits=self._waits,
            same_queue=self._same_queue,
            from_elsewhere=name in self._handovers,
            idle=lambda since: self.idling.within(job, before, since),
        )
        by_kind = dict(found.by_kind)
        throttled = self._throttling.at_most(job, found.since, job.end or 0)
        for kind in (ShareKind.not_scheduled, ShareKind.late):  # the bound knows of throttling
            known = min(throttled, by_kind.get(kind, 0))
            by_kind[kind] = by_kind.get(kind, 0) - known
            throttled -= known
        by_kind[ShareKind.late] = max(0, by_kind[ShareKind.late] - self._handovers.get(name, 0))
        if arrivals:
            by_kind[ShareKind.handover] = self._arrivals.in_the_way(
                job, before, found.since, bounds=self.bounds, less_urgent=self._urgency.less
            )
        return replace(found, by_kind={kind: ns for kind, ns in by_kind.items() if ns})

    def _same_queue(self, one: Job, other: Job) -> bool:
        queue = self._queues.get(self._names.task(one.task))
        return queue is not None and queue == self._queues.get(self._names.task(other.task))

    def _analyse(self, flat: dict[str, Any] | None) -> Analysed | None:
        """What the core proves of the application under the executor that ran it."""
        approaches = {*self._names.values("approach")}
        if flat is None or not approaches <= {*SCHEDULED, *STOCK_EXECUTORS}:
            return None
        other = approaches & {*STOCK_EXECUTORS} - {flat.get("executor")}
        if other and not flat.get("processes"):
            cores = "several cores" if len(flat.get("cpus", [0])) > 1 else "one core"
            self.remarks.append(
                f"bounds are unknown: {other.pop()} has none for {cores}, or for scenarios with "
                "simulated times"
            )
            return None
        try:
            return Analysed(flat)
        except takt_core.Error as error:
            self.remarks.append(f"bounds are unknown: {error}")
            return None


def _handovers(flat: dict[str, Any], *, simulated: bool) -> dict[str, int]:
    """The longest handover, by callback that a message of another process releases at once.

    Takt's executor releases its jobs when it notices the message; all others at the publication,
    so that the handover is a part of the response, as of its bound.
    """
    executors = {one["name"]: one.get("executor") for one in flat.get("processes", [])}
    callbacks = flat.get("callbacks", [])
    return {
        one["name"]: int(flat.get("handover", {}).get("most", 0))
        for one in callbacks
        if simulated or executors.get(one.get("process")) in STOCK_EXECUTORS
        if any(
            other.get("process") != one.get("process")
            and one.get("trigger", "") in other.get("writes", [])
            for other in callbacks
        )
    }


def _queues(flat: dict[str, Any]) -> dict[str, str]:
    """By callback under rclcpp_events the process whose queue it has; "" where there is one."""
    executors = {one["name"]: one.get("executor") for one in flat.get("processes", [])}
    executors |= {} if executors else {"": flat.get("executor")}
    return {
        one["name"]: process
        for one in flat.get("callbacks", [])
        if executors.get(process := one.get("process", "")) == "rclcpp_events"
    }
