# SPDX-License-Identifier: Apache-2.0
"""What executor and messages cost in an execution on this machine, from its trace.

A job costs more than its callback: the executor notices and chooses it, threads of the middleware
and of the kernel run meanwhile, and messages are copied. What a trace does not attribute to a
message is a part of `dispatch`. Clocks that run count here, not CPU time alone: a bound must cover
both. `preemption` and `release` are part of `dispatch`, because a trace does not separate them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from takt.errors import TaktError
from takt.schedule.application.executors import IDLING, STOCK_EXECUTORS
from takt.schedule.application.measured_threads import SeveralThreads
from takt.schedule.trace import file as files
from takt.schedule.trace.file import Step, Table, Trace, Type, by_number, recorded

Times = NDArray[np.int64]
UPPER, MIDDLE = 99, 50  # percentiles: for bounds, and for drawn simulations
LEAST_JOBS = 100  # of a callback; of fewer, the percentile for bounds is the longest alone
KIB = 1024
_JOBS = ("task", "job", "core", "release", "start", "end", "cpu_time", "running")
_SLICES = ("task", "job", "core", "begin", "end")


@dataclass(frozen=True)
class Cost:
    """Of one job of a callback beside its own execution, in ns."""

    job: float  # to notice, choose, begin and end it, with what it receives
    publishing: float  # on the core, from its first message to its end
    received: tuple[int, float]  # messages, KiB
    published: tuple[int, float]


def overheads_of(path: Path, percentile: int = UPPER) -> dict[str, int]:
    """Overheads in ns, such that jobs of the execution took no longer at this percentile.

    Raises TaktError for the trace of a simulation, and of what has no description or no jobs.
    """
    trace = files.read(path)
    flat = _description(trace)
    gathered = _Gathered()
    files.replay(trace, [gathered])
    costs = list(_costs(trace, flat, gathered, percentile))
    if not costs:
        raise TaktError(
            f"no callback has {LEAST_JOBS} jobs in this trace",
            where=str(path),
            fix="execute the application for longer",
        )
    nothing = [cost.job for cost in costs if not cost.received[0]]
    small = [cost.job for cost in costs if cost.received[1] < 1]
    dispatch = max(nothing or small or [min(cost.job for cost in costs)])
    deliver = _by_size((cost.job - dispatch, *cost.received) for cost in costs)
    publish = _by_size((cost.publishing, *cost.published) for cost in costs)
    found = {
        "dispatch": dispatch,
        "publish": publish[0],
        "publish_per_kib": publish[1],
        "deliver": deliver[0],
        "deliver_per_kib": deliver[1],
    }
    return {name: -int(-value // 1) for name, value in found.items()}


def _description(trace: Trace) -> dict[str, Any]:
    text = files.description(trace.names)
    fix = "give the trace of takt execute, or print overheads: takt bench overheads --json"
    if text is None or trace.source != "executor":
        what = "of a simulation" if trace.source == "simulator" else "without a description"
        raise TaktError(f"a trace {what} has no overheads", where=str(trace.path), fix=fix)
    files.declared(text, trace)  # raises for a damaged one
    flat: dict[str, Any] = json.loads(text)
    approach = (trace.names.values("approach") or ["takt"])[0]
    if approach not in {"takt", "rclcpp_takt", *STOCK_EXECUTORS}:
        raise TaktError(f"{approach} has no bounds to count overheads in", fix=fix)
    policies = [one.get("policy") for one in (flat, *flat.get("processes", []))]
    if idling := [one for one in policies if one in IDLING]:
        raise TaktError(
            f"policy {idling[0]} leaves the core idle on purpose: that is no overhead",
            where=str(trace.path),
            fix="execute it with another policy: --policy fp",
        )
    return flat


@dataclass
class _Gathered:
    """The sink."""

    jobs: list[Table] = field(default_factory=list)
    slices: list[Table] = field(default_factory=list)
    published: list[Table] = field(default_factory=list)

    def take(self, step: Step) -> None:
        """Keeps what is needed."""
        self.jobs.append({name: step.jobs[name].copy() for name in _JOBS})
        self.slices.append({name: step.slices[name].copy() for name in _SLICES})
        rows = step.events["type"] == Type.publish
        names = ("task", "job", "time")
        self.published.append({name: step.events[name][rows] for name in names})


def _costs(
    trace: Trace, flat: Mapping[str, Any], gathered: _Gathered, percentile: int
) -> Iterable[Cost]:
    callbacks = {one["name"]: one for one in flat["callbacks"]}
    sizes = {one["name"]: one.get("bytes", 0) / KIB for one in flat.get("topics", [])}
    slices = _joined(gathered.slices)
    ends = {core: np.sort(end) for core, (end,) in by_number(slices["core"], slices["end"])}
    publishing = _publishing(slices, _joined(gathered.published))
    all_jobs = _joined(gathered.jobs)
    threads = SeveralThreads(trace, flat, all_jobs)
    for number, rows in _by_task(all_jobs).items():
        callback = callbacks.get(trace.names.task(number))
        whole = recorded(rows["end"]) & recorded(rows["start"]) & recorded(rows["cpu_time"])
        if callback is None:
            continue
        jobs = files.chosen(rows, whole)
        jobs = files.chosen(jobs, threads.counted(callback, jobs))
        if len(jobs["job"]) < LEAST_JOBS:
            continue
        sent = publishing.get(number, {})
        took = np.array([sent.get(job, 0) for job in jobs["job"].tolist()])
        at = _Percentile(percentile)
        declared = callback["execution"]["worst"]
        several = callback.get("messages", {})
        topics = [read["topic"] for read in callback.get("reads", [])]
        topics += [callback["trigger"]] if callback.get("trigger") else []
        copies = {
            topic: many[-1] if isinstance(many, list) else many
            for topic in callback.get("writes", [])
            for many in [several.get(topic, 1)]
        }
        late: Times | list[int] = []
        if not _is_excluded(callback, flat):
            apart = threads.waits(callback, jobs)
            if apart is None:
                late = _waits(jobs, ends)
            elif len(apart) >= LEAST_JOBS:
                late = apart
        yield Cost(
            at(late)
            + at(jobs["running"] - jobs["cpu_time"])
            + max(0.0, at(jobs["cpu_time"] - took) - declared),
            at(took),
            (len(topics), sum(sizes.get(topic, 0) for topic in topics)),
            (sum(copies.values()), sum(sizes.get(one, 0) * n for one, n in copies.items())),
        )


class _Percentile:
    def __init__(self, percentile: int) -> None:
        self._percentile = percentile

    def __call__(self, values: Times | list[int]) -> float:
        """0 of nothing, and where values are below it."""
        return max(0.0, float(np.percentile(values, self._percentile))) if len(values) else 0.0


def _waits(jobs: Table, ends: Mapping[int, Times]) -> Times:
    """From the moment at which nothing went before a job to its start; preemptions are left out."""
    found = []
    for core, (release, start) in by_number(jobs["core"], jobs["release"], jobs["start"]):
        if core not in ends:
            continue
        place = np.searchsorted(ends[core], start, side="right") - 1
        last = np.where(place >= 0, ends[core][np.maximum(place, 0)], np.iinfo(np.int64).min)
        known = recorded(release) & (last < start)
        found.append(start[known] - np.maximum(release, last)[known])
    return np.concatenate(found) if found else np.empty(0, np.int64)


def _is_excluded(callback: Mapping[str, Any], flat: Mapping[str, Any]) -> bool:
    """Whether it waits for more than the core: for itself, other cores, or other processes."""
    if callback.get("suspension") or (callback.get("group") and len(flat.get("cpus", [0])) > 1):
        return True
    executors = {one["name"]: one.get("executor") for one in flat.get("processes", [])}
    if executors.get(callback.get("process")) not in STOCK_EXECUTORS:
        return False
    return any(  # released at the publication there: the handover is not a part of it
        other.get("process") != callback.get("process")
        and callback.get("trigger") in other.get("writes", [])
        for other in flat["callbacks"]
    )


def _publishing(slices: Table, published: Table) -> dict[int, dict[int, int]]:
    """By task and job: time on the core since its first message."""
    first: dict[tuple[int, int], int] = {}
    for task, job, time in zip(
        *(published[name].tolist() for name in ("task", "job", "time")), strict=True
    ):
        first.setdefault((task, job), time)
    found: dict[int, dict[int, int]] = {}
    for task, job, begin, end in zip(
        *(slices[name].tolist() for name in ("task", "job", "begin", "end")), strict=True
    ):
        since = first.get((task, job))
        if since is not None and end > since:
            of = found.setdefault(task, {})
            of[job] = of.get(job, 0) + end - max(begin, since)
    return found


def _by_size(costs: Iterable[tuple[float, int, float]]) -> tuple[float, float]:
    """Of a message, and of a KiB more, from what callbacks took for their messages and KiB."""
    known = [cost for cost in costs if cost[1] and cost[0] > 0]
    each = max((ns / number for ns, number, kib in known if kib < 1), default=0.0)
    rest = [(ns - each * number) / kib for ns, number, kib in known if kib >= 1]
    return each, max(0.0, *rest) if rest else 0.0


def _joined(tables: list[Table]) -> Table:
    return {name: np.concatenate([one[name] for one in tables]) for name in tables[0]}


def _by_task(table: Table) -> dict[int, Table]:
    names = [name for name in table if name != "task"]
    return {
        task: dict(zip(names, columns, strict=True))
        for task, columns in by_number(table["task"], *(table[name] for name in names))
    }
