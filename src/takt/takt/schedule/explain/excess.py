# SPDX-License-Identifier: Apache-2.0
"""Why a response is above its bound: what took time that the analysis does not know of.

A bound counts with everything that is declared, so preemption alone is no cause. What counts is
time beyond the declared, and not only within the response: whatever held up the jobs that were
still under way when this one was released held it up, too. So all of its busy period is looked at.
Whether so much lost time explains a response is again a question to the analysis: a little may be
enough to meet the next release of a callback that goes before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from takt_core import DeclaredCallback

from takt.schedule.explain.account import lack, whole
from takt.schedule.explain.jobs import Job, Slice
from takt.schedule.explain.model import ShareKind


@dataclass(frozen=True)
class Unknown:
    """What the bound of a job does not know of; ns."""

    since: int  # when the busy period began
    by_kind: dict[
        ShareKind, int
    ]  # stolen, not scheduled, noticed late, executed longer than declared

    def cause(self, suffices: Callable[[int], bool]) -> ShareKind | None:
        """What put a response above its bound, given which loss of time would; None: not all of it.

        Theft where it alone suffices, else the largest.
        """
        if suffices(self.by_kind.get(ShareKind.stolen, 0)):
            return ShareKind.stolen
        if not suffices(sum(self.by_kind.values())):
            return None
        return max(self.by_kind, key=lambda kind: self.by_kind[kind])


def unknown_to_the_bound(
    job: Job,
    slices: Sequence[Slice],
    *,
    declared: Callable[[Job], DeclaredCallback | None],
    stolen: Callable[[int, int], int],
    less_urgent: Callable[[Job, Job], bool],
    waits: bool,
) -> Unknown:
    """Of a whole job; ``slices`` of its core by time, some from long before.

    ``stolen(begin, end)`` is what the kernel tells in ticks; the others are those of ``account``.
    """
    release, start, end = whole(job)
    since = _busy_since(job, slices, less_urgent)
    idle = taken = unscheduled = overran = room = before = 0
    reached = since
    had: dict[int, tuple[Job, int]] = {}
    for one in slices:
        if one.end <= since or one.begin >= end:
            continue
        begin, until = max(one.begin, since), min(one.end, end)
        idle += max(0, begin - reached)
        reached = max(reached, until)
        before += max(0, min(until, start) - max(begin, release)) if one.job is not job else 0
        whose, length = had.get(id(one.job), (one.job, 0))
        had[id(one.job)] = (whose, length + until - begin)
    for other, length in had.values():
        if other.cpu_time is None or other.end is None:
            continue
        lacking = lack(other, other.running, waits=waits)
        taken += min(lacking.taken, length)
        unscheduled += min(lacking.unscheduled, length)
        if said := declared(other):
            overran += max(0, other.cpu_time - said.worst)
            room += max(0, min(said.worst - other.cpu_time, said.overhead))
    late = max(0, idle - room)  # the bound knows of dispatching where it is declared
    waiting = min(late, max(0, job.waited_before - before)) if waits else 0
    found = {
        ShareKind.not_scheduled: unscheduled + waiting,
        ShareKind.late: late - waiting,
        ShareKind.overran: overran,
    }
    told = left = max(0, stolen(since, end) - taken)
    for kind, ns in found.items():
        found[kind] = ns - min(ns, left)
        left -= min(ns, left)
    found[ShareKind.stolen] = taken + told - left
    return Unknown(since, {kind: ns for kind, ns in found.items() if ns})


def _busy_since(job: Job, slices: Sequence[Slice], less_urgent: Callable[[Job, Job], bool]) -> int:
    """Since when there was always a job of at least its urgency that was not done."""
    since = job.release or 0
    for one in reversed(slices):
        other = one.job
        if one.end <= since or other.release is None or less_urgent(other, job):
            continue
        since = min(since, other.release)
    return since
