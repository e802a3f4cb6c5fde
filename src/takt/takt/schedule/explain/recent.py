# SPDX-License-Identifier: Apache-2.0
"""What happened lately on each core: who had it, and what was stolen from it.

The core tells it as columns; what is asked about becomes objects, and these are few.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from takt.schedule.explain.jobs import Job, Slice, job_of
from takt.schedule.trace.file import Step, Table, Type, chosen, recorded

STEAL_SETTLES = 20_000_000  # ns: the kernel tells steal in ticks, and the trace every 10 ms
BUSY = 500_000_000  # ns before a release that its busy period may go back


@dataclass(frozen=True)
class _Kept:
    """A step of the trace, as far as anybody asks for it."""

    jobs: Table
    slices: Table
    stolen: Table
    dispatched: Table  # CPU time of threads between their jobs
    until: int  # the last time in it


class Recent:
    """Forgets what is older than anybody asks for."""

    def __init__(self) -> None:
        self._kept: list[_Kept] = []
        self._unfinished: Table = {}
        self._together: _Kept | None = None  # all that is kept, and the unfinished jobs
        self._order: NDArray[Any] = np.empty(0, np.int64)  # of its jobs, by serial
        self._known: dict[int, Job] = {}  # by serial
        self._switches: dict[int, list[tuple[int, int]]] = {}  # by core: when, to which scenario

    def add(self, step: Step) -> None:
        """The next step."""
        ends, times = step.slices["end"], step.events["time"]
        until = max((int(one[-1]) for one in (ends, times) if len(one)), default=0)
        stolen = chosen(step.events, step.events["type"] == Type.stolen)
        switches = chosen(step.events, step.events["type"] == Type.scenario)
        columns = (switches[name].tolist() for name in ("core", "time", "value"))
        for core, time, scenario in zip(*columns, strict=True):
            self._switches.setdefault(core, []).append((time, scenario))
        dispatched = chosen(step.events, step.events["type"] == Type.dispatch)
        self._kept.append(_Kept(step.jobs, step.slices, stolen, dispatched, until))
        self._unfinished = step.unfinished
        self._together = None

    def before(self, job: Job) -> list[Slice]:
        """Of its core, those that began before its end: as far back as anybody may look."""
        slices = self._whole().slices
        rows = slices["core"] == (-1 if job.core is None else job.core)
        rows &= slices["begin"] < (job.end or 0)
        rows &= slices["end"] >= (job.release or 0) - BUSY
        return self._objects(slices, np.flatnonzero(rows), job)

    def around(self, job: Job, margin: int) -> list[Slice]:
        """Of all cores, those that overlap with its response and so much around."""
        slices = self._whole().slices
        rows = slices["end"] > (job.release or 0) - margin
        rows &= slices["begin"] < (job.end or 0) + margin
        found = np.flatnonzero(rows)
        return self._objects(slices, found[np.argsort(slices["core"][found], kind="stable")], job)

    def ended(self, task: int, since: int, until: int) -> list[Job]:
        """Jobs of a task that ended in this time, the last one first."""
        jobs = self._whole().jobs
        rows = (jobs["task"] == task) & (jobs["end"] >= since) & (jobs["end"] <= until)
        found = np.flatnonzero(rows)
        order = found[np.argsort(jobs["end"][found], kind="stable")][::-1]
        return [self._job(int(serial)) for serial in jobs["serial"][order]]

    def released(self, task: int, since: int, until: int) -> int:
        """How many jobs of a task were released in this time."""
        jobs = self._whole().jobs
        rows = (jobs["task"] == task) & (jobs["release"] >= since) & (jobs["release"] <= until)
        return int(np.count_nonzero(rows))

    def released_at(self, task: int, time: int) -> Job | None:
        """The job of a task that was released then."""
        jobs = self._whole().jobs
        rows = np.flatnonzero((jobs["task"] == task) & (jobs["release"] == time))
        return self._job(int(jobs["serial"][rows[-1]])) if len(rows) else None

    def numbered(self, task: int, number: int) -> Job | None:
        """The job of a task with this index, the latest one where there are several."""
        jobs = self._whole().jobs
        rows = np.flatnonzero((jobs["task"] == task) & (jobs["job"] == number))
        return self._job(int(jobs["serial"][rows[-1]])) if len(rows) else None

    def stolen_within(self, core: int, begin: int, end: int) -> int:
        """What the kernel told for a time that this may have been in: it tells in late ticks."""
        stolen = self._whole().stolen
        rows = (stolen["core"] == core) & (stolen["time"] > begin)
        rows &= stolen["time"] - stolen["job"].astype(np.int64) < end + STEAL_SETTLES // 2
        return int(stolen["value"][rows].sum())

    def computed(self, tasks: Collection[int], since: int, until: int) -> int:
        """CPU time in ns that threads of these tasks had meanwhile, as far as the trace tells.

        Of a job that was not measured, or has not ended, the time that it had the core.
        """
        whole = self._whole()
        jobs, between = whole.jobs, whole.dispatched
        rows = np.isin(jobs["task"], list(tasks)) & recorded(jobs["start"])
        start, end, cpu, running = (
            jobs[name][rows] for name in ("start", "end", "cpu_time", "running")
        )
        within = np.minimum(np.where(recorded(end), end, until), until) - np.maximum(start, since)
        used = np.minimum(np.where(recorded(cpu), cpu, running), within)
        times = between["time"]
        rows = np.isin(between["task"], list(tasks)) & (times > since) & (times <= until)
        return int(used[used > 0].sum() + between["value"][rows].sum())

    def scenario_at(self, core: int, time: int) -> int | None:
        """The scenario that a core followed then; None: still the first one."""
        found = [scenario for when, scenario in self._switches.get(core, []) if when <= time]
        return found[-1] if found else None

    def switched_within(self, core: int, begin: int, end: int) -> bool:
        """Whether a core changed its scenario meanwhile."""
        return any(begin <= when <= end for when, _ in self._switches.get(core, []))

    def forget(self, needed: int) -> None:
        """Nobody asks any more for what is older, by as much as a busy period may go back."""
        for switches in self._switches.values():
            while len(switches) > 1 and switches[1][0] < needed - BUSY:
                del switches[0]  # the core followed the next one all the time that is asked about
        kept = [one for one in self._kept if one.until >= needed - BUSY]
        if len(kept) < len(self._kept):
            self._kept, self._together = kept, None

    def _whole(self) -> _Kept:
        if self._together is None:
            jobs = _joined([one.jobs for one in self._kept] + [self._unfinished])
            slices, stolen, dispatched = (
                _joined([getattr(one, name) for one in self._kept])
                for name in ("slices", "stolen", "dispatched")
            )
            self._together = _Kept(jobs, slices, stolen, dispatched, 0)
            self._order = np.argsort(jobs["serial"], kind="stable")
            self._known = {}
        return self._together

    def _objects(self, slices: Table, rows: NDArray[Any], job: Job) -> list[Slice]:
        """The slices, whose jobs are the same objects where they are the same jobs."""
        self._known[job.serial] = job
        names = ("serial", "core", "begin", "end")
        columns = (slices[name][rows].tolist() for name in names)
        return [
            Slice(self._job(serial), core, begin, end)
            for serial, core, begin, end in zip(*columns, strict=True)
        ]

    def _job(self, serial: int) -> Job:
        if serial not in self._known:
            jobs = self._whole().jobs
            place = np.searchsorted(jobs["serial"], serial, sorter=self._order)
            self._known[serial] = job_of(jobs, int(self._order[place]))
        return self._known[serial]


def _joined(tables: Iterable[Table]) -> Table:
    first, *others = tables
    return {
        name: np.concatenate([column, *(other[name] for other in others)])
        for name, column in first.items()
    }
