# SPDX-License-Identifier: Apache-2.0
"""Trace files (docs/reference/trace.md) as the core reads them: names, and stretches of columns."""

from __future__ import annotations

import json
import os
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import takt_core
from numpy.typing import NDArray
from takt_core import NO_DEADLINE, NO_TASK, NOT_RECORDED, Step
from takt_core import EventType as Type

from takt.documents.reading import opened
from takt.errors import TaktError
from takt.schedule.trace.beside import HELD

NONE = NO_TASK  # no task, topic or core
#: The approaches of ``takt execute`` that follow the policy and the scenarios of the description.
SCHEDULED = ("takt", "rclcpp_takt")
#: The key of a real-time setting that was not granted, and the one that older programs write.
NOT_GRANTED = ("not_granted", "shortfall")
MAGIC = b"TAKTTRC1"
#: How the file of a trace is called that ``takt execute`` writes.
SUFFIX = ".takttrace"
#: What Trace.source is for a folder of takt record.
RECORDING = "recording"
#: What is said of a trace that was not closed in order.
NOT_WHOLE = "the trace is not whole: its process was killed or still runs, or it is cut off"

Table = dict[str, NDArray[Any]]  # columns of one length

__all__ = ["MAGIC", "NONE", "NOT_RECORDED", "NO_DEADLINE", "Step", "Table", "Type"]


@dataclass(frozen=True)
class Names:
    """What the numbers in the events stand for; a number without a name is shown as it is."""

    tasks: dict[int, str]
    topics: dict[int, str]
    scenarios: dict[int, str]
    attributes: list[str]  # "key=value"; without those of HELD
    held: list[str] = field(default_factory=list)  # the values of HELD: there may be 100,000

    def task(self, number: int) -> str:
        """The name of a task."""
        return self.tasks.get(number, f"task {number}")

    def topic(self, number: int) -> str:
        """The name of a topic."""
        return self.topics.get(number, f"topic {number}")

    def scenario(self, number: int) -> str:
        """The name of a scenario."""
        return self.scenarios.get(number, f"scenario {number}")

    def core(self, number: int) -> str:
        """The name of a core; in a recording, of the thread that stands there."""
        return self.threads().get(number, f"core {number}")

    def threads(self) -> dict[int, str]:
        """Of a recording: the threads that stand where a trace of the executor has cores."""
        found = {}
        for one in self.attributes:
            key, _, name = one.partition("=")
            if key.startswith("thread.") and key[7:].isdecimal():
                found[int(key[7:])] = name
        return found

    def values(self, key: str) -> list[str]:
        """The attributes of one key."""
        return [one.partition("=")[2] for one in self.attributes if one.startswith(f"{key}=")]

    def not_granted(self) -> list[str]:
        """Real-time settings that were not granted."""
        return [value for key in NOT_GRANTED for value in self.values(key)]

    def policies(self) -> list[str]:
        """The policies of its scenarios."""
        found = [one for one in self.attributes if one.startswith(("policy=", "policy."))]
        return [one.partition("=")[2] for one in found]


class InMemory:
    """A file without a place on a disk: it is gone with this object, however the process ends."""

    def __init__(self) -> None:
        descriptor = os.memfd_create("takt-recording")
        self.path = Path(f"/proc/self/fd/{descriptor}")
        weakref.finalize(self, os.close, descriptor)


@dataclass(frozen=True)
class Trace:
    """A trace file; to be replayed only while it exists."""

    path: Path
    names: Names
    source: str  # "executor" or "simulator"
    closed_in_order: bool
    lost: int  # events that the file lacks, as far as the writer could tell
    write_error: int  # errno of the first write that failed; 0: none did
    realtime_offset_ns: int
    unknown: int  # records of a type that this version does not know; they are left out
    events: int
    core: takt_core.Trace
    converted: InMemory | None = None  # keeps its events, where they were made from a recording

    def recorded(self, task: str) -> str:
        """The name that the file has for a task."""
        numbers = (number for number, name in self.names.tasks.items() if name == task)
        return next((str(self.core.tasks[number]) for number in numbers), task)


def only_trace(path: Path) -> Path:
    """The trace in a folder of takt execute; anything else as it is.

    Raises TaktError for a folder with several traces.
    """
    from takt.schedule.ros2 import recordings

    if not path.is_dir():
        return path
    found = sorted(path.glob(f"*{SUFFIX}"))
    if not found or any(path.glob(f"*{recordings.SUFFIX}")):
        return path
    if len(found) > 1:
        raise TaktError(
            f"this folder contains {len(found)} traces",
            where=str(path),
            fix=f"give one of them, such as {found[0]}",
        )
    return found[0]


def _recorded(folder: Path, deadlines: Mapping[str, int] | None) -> Trace:
    from takt.schedule.ros2 import recordings, switches, threads

    files = sorted(folder.glob(f"*{recordings.SUFFIX}"))
    beside = [*folder.glob(switches.FILE), *folder.glob(threads.FILE)]
    stamps = tuple((str(file), file.stat().st_mtime_ns) for file in [*files, *beside])
    if not files:
        raise TaktError(
            f"this folder contains no recording and no trace: no *.taktrecord, no *{SUFFIX}",
            where=str(folder),
            fix="give a trace file, or a folder that takt execute or takt record wrote",
        )
    given = None if deadlines is None else tuple(sorted(deadlines.items()))
    return _converted(folder, stamps, given)


@lru_cache(maxsize=4)  # one command reads a trace several times
def _converted(
    folder: Path,
    _stamps: tuple[tuple[str, int], ...],
    deadlines: tuple[tuple[str, int], ...] | None,
) -> Trace:
    from takt.schedule.trace import recording

    converted = InMemory()
    recording.write(folder, converted.path, None if deadlines is None else dict(deadlines))
    return replace(read(converted.path), path=folder, source=RECORDING, converted=converted)


class Sink(Protocol):
    """Takes what a trace holds."""

    def take(self, step: Step) -> None:
        """The next stretch."""


def read(path: Path, deadlines: Mapping[str, int] | None = None) -> Trace:
    """Opens a trace; raises TaktError, with the reason, for what is none.

    A folder of takt record becomes one. ``deadlines``, in ns by callback, are for it: a recording
    has none; without them, those of timers are their periods. The folder of takt execute stands for
    the trace in it.
    """
    path = only_trace(path)
    if path.is_dir():
        return _recorded(path, deadlines)
    try:
        with opened(path):
            core = takt_core.Trace(str(path))
    except FileNotFoundError:
        fix = "give a trace that takt execute or simulate --trace wrote, or a folder of takt record"
        raise TaktError("no such trace", where=str(path), fix=fix) from None
    except takt_core.Error as error:
        raise TaktError(error.problem, where=str(path), fix=error.fix or None) from None
    prefix = f"{HELD}="
    every = core.attributes
    return Trace(
        path=path,
        names=Names(
            core.tasks,
            core.topics,
            core.scenarios,
            attributes=[one for one in every if not one.startswith(prefix)],
            held=[one.removeprefix(prefix) for one in every if one.startswith(prefix)],
        ),
        source=core.source,
        closed_in_order=core.closed_in_order,
        lost=core.lost,
        write_error=core.write_error,
        realtime_offset_ns=core.realtime_offset_ns,
        unknown=core.unknown,
        events=core.events,
        core=core,
    )


def replay(
    trace: Trace,
    sinks: Sequence[Sink],
    progress: Callable[[int], None] = lambda _: None,
    chains: Sequence[Sequence[str]] = (),
    joins: Sequence[Sequence[str]] | None = None,
) -> takt_core.Replay:
    """Feeds all sinks in one pass; ``chains`` are those whose data is followed.

    ``joins``: their callbacks by name; None: those of the application that the trace contains.
    """
    found = _joins_in(description(trace.names)) if joins is None else joins
    replayed = takt_core.Replay(trace.core, [list(c) for c in chains], [list(j) for j in found])
    done = 0
    while (step := replayed.step()) is not None:
        for sink in sinks:
            sink.take(step)
        done += len(step.events["time"])
        progress(done)
    return replayed


def is_trace(path: Path) -> bool:
    """Whether the file begins as a trace does."""
    try:
        with opened(path) as file:
            return file.read(len(MAGIC)) == MAGIC
    except (OSError, TaktError):
        return False


def chosen(table: Table, rows: NDArray[Any]) -> Table:
    """Some rows of a table, by a mask or by their places."""
    return {name: column[rows] for name, column in table.items()}


def recorded(column: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Where the trace tells."""
    known: NDArray[np.bool_] = column != NOT_RECORDED
    return known


def overdue(now: int, deadlines: NDArray[np.int64], missed: NDArray[np.bool_]) -> int:
    """How many of the jobs that did not end are past their deadline at that time."""
    return int(np.count_nonzero(missed | (recorded(deadlines) & (deadlines < now))))


def by_number(
    numbers: NDArray[Any], *columns: NDArray[Any]
) -> list[tuple[int, tuple[NDArray[Any], ...]]]:
    """Splits columns by a task or a chain; the order within is kept."""
    order = np.argsort(numbers, kind="stable")
    known, firsts = np.unique(numbers[order], return_index=True)
    ordered = [column[order] for column in columns]
    parts = [np.split(column, firsts[1:]) for column in ordered]
    return [
        (number, tuple(part[place] for part in parts))
        for place, number in enumerate(known.tolist())
    ]


def description(names: Names) -> str | None:
    """The application of a trace in its flat form, as JSON; None: the trace does not tell."""
    texts = names.values("application")
    return texts[0] if texts else None


def joins_of(callbacks: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    """The names of the callbacks of each join, of those of a flat form."""
    found: dict[tuple[str, str], list[str]] = {}
    for one in callbacks:
        if "join" in one:
            found.setdefault((one["node"], one["join"]), []).append(one["name"])
    return list(found.values())


def _joins_in(application: str | None) -> list[list[str]]:
    try:
        return joins_of(json.loads(application or "{}").get("callbacks", []))
    except (ValueError, AttributeError, KeyError, TypeError):
        return []  # damaged


def duration_ns(names: Names) -> int | None:
    """How long the application was to run; None: the trace does not tell. TaktError: damaged."""
    texts = names.values("duration_ns")
    if not texts:
        return None
    try:
        return int(texts[0])
    except ValueError:
        raise TaktError(
            f"the duration in the trace is not a number: {texts[0][:40]!r}",
            fix="the trace is damaged: record it again",
        ) from None


def declared(flat: str, trace: Trace) -> takt_core.Declared:
    """What such a description declares to who made the trace; raises TaktError for a damaged one.

    Simulations and executors of somebody's own name no approach: they follow scenarios. A
    simulation has jobs of all threads, an execution those of drivers.
    """
    threads = {"simulator": takt_core.Threads.all, "executor": takt_core.Threads.drivers}
    scenarios = all(one in SCHEDULED for one in trace.names.values("approach"))
    try:
        return takt_core.declared(
            flat, scenarios, threads=threads.get(trace.source, takt_core.Threads.none)
        )
    except takt_core.Error as error:
        raise TaktError(
            f"cannot read the application in the trace: {error.where}: {error.problem}",
            fix="the trace is damaged, or was written by another version of Takt",
        ) from None
