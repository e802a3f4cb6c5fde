# SPDX-License-Identifier: Apache-2.0
"""What the reproduction of Krukiewicz-Gacek 2021 executes, and how it judges what it measured."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from takt.bench.model import Table
from takt.reproduce.krukiewicz2021 import answers
from takt.reproduce.krukiewicz2021.executions import Executions, Extent
from takt.reproduce.krukiewicz2021.findings import CHECKS
from takt.reproduce.krukiewicz2021.points import HARMONIC, WITH_CONSTRAINT, Point, flat, points
from takt.reproduce.model import Outcome, Request
from takt.reproduce.published import load
from takt.schedule.metrics import Metrics
from takt.schedule.metrics.model import (
    CallbackMetrics,
    DataAge,
    Freshness,
    NodeFreshness,
    Overhead,
    spread,
)

EVERY = points()
US, MS = 1000, 1_000_000


def metrics(
    *, miss_ratio: float = 0.0, old_data: float = 0.0, ages_ns: tuple[int, ...] = ()
) -> Metrics:
    """Of an execution with one timer that reads one topic."""
    old = round(old_data * 1000)
    listener = CallbackMetrics(
        callback="listener.listen",
        node="listener",
        executions=1000,
        expected=1000,
        skipped=0,
        unfinished=0,
        misses=round(miss_ratio * 1000),
        miss_ratio=miss_ratio,
        on_old_data=old,
        response_us=None,
        cpu_us=None,
    )
    age = DataAge(
        callback="listener.listen",
        topic="critical",
        age_us=spread(ages_ns),
        without_data=0,
        unknown=0,
        max_age_us=None,
        violations=0,
    )
    node = NodeFreshness(node="listener", executions=1000, on_old_data=old, ratio=old_data)
    return Metrics(
        trace="made",
        source="executor",
        approach=None,
        policy=[],
        duration_ms=1000,
        closed_in_order=True,
        lost=0,
        shortfalls=[],
        declared=True,
        callbacks=[listener],
        helpers=[],
        executions=1000,
        misses=listener.misses,
        mean_miss_ratio=miss_ratio,
        freshness=Freshness(nodes=[node], mean_ratio=old_data, on_old_data=old),
        data_age=[age],
        chains=[],
        overhead=Overhead(cpu_us=None, handover_us=None),
        stolen_ms={0: 0.0},
    )


def as_published(point: Point) -> Metrics:
    """An execution that behaves as the thesis says."""
    takt = point.approach != "baseline1"
    if point.experiment == "transport":
        times = 1 if takt else 20
        return metrics(ages_ns=(10 * US * times,))
    if point.experiment == "misses":
        load_of_messages = point.utilization * point.nodes * point.size
        return metrics(miss_ratio=0.0 if takt or load_of_messages < 900_000 else 0.3)
    if point.experiment == "freshness":
        other = 0.05 if point.nodes > 4 or point.utilization == 1 else 0.0
        return metrics(old_data=0.0 if takt else 0.5 if point.periods == HARMONIC else other)
    if point.approach == WITH_CONSTRAINT:
        return metrics(ages_ns=(5 * MS, 39 * MS))
    return metrics(ages_ns=(5 * MS, (80 + point.nodes) * MS))


def turned(point: Point) -> Metrics:
    """An execution that behaves the other way round."""
    takt = point.approach != "baseline1"
    other = dataclasses.replace(point, approach="baseline1" if takt else "takt")
    if point.experiment == "misses":
        return metrics(miss_ratio=0.3 if takt else 0.0)
    if point.experiment == "freshness":
        return metrics(
            old_data=0.3 if takt or (point.utilization < 1 and point.nodes == 4) else 0.0
        )
    if point.experiment == "age":
        oldest = 90 if takt else 30 - point.nodes // 10
        return metrics(ages_ns=(5 * MS, oldest * MS))
    return as_published(other)


def overheads(takt_us: float) -> list[Table]:
    measured = {"baseline0": {"mean": 10.0}, "takt": {"mean": takt_us}}
    return [
        Table(table=name, title="", unit="µs", published={"baseline0": {}, "thesis": {}},
              measured=measured)
        for name in ("5.6", "5.7", "5.8")
    ]  # fmt: skip


def outcome(done: Executions, overhead: list[Table], folder: Path) -> Outcome:
    extent = Extent(points=list(done.metrics), runs=1, length_s=1.0, left_out=0)
    return answers(extent, done, overhead, folder, Request())


def test_every_check_has_a_claim_of_the_thesis_and_every_claim_a_check() -> None:
    assert set(load("krukiewicz2021").findings) == set(CHECKS)


@pytest.mark.thorough
def test_executions_as_published_uphold_every_finding(tmp_path: Path) -> None:
    done = Executions({point: [as_published(point)] for point in EVERY})
    made = outcome(done, overheads(11.0), tmp_path)
    assert [one.id for one in made.findings if not one.holds] == []
    assert made.complete
    assert {row.table for row in made.tables} == {"5.6", "5.7", "5.8", "5.12", "5.13", "5.14"}
    drawn = {figure.figure for figure in made.figures}
    assert drawn == {"2.7", *(f"5.{number}" for number in range(2, 14))}
    assert all((tmp_path / figure.file).stat().st_size > 0 for figure in made.figures)


def test_executions_the_other_way_round_uphold_none(tmp_path: Path) -> None:
    done = Executions({point: [turned(point)] for point in EVERY})
    made = outcome(done, overheads(30.0), tmp_path)
    assert [one.id for one in made.findings if one.holds] == []


def test_what_was_not_executed_is_said_and_undecided(tmp_path: Path) -> None:
    made = outcome(Executions(failed=["one: it broke"]), [], tmp_path)
    assert all(one.holds is None for one in made.findings)
    assert all("missing" in one.measured for one in made.findings)
    assert not made.complete
    assert made.skipped == ["one: it broke"]


@pytest.mark.parametrize("scale", [1.0, 0.2, 0.02, 0.001, 1e-6])
def test_a_smaller_scale_has_fewer_runs_then_shorter_ones_then_fewer_points(scale: float) -> None:
    extent = Extent.at(scale)
    assert 1 <= extent.runs <= 5
    assert 2.0 <= extent.length_s <= 30.0
    assert len(extent.points) + extent.left_out == len(EVERY)
    assert extent.points
    if scale == 1.0:
        assert (extent.runs, extent.length_s, extent.left_out) == (5, 30.0, 0)
    if extent.runs > 1:
        assert extent.length_s == 30.0
    if extent.length_s > 2.0:
        assert extent.left_out == 0


def test_the_two_minutes_of_a_smoke_test_cover_every_experiment() -> None:
    extent = Extent.at(0.002)
    assert {point.experiment for point in extent.points} == {
        "transport",
        "misses",
        "freshness",
        "age",
    }
    assert len(extent.points) * extent.runs * extent.length_s < 100


def test_every_approach_executes_the_same_application() -> None:
    for one in EVERY[:20]:
        other = dataclasses.replace(one, approach="baseline1")
        mine, theirs = flat(one, 1), flat(other, 1)
        for callback in mine["callbacks"]:
            for read in callback.get("reads", []):
                read.pop("max_age", None)
        assert mine == theirs
        assert mine["cpus"] == [1]


def test_applications_have_the_nodes_utilization_and_messages_of_their_point() -> None:
    for point in EVERY:
        if point.experiment not in {"misses", "freshness"}:
            continue
        application = flat(point, 0)
        callbacks = application["callbacks"]
        assert len({one["node"] for one in callbacks}) == point.nodes
        used = sum(one["execution"]["worst"] / one["period"] for one in callbacks)
        assert used == pytest.approx(point.utilization, rel=1e-3)
        assert {one["bytes"] for one in application["topics"]} == (
            {point.size} if point.size else set()
        )


def test_the_critical_pair_has_the_lowest_and_the_highest_priority() -> None:
    for point in EVERY:
        if point.experiment != "age":
            continue
        priorities = {one["name"]: one["priority"] for one in flat(point, 0)["callbacks"]}
        assert len(priorities) == point.nodes + 2
        assert min(priorities, key=priorities.__getitem__) == "producer.produce"
        assert max(priorities, key=priorities.__getitem__) == "listener.listen"
        assert min(priorities.values()) >= 1
        assert max(priorities.values()) <= 98
