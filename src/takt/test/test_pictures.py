# SPDX-License-Identifier: Apache-2.0
"""What pictures have to be readable: numbers on every axis, units, legends that hide no line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

from takt.pages import pictures
from takt.reproduce.ye2023 import drawing

Figures = list[Figure]


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> Figures:
    """The figures that would have been saved."""
    figures: Figures = []

    def keep(figure: Figure, file: Path) -> list[Path]:
        figures.append(figure)
        return [file]

    monkeypatch.setattr(pictures, "save", keep)
    monkeypatch.setattr(drawing, "save", keep)
    return figures


def numbers(figure: Figure) -> list[str]:
    """Those that stand on the first vertical axis."""
    figure.draw_without_rendering()
    axes = figure.axes[0]
    low, high = axes.get_ylim()
    ticks = zip(axes.yaxis.get_majorticklocs(), axes.yaxis.get_majorticklabels(), strict=True)
    return [label.get_text() for at, label in ticks if low <= at <= high]


@pytest.mark.parametrize(
    ("low", "high"), [(210, 390), (195, 590), (150, 950), (60, 700), (40, 18_000), (1, 5e6)]
)
def test_a_logarithmic_axis_has_plain_numbers_however_short_it_is(
    drawn: Figures, low: float, high: float
) -> None:
    middle = (low * high) ** 0.5
    curve = drawing.Curve("ROS 2", [64, 1024], [low] * 2, [middle] * 2, [high] * 2)
    drawing.curves(Path("x"), "title", [curve], drawing.SIZE)
    values = np.array([low, middle, high])
    drawing.executions(Path("x"), "title", [("64 B", values)])
    for figure in drawn:
        found = numbers(figure)
        assert 3 <= len(found) <= 15
        assert [float(one) for one in found] == sorted({float(one) for one in found})


def test_bars_say_what_is_below_them(drawn: Figures) -> None:
    curve = drawing.Curve("ROS 2", [64, 1024], [1] * 2, [2] * 2, [3] * 2)
    drawing.bars(Path("x"), "title", [curve])
    assert drawn[0].axes[0].get_xlabel() == "size of the data"


def counts() -> list[pictures.Counts]:
    return [
        pictures.Counts(name, np.array([1, 2, 90]), np.array([5, 3, 1])) for name in ("one", "two")
    ]


def test_the_legend_of_a_histogram_is_beside_it_where_it_could_hide_a_line(
    drawn: Figures,
) -> None:
    marks = [pictures.Mark("paper, highest", 80)]
    pictures.histogram(Path("x"), "title", counts(), "latency (µs)", marks)
    axes = drawn[0].axes[0]
    assert axes.get_legend() is None
    (legend,) = drawn[0].legends
    said = [one.get_text() for one in legend.get_texts()]
    assert said == ["one", "two", "paper, highest, 80 µs"]
    drawn[0].draw_without_rendering()
    assert legend.get_window_extent().x0 >= axes.get_window_extent().x1


@pytest.mark.parametrize(("highest", "scale"), [(300.0, "linear"), (7000.0, "symlog")])
def test_jitter_far_beyond_the_papers_leaves_its_lines_apart(
    drawn: Figures, highest: float, scale: str
) -> None:
    jitter = np.array([1.0, -2.0, highest, -highest])
    found: list[tuple[str, Any, Any]] = [("25 Hz", jitter, jitter)]
    drawing.courses(Path("x"), "title", found, 400.0)
    left, right = drawn[0].axes
    assert left.get_yscale() == scale
    assert right.get_yscale() == "linear"
    ends = left.transAxes.inverted().transform(left.transData.transform([(0, -400), (0, 400)]))
    assert ends[1][1] - ends[0][1] > 0.1
    if scale == "symlog":
        assert sorted(map(float, numbers(drawn[0]))) == [-4000, -400, 0, 400, 4000]
    printed = drawn[0].get_suptitle()
    assert ("logarithmic" in printed) == (scale == "symlog")
