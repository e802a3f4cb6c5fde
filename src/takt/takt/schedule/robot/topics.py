# SPDX-License-Identifier: Apache-2.0
"""The topics of a robot: who writes and reads them, how often, and how much that is."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from takt.schedule.analysis.model import ScenarioBounds
from takt.schedule.application.flat import flat
from takt.schedule.application.model import Application
from takt.schedule.metrics.against import against
from takt.schedule.ros2.topics import plain
from takt.schedule.simulation.model import SimulationResult
from takt.schedule.trace import file as files
from takt.schedule.trace.file import Step, Type

Rates = dict[str, float]  # messages in a second, by topic


@dataclass(frozen=True)
class Topic:
    """A topic; rates in messages per second, None: not known."""

    name: str
    writers: int  # callbacks
    readers: int
    size: int | None  # of a message, in bytes
    most: float | None  # as the description allows
    simulated: float
    measured: float | None


def topics(
    application: Application,
    scenario: ScenarioBounds,
    simulation: SimulationResult,
    measured: Rates | None,
) -> list[Topic]:
    """In the order of the description; callbacks that the scenario does without write nothing."""
    periods = {one.name: one.period_us for one in scenario.callbacks}
    jobs = {one.callback: one.jobs for one in simulation.callbacks}
    found = []
    document = flat(application)
    for topic in document["topics"]:
        name = topic["name"]
        each = {
            one["name"]: _most(one.get("messages", {}).get(name, 1))
            for one in document["callbacks"]
            if name in one["writes"] and one["name"] in periods
        }
        writers = len(each) + sum(name in one.writes for one in application.threads.values())
        each = _of_joins(each, document["callbacks"], periods)
        each |= {driver: 1 for driver, one in application.threads.items() if name in one.writes}
        outside = topic.get("external_period")
        shortest = [(periods[callback], many) for callback, many in each.items()]
        shortest += [(outside / 1000, 1)] if outside else []
        read = sum(name in inputs(one) for one in document["callbacks"])
        sent = sum(jobs[callback] * many for callback, many in each.items())
        found.append(
            Topic(
                name=name,
                writers=writers,
                readers=read,
                size=topic.get("bytes"),
                most=_sum([many * 1e6 / us if us else None for us, many in shortest]),
                simulated=sent * 1000 / simulation.duration_ms + (1e9 / outside if outside else 0),
                measured=None if measured is None else measured.get(plain(name), 0),
            )
        )
    return found


def _of_joins(
    each: dict[str, int], callbacks: list[dict[str, Any]], periods: dict[str, float | None]
) -> dict[str, int]:
    """Of each join the slowest callback alone: a publication needs a new job of all of them."""
    slowest: dict[tuple[str, str], str] = {}
    for one in callbacks:
        if one["name"] in each and "join" in one:
            join = (one["node"], one["join"])
            other = slowest.setdefault(join, one["name"])
            if (periods[one["name"]] or math.inf) > (periods[other] or math.inf):
                slowest[join] = one["name"]
    joined = {one["name"] for one in callbacks if "join" in one} - set(slowest.values())
    return {name: many for name, many in each.items() if name not in joined}


def inputs(callback: dict[str, Any]) -> list[str]:
    """The topics that a callback of the flat form reads, or that release it."""
    trigger = callback.get("trigger")
    return [*(one["topic"] for one in callback["reads"]), *([trigger] if trigger else [])]


def _most(messages: int | list[int]) -> int:
    return messages if isinstance(messages, int) else messages[1]


def _sum(rates: list[float | None]) -> float | None:
    known = [rate for rate in rates if rate is not None]
    return sum(known) if known and len(known) == len(rates) else None


_OF_JOBS = [Type.release, Type.start, Type.publish, Type.end]


class _Published:
    """The sink that counts."""

    def __init__(self) -> None:
        self.counts: Counter[int] = Counter()
        self.span: tuple[int, int] | None = None

    def take(self, step: Step) -> None:
        """Counts the messages of each topic."""
        # Not of what comes before the first job: hosts wait for each other.
        times = step.events["time"][np.isin(step.events["type"], _OF_JOBS)]
        if len(times):
            self.span = (self.span[0] if self.span else int(times[0]), int(times[-1]))
        rows = step.events["type"] == Type.publish
        self.counts.update(step.events["topic"][rows].tolist())


def measured_rates(path: Path, application: Path) -> Rates:
    """Of a trace or a recording of this application."""
    trace, published = against(files.read(path), application), _Published()
    files.replay(trace, [published])
    first, last = published.span or (0, 0)
    seconds = (last - first) / 1e9
    if not seconds:
        return {}
    names = {topic: plain(trace.names.topic(topic)) for topic in published.counts}
    return {names[topic]: count / seconds for topic, count in published.counts.items()}
