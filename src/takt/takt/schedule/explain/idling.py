# SPDX-License-Identifier: Apache-2.0
"""When a policy left a core idle on purpose, while jobs waited (``p-rm``, ``cw-edf``).

It does so for a job to come that goes before those that wait, until that one is released. So a
stretch in which no job of the process has the core is idle on purpose up to the release of the job
that begins after it, where that is within the stretch. What is left of it is a late start, as under
any other policy.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from takt.schedule.application.executors import IDLING
from takt.schedule.explain.jobs import Job, Slice
from takt.schedule.trace.file import Names


@dataclass(frozen=True)
class Idle:
    """A stretch of a core, in ns, and the job for which the core was kept."""

    begin: int
    end: int
    kept_for: Job


class Idling:
    """By the policies of a trace, or of the processes in the application that it carries."""

    def __init__(
        self, names: Names, flat: dict[str, Any] | None, never: Collection[str] = ()
    ) -> None:
        """``never``: callbacks of which it is proved that their policy leaves no core idle."""
        self._names = names
        self._never = never
        self._processes = {
            one["name"] for one in (flat or {}).get("processes", []) if one.get("policy") in IDLING
        }
        self._homes: dict[str, str] = {
            one["name"]: one.get("process", "") for one in (flat or {}).get("callbacks", [])
        }
        self._whole = bool({*names.policies()} & {*IDLING})

    def may_idle(self, job: Job) -> bool:
        """Whether the policy of its process may wait for others before it starts the job."""
        if self._names.task(job.task) in self._never:
            return False
        home = self._home(job)
        return home in self._processes if home else self._whole

    def before(self, job: Job, slices: Sequence[Slice]) -> list[Idle]:
        """Between the release of a job and its start; ``slices`` of its core by time."""
        if job.release is None or job.start is None or not self.may_idle(job):
            return []
        own = (one for one in self._own(job, slices) if one.end > (job.release or 0))
        return list(self._gaps(own, job.release, job.start))

    def within(self, job: Job, slices: Sequence[Slice], since: int) -> list[Idle]:
        """From ``since`` to the end of a job, in which always one waits or runs."""
        if job.end is None or not self.may_idle(job):
            return []
        own = (one for one in self._own(job, slices) if one.end > since)
        return list(self._gaps(own, since, job.end))

    def without_others(
        self, job: Job, slices: Sequence[Slice], idle: Sequence[Idle]
    ) -> list[Slice]:
        """The slices without what other processes did while the core was idle for this one."""
        if not idle or not self._home(job):
            return list(slices)
        found: list[Slice] = []
        for one in slices:
            whole = self._home(one.job) == self._home(job)
            found += [one] if whole else _cut(one, idle)
        return found

    def _own(self, job: Job, slices: Sequence[Slice]) -> Iterator[Slice]:
        return (one for one in slices if self._home(one.job) == self._home(job))

    def _home(self, job: Job) -> str:
        return self._homes.get(self._names.task(job.task), "")

    @staticmethod
    def _gaps(own: Iterator[Slice], since: int, until: int) -> Iterator[Idle]:
        reached = since
        for one in own:
            if one.begin >= until:
                return
            released = one.job.release
            if released is not None and reached < released <= one.begin:
                yield Idle(reached, released, one.job)
            reached = max(reached, one.end)


def _cut(one: Slice, idle: Sequence[Idle]) -> list[Slice]:
    """What is left of a slice outside of all these stretches, which are in order."""
    found: list[Slice] = []
    begin = one.begin
    for each in idle:
        if each.end <= begin or each.begin >= one.end:
            continue
        if each.begin > begin:
            found.append(replace(one, begin=begin, end=each.begin))
        begin = max(begin, min(each.end, one.end))
    return [*found, replace(one, begin=begin)] if begin < one.end else found
