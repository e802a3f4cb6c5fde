# SPDX-License-Identifier: Apache-2.0
"""The processes of a recording: which executor ran where, and how long messages between took.

A recording has the threads and cores of all calls, and how these threads were scheduled. Of the
executors it has only that those with a wait set announce what they execute. What is assumed
instead, notes say.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np

from takt.schedule.model.calls import waits
from takt.schedule.model.observed import ObservedCallback
from takt.schedule.model.recorded_scheduling import (
    Ran,
    cores_of,
    note_other_threads,
    scheduling_of,
)
from takt.schedule.model.robot import Robot
from takt.schedule.ros2.called import Call, Entity, Handle
from takt.schedule.ros2.executors import executor_of, threads_of
from takt.schedule.ros2.reading import Reading
from takt.schedule.ros2.recordings import Recording
from takt.schedule.ros2.threads import Threads
from takt.schedule.trace.names import identifier


@dataclass
class _Process:
    """One process."""

    name: str
    entities: list[Entity]  # those that were called

    @property
    def calls(self) -> list[Call]:
        return [call for one in self.entities for call in one.jobs]

    @property
    def shortest(self) -> float:
        """Of the periods of its callbacks, in ns."""
        return min(_period(one) for one in self.entities)

    @property
    def waits(self) -> bool:
        """Whether callbacks of it wait for responses of services."""
        return any(waits(one) for one in self.entities)


def robot_of(
    reading: Reading, recordings: Sequence[Recording], resumed: Sequence[int], threads: Threads
) -> Robot | None:
    """The processes whose callbacks ran; None: there is one.

    ``resumed``: when the recording continued after a pause.
    """
    ran = _processes(reading, recordings)
    if len(ran) < 2:
        return None
    notes: list[str] = []
    of = {
        number: Ran(one.name, one.calls, one.shortest, len(one.entities) + 1 if one.waits else 1)
        for number, one in ran.items()
    }
    cores = cores_of(of, threads, notes)
    scheduling = scheduling_of(of, cores, threads, notes)
    note_other_threads(of, threads, notes)
    processes: list[dict[str, Any]] = [
        {
            "name": one.name,
            **_executor(one, reading, notes, priority="priority" in scheduling[number]),
            "cpu": cores[number],
            **scheduling[number],
        }
        for number, one in ran.items()
    ]
    homes = {
        name: ran[entity.handle[0]].name
        for name, entity in reading.named()
        if entity.handle[0] in ran
    }
    handover = _handover(ran, resumed, notes)
    return Robot(processes, handover, homes, notes)


def name_apart(robot: Robot, callbacks: Iterable[ObservedCallback]) -> None:
    """Numbers nodes that have one name in several processes: in a file each belongs to one."""
    places = {one["name"]: place for place, one in enumerate(robot.processes)}
    owners: dict[str, set[int]] = defaultdict(set)
    callbacks = list(callbacks)
    for one in callbacks:
        owners[one.name.partition(".")[0]].add(places[robot.homes[one.recorded]])
    for one in callbacks:
        node, _, name = one.name.partition(".")
        before = sorted(owners[node]).index(places[robot.homes[one.recorded]])
        if before:
            apart = f"{node}_{before + 1}"
            while apart in owners:
                apart += "_"
            one.name = f"{apart}.{name}"
            one.declared["group"] = apart
    if several := [node for node, homes in owners.items() if len(homes) > 1]:
        robot.notes.append(
            f"nodes in several processes, numbered after the first one: {', '.join(several)}"
        )


def _processes(reading: Reading, recordings: Sequence[Recording]) -> dict[int, _Process]:
    """By their numbers, in the order in which they began."""
    programs: dict[int, str] = {}
    for one in recordings:
        programs.setdefault(one.process, one.short_program)
    found: dict[int, _Process] = {}
    taken: Counter[str] = Counter()
    for number, program in programs.items():
        entities = [
            one for one in reading.entities.values() if one.jobs and one.handle[0] == number
        ]
        if not entities:
            continue
        name = identifier(program)
        taken[name] += 1
        unique = name if taken[name] == 1 else f"{name}_{taken[name]}"
        while unique in {one.name for one in found.values()}:
            unique += "_"
        found[number] = _Process(unique, entities)
    return found


def _executor(
    one: _Process, reading: Reading, notes: list[str], *, priority: bool
) -> dict[str, Any]:
    """What a process in its flat form has of it; ``priority``: it has a real-time one."""
    threads = threads_of(one.entities)
    if one.waits and priority:
        notes.append(
            f"process {one.name}: callbacks of it wait for responses of services, and of executors "
            "of rclcpp no bound for that is known; written with Takt's executor (policy fp). "
            "Bounds hold once it has that: takt spin"
        )
        return {"policy": "fp"}
    executor = executor_of(one.entities, reading)
    if len(threads) > 1:
        notes.append(
            f"process {one.name}: its callbacks ran in {len(threads)} threads, which a robot "
            f"cannot describe; written as {executor}, which has one. Bounds are of that; where "
            "each thread has nodes of its own, make each a process"
        )
    elif executor == "rclcpp_events":
        notes.append(
            f"process {one.name}: no wait set; taken for rclcpp_events. A recording shows Takt's "
            "executor alike: if it is that, give the policy instead of the executor"
        )
    return {"executor": executor}


def _handover(ran: dict[int, _Process], resumed: Sequence[int], notes: list[str]) -> dict[str, int]:
    """From publications to the calls in other processes, which did nothing else meanwhile.

    Where others ran callbacks on the reader's core in between, it may have waited for these, which
    bounds count by themselves.
    """
    free: list[int] = []
    idle: list[int] = []
    others = _Busy(ran)
    every: list[int] = []
    for number, one in ran.items():
        ends: dict[Handle, list[int]] = defaultdict(list)
        for call in one.calls:
            ends[call.thread].append(call.end or call.begin)
        for times in ends.values():
            times.sort()
        for call, published in _from_others(number, one, resumed):
            every.append(max(0, call.begin - published))
            before = bisect_right(ends[call.thread], call.begin)
            if before and ends[call.thread][before - 1] <= published:
                idle.append(every[-1])
                if not others.ran(number, call, published):
                    free.append(every[-1])
    if not every:
        notes.append("middleware: no message between processes was recorded; latency is left out")
        return {"least": 0, "most": 0}
    times = free or idle or every
    what = "found the reader waiting" if idle else "were recorded, none of which found it waiting"
    what += " and its core free of callbacks of the others" if free else ""
    notes.append(
        f"middleware: {len(times)} of {len(every)} messages between processes {what}; until their "
        f"callbacks began {_us(min(times))} to {_us(max(times))}, median {_us(median(times))}; "
        "observed, no worst case"
    )
    return {"least": min(times), "most": max(times)}


class _Busy:
    """When which process ran callbacks on each core."""

    def __init__(self, ran: dict[int, _Process]) -> None:
        self._calls: dict[int, list[tuple[int, int, int]]] = defaultdict(list)
        for number, one in ran.items():
            for call in one.calls:
                of = self._calls[call.core]
                of += [(begin, end, number) for begin, end in _computing(call)]
        for calls in self._calls.values():
            calls.sort()
        self._longest = {
            core: max(end - begin for begin, end, _ in calls) for core, calls in self._calls.items()
        }

    def ran(self, number: int, call: Call, since: int) -> bool:
        """Whether a process other than ``number`` did before the call, on its core."""
        if call.core < 0:
            return False  # not recorded
        calls = self._calls[call.core]
        for at in range(bisect_left(calls, (call.begin,)) - 1, -1, -1):
            begin, end, process = calls[at]
            if begin + self._longest[call.core] <= since:
                return False
            if process != number and end > since:
                return True
        return False


def _computing(call: Call) -> Iterator[tuple[int, int]]:
    """The stretches of a call in which it did not wait for the response of a service."""
    reached = call.begin
    for one in call.requests:
        if one.waited and one.answered is not None and one.time >= reached:
            yield reached, one.time
            reached = one.answered
    yield reached, max(reached, call.end)


def _from_others(number: int, one: _Process, resumed: Sequence[int]) -> Iterator[tuple[Call, int]]:
    """Calls with messages of other processes, and when these were published.

    What came before the first call of a reader may have waited for it (transient local), and the
    last call of a process for what stops it: a signal's thread has its core meanwhile.
    """
    last = max(call.begin for call in one.calls)
    for entity in one.entities:
        first = min(call.begin for call in entity.jobs)
        for call in entity.jobs:
            message = call.took
            if message is None or message.maker is None or message.maker.thread[0] == number:
                continue
            together = bisect_right(resumed, message.time) == bisect_right(resumed, call.begin)
            if message.time >= first and together and call.begin < last:
                yield call, message.time


def _period(entity: Entity) -> float:
    if entity.period:
        return float(entity.period)
    begins = np.sort([call.begin for call in entity.jobs])
    return float(np.median(np.diff(begins))) if len(begins) > 1 else float("inf")


def _us(ns: float) -> str:
    return f"{ns / 1000:.6g} µs"
