# SPDX-License-Identifier: Apache-2.0
"""A trace for ui.perfetto.dev, in the JSON trace event format.

Two groups of tracks: each core shows which job had it, each task shows its jobs from start to end
with the stretches in which others ran, marks for its events, and an arrow from the job that
published a message to each job that computed on it. The file is written as the trace is read.
Format: https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from takt.schedule.trace.file import NONE, NOT_TOLD, Step, Table, Trace, Type, chosen

CORES, TASKS = 1, 2  # the groups: processes, as the format calls them
_ALL = 0  # the track of what belongs to no core
_IN_FLIGHT = 256  # messages of a topic that a job may still take up
_ENCODER = json.JSONEncoder(ensure_ascii=False)
_MARKS = {
    Type.release: "release",
    Type.skip: "skipped",
    Type.deadline_miss: "deadline miss",
    Type.deliver: "deliver",
    Type.age_violation: "data too old",
    Type.budget_overrun: "over budget",
    Type.early_release: "early release",
    Type.scenario: "scenario",
    Type.overflow: "events lost",
    Type.publish: "publish",
    Type.use: "use",
    Type.stolen: "stolen CPU time",
}


_JOB = (
    "task", "job", "priority", "release", "start", "end", "deadline", "running", "preemptions",
    "missed",
)  # fmt: skip


class _Event(NamedTuple):
    """One event; times in ns."""

    time: int
    job: int
    value: int
    task: int
    topic: int
    core: int
    type: int
    detail: int


class PerfettoExport:
    """The sink that writes the file; to be closed."""

    def __init__(self, trace: Trace, path: Path, *, compressed: bool = False) -> None:
        """Creates the file; raises OSError where it cannot be written."""
        self._names = trace.names
        self._separator = "\n"
        self._tracks: set[tuple[int, int]] = set()
        self._ended = 0  # the trace's last time so far
        self._gone: dict[int, int] = {}  # by task: until when its running job was on a core
        self._published: dict[int, dict[int, _Event]] = {}  # by topic and sequence
        self._arrows = 0
        opened = gzip.open if compressed else open
        self._file = opened(path, "wt", encoding="utf-8")  # closed by close()
        about = {
            "source": trace.source,
            "lost_events": trace.lost,
            "closed_in_order": trace.closed_in_order,
            "attributes": trace.names.attributes,
        }
        self._file.write(f'{{"displayTimeUnit":"ns","otherData":{json.dumps(about)},')
        self._file.write('"traceEvents":[')
        self._group(CORES, "cores")
        self._group(TASKS, "tasks")

    def close(self) -> None:
        """Ends what is written."""
        self._file.write("\n]}\n")
        self._file.close()

    def take(self, step: Step) -> None:
        """Writes marks, who had the cores, and whole jobs."""
        events = step.events
        if len(events["time"]):
            self._ended = int(events["time"][-1])
        marks = chosen(events, np.isin(events["type"], list(_MARKS)))
        for row in _rows(marks, *_Event._fields):
            self._mark(_Event._make(row))
        for one in _rows(step.slices, "task", "job", "core", "begin", "end", "started"):
            self._slice(*one)
        for one in _rows(step.jobs, *_JOB):
            self._job(*one)

    def _slice(self, task: int, job: int, core: int, begin: int, end: int, started: int) -> None:
        """Who had the core, and on the task's track the preemption before."""
        self._span(self._core(core), self._names.task(task), begin, end, {"job": job})
        before = self._gone.get(task, begin)
        if started <= before < begin:
            self._span(self._task(task), "preempted", before, begin, {})
        self._gone[task] = end

    def _job(
        self,
        task: int,
        job: int,
        priority: int,
        release: int,
        start: int,
        end: int,
        deadline: int,
        running: int,
        preemptions: int,
        missed: int,
    ) -> None:
        """The whole job on the task's track."""
        if start == NOT_TOLD:
            return
        details = {
            "job": job,
            "priority": priority,
            "running_us": running / 1000,
            "preemptions": preemptions,
        }
        if NOT_TOLD not in {release, end}:
            details["response_us"] = (end - release) / 1000
        if NOT_TOLD not in {release, deadline}:
            details["deadline_us"] = (deadline - release) / 1000
        name = self._names.task(task)
        if end == NOT_TOLD:
            name += " (no end in the trace)"
        elif missed:
            name += " (missed its deadline)"
        until = self._ended if end == NOT_TOLD else end
        self._span(self._task(task), name, start, until, details)

    def _mark(self, event: _Event) -> None:
        kind = Type(event.type)
        name = _MARKS[kind]
        details: dict[str, Any] = {"job": event.job}
        match kind:
            case Type.scenario:
                name += f" {self._names.scenario(event.value)}"
                details = {}
            case Type.overflow:
                details = {"events": event.value}
            case Type.skip:
                details["releases"] = event.value
            case Type.deliver:
                name += f" {self._names.topic(event.topic)}"
                details |= {"messages": event.detail, "age_us": _age(event.value)}
            case Type.publish | Type.use:
                name += f" {self._names.topic(event.topic)}"
                details["sequence"] = event.value
            case Type.stolen:
                details = {"stolen_us": event.value / 1000, "within_us": event.job / 1000}
            case Type.age_violation:
                name += f": {self._names.topic(event.topic)}"
                details["age_us"] = _age(event.value)
            case Type.budget_overrun:
                details["cpu_time_us"] = event.value / 1000
            case Type.early_release:
                details["early_by_us"] = (event.value - event.time) / 1000
            case _:
                pass
        track = self._core(event.core) if event.task == NONE else self._task(event.task)
        self._write("i", track, name, event.time, {"s": "t", "args": details})
        if kind in (Type.publish, Type.use) and event.task != NONE:
            self._arrow(event)

    def _arrow(self, event: _Event) -> None:
        """Remembers a message, or leads from its publication to its use."""
        messages = self._published.setdefault(event.topic, {})
        if event.type == Type.publish:
            messages[event.value] = event
            if len(messages) > _IN_FLIGHT:
                del messages[next(iter(messages))]
        elif event.value in messages:
            made = messages[event.value]
            topic = self._names.topic(event.topic)
            self._arrows += 1
            same = {"cat": "data", "id": self._arrows}
            self._write("s", self._task(made.task), topic, made.time, same)
            self._write("f", self._task(event.task), topic, event.time, same | {"bp": "e"})

    def _core(self, number: int) -> tuple[int, int]:
        track = (CORES, _ALL if number == NONE else number + 1)
        return self._named(track, "no core" if number == NONE else f"core {number}")

    def _task(self, number: int) -> tuple[int, int]:
        return self._named((TASKS, number + 1), self._names.task(number))

    def _named(self, track: tuple[int, int], name: str) -> tuple[int, int]:
        if track not in self._tracks:
            self._tracks.add(track)
            self._write("M", track, "thread_name", 0, {"args": {"name": name}})
            self._write("M", track, "thread_sort_index", 0, {"args": {"sort_index": track[1]}})
        return track

    def _group(self, number: int, name: str) -> None:
        self._write("M", (number, 0), "process_name", 0, {"args": {"name": name}})
        self._write("M", (number, 0), "process_sort_index", 0, {"args": {"sort_index": number}})

    def _span(
        self, track: tuple[int, int], name: str, begin: int, end: int, details: dict[str, Any]
    ) -> None:
        self._write("X", track, name, begin, {"args": details}, f',"dur":{_us(end - begin)}')

    def _write(
        self,
        phase: str,
        track: tuple[int, int],
        name: str,
        time: int,
        more: dict[str, Any],
        duration: str = "",
    ) -> None:
        rest = _ENCODER.encode({"name": name, **more})[1:]
        self._file.write(
            f'{self._separator}{{"ph":"{phase}","pid":{track[0]},"tid":{track[1]},'
            f'"ts":{_us(time)}{duration},{rest}'
        )
        self._separator = ",\n"


def _us(time: int) -> str:
    """Microseconds, exact to the ns: a float would round the times of a long uptime."""
    sign = "-" if time < 0 else ""
    return f"{sign}{abs(time) // 1000}.{abs(time) % 1000:03d}"


def _age(value: int) -> float | str:
    return "no data yet" if value < 0 else value / 1000


def _rows(table: Table, *names: str) -> Iterator[tuple[int, ...]]:
    return zip(*(table[name].tolist() for name in names), strict=True)
