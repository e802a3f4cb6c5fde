# SPDX-License-Identifier: Apache-2.0
"""What the thesis executes: every experiment's points, each an application and an approach."""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from takt.documents.units import format_size
from takt.schedule.generate.parameters import Parameters
from takt.schedule.generate.sets import documents, draw

MS = 1_000_000
KB, MB = 1000, 1_000_000

NODES = (4, 20, 50)
UTILIZATIONS = (0.5, 0.75, 1.0)
ONE_CORE_TOO = ((4, 0), (4, 256_000), (20, 0))  # nodes, bytes: what the thesis gives numbers of
HARMONIC, OTHER = (10, 20, 40), (10, 22, 47)
TRANSPORT_SIZES = (512, 256 * KB, MB, 8 * MB)  # figure 2.7
MISSES_SIZES = (0, 256 * KB, 512 * KB, 2 * MB, 8 * MB)  # table 5.9; 0: no messages
FRESHNESS_SIZES = (512 * KB, 8 * MB)  # table 5.10
MAX_AGE_MS = 40
PRODUCER, LISTENER = "producer.produce", "listener.listen"  # of section 5.5
PRODUCER_MS, LISTENER_MS = 50, 100
# The thesis compares with baseline1; its own executor is "proposed", Takt stands in its place.
BASELINE = "baseline1"
APPROACHES = (BASELINE, "takt")
WITH_CONSTRAINT = "takt-age"
# The thesis gives its executor two isolated cores. At a utilization of 1 the second one decides, so
# these applications are executed on one, too.
MISSES_CORES = 2
FULL = 1.0


@dataclass(frozen=True)
class Point:
    """One application by one approach."""

    experiment: str  # transport, misses, freshness, age
    approach: str  # takt-age: Takt with the data-age constraint
    nodes: int = 2
    utilization: float = 0.0
    size: int = 0  # bytes of a message; 0: none
    periods: tuple[int, ...] = ()  # ms
    cores: int = 1

    @property
    def application(self) -> str:
        """Names the application; the same for all approaches."""
        periods = "-".join(map(str, self.periods))
        size = format_size(self.size) if self.size else "no-messages"
        return f"{self.experiment}-{self.nodes}-nodes-{self.utilization:g}-{size}-{periods}ms"

    @property
    def name(self) -> str:
        """Names the point; usable as a file's name."""
        return f"{self.application}-{self.approach}" + f"-{self.cores}-cores" * (self.cores > 1)


def points() -> list[Point]:
    """All of them: first those that findings speak of, small applications before large ones."""
    found = [
        *(
            Point("transport", a, size=s, periods=(100,))
            for s in TRANSPORT_SIZES
            for a in APPROACHES
        ),
        *_grid("misses", MISSES_SIZES, [(10, 20)], MISSES_CORES),
        *(
            Point("misses", approach, nodes, FULL, size, (10, 20))
            for nodes, size in ONE_CORE_TOO
            for approach in APPROACHES
        ),
        *_grid("freshness", FRESHNESS_SIZES, [HARMONIC, OTHER]),
        *(
            Point("age", approach, nodes, 0.75, 512 * KB, HARMONIC)
            for nodes in NODES
            for approach in (*APPROACHES, WITH_CONSTRAINT)
        ),
    ]
    return sorted(found, key=lambda p: (not central(p), p.nodes, p.size == 8 * MB))


def central(point: Point) -> bool:
    """Whether a finding is about this point, and it is short enough for a small scale."""
    if point.experiment == "misses":
        spoken_of = {
            (4, 0.5, 256 * KB),
            (4, 0.75, 2 * MB),
            (4, 1.0, 256 * KB),
            (20, 0.75, 512 * KB),
        }
        there = (point.nodes, point.utilization, point.size) in spoken_of
        return there and point.cores == MISSES_CORES
    if point.experiment == "freshness":
        spoken_of_too = {(4, 0.5, HARMONIC), (4, 0.5, OTHER), (4, 1.0, OTHER), (20, 0.5, OTHER)}
        place = (point.nodes, point.utilization, point.periods)
        return place in spoken_of_too and point.size == 512 * KB
    return point.size in {256 * KB, 512 * KB, MB}  # transport, and tables 5.12 to 5.14


def _grid(
    experiment: str, sizes: tuple[int, ...], periods: list[tuple[int, ...]], cores: int = 1
) -> Iterator[Point]:
    for nodes, utilization, size, of, approach in itertools.product(
        NODES, UTILIZATIONS, sizes, periods, APPROACHES
    ):
        yield Point(experiment, approach, nodes, utilization, size, of, cores)


def flat(point: Point, cpus: Sequence[int]) -> dict[str, Any]:
    """The application of a point in its flat form, on these cores."""
    if point.experiment == "transport":
        application = _transport(point)
    else:
        application = _generated(point)
        if point.experiment == "age":
            _add_critical_pair(application, point)
    return {**application, "name": point.application, "cpus": list(cpus)}


def _generated(point: Point) -> dict[str, Any]:
    shares = {"misses": [0.2, 0.8], "freshness": [0.5, 0.5], "age": [0.0, 0.0]}[point.experiment]
    wanted = Parameters(
        nodes=point.nodes,
        utilization=point.utilization,
        periods=list(point.periods),
        pubsub=shares if point.size else [0.0, 0.0],
        message_size=f"{point.size}B" if point.size else None,
    )
    # The name seeds it: every approach and every run executes the same application.
    rng = np.random.default_rng(zlib.crc32(point.application.encode()))
    (application,) = documents(draw(wanted, 1, rng), [point.application])
    if point.experiment == "freshness" and point.periods == HARMONIC:
        _read_what_is_due_before(application)
    return application


def _read_what_is_due_before(application: dict[str, Any]) -> None:
    """Section 2.2.1: a reader's timer is due whenever its producer's is, and runs after it.

    So a message never comes before the timer that should read it. The callbacks that are due most
    often publish, the others read; which reads which is drawn.
    """
    callbacks = sorted(application["callbacks"], key=lambda one: -one["priority"])
    highest = callbacks[0]["priority"]
    for one in callbacks:  # room for readers below those that are due as often
        one["priority"] = highest - 2 * (highest - one["priority"])
    writers = [one for one in callbacks if one.get("writes")]
    readers = [one for one in callbacks if one.get("reads")]
    pairs = [(one["writes"], other) for one, other in zip(writers, callbacks, strict=False)]
    read = [one["reads"] for one in readers]
    for one in callbacks:
        one.pop("writes", None)
        one.pop("reads", None)
    for writes, other in pairs:
        other["writes"] = writes
    for reads, other in zip(read, callbacks[len(callbacks) - len(read) :], strict=True):
        other["reads"] = reads
        other["priority"] -= 1


def _add_critical_pair(application: dict[str, Any], point: Point) -> None:
    """Section 5.5: a producer at the lowest priority, a listener at the highest.

    Their execution times are not published; they are small here beside the generated load.
    """
    for callback in application["callbacks"]:
        callback["priority"] -= 1  # rate-monotonic ones begin with 98
    read: dict[str, Any] = {"topic": "critical"}
    if point.approach == WITH_CONSTRAINT:
        read["max_age"] = MAX_AGE_MS * MS
    application["callbacks"] += [
        _callback(PRODUCER, PRODUCER_MS, 1, writes=["critical"]),
        _callback(LISTENER, LISTENER_MS, 98, reads=[read]),
    ]
    application["topics"].append({"name": "critical", "bytes": point.size})


def _transport(point: Point) -> dict[str, Any]:
    (period,) = point.periods
    listener = _callback(LISTENER, 0, 98, kind="message", trigger="message")
    return {
        "version": 1,
        "callbacks": [_callback("talker.talk", period, 50, writes=["message"]), listener],
        "topics": [{"name": "message", "bytes": point.size}],
    }


def _callback(name: str, period_ms: int, priority: int, **more: Any) -> dict[str, Any]:
    return {
        "name": name,
        "node": name.partition(".")[0],
        "period": period_ms * MS,
        "priority": priority,
        "execution": {"worst": MS // 2 if period_ms else MS // 100},
        **more,
    }
