# SPDX-License-Identifier: Apache-2.0
"""A recording of takt record as a trace: what its processes did, in one file of events.

Stock executors run the callbacks of a thread one after the other, whatever core it has. So a thread
stands where Takt's executor has a core; attributes ``thread.N`` name them. The CPU on which a job
began is the detail of its start, plus one; attributes ``scheduled`` say how each thread that ran a
callback was scheduled. Where all ran in one thread, ``executor`` is which of
rclcpp's executors it follows, as far as a recording shows it.
"""

from __future__ import annotations

import json
import struct
from bisect import bisect
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from takt_core import NO_DEADLINE
from takt_core import NO_TASK as NONE
from takt_core import EventType as Type

from takt.errors import TaktError
from takt.processes.switches import LEAST_NS, Held
from takt.schedule.ros2 import control, switches, threads
from takt.schedule.ros2.called import Call, Entity, Handle, Message
from takt.schedule.ros2.due import due
from takt.schedule.ros2.executors import executor_of
from takt.schedule.ros2.reading import Reading, read
from takt.schedule.ros2.recordings import Recording, recordings
from takt.schedule.ros2.stand_ins import NOTE
from takt.schedule.trace.beside import (
    FROM,
    HELD,
    INTERRUPTS_LOST,
    INTERRUPTS_REFUSED,
    LOST,
    REFUSED,
    Ran,
    Span,
    beside,
    between,
    interrupted,
    named,
)
from takt.schedule.trace.scheduled import attribute

_HEADER = struct.Struct("<8sIIQqII24x")
_NAME = struct.Struct("<24sHHHBB")
_NAME_BYTES = 24
_KINDS = {"task": 1, "topic": 2, "attribute": 4}
_RECORD = np.dtype(
    [
        ("time", "<i8"),
        ("job", "<u8"),
        ("value", "<i8"),
        ("task", "<u2"),
        ("topic", "<u2"),
        ("core", "<u2"),
        ("type", "u1"),
        ("detail", "u1"),
    ]
)
_MOST = NONE - 1  # tasks, topics or threads
_MOST_NUMBER = NO_DEADLINE
_NOBODY = -2  # the number of no thread
_GENERAL = (
    "data that a callback reads besides the message it was called with: not in a recording",
    "deadlines: not in a recording; those of timers are their periods",
)

_Row = tuple[int, int, int, int, int, int, int, int]


def write(folder: Path, out: Path, deadlines: Mapping[str, int] | None = None) -> None:
    """Writes the trace of a folder; raises TaktError for one with neither callbacks nor messages.

    ``deadlines``: relative, in ns, by the name of the callback; the others have none.
    """
    processes = recordings(folder)
    reading = read(folder)
    begins = [begin for begin, _ in control.stretches(folder)]
    created = _Converted(reading, processes, deadlines, begins)
    scheduled = threads.read(folder)
    if created.is_empty:
        reading.require_callbacks(folder)
    with out.open("wb") as file:
        file.write(_header(processes))
        for kind, number, text in created.names():
            file.write(_pieces(kind, number, text))
        for text in (*created.scheduled(scheduled), *created.others(switches.read(folder))):
            file.write(_pieces("attribute", 0, text))
        file.write(created.events().tobytes())


def _header(processes: list[Recording]) -> bytes:
    first = processes[0]
    lost = sum(one.dropped for one in processes)
    return _HEADER.pack(b"TAKTTRC1", 64, 32, lost, first.realtime - first.begin, 1, 1)


def _pieces(kind: str, number: int, text: str) -> bytes:
    raw = text.encode()
    parts = [raw[at : at + _NAME_BYTES] for at in range(0, len(raw), _NAME_BYTES)] or [b""]
    return b"".join(
        _NAME.pack(part, number, _KINDS[kind], place, 1, len(part))
        for place, part in enumerate(parts)
    )


class _Converted:
    """Names and events; numbers in the order of their first use."""

    def __init__(
        self,
        reading: Reading,
        processes: list[Recording],
        deadlines: Mapping[str, int] | None,
        begins: list[int],
    ) -> None:
        self._reading = reading
        self._begins = begins  # of the stretches in which it was recorded
        self._called = [one for one in reading.named() if one[1].jobs]
        self._of_callbacks = {call.thread for _, one in self._called for call in one.jobs}
        exchanged = reading.exchanged()
        self._tasks = [*self._called, *exchanged]
        self._complete = {one.process for one in processes if not one.dropped}
        self._programs = {one.process: one.short_program for one in processes}
        self._threads: dict[Handle, int] = {}
        self._spans: dict[Handle, list[Span]] = defaultdict(list)  # by thread
        self._calls: dict[Handle, list[Ran]] = defaultdict(list)
        self._topics: dict[str, int] = {}
        self._rows: list[_Row] = []
        self._unknown: Counter[str] = Counter()  # calls by topics whose writers were not recorded
        self._late = 0
        numbers: dict[Call, tuple[int, int]] = {}
        for number, (name, entity) in enumerate(self._tasks):
            deadline = entity.period if deadlines is None else deadlines.get(name, 0)
            self._task(number, entity, deadline, numbers)
        self._messages(reading.messages.created, numbers)
        self._notes = list(_GENERAL[: 1 + (deadlines is None)]) if self._called else []
        if exchanged:
            programs = {self._programs.get(one.handle[0], "process") for _, one in exchanged}
            of = f"{', '.join(sorted(programs))}: " if self._called else ""
            self._notes.append(f"{of}{NOTE}")
        if self._unknown:
            topics = ", ".join(self._unknown)
            self._notes.append(
                f"{sum(self._unknown.values())} jobs used messages of writers that were not "
                f"recorded; their releases are unknown: {topics}"
            )
        for kind, found in (
            ("callbacks", self._tasks),
            ("topics", self._topics),
            ("threads", self._threads),
        ):
            if len(found) > _MOST:
                raise TaktError(f"the recording has {len(found)} {kind}; a trace holds {_MOST}")

    @property
    def is_empty(self) -> bool:
        """Whether it tells of no callback, and of no message in the place of one."""
        return not self._tasks

    def _task(
        self, task: int, entity: Entity, deadline: int, numbers: dict[Call, tuple[int, int]]
    ) -> None:
        calls = sorted(entity.jobs, key=lambda call: call.begin)
        releases: list[int | None]
        if entity.kind == "timer":
            times, places = _timer([call.begin for call in calls], entity)
            releases, jobs = list(times), places
        else:
            releases = [call.took.time if call.took else None for call in calls]
            jobs = list(range(len(calls)))
            if unknown := releases.count(None):
                self._unknown[entity.topic] += unknown
        before, stretch = -1, 0
        for call, release, job in zip(calls, releases, jobs, strict=True):
            numbers[call] = task, job
            thread = self._threads.setdefault(call.thread, len(self._threads))
            gone = job - before - 1
            skips = entity.kind == "timer" and before >= 0 and call.thread[0] in self._complete
            stretch, last = bisect(self._begins, call.begin), stretch
            skips &= stretch == last  # while it paused, no release was recorded
            if skips and gone and release is not None:
                first = release - gone * entity.period
                self._add(first, Type.skip, thread, task, before + 1, gone)
            before = job
            due = NO_DEADLINE
            if release is not None:
                due = release + deadline if deadline else NO_DEADLINE
                self._add(release, Type.release, thread, task, job, due)
            self._add(call.begin, Type.start, thread, task, job, 0, detail=_cpu(call.core))
            begin = call.begin if release is None else release
            self._spans[call.thread].append(Span(begin, call.end or call.begin, call.core))
            self._calls[call.thread].append(Ran(call.begin, call.end or call.begin))
            if not call.end:
                continue
            computed = -1 if call.computed is None else call.computed
            self._add(call.end, Type.end, thread, task, job, computed)
            if call.end > due:
                self._add(call.end, Type.deadline_miss, thread, task, job, due)

    def _messages(self, created: list[Message], numbers: dict[Call, tuple[int, int]]) -> None:
        sequences: Counter[str] = Counter()
        known: dict[Message, int] = {}
        for message in created:
            topic = self._topics.setdefault(message.topic, len(self._topics))
            known[message] = sequences[message.topic]
            sequences[message.topic] += 1
            task, job, thread = NONE, 0, NONE
            if message.maker is not None and message.maker in numbers:
                task, job = numbers[message.maker]
                thread = self._threads[message.maker.thread]
            value = known[message]
            self._add(message.time, Type.publish, thread, task, job, value, topic=topic)
        for call, (task, job) in numbers.items():
            if call.took is not None:
                topic, thread = self._topics[call.took.topic], self._threads[call.thread]
                value = known[call.took]
                self._add(call.begin, Type.use, thread, task, job, value, topic=topic)

    def _add(
        self,
        time: int,
        kind: Type,
        thread: int,
        task: int,
        job: int,
        value: int,
        *,
        topic: int = NONE,
        detail: int = 0,
    ) -> None:
        # A damaged recording may have any time and period.
        row = (_within(time), max(0, _within(job)), _within(value))
        self._rows.append((*row, task, topic, thread, int(kind), detail))

    def names(self) -> Iterable[tuple[str, int, str]]:
        """Kind, number and text."""
        for number, (name, entity) in enumerate(self._tasks):
            yield "task", number, name
            yield "attribute", 0, "task=" + json.dumps(_described(name, entity))
        for topic, number in self._topics.items():
            yield "topic", number, f"/{topic.lstrip('/')}"
        for (process, thread), number in self._threads.items():
            program = self._programs.get(process, "process")
            yield "attribute", 0, f"thread.{number}={program} {process}, thread {thread}"
        if len(self._threads) == 1 and self._called:
            executor = executor_of([entity for _, entity in self._tasks], self._reading)
            yield "attribute", 0, f"executor={executor}"
        for note in self._notes:
            yield "attribute", 0, f"note={note}"

    def scheduled(self, known: threads.Threads) -> Iterable[str]:
        """How the threads of each callback were scheduled at the end, where that was recorded."""
        for name, entity in self._called:
            for thread in dict.fromkeys(call.thread for call in entity.jobs):
                if state := known.last(thread):
                    yield attribute(name, f"{thread[0]} {thread[1]}", state.scheduling)

    def others(self, others_found: switches.Seen) -> Iterable[str]:
        """Attributes of who had the cores beside, as takt execute writes them."""
        if others_found.refused or not others_found.known:
            yield from (f"{REFUSED}={others_found.refused}" for _ in range(others_found.known))
            return
        yield f"{FROM}={LEAST_NS}"
        if others_found.lost:
            yield f"{LOST}={others_found.lost}"
        for calls in self._calls.values():
            calls.sort()
        held = list(named(others_found.held, self._calls))
        interrupts: dict[int, list[Held]] = defaultdict(list)
        for one in others_found.interrupts:
            interrupts[one.cpu].append(one)
        if reason := others_found.interrupts_refused:
            yield f"{INTERRUPTS_REFUSED}={reason}"
        if others_found.interrupts_lost:
            yield f"{INTERRUPTS_LOST}={others_found.interrupts_lost}"
        for (process, thread), row in self._threads.items():
            spans = self._spans[process, thread]
            own = [one for one in held if (one.process, one.thread) == (process, thread)]
            # Between messages of rclpy it computes its callbacks, of which nothing is known.
            has_callbacks = (process, thread) in self._of_callbacks
            aside = list(between(own, self._calls[process, thread])) if has_callbacks else []
            taken = [*beside(held, spans, thread, row), *beside(aside, spans, _NOBODY, row)]
            for one in (*taken, *interrupted(interrupts, taken, own, spans, row)):
                yield f"{HELD}={row} {one.begin} {one.end} {one.process} {one.name}"

    def events(self) -> NDArray[np.void]:
        """By time; at one time in the order in which they were added."""
        rows = np.array(self._rows, _RECORD)
        return rows[np.argsort(rows["time"], kind="stable")]


def _timer(begins: list[int], entity: Entity) -> tuple[list[int], list[int]]:
    """Releases and numbers; no two jobs have the same number."""
    if not entity.period:
        return begins, list(range(len(begins)))
    releases, places = due(np.array(begins, np.int64), entity.period, entity.created)
    order = np.arange(len(places))
    distinct = np.maximum.accumulate(places - order) + order
    return releases.tolist(), distinct.tolist()


def _described(name: str, entity: Entity) -> dict[str, object]:
    document: dict[str, object] = {"name": name}
    if entity.kind == "timer":
        document |= {"kind": "timer", "period": entity.period}
    else:
        document |= {"kind": "message", "trigger": entity.topic}
    writes = {topic for call in entity.jobs for topic, _ in call.published}
    return document | ({"writes": sorted(writes)} if writes else {})


def _within(number: int) -> int:
    return min(max(number, -_MOST_NUMBER), _MOST_NUMBER)


def _cpu(core: int) -> int:
    return core + 1 if 0 <= core < 255 else 0
