# SPDX-License-Identifier: Apache-2.0
"""What a share of a response is based on, in words."""

from __future__ import annotations

from collections.abc import Sequence

from takt.schedule.explain.account import Part
from takt.schedule.explain.declarations import Declarations
from takt.schedule.explain.jobs import Job
from takt.schedule.explain.model import ShareKind
from takt.schedule.explain.throttled import Throttling
from takt.schedule.explain.urgency import Urgency
from takt.schedule.trace.file import Names

_NOTABLY_LONGER = 1.05  # than declared: else it is no news of another callback
_NOTABLE_PAUSE = 10_000_000  # ns: what the kernel's limit for real-time threads would take at least


class Evidence:
    """Tells it from the trace's names and declarations."""

    def __init__(
        self,
        names: Names,
        declared: Declarations,
        throttling: Throttling,
        locks: Sequence[str],
        urgency: Urgency,
        *,
        waits: bool,
    ) -> None:
        self._names = names
        self._locks = locks
        self._declared = declared
        self._throttling = throttling
        self._urgency = urgency
        self._waits = waits

    def of(self, part: Part, job: Job, ticks: int) -> str:
        """Of a share of a job's response; ``ticks``: what the kernel tells as stolen, in ns."""
        match part.kind:
            case ShareKind.executed | ShareKind.overran:
                return self._own(job)
            case ShareKind.late:
                return self._late(part, job)
            case ShareKind.not_scheduled | ShareKind.throttled:
                nobody = self._nobody(part, job) if part.kind is ShareKind.not_scheduled else ""
                return ". ".join(filter(None, [nobody, self._throttling.evidence(part, job)]))
            case ShareKind.stolen:
                return _stolen(part, ticks)
            case ShareKind.lock | ShareKind.interrupts | ShareKind.suspended:
                return self._named(part, job)
            case _:
                return self._other(part, job)

    def _named(self, part: Part, job: Job) -> str:
        if part.kind is ShareKind.suspended:
            return self._suspended(job)
        if part.kind is ShareKind.lock:
            named = [self._locks[lock] for lock in part.locks if lock < len(self._locks)]
            return f"waited for {', '.join(named) or 'a lock'}"
        handled = part.interrupts.most_common()
        return ", ".join(f"{name} {ns / 1000:.0f} µs" for name, ns in handled)

    def _own(self, job: Job) -> str:
        worst = self._declared.worst(job)
        said = f", declared {worst / 1000:.0f} µs" if worst else ", none declared"
        if job.cpu_time is None:
            return f"on the core without interruption{said}; its CPU time was not measured"
        return f"CPU time {job.cpu_time / 1000:.0f} µs{said}"

    def _suspended(self, job: Job) -> str:
        said = self._declared.of(job)
        if said and said.calls:
            declared = "it waits for responses of services"
        else:
            declared = f"declared {(said.suspension if said else 0) / 1000:.0f} µs"
        return f"its thread slept {job.sleeps} times, {declared}" if self._waits else declared

    def _late(self, part: Part, job: Job) -> str:
        text = "released but not started, with no traced job on the core: "
        if part.job is not None:
            other = f"{self._names.task(part.job.task)}[{part.job.job}]"
            text = (
                f"released but not started, while {other} of lower precedence "
                "continued without blocking it: "
            )
        if not self._waits:
            return text + "the kernel woke its thread late or ran something else"
        return (
            f"{text}the thread was woken late; it was runnable but not running for "
            f"{job.waited_before / 1000:.0f} µs before its start"
        )

    def _nobody(self, part: Part, job: Job) -> str:
        name, of = "its thread", job
        kernel = "the kernel ran something else, or the callback slept"
        if part.job is not None:
            name, of = f"{self._names.task(part.job.task)}[{part.job.job}]", part.job
        text = (
            f"{name} was dispatched for {of.running / 1e6:.1f} ms and got "
            f"{(of.cpu_time or 0) / 1e6:.1f} ms of CPU time: "
        )
        if self._waits:
            text += (
                f"it was runnable but not running for {of.waited_before / 1e6:.1f} ms "
                f"before its start and {of.waited / 1e6:.1f} ms after it, and slept "
                f"{of.sleeps} times"
            )
        else:
            text += kernel
        share = self._names.values("rt_share")
        if share and part.ns > _NOTABLE_PAUSE and self._urgency.has_priority(of.task):
            text += f". The kernel limits real-time threads to {share[0]} of the time"
        return text

    def _other(self, part: Part, job: Job) -> str:
        other = part.job
        if other is None:
            return ""
        if part.kind is ShareKind.idled:
            return _idled(part, other)
        name = self._names.task(other.task)
        text = f"{part.jobs} of its jobs" if part.jobs > 1 else f"its job {other.job}"
        if other.priority is not None and job.priority is not None:
            text += f", priority {other.priority} against {job.priority}"
        mine, its = self._declared.of(job), self._declared.of(other)
        if (
            part.kind is ShareKind.blocked
            and mine
            and its
            and mine.group
            and mine.group == its.group
        ):
            text += f", both in the exclusive group {mine.group}"
        worst = self._declared.worst(other)
        if worst and (other.cpu_time or 0) > worst * _NOTABLY_LONGER:
            text += (
                f"; {name} used {(other.cpu_time or 0) / 1000:.0f} µs of CPU time, "
                f"declared {worst / 1000:.0f} µs"
            )
        return text


def _idled(part: Part, other: Job) -> str:
    jobs = f"{part.jobs} of its jobs" if part.jobs > 1 else f"its job {other.job}"
    return f"the policy kept the core idle until the release of {jobs}, which went before it"


def _stolen(part: Part, ticks: int) -> str:
    reported = f"the kernel reports {ticks / 1e6:.0f} ms stolen from the core meanwhile, in ticks"
    if not part.measured:
        return reported
    return (
        f"for {part.measured / 1e6:.3f} ms of it a thread was on the core, the kernel ran nothing "
        f"else, and the thread's CPU clock stood still; {reported}"
    )
