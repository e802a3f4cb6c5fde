# SPDX-License-Identifier: Apache-2.0
"""Krukiewicz-Gacek 2021: what the pictures show where something is missing, or far out."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import pytest
from synthetic_executions import PUBLISHED_GROWTH, as_published, executed, overheads

from takt.bench.model import Table
from takt.reproduce.krukiewicz2021.evidence import Evidence
from takt.reproduce.krukiewicz2021.points import HARMONIC, KB, Point
from takt.reproduce.published import read_published
from takt.schedule.metrics import Metrics

# The package has a function of the same name.
drawing = importlib.import_module("takt.reproduce.krukiewicz2021.figures")
BOX = {"min": 20.0, "q1": 22.0, "median": 25.0, "q3": 27.0, "max": 60.0, "mean": 26.0, "sd": 8.0}


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    found: dict[str, Any] = {}
    monkeypatch.setattr(
        drawing, "save", lambda figure, file: found.update({file.name: figure}) or []
    )
    return found


def draw(done: dict[Point, list[Metrics]], folder: Path, tables: list[Table] | None = None) -> None:
    drawing.figures(read_published("krukiewicz2021"), Evidence(done, []), folder, tables or [])


def words(figure: Any) -> list[str]:
    legend = figure.axes[0].get_legend()
    return [one.get_text() for one in legend.get_texts()] if legend else []


def test_a_bar_that_was_not_measured_does_not_look_like_zero(
    tmp_path: Path, shown: dict[str, Any]
) -> None:
    done = executed(as_published, (1.0, 1.0))
    draw(dict(done), tmp_path)
    assert "not measured" not in words(shown["5.2"])
    del done[Point("misses", "baseline1", 4, 0.75, 256 * KB, (10, 20), 2)]
    draw(done, tmp_path)
    assert "not measured" in words(shown["5.2"])
    assert "not measured" not in words(shown["5.3"])
    (crosses,) = [one for one in shown["5.2"].axes[0].lines if one.get_label() == "not measured"]
    assert len(crosses.get_xdata()) == 1


def test_no_diamond_hides_the_number_of_its_bar(tmp_path: Path, shown: dict[str, Any]) -> None:
    draw(executed(as_published, (1.0, 1.0)), tmp_path)
    axes = shown["5.6"].axes[0]
    (stated,) = [one for one in axes.lines if one.get_label() == "thesis, of this bar"]
    beside = {one.get_text(): one.xyann[1] for one in axes.texts}
    assert stated.get_ydata()[0] == pytest.approx(26.0)
    assert beside["26"] > beside["40"]  # points above the end of its bar


def test_an_outlier_does_not_squeeze_the_boxes_and_is_named(
    tmp_path: Path, shown: dict[str, Any]
) -> None:
    done = executed(as_published, (1.0, 1.0))
    point = Point("age", "baseline1", 20, 0.75, 512 * KB, HARMONIC)
    done[point] = [far(one, 2_242_100.0) for one in done[point]]
    draw(done, tmp_path)
    axes = shown["5.12"].axes[0]
    assert axes.get_ylim()[1] < 300
    assert [one.get_text() for one in axes.texts] == ["↑ 2242 ms"]
    assert not shown["5.11"].axes[0].texts


def far(one: Metrics, highest_us: float) -> Metrics:
    ages = [
        age.model_copy(update={"age_us": age.age_us.model_copy(update={"max": highest_us})})
        for age in one.data_age
        if age.age_us
    ]
    return one.model_copy(update={"data_age": ages})


def test_the_overhead_of_50_nodes_is_drawn_beside_the_thesis(
    tmp_path: Path, shown: dict[str, Any]
) -> None:
    tables = [
        one.model_copy(update={"measured": {"baseline0": BOX, "takt": BOX | {"max": 3700.0}},
                               "published": {"baseline0": BOX, "thesis": BOX}})
        for one in overheads(PUBLISHED_GROWTH)
    ]  # fmt: skip
    draw({}, tmp_path, tables)
    axes = shown["5.1"].axes[0]
    assert axes.get_ylim()[1] < 100
    assert [one.get_text() for one in axes.texts] == ["↑ 3700 µs"] * 2
    labels = [one.get_text() for one in shown["5.1"].axes[0].get_xticklabels()]
    assert len(labels) == 8  # two executors, with and without subscriptions, here and there
    assert sum("Takt" in one for one in labels) == sum("thesis" in one for one in labels) == 2
