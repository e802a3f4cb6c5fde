# SPDX-License-Identifier: Apache-2.0
"""Jobs that came later than the bounds allow, for the job that made their message was late.

A bound counts how close together messages may come, by the bound of their writer. Where one is held
up beyond that, its job comes together with later ones, which then wait for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from takt.schedule.explain.account import whole
from takt.schedule.explain.jobs import Job, Slice
from takt.schedule.explain.recent import Recent
from takt.schedule.explain.ways import Ways
from takt.schedule.ros2.topics import plain
from takt.schedule.trace.file import Names


class Arrivals:
    """Of the application that a trace carries."""

    def __init__(
        self, names: Names, flat: Mapping[str, Any] | None, recent: Recent, ways: Ways
    ) -> None:
        self._names, self._recent, self._ways = names, recent, ways
        flat = flat or {}
        self._callbacks = {one["name"]: one for one in flat.get("callbacks", [])}
        self._hosts = {one["name"]: one.get("host") for one in flat.get("processes", [])}
        self._handover = int(flat.get("handover", {}).get("most", 0))

    def in_the_way(
        self,
        job: Job,
        slices: Sequence[Slice],
        since: int,
        *,
        bounds: Mapping[str, int | None],
        less_urgent: Callable[[Job, Job], bool],
    ) -> int:
        """For how long jobs that came too late had the core in its busy period, in ns."""
        end = whole(job)[2]
        had: dict[int, tuple[Job, int]] = {}
        for one in slices:
            length = min(one.end, end) - max(one.begin, since)
            if one.job is not job and length > 0 and not less_urgent(one.job, job):
                other, before = had.get(id(one.job), (one.job, 0))
                had[id(one.job)] = (other, before + length)
        return sum(min(length, self._late(other, bounds)) for other, length in had.values())

    def _late(self, job: Job, bounds: Mapping[str, int | None]) -> int:
        """By how much its message came later than the bound of its writer allows; 0: it did not."""
        reader = self._callbacks.get(self._names.task(job.task), {})
        late = 0
        for task, number, _, topic in self._ways.sources(job):
            maker = self._recent.numbered(task, number)
            bound = bounds.get(self._names.task(task))
            if plain(self._names.topic(topic)) != reader.get("trigger") or maker is None:
                continue
            writer = self._callbacks.get(self._names.task(task), {})
            homes = [one.get("process", "") for one in (writer, reader)]
            far = self._hosts.get(homes[0]) != self._hosts.get(homes[1])
            if bound is None or maker.release is None or job.release is None or far:
                continue
            on_its_way = 0 if homes[0] == homes[1] else self._handover
            late = max(late, job.release - maker.release - bound - on_its_way)
        return late
