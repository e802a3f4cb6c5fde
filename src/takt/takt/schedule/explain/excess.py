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

from takt.schedule.explain.account import lack, slept, whole
from takt.schedule.explain.blocking import Blocking
from takt.schedule.explain.declarations import Declarations
from takt.schedule.explain.idling import Idle
from takt.schedule.explain.jobs import Job, Slice
from takt.schedule.explain.lock_waits import LockWait
from takt.schedule.explain.model import ShareKind

# ns that dispatching, waking a thread or messages take at most, each time; what takes longer has
# another reason. Looked at only where the bounds count no overheads at all.
ORDINARY = 100_000


@dataclass(frozen=True)
class Unknown:
    """What the bound of a job does not know of; ns."""

    since: int  # when the busy period began
    jobs: int  # that had the core in it
    by_kind: dict[
        ShareKind, int
    ]  # stolen, not scheduled, noticed late, executed longer than declared, lock, overheads

    def cause(self, suffices: Callable[[int], bool]) -> ShareKind | None:
        """What put a response above its bound, given which loss of time would; None: not all of it.

        Theft where it alone suffices, else the largest.
        """
        if suffices(self.by_kind.get(ShareKind.stolen, 0)):
            return ShareKind.stolen
        if not suffices(sum(self.by_kind.values())):
            return None
        return max(self.by_kind, key=lambda kind: self.by_kind[kind])


@dataclass(frozen=True)
class _Lost:
    """What the jobs that had the core took beyond the declared, one each."""

    taken: int
    unscheduled: list[int]
    overran: list[int]
    late: list[int]  # stretches without a job, or with one that had to give way
    room: int  # of what is declared for dispatching, what they did not use

    def by_kind(self, waiting: int, *, overheads: bool) -> dict[ShareKind, int]:
        """``waiting``: for how long its thread could have run in those of ``late``."""
        ordinary = -1 if overheads else ORDINARY  # a bound that counts them knows of them

        def long(times: list[int]) -> int:
            return sum(ns for ns in times if ns > ordinary)

        late = max(0, long(self.late) - self.room)
        waited = min(late, waiting)
        every = sum(self.unscheduled) + sum(self.overran) + sum(self.late)
        rest = every - long(self.unscheduled) - long(self.overran) - long(self.late)
        return {
            ShareKind.not_scheduled: long(self.unscheduled) + waited,
            ShareKind.late: late - waited,
            ShareKind.overran: long(self.overran),
            ShareKind.overheads: 0 if overheads else rest,
        }


def unknown_to_the_bound(
    job: Job,
    slices: Sequence[Slice],
    *,
    declared: Declarations,
    stolen: Callable[[int, int], int],
    less_urgent: Callable[[Job, Job], bool],
    blocking: Blocking,
    lock_waits: Callable[[Job], Sequence[LockWait]],
    counted: int,
    overheads: bool,
    waits: bool,
    same_queue: Callable[[Job, Job], bool],
    from_elsewhere: bool,
    idle: Callable[[int], Sequence[Idle]],
) -> Unknown:
    """Of a whole job; ``slices`` of its core by time, some from long before.

    ``stolen(begin, end)`` is what the kernel tells in ticks, ``counted`` the blocking that the
    bound counts with, and ``overheads`` whether it counts them. ``same_queue``: whether two
    jobs have an executor whose bound takes them in the order of their releases, and
    ``from_elsewhere`` whether a message of another process released it, at its publication.
    ``idle(since)`` are the stretches from then on in which the policy kept the core idle, as the
    bound knows; no slice is within them. The others are as in ``account``.
    """
    release, start, end = whole(job)
    since = _busy_since(job, slices, less_urgent)
    kept = idle(since)
    # While somebody sleeps, those that go after it run by right, unless it is the job itself that
    # waits to start.
    sleeping = any(one.job.sleeps for one in slices if one.end > since and one.begin < end)
    due = release if sleeping else since
    late: list[int] = []
    before = held = overtaken = preempted = 0
    lower = {one.job.task for one in slices if less_urgent(one.job, job)}
    reached = since
    gave_way: dict[int, int] = {}
    had: dict[int, tuple[Job, int]] = {}
    for one in slices:
        if one.end <= since or one.begin >= end:
            continue
        begin, until = max(one.begin, since), min(one.end, end)
        late.append(max(0, begin - reached) - _overlap(kept, reached, begin))
        reached = max(reached, until)
        whose, length = had.get(id(one.job), (one.job, 0))
        had[id(one.job)] = (whose, length + until - begin)
        if not less_urgent(one.job, job):
            held += sum(
                wait.overlap(begin, until) for wait in lock_waits(one.job) if wait.holder in lower
            )
        if one.job is job:
            continue
        if less_urgent(one.job, job):
            overlap = max(0, min(until, start) - max(begin, due))
            gave_way[id(one.job)] = gave_way.get(id(one.job), 0) + overlap
        else:
            before += max(0, min(until, start) - max(begin, release))
            preempted += max(0, until - max(begin, start))
            if (other := one.job).release is not None and same_queue(other, job):
                overtaken += until - begin if release < other.release <= begin < start else 0
    locked = {
        key: sum(wait.overlap(since, end) for wait in lock_waits(other))
        for key, (other, _) in had.items()
    }
    found, rest = _lost(job, preempted, had, late, declared, locked, waits=waits)
    late += _while_others_slept(job, slices, [other for other, _ in had.values()])
    for key, length in gave_way.items():
        other, ns = had[key][0], min(length, rest[key])
        may = blocking.may(other, job)
        late.append(max(0, ns - counted) if may else ns)
        counted = max(0, counted - ns) if may else counted
    if from_elsewhere:
        late.append(_while_on_its_way(job, slices, same_queue))
    waiting = max(0, job.waited_before - before) if waits else 0
    kinds = found.by_kind(waiting, overheads=overheads)
    kinds[ShareKind.lock] = max(0, held - counted)
    reported = left = max(0, stolen(since, end) - found.taken)
    for kind, ns in kinds.items():
        if kind not in {ShareKind.overheads, ShareKind.lock}:
            kinds[kind] = ns - min(ns, left)
            left -= min(ns, left)
    kinds[ShareKind.stolen] = found.taken + reported - left
    kinds[ShareKind.overtaken] = overtaken
    return Unknown(since, len(had), {kind: ns for kind, ns in kinds.items() if ns})


def _lost(
    job: Job,
    preempted: int,
    had: dict[int, tuple[Job, int]],
    late: list[int],
    declared: Declarations,
    locked: dict[int, int],
    *,
    waits: bool,
) -> tuple[_Lost, dict[int, int]]:
    """Of the jobs that had the core, each for so long; and what is left of that, by job.

    ``job`` is the one that is above its bound, ``preempted`` for how long others of at least its
    urgency ran after its start.
    """
    taken = room = 0
    unscheduled: list[int] = []
    overran: list[int] = []
    rest: dict[int, int] = {}
    for key, (other, length) in had.items():
        left = length
        worst, said = declared.worst(other), declared.of(other)
        if other.cpu_time is not None and other.end is not None:
            lacking = lack(other, other.running, waits=waits)
            taken += min(lacking.taken, length)
            lost = lacking.unscheduled - locked[key]
            if said is not None and said.suspension:
                asleep = slept(other, waits=waits)
                lost -= min(asleep, said.suspension)
                if key == id(job):  # whatever less urgent ones ran meanwhile
                    too_long = max(0, asleep - said.suspension)
                    lost = max(lost, max(0, job.waited - preempted) + too_long)
            unscheduled.append(min(max(0, lost), length))
            left -= min(lacking.taken + lacking.unscheduled, length)
            if worst is not None and said is not None:
                spun = max(0, locked[key] - lacking.unscheduled)
                overran.append(min(max(0, other.cpu_time - spun - worst), left))
                left -= overran[-1]
                room += max(0, min(worst - other.cpu_time, said.overhead))
        rest[key] = left
    return _Lost(taken, unscheduled, overran, late, room), rest


def _while_others_slept(job: Job, slices: Sequence[Slice], had: Sequence[Job]) -> list[int]:
    """For how long at least others only seemed to have the core before its start: they slept."""
    release, start, _ = whole(job)
    found = []
    for other in had:
        if other is job or not other.sleeps or other.cpu_time is None:
            continue
        own = (one for one in slices if one.job is other)
        seemed = sum(max(0, min(one.end, start) - max(one.begin, release)) for one in own)
        found.append(max(0, seemed - other.cpu_time))
    return found


def _while_on_its_way(
    job: Job, slices: Sequence[Slice], same_queue: Callable[[Job, Job], bool]
) -> int:
    """For how long others ran before the executor of a job had noticed its message.

    While it had nothing to do, it had not: what ran before that was no reason to wait. Jobs of the
    same queue count as those that overtook.
    """
    release, start, _ = whole(job)
    found = passed = 0
    reached = release
    for one in slices:
        if one.end <= release or one.begin > start:
            continue
        begin = max(one.begin, release)
        if begin - reached > ORDINARY:
            found = passed
        reached = max(reached, one.end)
        if one.job is not job and not same_queue(one.job, job):
            passed += max(0, min(one.end, start) - begin)
    return found


def _overlap(idle: Sequence[Idle], begin: int, end: int) -> int:
    return sum(max(0, min(one.end, end) - max(one.begin, begin)) for one in idle)


def _busy_since(job: Job, slices: Sequence[Slice], less_urgent: Callable[[Job, Job], bool]) -> int:
    """Since when there was always a job of at least its urgency that was not done."""
    since = job.release or 0
    for one in reversed(slices):
        other = one.job
        if one.end <= since or other.release is None or less_urgent(other, job):
            continue
        since = min(since, other.release)
    return since
