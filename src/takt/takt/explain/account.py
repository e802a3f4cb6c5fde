# SPDX-License-Identifier: Apache-2.0
"""Divides a response among its causes, so that the shares add up to it exactly."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from takt.explain.model import Kind
from takt.trace.timeline import Job, Slice

_NOTABLE = 100_000  # ns without CPU time that are not just those of switching


@dataclass(frozen=True)
class Part:
    """A share, in ns; ``job``: the one that ran instead, the last where there were several."""

    kind: Kind
    task: int | None
    ns: int
    job: Job | None = None
    jobs: int = 0  # that ran instead


def account(
    job: Job,
    slices: Sequence[Slice],
    *,
    declared: int | None,
    stolen: int,
    less_urgent: Callable[[Job, Job], bool],
) -> list[Part]:
    """The parts of a job's response, the largest first; parts of no length are left out.

    ``job`` has release, start and end. ``slices`` are those of its core, the job's own among them;
    ``declared`` is the CPU time that it may take (None: unknown), ``stolen`` what the hypervisor
    took from the core meanwhile, and ``less_urgent(a, b)`` tells whether b goes before a.
    """
    release, start, end = _whole(job)
    others: dict[tuple[Kind, int], list[tuple[Job, int]]] = {}
    before = after = 0
    reached = release  # slices of one core do not overlap, unless callbacks sleep
    for one in sorted(slices, key=lambda each: each.begin):
        if one.job is job:
            continue
        for low, high, started in ((release, start, False), (start, end, True)):
            begin, until = max(one.begin, low, reached), min(one.end, high)
            if begin >= until:
                continue
            reached = until
            length = until - begin
            before += 0 if started else length
            after += length if started else 0
            idle = _without_cpu(one.job, length)
            ran = _kind(job, one.job, started=started, less_urgent=less_urgent)
            for kind, ns in ((ran, length - idle), (Kind.not_scheduled, idle)):
                if ns:
                    others.setdefault((kind, one.job.task), []).append((one.job, ns))
    own = end - start - after
    used = own if job.cpu_time is None else min(job.cpu_time, own)
    allowed = used if declared is None else min(used, declared)
    parts = [
        Part(
            kind,
            task,
            ns=sum(ns for _, ns in found),
            job=found[-1][0],
            jobs=len({one.job for one, _ in found}),
        )
        for (kind, task), found in others.items()
    ]
    parts += [
        Part(Kind.not_scheduled, None, own - used),
        Part(Kind.late, None, start - release - before),
        Part(Kind.overran, None, used - allowed),
        Part(Kind.executed, None, allowed),
    ]
    parts = _with_theft(parts, stolen)
    return sorted((part for part in parts if part.ns), key=lambda part: -part.ns)


def _without_cpu(other: Job, ns: int) -> int:
    """For how much of a stretch the job that had the core got no CPU time, as far as is known.

    What a job lacks is spread evenly over its stretches.
    """
    if other.cpu_time is None or other.end is None or other.running <= 0:
        return 0
    lacking = other.running - other.cpu_time
    return ns * lacking // other.running if lacking > _NOTABLE else 0


def _with_theft(parts: list[Part], stolen: int) -> list[Part]:
    """Theft shows where nothing else ran; where the thread's clock runs on, as its execution."""
    left = stolen
    robbed = []
    for kind in (Kind.not_scheduled, Kind.late, Kind.overran):
        for part in sorted((one for one in parts if one.kind is kind), key=lambda one: -one.ns):
            taken = min(part.ns, left)
            left -= taken
            robbed.append(replace(part, ns=part.ns - taken))
    kept = [one for one in parts if one.kind not in {Kind.not_scheduled, Kind.late, Kind.overran}]
    return [*kept, *robbed, Part(Kind.stolen, None, stolen - left)]


def main_cause(parts: Sequence[Part]) -> Part:
    """The largest part but the job's own declared execution; that one, where it is all there is.

    Several callbacks that ran instead count together, as the one of them that took most.
    """
    totals: dict[Kind, int] = {}
    for part in parts:
        if part.kind is not Kind.executed:
            totals[part.kind] = totals.get(part.kind, 0) + part.ns
    if not totals:
        return parts[0]
    largest = max(totals, key=lambda kind: totals[kind])
    return max((part for part in parts if part.kind is largest), key=lambda part: part.ns)


def _kind(job: Job, other: Job, *, started: bool, less_urgent: Callable[[Job, Job], bool]) -> Kind:
    if other.task == job.task:
        return Kind.former
    if started:
        return Kind.preempted
    return Kind.blocked if less_urgent(other, job) else Kind.waited


def _whole(job: Job) -> tuple[int, int, int]:
    if job.release is None or job.start is None or job.end is None:
        raise ValueError("only a whole job has a response")
    return job.release, max(job.start, job.release), job.end
