# SPDX-License-Identifier: Apache-2.0
"""A trace for ui.perfetto.dev and Perfetto's trace processor.

Groups of tracks: each core shows which job had it, each task shows its jobs from start to end
with the stretches in which others ran, marks for its events, and an arrow from the publication of a
message to each job that computed on it. Where the trace records other programs, a third group
shows when they had the cores. The file is written as the trace is read.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import IO, Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from takt.schedule.trace.arrows import Arrows, Linked
from takt.schedule.trace.file import (
    NONE,
    RECORDING,
    Names,
    Step,
    Table,
    Trace,
    Type,
    chosen,
    recorded,
)
from takt.schedule.trace.packets import Packets
from takt.schedule.trace.programs import Programs

_ENDINGS = ("", " (missed its deadline)", " (no end in the trace)")  # of the names of jobs


class _Mark(NamedTuple):
    """How events of a type are shown: name, details by their columns, what the name ends with."""

    name: str
    details: dict[str, str]
    of: str = ""


_MARKS = {
    Type.release: _Mark("release", {"job": "job"}),
    Type.skip: _Mark("skipped", {"job": "job", "releases": "value"}),
    Type.deadline_miss: _Mark("deadline miss", {"job": "job"}),
    Type.deliver: _Mark(
        "deliver", {"job": "job", "messages": "detail", "age_ns": "value"}, "topic"
    ),
    Type.age_violation: _Mark("data too old:", {"job": "job", "age_ns": "value"}, "topic"),
    Type.budget_overrun: _Mark("over budget", {"job": "job", "cpu_time_ns": "value"}),
    Type.early_release: _Mark("early release", {"job": "job", "regular_release_ns": "value"}),
    Type.scenario: _Mark("scenario", {}, "value"),
    Type.overflow: _Mark("events lost", {"events": "value"}),
    Type.stolen: _Mark("stolen CPU time", {"stolen_ns": "value", "within_ns": "job"}),
    Type.publish: _Mark("publish", {"job": "job", "sequence": "value"}, "topic"),
    Type.use: _Mark("use", {"job": "job", "sequence": "value"}, "topic"),
}


class _Declared:
    """What stands for a number of 16 bits in the file, declared there when it is first met."""

    def __init__(self, declare: Callable[[int], int]) -> None:
        self._declare = declare
        self._known = np.zeros(NONE + 1, np.int64)

    def __call__(self, numbers: NDArray[Any]) -> NDArray[np.int64]:
        found: NDArray[np.int64] = self._known[numbers]
        if found.all():
            return found
        for number in np.unique(numbers[found == 0]).tolist():
            self._known[number] = self._declare(number)
        return self(numbers)


class PerfettoExport:
    """The sink that writes the file; to be closed."""

    def __init__(self, trace: Trace, path: Path, *, compressed: bool = False) -> None:
        """Creates the file; raises OSError where it cannot be written."""
        self._trace = trace
        self._last: int | None = None  # the trace's last time so far
        self._gone = np.full(NONE + 1, -1)  # by task: until when its running job was on a core
        self._arrows = Arrows()
        opened = gzip.open if compressed else open
        self._file = cast("IO[bytes]", opened(path, "wb"))  # closed by close()
        self._packets = Packets(self._file)
        name = "threads" if trace.source == RECORDING else "cores"  # what stands there
        self._cores = self._packets.track(name, 0)
        self._tasks = self._packets.track("tasks", 1)
        self._core, self._task = _Declared(self._core_track), _Declared(self._task_track)
        self._marks = {kind: _Declared(self._mark_name(mark)) for kind, mark in _MARKS.items()}
        self._jobs_named = [_Declared(self._job_name(ending)) for ending in _ENDINGS]

    def close(self) -> None:
        """Ends what is written."""
        try:
            self._messages(self._arrows.rest())
            self._others(Programs(self._trace.names))
        finally:
            self._file.close()

    def take(self, step: Step) -> None:
        """Writes marks, who had the cores, and whole jobs."""
        events = _positive(step.events, "time")
        if len(events["time"]):
            if self._last is None:
                self._describe(int(events["time"][0]))
            self._last = int(events["time"][-1])
        messages = np.isin(events["type"], (Type.publish, Type.use))
        self._messages(self._arrows.take(chosen(events, messages)))
        self._mark(chosen(events, ~messages))
        self._stretches(_positive(step.slices, "begin", "end", "started"))
        self._jobs(chosen(step.jobs, recorded(step.jobs["start"])))

    def _describe(self, begin: int) -> None:
        trace = self._trace
        texts = {
            "source": trace.source,
            "lost_events": str(trace.lost),
            "closed_in_order": str(trace.closed_in_order).lower(),
            "attributes": json.dumps(trace.names.attributes, ensure_ascii=False),
        }
        self._packets.note(self._cores, "about this trace", begin, texts)

    def _messages(self, linked: Iterable[Linked]) -> None:
        for events, arrows in linked:
            self._mark(events, arrows)

    def _mark(self, events: Table, arrows: NDArray[np.int64] | None = None) -> None:
        for kind, mark in _MARKS.items():
            rows = events["type"] == kind
            if not rows.any():
                continue
            some = chosen(events, rows)
            inside = some["task"] != NONE
            track = np.empty(len(inside), np.int64)
            track[inside] = self._task(some["task"][inside])
            track[~inside] = self._core(some["core"][~inside])
            of = some[mark.of] if mark.of else np.zeros(len(inside), int)
            of = np.where((of < 0) | (of > NONE), NONE, of)  # where the trace is damaged
            details = {title: some[column] for title, column in mark.details.items()}
            flows = None if arrows is None else arrows[rows]
            self._packets.marks(track, self._marks[kind](of), some["time"], details, flows)

    def _stretches(self, slices: Table) -> None:
        """Who had the core, and on the task's track the preemption before."""
        ordered = chosen(slices, np.argsort(slices["task"], kind="stable"))
        task, begin, end = ordered["task"], ordered["begin"], ordered["end"]
        if not len(task):
            return
        name = self._jobs_named[0](slices["task"])
        self._packets.spans(
            self._core(slices["core"]), name, slices["begin"], slices["end"], {"job": slices["job"]}
        )
        same = np.r_[False, task[1:] == task[:-1]]
        before = np.where(same, np.roll(end, 1), self._gone[task])
        self._gone[task] = end  # of several the last one
        rows = (ordered["started"] <= before) & (before < begin)
        track = self._task(task[rows])
        preempted = np.full(len(track), self._packets.name("preempted"))
        self._packets.spans(track, preempted, before[rows], begin[rows], {})

    def _others(self, programs: Programs) -> None:
        """The programs that had the cores, where a response was owed."""
        group = self._packets.track("other programs", 2) if programs.by_core else 0
        for core, held in sorted(programs.by_core.items()):
            track = self._packets.track(self._trace.names.core(core), core, group)
            self._packets.spans(
                np.full(len(held), track),
                np.array([self._packets.name(one.name) for one in held]),
                np.array([max(one.begin, 0) for one in held]),
                np.array([max(one.end, 0) for one in held]),
                {"process": np.array([one.process for one in held])},
            )

    def _jobs(self, jobs: Table) -> None:
        """The whole jobs on their tasks' tracks."""
        jobs = chosen(jobs, np.argsort(jobs["task"], kind="stable"))
        ended = recorded(jobs["end"])
        responds = ended & recorded(jobs["release"])
        how = np.where(ended, jobs["missed"], 2)
        details = {
            "job": jobs["job"],
            "priority": jobs["priority"],
            "running_ns": jobs["running"],
            "preemptions": jobs["preemptions"],
            "response_ns": jobs["end"] - jobs["release"],
            "deadline_ns": jobs["deadline"] - jobs["release"],
        }
        name = np.empty(len(how), np.int64)
        for ending, named in enumerate(self._jobs_named):
            name[how == ending] = named(jobs["task"][how == ending])
        track = self._task(jobs["task"])
        start = np.maximum(jobs["start"], 0)
        end = np.maximum(np.where(ended, jobs["end"], self._last or 0), 0)
        # Those of one track in their order, though not all have all details.
        known = 4 + responds + (responds & recorded(jobs["deadline"]))
        for rows in np.split(np.arange(len(how)), np.flatnonzero(np.diff(known)) + 1):
            if not len(rows):
                continue
            some = {key: details[key][rows] for key in list(details)[: known[rows[0]]]}
            self._packets.spans(track[rows], name[rows], start[rows], end[rows], some)

    def _core_track(self, number: int) -> int:
        name = "no core" if number == NONE else self._trace.names.core(number)
        return self._packets.track(name, number, self._cores)

    def _task_track(self, number: int) -> int:
        return self._packets.track(self._trace.names.task(number), number, self._tasks)

    def _mark_name(self, mark: _Mark) -> Callable[[int], int]:
        names: Names = self._trace.names
        texts: dict[str, Callable[[int], str]] = {
            "": lambda _: mark.name,
            "topic": lambda number: f"{mark.name} {names.topic(number)}",
            "value": lambda number: f"{mark.name} {names.scenario(number)}",
        }
        return lambda number: self._packets.name(texts[mark.of](number))

    def _job_name(self, ending: str) -> Callable[[int], int]:
        return lambda number: self._packets.name(self._trace.names.task(number) + ending)


def _positive(table: Table, *times: str) -> Table:
    """The times of a damaged trace may be anything; Perfetto's are not negative."""
    return {**table, **{name: np.maximum(table[name], 0) for name in times}}
