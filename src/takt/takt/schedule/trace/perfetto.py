# SPDX-License-Identifier: Apache-2.0
"""A trace for ui.perfetto.dev and Perfetto's trace processor.

Two groups of tracks: each core shows which job had it, each task shows its jobs from start to end
with the stretches in which others ran, marks for its events, and an arrow from the publication of a
message to each job that computed on it. The file is written as the trace is read.
"""

from __future__ import annotations

import gzip
import itertools
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from takt.schedule.trace.file import NONE, Step, Table, Trace, Type, by_number, chosen, told
from takt.schedule.trace.packets import Form, Packets

_IN_FLIGHT = 256  # messages of a topic that a job may still take up
_JOB = ("job", "priority", "running_ns", "preemptions", "response_ns", "deadline_ns")


class _Mark(NamedTuple):
    """How events of a type are shown: name, details by their columns, what the name ends with."""

    name: str
    details: dict[str, str]
    of: str | None = None


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
}
_MESSAGE = ("job", "sequence")


class _Publication(NamedTuple):
    """Written when all of its uses are known."""

    form: Form
    time: int
    values: tuple[int, int]
    linked: bool  # whether arrows may lead from it: somebody outside of the application has no job
    flows: list[int]


class PerfettoExport:
    """The sink that writes the file; to be closed."""

    def __init__(self, trace: Trace, path: Path, *, compressed: bool = False) -> None:
        """Creates the file; raises OSError where it cannot be written."""
        self._trace = trace
        self._names = trace.names
        self._last: int | None = None  # the trace's last time so far
        self._gone: dict[int, int] = {}  # by task: until when its running job was on a core
        self._published: dict[int, dict[int, _Publication]] = {}  # by topic and sequence
        self._flows = 0
        self._tracks: dict[tuple[int, int], int] = {}  # by group and number
        self._forms: dict[tuple[int, ...], Form] = {}  # those of messages, slices and jobs
        opened = gzip.open if compressed else open
        self._file = cast("IO[bytes]", opened(path, "wb"))  # closed by close()
        self._packets = Packets(self._file)
        self._cores = self._packets.track("cores", 0)
        self._tasks = self._packets.track("tasks", 1)

    def close(self) -> None:
        """Ends what is written."""
        try:
            for messages in self._published.values():
                for one in messages.values():
                    self._packets.linked(one.form, one.time, one.values, one.flows)
        finally:
            self._file.close()

    def take(self, step: Step) -> None:
        """Writes marks, who had the cores, and whole jobs."""
        events = _positive(step.events, "time")
        if len(events["time"]):
            if self._last is None:
                self._tell_about(int(events["time"][0]))
            self._last = int(events["time"][-1])
        for kind, mark in _MARKS.items():
            self._mark(chosen(events, events["type"] == kind), mark)
        messages = (events["type"] == Type.publish) | (events["type"] == Type.use)
        self._messages(chosen(events, messages))
        self._packets.spans(self._stretches(_positive(step.slices, "begin", "end", "started")))
        self._packets.spans(self._jobs(chosen(step.jobs, told(step.jobs["start"]))))

    def _tell_about(self, begin: int) -> None:
        trace = self._trace
        texts = {
            "source": trace.source,
            "lost_events": str(trace.lost),
            "closed_in_order": str(trace.closed_in_order).lower(),
            "attributes": json.dumps(self._names.attributes, ensure_ascii=False),
        }
        self._packets.note(self._cores, "about this trace", begin, texts)

    def _mark(self, events: Table, mark: _Mark) -> None:
        of_task = events["task"] != NONE
        number = np.where(of_task, events["task"], events["core"]).astype(np.int64)
        ends = events[mark.of].astype(np.int64) if mark.of else np.zeros(len(number), np.int64)
        groups = of_task.astype(np.int64) << 48 | number << 32 | (ends & 0xFFFFFFFF)
        shown = (events[column].astype(np.int64) for column in mark.details.values())
        for group, (time, *details) in by_number(groups, events["time"], *shown):
            track = (self._task if group >> 48 else self._core)((group >> 32) & 0xFFFF)
            name = mark.name
            if mark.of:
                told_by = self._names.topic if mark.of == "topic" else self._names.scenario
                name += f" {told_by(group & 0xFFFFFFFF)}"
            form = self._packets.mark_form(track, name, tuple(mark.details))
            times, columns = time.tolist(), [one.tolist() for one in details]
            rows = zip(*columns, strict=True) if columns else itertools.repeat(())
            self._packets.marks(form, times, rows)

    def _messages(self, events: Table) -> None:
        for kind, time, job, sequence, task, topic, core in _rows(
            events, "type", "time", "job", "value", "task", "topic", "core"
        ):
            form = self._forms.get((kind, topic, task, core))
            if form is None:
                track = self._core(core) if task == NONE else self._task(task)
                name = f"{'publish' if kind == Type.publish else 'use'} {self._names.topic(topic)}"
                form = self._packets.mark_form(track, name, _MESSAGE)
                self._forms[kind, topic, task, core] = form
            messages = self._published.setdefault(topic, {})
            if kind == Type.publish:
                before = messages.pop(sequence, None)
                made = _Publication(form, time, (job, sequence), task != NONE, [])
                messages[sequence] = made
                if len(messages) > _IN_FLIGHT:
                    before = messages.pop(next(iter(messages)))
                if before is not None:
                    self._packets.linked(before.form, before.time, before.values, before.flows)
                continue
            flows = []
            message = messages.get(sequence)
            if message is not None and message.linked and task != NONE:
                # An arrow of its own for each use: one flow would lead from use to use.
                self._flows += 1
                flows = [self._flows]
                message.flows.append(self._flows)
            self._packets.linked(form, time, (job, sequence), flows)

    def _stretches(self, slices: Table) -> Iterator[tuple[Form, int, int, Sequence[int]]]:
        """Who had the core, and on the task's track the preemption before."""
        names = ("task", "job", "core", "begin", "end", "started")
        for task, job, core, begin, end, started in _rows(slices, *names):
            form = self._forms.get((task, core))
            if form is None:
                name = self._names.task(task)
                form = self._packets.span_form(self._core(core), name, ("job",))
                self._forms[task, core] = form
            yield form, begin, end, (job,)
            before = self._gone.get(task, begin)
            if started <= before < begin:
                form = self._forms.get((task,))
                if form is None:
                    form = self._packets.span_form(self._task(task), "preempted", ())
                    self._forms[task,] = form
                yield form, before, begin, ()
            self._gone[task] = end

    def _jobs(self, jobs: Table) -> Iterator[tuple[Form, int, int, Sequence[int]]]:
        """The whole jobs on their tasks' tracks."""
        ended = told(jobs["end"])
        responds = ended & told(jobs["release"])
        columns = {
            **_positive(jobs, "start"),
            "until": np.maximum(np.where(ended, jobs["end"], self._last or 0), 0),
            "how": np.where(ended, jobs["missed"], 2),
            "told": 4 + responds + (responds & told(jobs["deadline"])),
            "response": jobs["end"] - jobs["release"],
            "due": jobs["deadline"] - jobs["release"],
        }
        details = ("job", "priority", "running", "preemptions", "response", "due")
        endings = ("", " (missed its deadline)", " (no end in the trace)")
        for task, how, count, start, until, *values in _rows(
            columns, "task", "how", "told", "start", "until", *details
        ):
            form = self._forms.get((task, how, count))
            if form is None:
                name = self._names.task(task) + endings[how]
                form = self._packets.span_form(self._task(task), name, _JOB[:count])
                self._forms[task, how, count] = form
            yield form, start, until, values

    def _core(self, number: int) -> int:
        track = self._tracks.get((self._cores, number))
        if track is None:
            name = "no core" if number == NONE else f"core {number}"
            track = self._packets.track(name, number, self._cores)
            self._tracks[self._cores, number] = track
        return track

    def _task(self, number: int) -> int:
        track = self._tracks.get((self._tasks, number))
        if track is None:
            track = self._packets.track(self._names.task(number), number, self._tasks)
            self._tracks[self._tasks, number] = track
        return track


def _positive(table: Table, *times: str) -> Table:
    """The times of a damaged trace may be anything; Perfetto's are not negative."""
    return {**table, **{name: np.maximum(table[name], 0) for name in times}}


def _rows(table: Table, *names: str) -> Iterator[tuple[int, ...]]:
    columns: list[NDArray[Any]] = [table[name] for name in names]
    numbers = (one.astype(np.int64) if one.dtype == np.uint64 else one for one in columns)
    return zip(*(one.tolist() for one in numbers), strict=True)
