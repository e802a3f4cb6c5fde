# SPDX-License-Identifier: Apache-2.0
"""What the reproduction of Krukiewicz-Gacek 2021 executes, and how it judges what it measured."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from takt.bench.model import Table
from takt.errors import TaktError
from takt.reproduce.judgement import judge
from takt.reproduce.krukiewicz2021 import answers, cannot_tell, keep_scale
from takt.reproduce.krukiewicz2021.evidence import Evidence
from takt.reproduce.krukiewicz2021.executions import Executions, Extent, name_of
from takt.reproduce.krukiewicz2021.figures import (
    Bars,
    places_of,
    shares_of_misses,
    shares_of_old_data,
)
from takt.reproduce.krukiewicz2021.findings import CHECKS
from takt.reproduce.krukiewicz2021.points import (
    APPROACHES,
    HARMONIC,
    KB,
    MB,
    MISSES_SIZES,
    NODES,
    OTHER,
    WITH_CONSTRAINT,
    Point,
    flat,
    points,
)
from takt.reproduce.model import Answer, Outcome, Request
from takt.reproduce.published import read_published
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
SCATTER = (0.98, 0.99, 1.0, 1.01, 1.02)  # of the five runs of a point

# What happens at a point: a share of misses or of old data, or an age in µs (transport) or ms.
World = Callable[[Point], float]


def metrics(point: Point, value: float) -> Metrics:
    """Of an execution with one timer that reads one topic."""
    missed = value if point.experiment == "misses" else 0.0
    stale = value if point.experiment == "freshness" else 0.0
    unit = {"transport": US, "age": MS}.get(point.experiment)
    old = round(stale * 1000)
    listener = CallbackMetrics(
        callback="listener.listen",
        node="listener",
        executions=1000,
        expected=1000,
        skipped=0,
        unfinished=0,
        misses=round(missed * 1000),
        miss_ratio=missed,
        on_old_data=old,
        response_us=None,
        cpu_us=None,
    )
    age = DataAge(
        callback="listener.listen",
        topic="critical",
        age_us=spread((round(value * unit),)) if unit else None,
        without_data=0,
        unknown=0,
        max_age_us=None,
        violations=0,
    )
    node = NodeFreshness(node="listener", executions=1000, on_old_data=old, ratio=stale)
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
        mean_miss_ratio=missed,
        freshness=Freshness(nodes=[node], mean_ratio=stale, on_old_data=old),
        data_age=[age],
        chains=[],
        overhead=Overhead(cpu_us=None, handover_us=None),
        stolen_ms={0: 0.0},
    )


def as_published(point: Point) -> float:
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
            mean = {"baseline1": (50, 62, 74), "takt": (41, 48, 73), WITH_CONSTRAINT: (23, 19, 19)}
            return float(mean[point.approach][NODES.index(nodes)])
    if takt:
        full = {4: 0.04, 20: 0.07, 50: 0.2}[nodes]
        return {0.5: 0.0, 0.75: 0.09 if nodes == 50 else 0.0, 1.0: full}[load]
    rank = MISSES_SIZES.index(size)
    half = {4: (0.0,) * 5, 20: (0.0,) * 5, 50: (0.0, 0.1, 0.26, 0.4, 0.6)}
    most = {4: (0, 0, 0, 0.2, 0.2), 20: (0, 0, 0.2, 0.2, 0.3), 50: (0, 0.3, 0.4, 0.5, 0.6)}
    full_load = (0.01, 0.15, 0.2, 0.3, 0.4)
    return {0.5: half[nodes], 0.75: most[nodes], 1.0: full_load}[load][rank]


def the_other_way_round(point: Point) -> float:
    """Who misses does not, who is fast is slow, what is old is fresh."""
    takt = point.approach != "baseline1"
    match point.experiment:
        case "transport":
            return 120.0 if takt else 10.0
        case "freshness":
            low = point.nodes == 4 and point.utilization < 1
            return 0.3 if takt else 0.1 if low and point.periods == OTHER else 0.0
        case "age":
            falling = 39 - point.nodes / 10  # of baseline1
            constrained = 60.0 if point.approach == WITH_CONSTRAINT else 38.0
            return constrained if takt else falling
    if point.utilization == 0.5 and point.nodes < 50:
        return 0.3 if takt else 0.2
    if point.nodes == 50 and point.utilization > 0.5:
        return 0.0
    return (0.3 if takt else 0.0) if point.size else (0.0 if takt else 0.1)


def executed(world: World, scatter: Sequence[float] = SCATTER) -> dict[Point, list[Metrics]]:
    return {point: [metrics(point, world(point) * one) for one in scatter] for point in EVERY}


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


def outcome(done: Executions, overhead: list[Table], folder: Path) -> Outcome:
    extent = Extent(points=list(done.metrics), runs=5, length_s=1.0, left_out=0)
    return answers(extent, done, overhead, folder, Request(draws=200))


def judged(name: str, evidence: Evidence) -> Answer:
    published = read_published("krukiewicz2021").findings[name].values
    return judge(CHECKS[name], published, evidence, most_draws=1000)


def test_every_check_has_a_claim_of_the_thesis_and_every_claim_a_check() -> None:
    assert set(read_published("krukiewicz2021").findings) == set(CHECKS)


@pytest.mark.thorough
def test_executions_as_published_uphold_every_finding(tmp_path: Path) -> None:
    done = Executions(executed(as_published))
    made = outcome(done, overheads(PUBLISHED_GROWTH), tmp_path)
    assert [one.id for one in made.findings if not one.holds] == []
    assert made.complete
    assert {row.table for row in made.tables} == {"5.6", "5.7", "5.8", "5.12", "5.13", "5.14"}
    drawn = {figure.figure for figure in made.figures}
    assert drawn == {"2.7", *(f"5.{number}" for number in range(2, 14))}
    assert all((tmp_path / figure.file).stat().st_size > 0 for figure in made.figures)


PUBLISHED_WORLD = Evidence(executed(as_published), overheads(PUBLISHED_GROWTH))
REVERSED_WORLD = Evidence(executed(the_other_way_round), overheads(FALLING))


@pytest.mark.parametrize("name", sorted(CHECKS))
def test_what_the_thesis_found_holds_and_its_reversal_does_not(name: str) -> None:
    assert judged(name, PUBLISHED_WORLD).holds is True
    assert judged(name, REVERSED_WORLD).holds is False


def scaled(experiment: str, approach: str, times: float) -> World:
    """As published, but so many times as much at the points of one approach."""

    def world(point: Point) -> float:
        chosen = (point.experiment, point.approach) == (experiment, approach)
        return as_published(point) * (times if chosen else 1)

    return world


def misses(**by_approach: Callable[[Point], float]) -> World:
    """Misses by the approach; everything else as published."""

    def world(point: Point) -> float:
        own = by_approach.get(point.approach) if point.experiment == "misses" else None
        return own(point) if own else as_published(point)

    return world


# On either side of each threshold that a number of the thesis sets: (finding, above, below).
SIDES: list[tuple[str, World, World]] = [
    ("transport-faster-256k", scaled("transport", "baseline1", 0.9),
     scaled("transport", "baseline1", 0.8)),
    ("transport-faster-1m", scaled("transport", "baseline1", 0.9),
     scaled("transport", "baseline1", 0.8)),
    ("transport-faster-always", scaled("transport", "baseline1", 0.15),
     scaled("transport", "baseline1", 0.13)),
    ("misses-none-at-half", misses(takt=lambda _: 0.008), misses(takt=lambda _: 0.012)),
    ("misses-none-small", misses(takt=lambda _: 0.008), misses(takt=lambda _: 0.012)),
    ("misses-none-small", misses(baseline1=lambda _: 0.008), misses(baseline1=lambda _: 0.012)),
    # Misses with every size are not misses from a size on.
    ("misses-baseline1-large-messages", misses(baseline1=lambda p: 0.3 * (p.size >= 2 * MB)),
     misses(baseline1=lambda _: 0.3)),
    ("misses-baseline1-large-messages",
     misses(baseline1=lambda p: 0.012 if p.size >= 2 * MB else 0.008),
     misses(baseline1=lambda p: 0.008 if p.size >= 2 * MB else 0.0)),
    ("misses-baseline1-20-nodes-half", misses(baseline1=lambda _: 0.008),
     misses(baseline1=lambda _: 0.012)),
    ("misses-baseline1-20-nodes", misses(baseline1=lambda p: 0.3 * (p.size >= 512 * KB)),
     misses(baseline1=lambda p: 0.3 * (p.size >= 2 * MB))),
    ("misses-baseline1-full", scaled("misses", "baseline1", 0.6),
     scaled("misses", "baseline1", 0.4)),
    ("misses-baseline1-50-nodes", scaled("misses", "baseline1", 0.6),
     scaled("misses", "baseline1", 0.4)),
    ("misses-baseline1-20-nodes-8m", misses(baseline1=lambda p: 0.13 if p.nodes == 20 else 0.1),
     misses(baseline1=lambda p: 0.12 if p.nodes == 20 else 0.1)),
    ("misses-takt-full-4-without-messages", scaled("misses", "takt", 0.6),
     scaled("misses", "takt", 0.4)),
    ("misses-takt-full-4-without-messages", scaled("misses", "baseline1", 1.8),
     scaled("misses", "baseline1", 2.2)),
    ("misses-takt-full-20-without-messages", scaled("misses", "takt", 0.6),
     scaled("misses", "takt", 0.4)),
    ("misses-takt-50-nodes", misses(takt=lambda _: 0.012), misses(takt=lambda _: 0.008)),
    # From 26 to 3 % is 88 % less; half of that is 44 %.
    ("misses-reduced", misses(takt=lambda _: 0.05, baseline1=lambda _: 0.1),
     misses(takt=lambda _: 0.06, baseline1=lambda _: 0.1)),
    # Who never missed cannot miss less.
    ("misses-reduced", misses(takt=lambda _: 0.0, baseline1=lambda _: 0.012),
     misses(takt=lambda _: 0.0, baseline1=lambda _: 0.0)),
    ("freshness-harmonic-half", scaled("freshness", "baseline1", 0.6),
     scaled("freshness", "baseline1", 0.4)),
    ("freshness-baseline1-20-nodes", scaled("freshness", "baseline1", 0.6),
     scaled("freshness", "baseline1", 0.4)),
    ("freshness-baseline1-50-nodes", scaled("freshness", "baseline1", 0.6),
     scaled("freshness", "baseline1", 0.4)),
    ("freshness-baseline1-full-4", scaled("freshness", "baseline1", 0.3),
     scaled("freshness", "baseline1", 0.1)),
    ("age-constraint-kept", scaled("age", WITH_CONSTRAINT, 1.6),
     scaled("age", WITH_CONSTRAINT, 1.9)),
    ("age-baseline1-exceeds", scaled("age", "baseline1", 0.83),
     scaled("age", "baseline1", 0.77)),
    ("age-proposed-exceeds", scaled("age", "takt", 1.0), scaled("age", "takt", 0.9)),
    ("age-mean-lower", scaled("age", WITH_CONSTRAINT, 2.5), scaled("age", WITH_CONSTRAINT, 2.7)),
    ("age-proposed-lower", scaled("age", "takt", 1.05), scaled("age", "takt", 1.12)),
    # The growth from 6 to 52 nodes is 30 ms for the proposed one; half of it is asked for.
    ("age-proposed-grows-with-nodes", scaled("age", "takt", 0.5), scaled("age", "takt", 0.44)),
    # It is 23 ms for baseline1.
    ("age-grows-with-nodes", scaled("age", "baseline1", 0.53),
     scaled("age", "baseline1", 0.43)),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "above", "below"), SIDES, ids=[f"{i}-{one[0]}" for i, one in enumerate(SIDES)]
)
def test_each_side_of_the_threshold_is_told_apart(name: str, above: World, below: World) -> None:
    quiet = (0.998, 0.999, 1.0, 1.001, 1.002)
    assert judged(name, Evidence(executed(above, quiet), [])).holds is True
    assert judged(name, Evidence(executed(below, quiet), [])).holds is False


@pytest.mark.parametrize(
    ("name", "table"),
    [("overhead-small", "5.6"), ("overhead-large", "5.7"), ("overhead-subscriptions", "5.8")],
)
def test_overhead_grows_only_where_it_grows_by_half_of_what_it_did(name: str, table: str) -> None:
    asked = float(read_published("krukiewicz2021").findings[name].values["growth"] or 0)
    for share, holds in ((1.0, True), (0.6, True), (0.4, False), (0.0, False), (-0.5, False)):
        growth = PUBLISHED_GROWTH | {table: share * asked}
        found = judged(name, Evidence({}, overheads(growth, (0.998, 0.999, 1, 1.001, 1.002))))
        assert found.holds is holds, share


@pytest.mark.parametrize("name", sorted(set(CHECKS) - {"misses-takt-50-nodes"}))
def test_runs_that_contradict_each_other_leave_it_undecided(name: str) -> None:
    both = {
        point: [metrics(point, w(point)) for w in (as_published, the_other_way_round) * 2]
        for point in EVERY
    }
    tables = overheads(PUBLISHED_GROWTH)
    for table in tables:
        table.rounds["takt"][:2] = [{"mean": 5.0}, {"mean": 5.0}]
    found = judged(name, Evidence(both, tables))
    assert found.holds is not True
    if found.holds is None:
        assert found.needs


def test_one_run_of_a_point_decides_nothing() -> None:
    found = judged("misses-none-at-half", Evidence(executed(as_published, (1.0,)), []))
    assert found.holds is None
    assert "one run only" in found.needs
    assert found.measured == {"highest": 0.0}


def test_what_was_not_executed_is_said_and_undecided(tmp_path: Path) -> None:
    made = outcome(Executions(failed=["one: it broke"]), [], tmp_path)
    assert all(one.holds is None for one in made.findings)
    assert all("not" in one.needs for one in made.findings)
    assert not made.complete
    assert made.skipped == ["one: it broke"]


def test_a_finding_over_many_applications_needs_all_of_them() -> None:
    some = executed(as_published)
    del some[Point("misses", "takt", 50, 0.5, 8 * MB, (10, 20))]
    found = judged("misses-none-at-half", Evidence(some, []))
    assert found.holds is None
    assert "50-nodes-0.5-8MB" in found.needs


@pytest.mark.parametrize("scale", [1.0, 0.2, 0.05, 0.02, 0.001, 1e-6])
def test_a_smaller_scale_has_shorter_runs_then_fewer_then_fewer_points(scale: float) -> None:
    extent = Extent.at(scale)
    assert 2 <= extent.runs <= 5
    assert 2.0 <= extent.length_s <= 30.0
    assert len(extent.points) + extent.left_out == len(EVERY)
    assert extent.points
    if scale == 1.0:
        assert (extent.runs, extent.length_s, extent.left_out) == (5, 30.0, 0)
    if extent.runs < 5:
        assert extent.length_s < 4.0
    if extent.runs > 2:
        assert extent.left_out == 0


def test_the_two_minutes_of_a_smoke_test_cover_every_experiment() -> None:
    extent = Extent.at(0.002)
    assert {point.experiment for point in extent.points} == {
        "transport",
        "misses",
        "freshness",
        "age",
    }
    assert len(extent.points) * extent.runs * extent.length_s < 200


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


def test_a_small_scale_says_which_findings_it_leaves_out() -> None:
    assert cannot_tell(Extent.at(1.0)) == []
    left_out = cannot_tell(Extent.at(0.002))
    assert "misses-none-at-half" in left_out
    assert "overhead-small" not in left_out
    assert "misses-baseline1-full" not in left_out


def test_a_folder_is_gone_on_with_at_its_own_scale_only(tmp_path: Path) -> None:
    keep_scale(tmp_path, 0.002)
    keep_scale(tmp_path, 0.002)
    with pytest.raises(TaktError, match=r"scale 0\.002, not 1"):
        keep_scale(tmp_path, 1.0)


def test_what_is_left_is_what_is_not_in_the_folder(tmp_path: Path) -> None:
    extent = Extent.at(1.0)
    assert len(extent.asked) == len(EVERY) * 5
    (tmp_path / f"{name_of(*extent.asked[0])}.json").write_text("{}")
    left = extent.left(tmp_path)
    assert left == extent.asked[1:]
    assert extent.seconds(left) >= len(left) * 30.0


def test_bars_come_in_the_order_of_their_utilization() -> None:
    some = {
        point: runs
        for point, runs in executed(as_published, (1.0, 1.0)).items()
        if point.utilization != 0.75 or point.size == 256 * KB
    }
    bars = shares_of_misses(Evidence(some, []), 4, "baseline1")
    assert places_of(bars) == ["utilization 0.5", "utilization 0.75", "utilization 1"]


def test_every_published_share_is_of_a_bar_that_is_drawn() -> None:
    evidence = Evidence(executed(as_published, (1.0, 1.0)), [])
    drawn: dict[str, Bars] = {}
    for number, (nodes, approach) in enumerate((n, a) for n in NODES for a in APPROACHES):
        drawn[f"5.{number + 2}"] = shares_of_misses(evidence, nodes, approach)
    for number, nodes in enumerate(NODES):
        drawn[f"5.{number + 8}"] = shares_of_old_data(evidence, nodes)
    for number, bars in drawn.items():
        there = {f"{place}, {series}" for series, values in bars.items() for place in values}
        assert set(read_published("krukiewicz2021").figures[number].values) <= there, number
