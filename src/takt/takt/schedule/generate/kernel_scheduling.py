# SPDX-License-Identifier: Apache-2.0
"""Processes that the kernel schedules by a reservation, or by a nice value with a quota."""

from __future__ import annotations

from takt.schedule.application.executors import SEVERAL_THREADS, STOCK_EXECUTORS
from takt.schedule.generate.draft import Draft, Entry

_OF_ONE_THREAD = {*STOCK_EXECUTORS, "np-fp", "np-edf"}
# Of what its jobs compute: from too little to more than enough.
_RESERVED = (0.9, 3.0)
_PERIODS = (0.1, 1.0)  # of the shortest of its callbacks
_LEAST_RUNTIME = 1024  # ns that the kernel takes
_QUOTA_PERIODS = (1_000_000, 1_000_000_000)  # ns that it takes


def schedule_by_the_kernel(draft: Draft, cores: int) -> None:
    """In place of priorities; of all on a core the reservations fit, and one has a nice value."""
    chance, wanted = draft.chance, draft.wanted
    left: dict[int, float] = {}  # by core: what reservations may still take
    nice: set[int] = set()  # cores with a process at SCHED_OTHER: two have no bound
    roaming = cores if wanted.reservations and cores > 1 and chance.happens() else 0
    bound = not roaming  # all of them, or none
    for process in draft.document["processes"]:
        executor = process.get("executor") or process["policy"]
        if "cpu" not in process or executor not in _OF_ONE_THREAD:
            continue
        cpu = process["cpu"]
        if roaming and executor not in SEVERAL_THREADS and chance.happens(wanted.reservations):
            if reservation := _reservation(draft, process, _density(draft, process)):
                roaming -= 1
                del process["priority"], process["cpu"]
                process |= {"cpus": list(range(cores)), "reservation": reservation}
        elif bound and wanted.reservations and chance.happens(wanted.reservations):
            density = min(left.get(cpu, 1.0), _density(draft, process))
            if reservation := _reservation(draft, process, density):
                left[cpu] = left.get(cpu, 1.0) - reservation["runtime"] / reservation["deadline"]
                del process["priority"]
                process["reservation"] = reservation
        elif wanted.quotas and cpu not in nice and chance.happens(wanted.quotas):
            nice.add(cpu)
            del process["priority"]
            process |= {"nice": chance.whole((-20, 19)), "quota": _quota(draft, process)}


def _own(draft: Draft, process: Entry) -> list[Entry]:
    return [one for one in draft.callbacks if one["process"] == process["name"]]


def _needed(draft: Draft, process: Entry) -> float:
    return sum(draft.worst(one) * draft.rate(one) for one in _own(draft, process))


def _density(draft: Draft, process: Entry) -> float:
    return min(1.0, _needed(draft, process) * draft.chance.real(_RESERVED))


def _period(draft: Draft, process: Entry) -> float:
    shortest = min(draft.period(one) for one in _own(draft, process))
    return shortest * draft.chance.real(_PERIODS)


def _reservation(draft: Draft, process: Entry, density: float) -> Entry | None:
    """Half of them with a deadline before the period; None: too little is left of the core."""
    period = draft.time(_period(draft, process))
    deadline = period
    if draft.chance.happens():
        deadline = max(draft.time(period * draft.chance.real((0.3, 1.0))), _LEAST_RUNTIME)
    runtime = min(int(density * deadline), deadline)
    if runtime < _LEAST_RUNTIME or deadline > period:
        return None
    return {"runtime": runtime, "deadline": deadline, "period": period}


def _quota(draft: Draft, process: Entry) -> Entry:
    least, most = _QUOTA_PERIODS
    period = min(max(draft.time(_period(draft, process)), least), most)
    return {"budget": max(least, int(_density(draft, process) * period)), "period": period}
