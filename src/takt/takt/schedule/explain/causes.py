# SPDX-License-Identifier: Apache-2.0
"""Names the cause of a deadline miss, and says whether it explains all of the lateness.

A kind of share explains the lateness where the job would have met its deadline without it. The
job's own execution is a cause where nothing else explains the lateness, and it is longer than the
deadline allows or was never declared. Where no kind explains the lateness, the largest is named,
and the miss is *partly explained*.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from takt.schedule.explain.account import Part
from takt.schedule.explain.jobs import Job
from takt.schedule.explain.model import Above, ShareKind


@dataclass(frozen=True)
class Cause:
    """A kind of share, and the callback that took most of it."""

    kind: ShareKind
    task: int | None
    ns: int  # of all shares of that kind
    lateness: int  # ns after the deadline

    @property
    def partly(self) -> bool:
        """Whether the job would have missed its deadline without this cause, too."""
        return self.ns < self.lateness


def cause_of_job(job: Job, parts: Sequence[Part], above: Above | None, *, declared: bool) -> Cause:
    """Of a job that was late; the others as in ``cause_of``.

    Others that went before are no reason to miss a deadline that is guaranteed with them.
    """
    if job.deadline is None:
        return cause_of(parts, lateness=0, declared=declared)
    allowed = job.deadline - (job.release or 0)
    if job.missed and above and above.cause and above.bound_us * 1000 <= allowed:
        return Cause(above.cause, None, ns=0, lateness=0)
    lateness = max(0, (job.response or 0) - allowed)
    return cause_of(parts, lateness=lateness, declared=declared)


def cause_of(parts: Sequence[Part], *, lateness: int, declared: bool) -> Cause:
    """The cause of a job that ended ``lateness`` ns after its deadline.

    ``parts`` are those of its response; ``declared`` tells whether its application declares how
    long it executes.
    """
    totals: dict[ShareKind, int] = {}
    for part in parts:
        totals[part.kind] = totals.get(part.kind, 0) + part.ns
    own = totals.pop(ShareKind.executed, 0)
    allowed = own + sum(totals.values()) - lateness
    others = max(totals.values(), default=0)
    if not totals or (others < lateness and own > others and (not declared or own > allowed)):
        totals = {ShareKind.executed: own}
    kind = max(totals, key=lambda each: totals[each])
    largest = max((part for part in parts if part.kind is kind), key=lambda part: part.ns)
    return Cause(kind, largest.task, totals[kind], lateness)
