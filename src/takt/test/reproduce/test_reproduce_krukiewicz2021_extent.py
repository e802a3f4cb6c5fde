# SPDX-License-Identifier: Apache-2.0
"""Krukiewicz-Gacek 2021: what is executed at a scale, its applications, what is drawn of them."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from synthetic_executions import (
    EVERY,
    as_published,
    executed,
)

from takt.reproduce.krukiewicz2021 import beyond_scale
from takt.reproduce.krukiewicz2021.bars import bar_figures, places_of
from takt.reproduce.krukiewicz2021.evidence import Evidence
from takt.reproduce.krukiewicz2021.executions import Extent, name_of
from takt.reproduce.krukiewicz2021.points import HARMONIC, KB, flat
from takt.reproduce.published import read_published


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
        mine, theirs = flat(one, [1]), flat(other, [1])
        for callback in mine["callbacks"]:
            for read in callback.get("reads", []):
                read.pop("max_age", None)
        assert mine == theirs
        assert mine["cpus"] == [1]


def test_applications_have_the_nodes_utilization_and_messages_of_their_point() -> None:
    for point in EVERY:
        if point.experiment not in {"misses", "freshness"}:
            continue
        application = flat(point, [0])
        callbacks = application["callbacks"]
        assert len({one["node"] for one in callbacks}) == point.nodes
        used = sum(one["execution"]["worst"] / one["period"] for one in callbacks)
        assert used == pytest.approx(point.utilization, rel=1e-3)
        assert {one["bytes"] for one in application["topics"]} == (
            {point.size} if point.size else set()
        )


def test_with_harmonic_periods_a_reader_is_due_with_its_producer_and_runs_after_it() -> None:
    readers = 0
    for point in EVERY:
        if (point.experiment, point.periods) != ("freshness", HARMONIC):
            continue
        callbacks = flat(point, [0])["callbacks"]
        writer = {topic: one for one in callbacks for topic in one.get("writes", [])}
        assert len(writer) == point.nodes / 2
        for one in callbacks:
            for read in one.get("reads", []):
                readers += 1
                assert one["period"] % writer[read["topic"]]["period"] == 0
                assert one["priority"] < writer[read["topic"]]["priority"]
        assert {1 <= one["priority"] <= 98 for one in callbacks} == {True}
    assert readers > 100


def test_deadline_misses_are_executed_on_the_two_cores_of_the_thesis_and_on_one() -> None:
    assert {point.cores for point in EVERY if point.experiment == "misses"} == {1, 2}
    assert {point.cores for point in EVERY if point.experiment != "misses"} == {1}
    name = "misses-4-nodes-1-no-messages-10-20ms-takt"
    one, two = sorted((p for p in EVERY if p.name.startswith(name)), key=lambda p: p.cores)
    assert (one.cores, two.cores) == (1, 2)
    assert one.application == two.application
    assert one.name != two.name


def test_the_critical_pair_has_the_lowest_and_the_highest_priority() -> None:
    for point in EVERY:
        if point.experiment != "age":
            continue
        priorities = {one["name"]: one["priority"] for one in flat(point, [0])["callbacks"]}
        assert len(priorities) == point.nodes + 2
        assert min(priorities, key=priorities.__getitem__) == "producer.produce"
        assert max(priorities, key=priorities.__getitem__) == "listener.listen"
        assert min(priorities.values()) >= 1
        assert max(priorities.values()) <= 98


def test_a_small_scale_says_which_findings_it_leaves_out() -> None:
    assert beyond_scale(Extent.at(1.0)) == []
    left_out = beyond_scale(Extent.at(0.002))
    assert "misses-none-at-half" in left_out
    assert "overhead-small" not in left_out
    assert "misses-baseline1-full" not in left_out


def test_the_smallest_scale_has_the_uses_of_data_that_the_constraint_takes() -> None:
    assert "age-constraint-kept" not in beyond_scale(Extent.at(0.0002))


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
    (figure,) = [one for one in bar_figures() if one.number == "5.2"]
    there = places_of(figure.bars(Evidence(some, [])))
    assert there == [
        "utilization 0.5",
        "utilization 0.75",
        "utilization 1",
    ]


def test_every_published_share_is_of_a_bar_that_is_drawn() -> None:
    evidence = Evidence(executed(as_published, (1.0, 1.0)), [])
    for figure in bar_figures():
        bars = figure.bars(evidence)
        there = {f"{place}, {series}" for series, values in bars.items() for place in values}
        stated = set(read_published("krukiewicz2021").figures[figure.number].values)
        assert stated <= there, figure.number
