# SPDX-License-Identifier: Apache-2.0
"""Follows messages from the job that made them to the jobs that used them.

An execution is *on old data* where it began after the job that made a newer message had ended, and
used an older one: then the newer one was there to be delivered. (A message that a job makes is
handed over before that job ends; while the job still runs, it may be on its way.)
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from dataclasses import dataclass, field

from takt.schedule.trace.declared import Application
from takt.schedule.trace.file import NONE, Event, Names, Type

_KEPT = 20_000  # messages of a topic that are remembered: what is older is used by nobody


def _times() -> array[int]:
    return array("q")


@dataclass(frozen=True)
class Datum:
    """A release of the first callback of a chain: where a path of data begins."""

    job: int
    release: int


# What a job or a message carries: for a chain and a place in it, where its data comes from.
Origins = dict[tuple[int, int], Datum]


@dataclass
class Message:
    """One message that was made."""

    made: int
    origins: Origins


@dataclass
class Execution:
    """A job that runs."""

    job: int
    release: int | None
    newest: dict[int, int]  # by topic: of the messages that were there at the start
    origins: Origins
    old: bool = False
    made: list[tuple[int, int]] = field(default_factory=list)  # topic, sequence


@dataclass
class Ages:
    """Of one reader and one topic, in ns."""

    ages: array[int] = field(default_factory=_times)
    without_data: int = 0
    unknown: int = 0


@dataclass
class Path:
    """Of one chain, in ns."""

    latency: array[int] = field(default_factory=_times)
    age: array[int] = field(default_factory=_times)
    reaction: array[int] = field(default_factory=_times)
    last: Datum | None = None  # that reached the end


@dataclass
class Flows:
    """Takes the events by time."""

    names: Names
    application: Application | None
    told: bool = False  # whether any job told what it used
    executions: dict[int, int] = field(default_factory=lambda: defaultdict(int))  # by task
    old: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    ages: dict[tuple[int, int], Ages] = field(default_factory=lambda: defaultdict(Ages))
    paths: list[Path] = field(default_factory=list)
    _released: dict[tuple[int, int], int] = field(default_factory=dict)
    _running: dict[int, Execution] = field(default_factory=dict)  # by task
    _newest: dict[int, int] = field(default_factory=dict)  # by topic: sequence
    _messages: dict[int, dict[int, Message]] = field(default_factory=lambda: defaultdict(dict))
    _places: dict[int, list[tuple[int, int, bool]]] = field(default_factory=dict)  # by task

    def __post_init__(self) -> None:
        """Gives every chain its path."""
        chains = self.application.chains if self.application else []
        self.paths = [Path() for _ in chains]

    def take(self, event: Event) -> None:
        """The next event."""
        match event.type:
            case Type.release:
                self._released[event.task, event.job] = event.time
            case Type.start:
                self._start(event)
            case Type.publish:
                self._publish(event)
            case Type.use:
                self._use(event)
            case Type.end:
                self._end(event)
            case _:
                pass

    def newest_at_start(self, use: Event) -> int:
        """The newest message that was there when the job of this use started; -1: none."""
        running = self._running.get(use.task)
        if running is None or running.job != use.job:
            return -1
        return running.newest.get(use.topic, -1)

    def _start(self, event: Event) -> None:
        release = self._released.pop((event.task, event.job), None)
        origins: Origins = {}
        if release is not None:
            for chain, place, _ in self._places_of(event.task):
                if place == 0:
                    origins[chain, 0] = Datum(event.job, release)
        self._running[event.task] = Execution(event.job, release, dict(self._newest), origins)

    def _publish(self, event: Event) -> None:
        running = self._running.get(event.task)
        mine = running is not None and running.job == event.job
        messages = self._messages[event.topic]
        messages[event.value] = Message(event.time, running.origins if mine and running else {})
        if len(messages) > _KEPT:
            for sequence in list(messages)[: _KEPT // 2]:
                del messages[sequence]
        if mine and running:
            running.made.append((event.topic, event.value))
        elif event.task == NONE:
            self._is_there(event.topic, event.value)

    def _use(self, event: Event) -> None:
        self.told = True
        ages = self.ages[event.task, event.topic]
        running = self._running.get(event.task)
        if running is None or running.job != event.job:
            return  # its start was lost
        running.old |= running.newest.get(event.topic, -1) > event.value
        if event.value < 0:
            ages.without_data += 1
            return
        message = self._messages[event.topic].get(event.value)
        if message is None:
            ages.unknown += 1
            return
        ages.ages.append(event.time - message.made)
        for chain, place, _ in self._places_of(event.task):
            origin = message.origins.get((chain, place - 1))
            known = running.origins.get((chain, place))
            if origin and (known is None or known.release < origin.release):
                running.origins[chain, place] = origin

    def _end(self, event: Event) -> None:
        running = self._running.pop(event.task, None)
        self.executions[event.task] += 1
        if running is None or running.job != event.job:
            return
        self.old[event.task] += running.old
        for topic, sequence in running.made:
            self._is_there(topic, sequence)
        for chain, place, last in self._places_of(event.task):
            datum = running.origins.get((chain, place))
            if last and datum:
                self._arrive(self.paths[chain], datum, event.time)

    def _arrive(self, path: Path, datum: Datum, end: int) -> None:
        path.age.append(end - datum.release)
        if path.last is None or datum.release > path.last.release:
            path.latency.append(end - datum.release)
            if path.last is not None:
                path.reaction.append(end - path.last.release)
            path.last = datum

    def _is_there(self, topic: int, sequence: int) -> None:
        self._newest[topic] = max(self._newest.get(topic, -1), sequence)

    def _places_of(self, task: int) -> list[tuple[int, int, bool]]:
        """In which chains the task is: chain, place, whether it is the last."""
        known = self._places.get(task)
        if known is None:
            name = self.names.task(task)
            chains = self.application.chains if self.application else []
            known = [
                (number, place, place == len(chain.callbacks) - 1)
                for number, chain in enumerate(chains)
                for place, callback in enumerate(chain.callbacks)
                if callback == name
            ]
            self._places[task] = known
        return known
