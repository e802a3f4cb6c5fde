# SPDX-License-Identifier: Apache-2.0
"""Job sets of np-schedulability-analysis (CSV) as periodic non-preemptive tasks.

Columns: task, job, earliest and latest release, least and greatest cost, absolute deadline and
priority, the lowest number first (Nasri & Brandenburg 2017). An application has periodic tasks, not
single jobs: the period of a task is the distance of its jobs, a single job comes once in all.
"""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import lcm
from pathlib import Path
from typing import Any

from takt.schedule.importing.imported import (
    Given,
    Imported,
    application,
    descending,
    execution,
    identifier,
    time_ns,
    wrong,
)

HEADERS = {"taskid", "tid"}  # of the first column, without spaces
COLUMNS = ("release min", "release max", "cost min", "cost max", "deadline")
UNIT = 1000  # ns: the tool counts ticks, its scripts microseconds


@dataclass(frozen=True)
class Job:
    """A row; ns, the priority as it is."""

    line: int
    release: int
    latest: int
    best: int
    worst: int
    deadline: int
    priority: float
    same: bool  # as its deadline: EDF


def read(file: Path, text: str, given: Given) -> list[Imported]:
    """The one application of a job set; raises TaktError for jobs that no periodic task has."""
    tasks = _tasks(file, text, given.unit or UNIT)
    period, notes = _periods(file, tasks)
    jobs = [one for each in tasks.values() for one in each]
    edf = all(one.same for one in jobs)
    priorities = {} if edf else _priorities(file, tasks)
    callbacks = [
        _callback(name, each, period[name], priorities.get(name)) for name, each in tasks.items()
    ]
    for what in ("best", "worst"):
        if any(len({getattr(one, what) for one in each}) > 1 for each in tasks.values()):
            notes.append(
                "costs differ between the jobs of a task: every job may now take the least and the "
                "greatest of them"
            )
            break
    policy = "np-edf" if edf else "np-fp"
    notes.append(f"policy: {policy}, as the priorities; p-rm and cw-edf are policies of Takt, too")
    return [Imported(application(callbacks, policy, [0]), notes)]


def _tasks(file: Path, text: str, unit: int) -> dict[str, list[Job]]:
    """The jobs of each task, in the order of their releases."""
    found: dict[str, list[Job]] = defaultdict(list)
    rows = csv.reader(text.splitlines())
    header = [one.strip().lower() for one in next(rows)]
    if any("successor" in one for one in header) or "tmin" in header:
        raise wrong(
            file,
            1,
            "this file has precedence constraints or abort actions, no jobs",
            "give the file of the jobs: Task ID, Job ID, Arrival min, …",
        )
    for row in rows:
        line = rows.line_num
        if not any(one.strip() for one in row):
            continue
        if len(row) != 8:
            raise wrong(file, line, f"{len(row)} columns; a job has 8")
        if not row[1].strip().isdecimal():
            raise wrong(file, line, f"Job ID is no whole number: {row[1].strip()!r}")
        times = [
            time_ns(one, unit, file, line, what)
            for one, what in zip(row[2:7], COLUMNS, strict=True)
        ]
        found[row[0].strip()].append(_job(file, line, times, row[7].strip(), row[6].strip()))
    if not found:
        raise wrong(file, None, "no job in this file")
    return {name: sorted(jobs, key=lambda one: one.release) for name, jobs in found.items()}


def _job(file: Path, line: int, times: Sequence[int], priority: str, deadline: str) -> Job:
    release, latest, best, worst, due = times
    if latest < release or worst < best or due <= release:
        raise wrong(
            file,
            line,
            "a job has its earliest before its latest release, its least before its greatest cost, "
            "and its deadline after its release",
        )
    if worst == 0:
        raise wrong(file, line, "cost max must be greater than 0")
    try:
        return Job(line, release, latest, best, worst, due, float(priority), priority == deadline)
    except ValueError:
        raise wrong(file, line, f"priority is no number: {priority!r}") from None


def _periods(file: Path, tasks: dict[str, list[Job]]) -> tuple[dict[str, int], list[str]]:
    """The period of each task in ns."""
    periods: dict[str, int] = {}
    notes = []
    for name, jobs in tasks.items():
        for before, after in pairwise(jobs):
            distance = after.release - before.release
            if distance != periods.setdefault(name, distance) or not distance:
                raise wrong(
                    file,
                    after.line,
                    f"the jobs of task {name} are not periodic: this one is released {distance} ns "
                    f"after the one before, the second {periods[name]} ns after the first",
                    "Takt describes periodic tasks; keep one period for each task",
                )
        for what, of in _SAME.items():
            if len({of(one) for one in jobs}) > 1:
                raise wrong(
                    file, jobs[0].line, f"the jobs of task {name} differ in their {what}", None
                )
    if not periods:
        raise wrong(
            file,
            None,
            "no task of this set has two jobs, so none has a period",
            "Takt describes periodic tasks; give the jobs of a hyperperiod",
        )
    ends = {len(tasks[name]) * each for name, each in periods.items()}
    if len(ends) > 1 or max(ends) % lcm(*periods.values()):
        notes.append(
            "the jobs do not end with a hyperperiod: the application repeats each task for ever"
        )
    if single := tasks.keys() - periods.keys():
        whole = max(*ends, *(max(one.deadline for one in jobs) for jobs in tasks.values()))
        periods |= dict.fromkeys(single, whole)
        notes.append("a task of a single job has the length of the job set as its period")
    return periods, notes


_SAME: dict[str, Callable[[Job], int]] = {
    "release jitter": lambda one: one.latest - one.release,
    "relative deadline": lambda one: one.deadline - one.release,
}


def _priorities(file: Path, tasks: dict[str, list[Job]]) -> dict[str, int]:
    """Those of tasks, if those of their jobs keep the order of tasks."""
    order = sorted(tasks, key=lambda name: min(one.priority for one in tasks[name]))
    for before, after in pairwise(order):
        if max(one.priority for one in tasks[before]) > min(one.priority for one in tasks[after]):
            raise wrong(
                file,
                tasks[after][0].line,
                f"the priorities are neither deadlines nor those of tasks: jobs of task {after} "
                f"come before and after jobs of task {before}",
                "give every job of a task the same priority, or its deadline (EDF)",
            )
    return dict(zip(order, descending(len(order), file), strict=True))


def _callback(name: str, jobs: list[Job], period: int, priority: int | None) -> dict[str, Any]:
    first = jobs[0]
    return {
        "name": f"tasks.{identifier(name, 'task_')}",
        "period": period,
        "offset": first.release,
        "deadline": first.deadline - first.release,
        "jitter": first.latest - first.release,
        "execution": execution(min(one.best for one in jobs), max(one.worst for one in jobs)),
        **({} if priority is None else {"priority": priority}),
    }
