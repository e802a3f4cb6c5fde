# SPDX-License-Identifier: Apache-2.0
"""Holds what a trace has of chains against their bounds, and names who lost the time on the way."""

from __future__ import annotations

import heapq
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np
import takt_core

from takt.pages.text import number_of
from takt.schedule.analysis.bounds import KINDS, of_chain
from takt.schedule.application.executors import STOCK_EXECUTORS
from takt.schedule.explain.above import AboveBounds
from takt.schedule.explain.jobs import Job
from takt.schedule.explain.model import ChainAgainst, ChainStep, LateChain, ShareKind
from takt.schedule.explain.recent import STEAL_SETTLES, Recent
from takt.schedule.explain.ways import Hop, Ways
from takt.schedule.ros2.topics import plain
from takt.schedule.trace.file import Names, Step, by_number, recorded

DETAILS = 20  # instances of one chain that are told one by one
_BACK = 4  # so many bounds ago the way of a datum may have begun
_LEAST, _MOST = 1_000_000_000, 30_000_000_000  # ns that a way is kept, at least and at most


@dataclass(frozen=True)
class _Above:
    """An instance of a chain that is above its bound; ns."""

    chain: int
    kind: str
    release: int
    end: int
    took: int


@dataclass(frozen=True)
class _Lost:
    """Time that the bounds do not know of, of a job or a message on the way; ns."""

    by: str
    core: int
    since: int
    until: int
    by_kind: Mapping[ShareKind, int]

    @property
    def total(self) -> int:
        return sum(self.by_kind.values())


@dataclass
class _Sums:
    """Of one chain and one of its bounds."""

    measured: int = 0
    longest: int | None = None
    above: Counter[ShareKind | None] = field(default_factory=Counter)
    latest: list[tuple[int, int, LateChain]] = field(default_factory=list)  # a heap


def _overlap(one: _Lost, other: _Lost) -> bool:
    """Whether both may count the same time; always of itself."""
    if one is other or one.core != other.core:
        return one is other
    return one.since < other.until and other.since < one.until


class Chains:
    """Of the application that a trace carries."""

    def __init__(
        self,
        names: Names,
        flat: Mapping[str, Any] | None,
        chains: Sequence[takt_core.DeclaredChain],
        ways: Ways,
        above: AboveBounds,
        recent: Recent,
    ) -> None:
        self._names, self._above, self._recent, self._ways = names, above, recent, ways
        self._flat = flat or {}
        self._callbacks = {one["name"]: one for one in self._flat.get("callbacks", [])}
        numbers = {name: number for number, name in names.tasks.items()}
        self._chains = [
            (one.name, [numbers.get(name, -1) for name in one.callbacks]) for one in chains
        ]
        self._bounds = {
            (chain, kind): bound
            for chain, (name, _) in enumerate(self._chains)
            for kind in KINDS
            if (bound := above.bounds.get(of_chain(name, kind))) is not None
        }
        longest = max(self._bounds.values(), default=0)
        self._kept = min(_MOST, max(_LEAST, _BACK * longest)) if self._bounds else 0
        self._sums = {key: _Sums() for key in self._bounds}
        self._waiting: deque[_Above] = deque()
        self._number = 0

    def add(self, step: Step) -> None:
        """The next step; `Recent` and `Ways` have it already."""
        if not self._bounds:
            return
        arrivals = step.arrivals
        columns = (arrivals[name] for name in ("age", "reaction", "release", "first"))
        for chain, (age, reaction, release, first) in by_number(arrivals["chain"], *columns):
            for kind, took, counts in (
                ("latency", age, first),
                ("reaction", reaction, recorded(reaction)),
                ("age", age, np.ones(len(age), bool)),
            ):
                bound = self._bounds.get((chain, kind))
                if bound is None or not counts.any():
                    continue
                of = self._sums[chain, kind]
                of.measured += int(np.count_nonzero(counts))
                of.longest = max(of.longest or 0, int(took[counts].max()))
                for row in np.flatnonzero(counts & (took > bound)).tolist():
                    began, end = int(release[row]), int(release[row] + age[row])
                    self._waiting.append(_Above(chain, kind, began, end, int(took[row])))

    def needed(self, now: int) -> int:
        """The time from which on `Recent` has to keep what happened."""
        return now - self._kept

    def explain_until(self, time: int | None) -> None:
        """What ended so long ago that all around it is known; None: everything."""
        while self._waiting and (time is None or self._waiting[0].end + STEAL_SETTLES < time):
            self._explain(self._waiting.popleft())

    def result(self) -> list[ChainAgainst]:
        """To be called when everything is explained."""
        return [
            ChainAgainst(
                chain=self._chains[chain][0],
                kind=kind,
                bound_us=self._bounds[chain, kind] / 1000,
                measured=of.measured,
                longest_us=None if of.longest is None else of.longest / 1000,
                above=of.above.total(),
                by_cause={one: n for one, n in of.above.most_common() if one is not None},
                unexplained=of.above[None],
                late=[late for _, _, late in sorted(of.latest, key=lambda one: -one[0])],
            )
            for (chain, kind), of in self._sums.items()
        ]

    def _explain(self, found: _Above) -> None:
        name, tasks = self._chains[found.chain]
        bound = self._bounds[found.chain, found.kind]
        way = self._ways.of(tasks, found.release, found.end)
        for arrivals in (False, True):
            losses = [*self._losses(way, arrivals=arrivals), *self._left_out(found, way)]
            by_kind: Counter[ShareKind] = Counter()
            for one in losses:
                by_kind.update(one.by_kind)
            largest = max(losses, key=lambda one: one.total, default=None)
            if (cause := self._cause(found, largest, by_kind)) is not None:
                break
        of = self._sums[found.chain, found.kind]
        of.above[cause] += 1
        self._number += 1
        late = LateChain(
            chain=name,
            kind=found.kind,
            release_ns=found.release,
            took_us=found.took / 1000,
            above_us=(found.took - bound) / 1000,
            cause=cause,
            lost_by=None if largest is None else largest.by,
            lost_us=0 if largest is None else largest.total / 1000,
            unknown_us={kind: ns / 1000 for kind, ns in by_kind.most_common()},
            steps=self._steps(way),
        )
        heapq.heappush(of.latest, (found.took - bound, self._number, late))
        if len(of.latest) > DETAILS:
            heapq.heappop(of.latest)

    def _cause(
        self, found: _Above, largest: _Lost | None, by_kind: Counter[ShareKind]
    ) -> ShareKind | None:
        """Theft where it alone suffices, else the largest; None: not all of it, or nothing."""
        if largest is None:
            return None
        key, core = of_chain(self._chains[found.chain][0], found.kind), largest.core
        if self._above.suffices(key, core, by_kind[ShareKind.stolen], found.took):
            return ShareKind.stolen
        if not self._above.suffices(key, core, by_kind.total(), found.took):
            return None
        return max(by_kind, key=lambda kind: by_kind[kind])

    def _losses(self, way: Sequence[Hop], *, arrivals: bool) -> list[_Lost]:
        """What the bounds do not know of; of what overlaps on a core only the largest counts."""
        every = []
        for hop in way:
            job = hop.job
            if job.release is None or job.start is None or job.end is None:
                continue
            before = self._recent.before(job)
            unknown = self._above.unknown(job, before, arrivals=arrivals)
            core = -1 if job.core is None else job.core
            every.append(
                _Lost(self._label(job), core, unknown.since, job.end, dict(unknown.by_kind))
            )
        for hop, after in pairwise(way):
            late = self._handover(hop, after.job)
            if late > 0 and hop.topic is not None:
                by_kind = {ShareKind.handover: late}
                topic = plain(self._names.topic(hop.topic))
                every.append(_Lost(topic, -1, hop.published, hop.published, by_kind))
        kept: list[_Lost] = []
        for one in sorted((one for one in every if one.total), key=lambda one: -one.total):
            if not any(_overlap(one, other) for other in kept):
                # Later jobs have the loss of an earlier one in their busy period.
                first = next(
                    early for early in every if _overlap(early, one) and 2 * early.total > one.total
                )
                kept.append(replace(one, by=first.by))
        return kept

    def _left_out(self, found: _Above, way: Sequence[Hop]) -> list[_Lost]:
        """The bound on a reaction takes for granted that the datum before came one release ago."""
        latency = self._bounds.get((found.chain, "latency"))
        if found.kind != "reaction" or latency is None or not way:
            return []
        since = found.end - found.took  # release of the datum before
        lost = found.release - since - (self._bounds[found.chain, found.kind] - latency)
        task = way[0].job.task
        between = self._recent.released(task, since + 1, found.release - 1)
        before = self._recent.released_at(task, since)
        skipped = way[0].job.job - before.job - 1 - between if before else 0
        if lost <= 0 or between + skipped <= 0:
            return []
        named = [
            f"{number_of(between, 'job')} of {self._names.task(task)} whose data reached no end"
        ]
        if skipped > 0:
            were = "was" if skipped == 1 else "were"
            named.append(f"{number_of(skipped, 'release')} that {were} skipped")
        name = ", and ".join(named if between else [f"{named[1]}, of {self._names.task(task)}"])
        return [_Lost(name, -1, since, found.release, {ShareKind.left_out: lost})]

    def _handover(self, hop: Hop, job: Job) -> int:
        """By how much a message between two processes took longer than declared."""
        processes = {one["name"]: one.get("executor") for one in self._flat.get("processes", [])}
        homes = [
            self._callbacks.get(self._names.task(task), {}).get("process")
            for task in (hop.job.task, job.task)
        ]
        if not processes or homes[0] == homes[1] or job.release is None:
            return 0
        declared = self._callbacks.get(self._names.task(job.task), {})
        if declared.get("kind") != "message":  # that of a thread is noticed late
            return 0
        if processes.get(homes[1]) in STOCK_EXECUTORS:
            return 0  # released at the publication: what the message took is noticed late
        return job.release - hop.published - int(self._flat.get("handover", {}).get("most", 0))

    def _steps(self, way: Sequence[Hop]) -> list[ChainStep]:
        """The parts of its way; they add up to it."""
        found = []
        reached = way[0].job.release or 0 if way else 0
        for hop, before in zip(way, [None, *way], strict=False):
            release = hop.job.release or 0
            if before is not None and release > reached:
                topic = None if before.topic is None else plain(self._names.topic(before.topic))
                found.append(ChainStep(job=None, message=topic, us=(release - reached) / 1000))
                reached = release
            found.append(
                ChainStep(
                    job=self._label(hop.job), message=None, us=(hop.published - reached) / 1000
                )
            )
            reached = hop.published
        return found

    def _label(self, job: Job) -> str:
        return f"{self._names.task(job.task)}[{job.job}]"
