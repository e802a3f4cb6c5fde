# SPDX-License-Identifier: Apache-2.0
"""Divides a response among its causes, so that the shares add up to it exactly."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from takt.schedule.explain.idling import Idle
from takt.schedule.explain.jobs import Job, Slice
from takt.schedule.explain.lock_waits import LockWait
from takt.schedule.explain.model import ShareKind

_NOTABLE = 100_000  # ns without CPU time that are not just those of switching
_RAN_BEFORE = {ShareKind.waited, ShareKind.blocked, ShareKind.former, ShareKind.not_scheduled}
_SLOP = 20_000  # ns by which a job's own two clocks may differ: reading them, a page, a tick

LockHeld = tuple[int, int]  # a lock and the task that held it


@dataclass(frozen=True)
class Part:
    """A share, in ns; ``job``: the one that ran instead, the last where there were several."""

    kind: ShareKind
    task: int | None
    ns: int
    job: Job | None = None
    jobs: int = 0  # that ran instead
    measured: int = 0  # of stolen time: what the jobs' own clocks show, to the nanosecond
    interrupts: Counter[str] = field(default_factory=Counter)  # ns by name
    locks: tuple[int, ...] = ()  # that were waited for


@dataclass(frozen=True)
class Lack:
    """Time in which a job had the core and got no CPU time, in ns."""

    taken: int  # its thread was on the core all the while: the core was taken from the machine
    unscheduled: int  # the kernel ran something else, or the job slept, or nothing tells which


def lack(job: Job, had: int, *, waits: bool) -> Lack:
    """Of a job that had the core for so long; ``waits``: the trace tells of runnable threads."""
    if job.cpu_time is None or job.start is None or job.end is None:
        return Lack(0, 0)
    lacking = max(0, had - job.cpu_time)
    if not waits or job.sleeps:
        return Lack(0, lacking)
    by_jobs = max(0, job.end - job.start - had)
    taken = lacking - min(lacking, max(0, job.waited - by_jobs))
    return Lack(taken, lacking - taken) if taken > _SLOP else Lack(0, lacking)


def slept(job: Job, *, waits: bool) -> int:
    """For how long at most a job slept; others may have run meanwhile."""
    if job.cpu_time is None or job.start is None or job.end is None:
        return 0
    ready = job.waited if waits else 0
    return max(0, job.end - job.start - job.cpu_time - ready)


def account(
    job: Job,
    slices: Sequence[Slice],
    *,
    declared: int | None,
    stolen: int,
    suspension: int = 0,
    less_urgent: Callable[[Job, Job], bool],
    may_block: Callable[[Job, Job], bool],
    waits: bool = False,
    interrupts: Callable[[int, int], Counter[str]] = lambda _begin, _end: Counter(),
    lock_waits: Callable[[Job], Sequence[LockWait]] = lambda _job: (),
    kept_idle: Sequence[Idle] = (),
) -> list[Part]:
    """The parts of a job's response, the largest first; parts of no length are left out.

    ``job`` has release, start and end. ``slices`` are those of its core, the job's own among them;
    ``declared`` is the CPU time that it may take (None: unknown), ``suspension`` the time that it
    may sleep, ``stolen`` what the kernel tells in ticks that the hypervisor took from the core
    meanwhile, ``less_urgent(a, b)`` tells whether b goes before a, ``may_block(a, b)`` whether a
    may go on all the same, and ``waits`` whether the trace tells of threads that could have run.
    ``interrupts`` tells for how long which of them had the core between two times, and
    ``lock_waits`` when a job waited for locks. ``kept_idle`` are the stretches before its start in
    which the policy kept the core idle; no slice is within them.
    """
    release, start, end = whole(job)
    others: dict[tuple[ShareKind, int], list[tuple[Job, int]]] = {}
    locked = _within(lock_waits(job), start, end)  # as far as nobody else is shown on the core
    held: Counter[LockHeld] = Counter()
    before = after = measured = 0
    handled = [interrupts(release, start), interrupts(start, end)]
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
            handled[started] -= interrupts(begin, until)
            taken, idle, its = _spread(one.job, begin, until, lock_waits(one.job), waits=waits)
            # What it had in place of one that waits for its lock is its own.
            own_in_place = sum(its.pop(key) for key in list(its) if started and key[1] == job.task)
            before += 0 if started else length
            after += length - own_in_place if started else 0
            measured += taken
            mine = _within(lock_waits(job), begin, until) if started else Counter()
            locked -= mine
            ran = length - idle - taken - own_in_place - its.total()
            if mine and less_urgent(one.job, job):
                held += mine
                ran -= mine.total()
            held += its
            kind = _kind(
                job, one.job, started=started, less_urgent=less_urgent, may_block=may_block
            )
            for of, ns in ((kind, ran), (ShareKind.not_scheduled, idle)):
                if ns:
                    others.setdefault((of, one.job.task), []).append((one.job, ns))
    had = end - start - after
    own = lack(job, had, waits=waits)
    found_locked = _at_most(locked, own.unscheduled)
    own = replace(own, unscheduled=own.unscheduled - found_locked.total())
    asleep = min(own.unscheduled, suspension, slept(job, waits=waits))
    used = had - own.taken - own.unscheduled - found_locked.total()
    spun = _at_most(locked - found_locked, used)  # with CPU time of its own
    held += found_locked + spun
    used -= spun.total()
    allowed = used if declared is None else min(used, declared)
    late = start - release - before - sum(one.end - one.begin for one in kept_idle)
    kept_waiting = min(late, max(0, job.waited_before - before)) if waits else 0
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
    if waits:
        others_ran = sum(part.ns for part in parts if part.kind in _RAN_BEFORE)
        parts = _never_ran(parts, max(0, job.waited_before - kept_waiting - others_ran))
    parts += [*_by_holder(held), *_for_jobs_to_come(kept_idle)]
    parts += [
        Part(ShareKind.suspended, None, asleep),
        Part(ShareKind.not_scheduled, None, own.unscheduled - asleep + kept_waiting),
        Part(ShareKind.late, None, late - kept_waiting),
        Part(ShareKind.overran, None, used - allowed),
        Part(ShareKind.executed, None, allowed),
    ]
    parts = _with_theft(_with_interrupts(parts, *handled), measured + own.taken, stolen)
    return sorted((part for part in parts if part.ns), key=lambda part: -part.ns)


def whole(job: Job) -> tuple[int, int, int]:
    """Release, start and end of a job that has them; raises ValueError for another one."""
    if job.release is None or job.start is None or job.end is None:
        raise ValueError("only a whole job has a response")
    return job.release, max(job.start, job.release), job.end


def _spread(
    other: Job, begin: int, until: int, its_waits: Sequence[LockWait], *, waits: bool
) -> tuple[int, int, Counter[LockHeld]]:
    """What was taken, not scheduled, and waited for, while this job had the core.

    What a job lacks is spread evenly over its stretches, apart from waiting for locks.
    """
    found = lack(other, other.running, waits=waits)
    if found.taken + found.unscheduled <= _NOTABLE:
        return 0, 0, Counter()
    ns = until - begin
    taken = ns * found.taken // other.running
    waited = sum(_within(its_waits, other.start or 0, other.end or until).values())
    idle = ns * max(0, found.unscheduled - waited) // other.running
    return taken, idle, _at_most(_within(its_waits, begin, until), ns - taken - idle)


def _within(waits: Sequence[LockWait], begin: int, end: int) -> Counter[LockHeld]:
    """How long each lock, and who held it, kept a job waiting between two times."""
    found: Counter[LockHeld] = Counter()
    for wait in waits:
        found[wait.lock, wait.holder] += wait.overlap(begin, end)
    return +found


def _at_most(found: Counter[LockHeld], most: int) -> Counter[LockHeld]:
    left = most
    kept: Counter[LockHeld] = Counter()
    for key, ns in found.items():
        kept[key] = min(ns, left)
        left -= kept[key]
    return +kept


def _by_holder(held: Counter[LockHeld]) -> list[Part]:
    holders = {holder for _, holder in held}
    return [
        Part(
            ShareKind.lock,
            holder,
            ns=sum(ns for (_, by), ns in held.items() if by == holder),
            locks=tuple(sorted(lock for lock, by in held if by == holder)),
        )
        for holder in sorted(holders)
    ]


def _for_jobs_to_come(idle: Sequence[Idle]) -> list[Part]:
    """By the callbacks whose jobs were to come."""
    tasks = {one.kept_for.task: one.kept_for for one in idle}
    return [
        Part(
            ShareKind.idled,
            task,
            ns=sum(one.end - one.begin for one in idle if one.kept_for.task == task),
            job=job,
            jobs=len({one.kept_for.job for one in idle if one.kept_for.task == task}),
        )
        for task, job in tasks.items()
    ]


def _with_interrupts(parts: list[Part], before: Counter[str], after: Counter[str]) -> list[Part]:
    """Interrupts before the start and after it, taken from what the job has by itself.

    The clocks of threads run on while an interrupt has the core, unless the kernel counts those.
    """
    own = {part.kind: part.ns for part in parts if part.task is None}
    handled = 0
    for found, kinds in (
        (before, (ShareKind.late, ShareKind.not_scheduled)),
        (after, (ShareKind.not_scheduled, ShareKind.overran, ShareKind.executed)),
    ):
        left = found.total()
        for kind in kinds:
            taken = min(own.get(kind, 0), left)
            own[kind] = own.get(kind, 0) - taken
            left -= taken
            handled += taken
    kept = [part if part.task is not None else replace(part, ns=own[part.kind]) for part in parts]
    return [*kept, Part(ShareKind.interrupts, None, handled, interrupts=before + after)]


def _with_theft(parts: list[Part], measured: int, ticks: int) -> list[Part]:
    """Theft shows where nothing else ran; where the thread's clock runs on, as its execution."""
    reported = left = max(0, ticks - measured)
    robbed = []
    for kind in (ShareKind.not_scheduled, ShareKind.late, ShareKind.overran):
        for part in sorted((one for one in parts if one.kind is kind), key=lambda one: -one.ns):
            taken = min(part.ns, left)
            left -= taken
            robbed.append(replace(part, ns=part.ns - taken))
    kept = [
        one
        for one in parts
        if one.kind not in {ShareKind.not_scheduled, ShareKind.late, ShareKind.overran}
    ]
    return [
        *kept,
        *robbed,
        Part(ShareKind.stolen, None, measured + reported - left, measured=measured),
    ]


def _kind(
    job: Job,
    other: Job,
    *,
    started: bool,
    less_urgent: Callable[[Job, Job], bool],
    may_block: Callable[[Job, Job], bool],
) -> ShareKind:
    if other.task == job.task:
        return ShareKind.former
    if started:
        return ShareKind.preempted
    if not less_urgent(other, job):
        return ShareKind.waited
    return ShareKind.blocked if may_block(other, job) else ShareKind.late


def _never_ran(parts: Sequence[Part], waited: int) -> list[Part]:
    """For so long its thread could have run while a less urgent job seemed to: neither did.

    The kernel picks the more urgent thread of those that can run.
    """
    found: dict[tuple[ShareKind, int | None], Part] = {}
    left = waited
    for part in parts:
        taken = min(part.ns, left) if part.kind is ShareKind.late else 0
        left -= taken
        for kind, ns in ((part.kind, part.ns - taken), (ShareKind.not_scheduled, taken)):
            known = found.get((kind, part.task))
            if known:
                found[kind, part.task] = replace(known, ns=known.ns + ns)
            elif ns:
                found[kind, part.task] = replace(part, kind=kind, ns=ns)
    return list(found.values())
