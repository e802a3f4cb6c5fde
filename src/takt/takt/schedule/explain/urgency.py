# SPDX-License-Identifier: Apache-2.0
"""Which of two jobs goes before the other: between processes the kernel decides, else the policy.

The kernel prefers reservations (SCHED_DEADLINE) to priorities (SCHED_FIFO), these by their number,
and both to nice values.
"""

from __future__ import annotations

from typing import Any

from takt.schedule.explain.jobs import Job, less_urgent
from takt.schedule.trace.file import Names

_Rank = tuple[int, int]


class Urgency:
    """By the processes and threads of the application that a trace carries, if it has any."""

    def __init__(self, names: Names, flat: dict[str, Any] | None) -> None:
        ranks: dict[str, tuple[str, _Rank]] = {}
        processes = {one["name"]: one for one in (flat or {}).get("processes", [])}
        for callback in (flat or {}).get("callbacks", []):
            if process := processes.get(callback.get("process", "")):
                ranks[callback["name"]] = (process["name"], _rank(process))
        for process in processes.values():
            for thread in process.get("threads", []):
                name = f"{process['name']}.{thread['name']}"
                ranks[name] = (name, _rank(thread))
        self._ranks = {task: ranks[name] for task, name in names.tasks.items() if name in ranks}

    def less(self, one: Job, other: Job) -> bool:
        """Whether the first goes after the second."""
        mine, its = self._ranks.get(one.task), self._ranks.get(other.task)
        if mine is None or its is None or mine[0] == its[0]:
            return less_urgent(one, other)
        return mine[1] < its[1]

    def has_priority(self, task: int) -> bool:
        """Whether its threads are SCHED_FIFO, as far as the application tells."""
        mine = self._ranks.get(task)
        return mine is None or mine[1][0] == _PRIORITY

    def is_below(self, one: int, other: int) -> bool:
        """Whether the kernel prefers the process of the second task to that of the first."""
        mine, its = self._ranks.get(one), self._ranks.get(other)
        return mine is not None and its is not None and mine[1] < its[1]


_NICE, _PRIORITY, _RESERVATION = 0, 1, 2


def _rank(scheduled: dict[str, Any]) -> _Rank:
    if "reservation" in scheduled:
        return (_RESERVATION, 0)
    return (_NICE, 0) if "nice" in scheduled else (_PRIORITY, int(scheduled.get("priority", 0)))
