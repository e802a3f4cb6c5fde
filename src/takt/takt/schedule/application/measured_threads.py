# SPDX-License-Identifier: Apache-2.0
"""Which jobs of executors with several threads show what the executor costs, from a trace.

The kernel moves such a thread between the cores of its process, and a trace does not show where it
is. So a job counts only where no process that shares a core had one in progress meanwhile: else it
may have waited for that core. EventsCBGExecutor has one more thread, which waits for all timers and
needs a core, too: what a timer waits while the executor runs something is no cost of its dispatch.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from takt.schedule.application.executors import SEVERAL_THREADS
from takt.schedule.trace.file import Table, Trace, chosen, recorded

Times = NDArray[np.int64]
Rows = NDArray[np.bool_]
TIMERS_APART = "rclcpp_events_cbg"


class InProgress:
    """When at least one of some jobs has begun and not ended."""

    def __init__(self, starts: Times, ends: Times) -> None:
        order = np.argsort(starts, kind="stable")
        starts, until = starts[order], np.maximum.accumulate(ends[order])
        new = np.ones(len(starts), dtype=bool)
        new[1:] = starts[1:] > until[:-1]
        self._begins = starts[new]
        last = np.ones(len(starts), dtype=bool)  # of those that follow each other without a gap
        last[:-1] = new[1:]
        self._ends = until[last]

    def within(self, begin: Times, end: Times) -> Rows:
        """Whether one is in progress at some time between two, for each pair."""
        place = np.searchsorted(self._begins, end) - 1
        known = place >= 0
        found: Rows = known.copy()
        found[known] = self._ends[place[known]] > begin[known]
        return found

    def last_end(self, time: Times) -> Times:
        """Until when one was in progress before then; the lowest number: none was."""
        place = np.searchsorted(self._begins, time) - 1
        least = np.full(len(time), np.iinfo(np.int64).min)
        known = place >= 0
        least[known] = np.minimum(self._ends[place[known]], time[known])
        return least


@dataclass(frozen=True)
class _Process:
    executor: str | None
    own: InProgress
    others: InProgress  # of the processes that share a core


class SeveralThreads:
    """The processes of a trace with such an executor, and what was in progress when."""

    def __init__(self, trace: Trace, flat: Mapping[str, Any], jobs: Table) -> None:
        approach = (trace.names.values("approach") or ["takt"])[0]
        processes = flat.get("processes") or [{"name": None, "executor": approach}]
        self._of = {one["name"]: one.get("process") for one in flat["callbacks"]}
        whole = recorded(jobs["start"]) & recorded(jobs["end"])
        self._by_process: dict[str | None, _Process] = {}
        for one in processes:
            if one.get("executor") not in SEVERAL_THREADS:
                continue
            sharing = [
                other["name"] for other in processes if other is not one and _shares(one, other)
            ]
            self._by_process[one["name"]] = _Process(
                one["executor"],
                self._progress(trace, jobs, whole, [one["name"]]),
                self._progress(trace, jobs, whole, sharing),
            )

    def counted(self, callback: Mapping[str, Any], jobs: Table) -> Rows:
        """The jobs of a callback that show what they cost beside their waits."""
        process = self._by_process.get(callback.get("process"))
        if process is None:
            return np.ones(len(jobs["start"]), dtype=bool)
        release = np.where(recorded(jobs["release"]), jobs["release"], jobs["start"])
        return ~process.others.within(release, jobs["end"])

    def waits(self, callback: Mapping[str, Any], jobs: Table) -> Times | None:
        """Of timers of EventsCBGExecutor: from when nothing ran to their starts; else nothing."""
        process = self._by_process.get(callback.get("process"))
        if process is None or process.executor != TIMERS_APART or callback["kind"] != "timer":
            return None
        jobs = chosen(jobs, recorded(jobs["release"]))
        since = np.maximum(jobs["release"], process.own.last_end(jobs["start"]))
        idle = since < jobs["start"]
        waits: Times = (jobs["start"] - since)[idle]
        return waits

    def _progress(
        self, trace: Trace, jobs: Table, whole: Rows, names: list[str | None]
    ) -> InProgress:
        numbers = [
            number
            for number in np.unique(jobs["task"]).tolist()
            if self._of.get(trace.names.task(number)) in names
        ]
        rows = whole & np.isin(jobs["task"], numbers)
        return InProgress(jobs["start"][rows], jobs["end"][rows])


def _shares(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return one.get("host") == other.get("host") and bool(_cpus(one) & _cpus(other))


def _cpus(process: Mapping[str, Any]) -> set[int]:
    return set(process.get("cpus") or [process.get("cpu", 0)])
