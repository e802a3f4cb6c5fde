# SPDX-License-Identifier: Apache-2.0
"""Metrics of executions as Krukiewicz-Gacek 2021 describes them, and as its reversal would be."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from takt.bench.model import Table
from takt.reproduce.krukiewicz2021.points import (
    HARMONIC,
    MAX_AGE_MS,
    MB,
    MISSES_SIZES,
    OTHER,
    WITH_CONSTRAINT,
    Point,
    points,
)
from takt.reproduce.published import read_published
from takt.schedule.metrics import Metrics
from takt.schedule.metrics.model import (
    CallbackMetrics,
    DataAge,
    Freshness,
    NodeFreshness,
    Overhead,
    Spread,
    spread,
)
from takt.statistics import Floats

EVERY = points()
US, MS = 1000, 1_000_000
JOBS = 1000  # of a callback or a node, in a run
TAIL = 0.01  # of jobs, reads and uses
EXECUTIONS = 20_000  # of a run
USES = 300  # of data, in a run of 30 s
AGES = ("min", "q1", "median", "q3", "p99", "max", "mean", "sd")
SHARES = {"min": 1.0, "q1": 0.75, "median": 0.5, "q3": 0.25, "p99": 0.01, "max": 0.0}  # above it
PUBLISHED_AGES = {
    (one.point["nodes"], one.point["approach"]): one.published
    for one in read_published("krukiewicz2021").tables
    if one.table in {"5.12", "5.13", "5.14"}
}
SCATTER = (0.98, 0.99, 1.0, 1.01, 1.02)  # of the five runs of a point

# What happens at a point: a share of misses or of old data, a time in µs (transport), ages in ms.
Value = float | Spread
World = Callable[[Point], Value]
Executed = dict[Point, list[Metrics]]


def metrics(point: Point, value: Value) -> Metrics:
    """Of an execution with one timer that reads one topic."""
    if isinstance(value, Spread):
        return _with_ages(value)
    return _metrics(point.experiment, value)


def times(value: Value, by: float, highest: float | None = None) -> Value:
    """So many times a number, or each number of ages; their highest may be another multiple."""
    if not isinstance(value, Spread):
        return value * by
    found = {name: getattr(value, name) * by for name in AGES}
    found["max"] = value.max * (by if highest is None else highest)
    return value.model_copy(update=found)


def _with_ages(ages: Spread) -> Metrics:
    known = {name: getattr(ages, name) for name in AGES}
    above = np.interp(MAX_AGE_MS, [known[name] for name in SHARES], list(SHARES.values()))
    made = _metrics("age", 0.0)
    age = made.data_age[0].model_copy(
        update={
            "age_us": ages.model_copy(update={name: 1000 * one for name, one in known.items()}),
            "violations": max(int(ages.max > MAX_AGE_MS), round(float(above) * ages.count)),
        }
    )
    return made.model_copy(update={"data_age": [age]})


@functools.cache  # a world has the same at many points
def _metrics(experiment: str, value: float) -> Metrics:
    missed = value if experiment == "misses" else 0.0
    stale = value if experiment == "freshness" else 0.0
    unit = {"transport": US, "age": MS}.get(experiment)
    old = round(stale * EXECUTIONS)
    listener = CallbackMetrics(
        callback="listener.listen",
        node="listener",
        executions=EXECUTIONS,
        expected=EXECUTIONS,
        skipped=0,
        unfinished=0,
        misses=round(missed * EXECUTIONS),
        miss_ratio=missed,
        on_old_data=old,
        response_us=None,
        cpu_us=None,
    )
    ages = spread((round(value * unit),)) if unit else None
    age = DataAge(
        callback="listener.listen",
        topic="critical",
        age_us=ages.model_copy(update={"count": USES}) if ages else None,
        without_data=0,
        unknown=0,
        max_age_us=None,
        violations=0,
    )
    node = NodeFreshness(node="listener", executions=EXECUTIONS, on_old_data=old, ratio=stale)
    return Metrics(
        trace="made",
        source="executor",
        approach=None,
        policy=[],
        duration_ms=1000,
        closed_in_order=True,
        lost=0,
        not_granted=[],
        declared=True,
        callbacks=[listener],
        helpers=[],
        executions=EXECUTIONS,
        misses=listener.misses,
        mean_miss_ratio=missed,
        freshness=Freshness(nodes=[node], mean_ratio=stale, on_old_data=old),
        data_age=[age],
        chains=[],
        overhead=Overhead(cpu_us=None, handover_us=None),
        stolen_ms={0: 0.0},
    )


def of_table(row: Mapping[str, Any]) -> Spread:
    """Ages in ms as a row of tables 5.12 to 5.14 has them; it has no 99th percentile."""
    known = {name: float(row[f"{name}_ms"]) for name in AGES if name != "p99"}
    return Spread(count=USES, p99=(known["q3"] + known["max"]) / 2, **known)


def of_one_age(ms: float) -> Spread:
    """All uses are of data of the same age."""
    return Spread(count=USES, **(dict.fromkeys(AGES, ms) | {"sd": 0.0}))


def as_published(point: Point) -> Value:
    """What the thesis says of a point, or what fits between two that it speaks of."""
    takt, nodes, load, size = (
        point.approach != "baseline1",
        point.nodes,
        point.utilization,
        point.size,
    )
    match point.experiment:
        case "transport":
            return 10.0 if takt else 70.0 if size < MB else 120.0
        case "freshness":
            starved = 0.42 if nodes == 50 and load == 1 else 0.05
            other = starved if nodes > 4 or load == 1 else 0.0
            return 0.0 if takt else 0.5 if point.periods == HARMONIC else other
        case "age":
            return of_table(PUBLISHED_AGES[nodes, point.approach])
    if takt:
        full = {4: 0.04, 20: 0.07, 50: 0.2}[nodes]
        return {0.5: 0.0, 0.75: 0.09 if nodes == 50 else 0.0, 1.0: full}[load]
    rank = MISSES_SIZES.index(size)
    half = {4: (0.0,) * 5, 20: (0.0,) * 5, 50: (0.0, 0.1, 0.26, 0.4, 0.6)}
    most = {4: (0, 0, 0, 0.2, 0.2), 20: (0, 0, 0.2, 0.2, 0.3), 50: (0, 0.3, 0.4, 0.5, 0.6)}
    full_load = (0.01, 0.15, 0.2, 0.3, 0.4)
    return {0.5: half[nodes], 0.75: most[nodes], 1.0: full_load}[load][rank]


def the_other_way_round(point: Point) -> Value:
    """Who misses does not, who is fast is slow, what is old is fresh."""
    takt = point.approach != "baseline1"
    match point.experiment:
        case "transport":
            return 120.0 if takt else 10.0
        case "freshness":
            low = point.nodes == 4 and point.utilization < 1
            return 0.3 if takt else 0.1 if low and point.periods == OTHER else 0.0
        case "age":
            falling = (39.5 if takt else 39.0) - point.nodes / 10
            return of_one_age(60.0 if point.approach == WITH_CONSTRAINT else falling)
    if point.utilization == 0.5 and point.nodes < 50:
        return 0.3 if takt else 0.2
    if point.nodes == 50 and point.utilization > 0.5:
        return 0.0
    return (0.3 if takt else 0.0) if point.size else (0.0 if takt else 0.1)


def executed(world: World, scatter: Sequence[float] = SCATTER) -> dict[Point, list[Metrics]]:
    """Every point; the highest age of all runs is the world's, not that of each run."""
    most = max(scatter)
    return {
        point: [metrics(point, times(world(point), one, one / most)) for one in scatter]
        for point in EVERY
    }


def whole(world: World, runs: int = len(SCATTER), *, tail: bool = False) -> Executed:
    """Every point in whole runs: each callback's jobs, each node's reads, each use of data.

    With a tail one job, read or use of a hundred is another one: a miss, old, or ten times as late.
    """
    return {
        point: [
            _whole(point, world(point), np.random.default_rng([place, run]), tail=tail)
            for run in range(runs)
        ]
        for place, point in enumerate(EVERY)
    }


def _whole(point: Point, value: Value, rng: np.random.Generator, *, tail: bool) -> Metrics:
    if isinstance(value, Spread):
        shares = np.array(list(SHARES.values()))[::-1]
        known = [getattr(value, name) for name in SHARES][::-1]
        each = np.interp(rng.uniform(0, 1, USES), shares, known)
        return _with_ages(_drawn(each, rng, tail=tail))
    if point.experiment == "transport":
        made = _metrics("transport", 1.0)
        each = value * (0.8 + rng.gamma(4.0, 0.05, USES))
        ages = spread(np.round(_late(each, rng, tail=tail) * US).astype(np.int64))
        age = made.data_age[0].model_copy(update={"age_us": ages})
        return made.model_copy(update={"data_age": [age]})
    # Some callbacks, or nodes, have more of it than others.
    unlike = rng.uniform(0.7, 1.3, point.nodes)
    share = np.clip(value * unlike / unlike.mean(), 0, 1)
    if tail:
        share = share + TAIL * (1 - share)
    cases = rng.binomial(JOBS, share)
    ratio = float(cases.mean()) / JOBS
    made = _metrics(point.experiment, ratio)
    if point.experiment == "misses":
        listener = made.callbacks[0]
        callbacks = [
            listener.model_copy(
                update={"misses": int(one), "miss_ratio": int(one) / JOBS, "executions": JOBS}
            )
            for one in cases
        ]
        return made.model_copy(update={"callbacks": callbacks, "mean_miss_ratio": ratio})
    nodes = [
        NodeFreshness(node=f"n{place}", executions=JOBS, on_old_data=int(one),
                      ratio=int(one) / JOBS)
        for place, one in enumerate(cases)
    ]  # fmt: skip
    freshness = Freshness(nodes=nodes, mean_ratio=ratio, on_old_data=int(cases.sum()))
    return made.model_copy(update={"freshness": freshness})


def _late(each: Floats, rng: np.random.Generator, *, tail: bool) -> Floats:
    return np.where(rng.random(len(each)) < TAIL * tail, 10 * each, each)


def _drawn(each: Floats, rng: np.random.Generator, *, tail: bool) -> Spread:
    """Of ages in ms."""
    found = spread(np.round(_late(each, rng, tail=tail) * MS).astype(np.int64))
    assert found is not None
    return found.model_copy(update={name: getattr(found, name) / 1000 for name in AGES})


def overheads(growth: Mapping[str, float], scatter: Sequence[float] = SCATTER) -> list[Table]:
    """Tables 5.6 to 5.8 with so much growth over a baseline of 10 µs."""

    def rounds(mean: float) -> list[dict[str, float]]:
        return [{"mean": mean * one} for one in scatter]

    return [
        Table(
            table=name,
            title="",
            unit="µs",
            published={"baseline0": {}, "thesis": {}},
            measured={"baseline0": {"mean": 10.0}, "takt": {"mean": 10.0 * (1 + growth[name])}},
            rounds={"baseline0": rounds(10.0), "takt": rounds(10.0 * (1 + growth[name]))},
        )
        for name in ("5.6", "5.7", "5.8")
    ]


PUBLISHED_GROWTH = {"5.6": 0.154, "5.7": 0.54, "5.8": 1.14}
FALLING = dict.fromkeys(PUBLISHED_GROWTH, -0.08)
