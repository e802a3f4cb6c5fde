# SPDX-License-Identifier: Apache-2.0
"""The thesis's figures from this machine's executions, as PNG and SVG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from takt.bench.model import Table
from takt.documents.units import format_size
from takt.pages.pictures import plain_ticks, save
from takt.reproduce.krukiewicz2021 import schedules
from takt.reproduce.krukiewicz2021.bars import Bars, bar_figures, known, places_of
from takt.reproduce.krukiewicz2021.bars import place as place_of
from takt.reproduce.krukiewicz2021.evidence import Evidence
from takt.reproduce.krukiewicz2021.points import (
    APPROACHES,
    HARMONIC,
    KB,
    MAX_AGE_MS,
    NODES,
    TRANSPORT_SIZES,
    WITH_CONSTRAINT,
    Point,
)
from takt.reproduce.model import Figure, Figures
from takt.reproduce.published import Published
from takt.schedule.metrics.model import Spread

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Picture

FOLDER = "figures"
FAR = 3  # times the height of a box above it: a longer whisker would squeeze the boxes
NEAR = 0.06  # of the height of an axis: so high is a label with a diamond at its place
DIAMOND = 5  # points from the middle of a diamond to a label above it
BOX = {"whislo": "min", "q1": "q1", "med": "median", "q3": "q3", "whishi": "max"}
NAMES = {"baseline1": "baseline1", "takt": "Takt", WITH_CONSTRAINT: "Takt,\nconstraint"}
THESIS_NAMES = NAMES | {"takt": "proposed", WITH_CONSTRAINT: "proposed,\nconstraint"}
_COLOURS = ("#4a6785", "#0a7d8c", "#2f8f3a", "#c96a12", "#b83280")


def figures(
    published: Published, evidence: Evidence, folder: Path, overhead: Sequence[Table] = ()
) -> list[Figure]:
    """Draws every figure of which something was executed, the thesis's numbers in the same one.

    The schedules are simulated.
    """
    drawn = _Drawing(published, folder)
    for figure, every in schedules.schedules().items():
        drawn.picture(figure, schedules.draw(every))
    drawn.overheads("5.1", "Overhead of the executors, 50 nodes", overhead)
    drawn.boxes("2.7", "From publish to callback", "time (µs)", _transport(evidence))
    for one in bar_figures():
        drawn.bars(one.number, one.title, one.bars(evidence))
    for number, nodes in enumerate(NODES):
        title = f"Age of the critical data, {nodes + 2} nodes"
        there = {
            f"{THESIS_NAMES[row.point['approach']]}\n(thesis)": row.published
            for row in published.tables
            if row.point.get("nodes") == nodes
        }
        drawn.boxes(f"5.{number + 11}", title, "age (ms)", _ages(evidence, nodes), there)
    return drawn.figures_drawn


def _transport(evidence: Evidence) -> dict[str, Spread]:
    names = {"baseline1": "DDS", "takt": "by pointer"}
    points = {
        f"{format_size(size)}\n{names[approach]}": Point(
            "transport", approach, size=size, periods=(100,)
        )
        for size in TRANSPORT_SIZES
        for approach in APPROACHES
    }
    return known(points, evidence.age)


def _ages(evidence: Evidence, nodes: int) -> dict[str, Spread]:
    points = {
        NAMES[approach]: Point("age", approach, nodes, 0.75, 512 * KB, HARMONIC)
        for approach in (*APPROACHES, WITH_CONSTRAINT)
    }
    scaled = ("min", "q1", "median", "q3", "p99", "max", "mean", "sd")
    return {
        name: age.model_copy(update={key: getattr(age, key) / 1000 for key in scaled})
        for name, age in known(points, evidence.age).items()
    }


class _Drawing:
    """Draws into a folder, and keeps what was made."""

    def __init__(self, published: Published, folder: Path) -> None:
        self._published, self._folder = published, folder
        self.figures_drawn: list[Figure] = []

    def picture(self, number: str, picture: Picture) -> None:
        """One that is drawn already."""
        self._save(picture, number)

    def bars(self, number: str, title: str, bars: Bars) -> None:
        """Bars by utilization; a diamond is what the thesis's text says of that bar."""
        bars = {series: values for series, values in bars.items() if values}
        if not bars:
            return
        places = places_of(bars)
        picture, axes = _picture()
        width = 0.8 / len(bars)
        stated = self._published.figures[number].values
        marks: list[tuple[float, float]] = []
        absent: list[float] = []
        tops: list[tuple[float, float]] = []
        for index, (series, values) in enumerate(bars.items()):
            shift = (index - (len(bars) - 1) / 2) * width
            at = [places.index(place) + shift for place in values]
            heights = [100 * value for value in values.values()]
            colour = _COLOURS[index % len(_COLOURS)]
            axes.bar(at, heights, width, label=series, color=colour)
            tops += zip(at, heights, strict=True)
            absent += [
                places.index(place) + shift
                for place in places
                if place not in values and self._is_a_point(number, series, place)
            ]
            marks += [
                (places.index(place) + shift, 100 * share)
                for place in places
                if isinstance(share := stated.get(f"{place}, {series}"), int | float)
            ]
        if marks:
            at, heights = [place for place, _ in marks], [height for _, height in marks]
            axes.plot(at, heights, "D", color="#111111", markersize=5, label="thesis, of this bar")
        if absent:  # a bar of height 0 says 0
            zeros = [0.0] * len(absent)
            axes.plot(absent, zeros, "x", color="#888888", markersize=5, label="not measured")
        axes.set_xticks(range(len(places)), places)
        axes.set(title=title, ylabel="share (%)")
        axes.set_ylim(0, max(5.0, 1.1 * axes.get_ylim()[1]))
        _label(axes, tops, dict(marks))
        axes.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1, 1))  # hides no bar
        self._save(picture, number)

    def _is_a_point(self, number: str, series: str, at: str) -> bool:
        (one,) = (figure for figure in bar_figures() if figure.number == number)
        return at in {place_of(load) for load in one.points[series]}

    def overheads(self, number: str, title: str, tables: Sequence[Table]) -> None:
        """Boxes of the overhead with and without subscriptions, the thesis's in grey."""
        asked = {"5.7": "no subscriptions", "5.8": "subscriptions"}
        here, theirs = [], []
        for table in tables:
            for name, own in (("baseline0", "baseline0"), ("takt", "thesis")):
                words = asked.get(table.table)
                if words and set(BOX.values()) <= set(table.measured.get(name, {})):
                    label = f"{NAMES.get(name, name)},\n{words}"
                    here.append(_box(label, table.measured[name]))
                    if set(BOX.values()) <= set(table.published.get(own, {})):
                        theirs.append(_box(f"{own},\n{words}", table.published[own]))
        if not here:
            return
        picture, axes = _picture()
        _draw_boxes(axes, here, theirs)
        _leave_out_far_whiskers(axes, here, theirs, "µs")
        axes.tick_params(axis="x", labelsize=7)
        axes.set(title=title, ylabel="µs")
        axes.set_ylim(bottom=0)
        self._save(picture, number)

    def boxes(
        self,
        number: str,
        title: str,
        axis: str,
        spreads: dict[str, Spread],
        there: Mapping[str, Figures] | None = None,
    ) -> None:
        """Boxes from quartile to quartile, whiskers from minimum to maximum, as in the thesis.

        ``there`` are the thesis's own ones, in grey.
        """
        if not spreads:
            return
        picture, axes = _picture()
        here = [
            {
                "label": name,
                "whislo": one.min,
                "q1": one.q1,
                "med": one.median,
                "q3": one.q3,
                "whishi": one.max,
            }
            for name, one in spreads.items()
        ]
        theirs = [
            {
                "label": name,
                "whislo": row["min_ms"],
                "q1": row["q1_ms"],
                "med": row["median_ms"],
                "q3": row["q3_ms"],
                "whishi": row["max_ms"],
            }
            for name, row in (there or {}).items()
        ]
        _draw_boxes(axes, here, theirs)
        axes.tick_params(axis="x", labelsize=8)
        axes.set(title=title, ylabel=axis)
        if axis.endswith("(ms)"):
            name = f"constraint, {MAX_AGE_MS:g} ms"
            _leave_out_far_whiskers(axes, here, theirs, "ms", MAX_AGE_MS)
            axes.axhline(MAX_AGE_MS, linestyle="--", color=_COLOURS[3], linewidth=1, label=name)
            axes.set_ylim(bottom=0)
            axes.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1, 1))  # hides no box
        else:
            axes.set_yscale("log")
            plain_ticks(axes)
        self._save(picture, number)

    def _save(self, picture: Picture, number: str) -> None:
        caption = self._published.figures[number].caption
        for file in save(picture, self._folder / FOLDER / number):
            name = str(file.relative_to(self._folder))
            self.figures_drawn.append(Figure(figure=number, file=name, caption=caption))


def _box(label: str, numbers: Mapping[str, float]) -> dict[str, Any]:
    return {"label": label, **{name: numbers[column] for name, column in BOX.items()}}


def _draw_boxes(axes: Axes, here: list[dict[str, Any]], theirs: list[dict[str, Any]]) -> None:
    """This machine's, then the thesis's in grey."""
    for boxes, first, colour in ((here, 1, _COLOURS[1]), (theirs, len(here) + 1, "#c8c8c8")):
        if boxes:
            axes.bxp(
                boxes,
                positions=[first + place for place in range(len(boxes))],
                patch_artist=True,
                showfliers=False,
                boxprops={"facecolor": colour},
                medianprops={"color": "#111111"},
            )


def _label(axes: Axes, tops: Sequence[tuple[float, float]], marks: Mapping[float, float]) -> None:
    """The height of each bar above it, and above a diamond that would hide it."""
    reach = NEAR * axes.get_ylim()[1]
    for at, height in tops:
        mark = marks.get(at, -1.0)
        hidden = height - reach / 2 <= mark <= height + reach
        axes.annotate(
            f"{height:.3g}", (at, max(height, mark) if hidden else height),
            (0, DIAMOND if hidden else 1), textcoords="offset points", ha="center", va="bottom",
            fontsize=7,
        )  # fmt: skip


def _leave_out_far_whiskers(
    axes: Axes,
    here: list[dict[str, Any]],
    theirs: list[dict[str, Any]],
    unit: str,
    shown: float = 0.0,
) -> None:
    """A whisker that would squeeze the boxes ends at the edge, with its value; ``shown`` fits."""
    usual = max(
        *(one["q3"] + FAR * (one["q3"] - one["q1"]) for one in here),
        *(one["whishi"] for one in theirs),
        shown,
    )
    if max(one["whishi"] for one in here) <= usual:
        return
    axes.set_ylim(0, 1.1 * usual)
    for place, one in enumerate(here, 1):
        if one["whishi"] > usual:
            words = f"↑ {one['whishi']:.4g} {unit}"
            axes.text(place, 1.04 * usual, words, ha="center", fontsize=8)


def _picture() -> tuple[Picture, Axes]:
    from matplotlib.figure import Figure as NewPicture

    picture = NewPicture(figsize=(8, 4.5), layout="constrained")
    axes = picture.add_subplot()
    axes.grid(axis="y", alpha=0.3)
    return picture, axes
