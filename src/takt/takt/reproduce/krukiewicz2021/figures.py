# SPDX-License-Identifier: Apache-2.0
"""The thesis's figures from this machine's executions, as PNG and SVG."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from takt.documents.units import format_size
from takt.documents.writing import replacing
from takt.reproduce.judgement import Missing
from takt.reproduce.krukiewicz2021.evidence import Evidence
from takt.reproduce.krukiewicz2021.points import (
    APPROACHES,
    FRESHNESS_SIZES,
    HARMONIC,
    KB,
    MAX_AGE_MS,
    MISSES_SIZES,
    NODES,
    OTHER,
    TRANSPORT_SIZES,
    UTILIZATIONS,
    WITH_CONSTRAINT,
    Point,
)
from takt.reproduce.model import Figure
from takt.schedule.metrics.model import Spread

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Picture

FOLDER = "figures"
Value = TypeVar("Value")
Bars = dict[str, dict[str, float]]  # by series, then by place on the axis: shares
NAMES = {"baseline1": "baseline1", "takt": "Takt", WITH_CONSTRAINT: "Takt, data-age constraint"}
_COLOURS = ("#4a6785", "#0a7d8c", "#2f8f3a", "#c96a12", "#b83280")


def figures(evidence: Evidence, folder: Path) -> list[Figure]:
    """Draws every figure of which something was executed."""
    made = [*_boxes("2.7", "From publish to callback", "time (µs)", _transport(evidence), folder)]
    for number, (nodes, approach) in enumerate((n, a) for n in NODES for a in APPROACHES):
        title = f"{NAMES[approach]}: deadline misses, {nodes} nodes"
        made += _bars(f"5.{number + 2}", title, _misses(evidence, nodes, approach), folder)
    for number, nodes in enumerate(NODES):
        title = f"baseline1: executions on old data, {nodes} nodes"
        made += _bars(f"5.{number + 8}", title, _old_data(evidence, nodes), folder)
    for number, nodes in enumerate(NODES):
        title = f"Age of the critical data, {nodes + 2} nodes"
        made += _boxes(f"5.{number + 11}", title, "age (ms)", _ages(evidence, nodes), folder)
    return made


def _transport(evidence: Evidence) -> dict[str, Spread]:
    names = {"baseline1": "DDS", "takt": "by pointer"}
    points = {
        f"{format_size(size)}\n{names[approach]}": Point(
            "transport", approach, size=size, periods=(100,)
        )
        for size in TRANSPORT_SIZES
        for approach in APPROACHES
    }
    return _known(points, evidence.age)


def _ages(evidence: Evidence, nodes: int) -> dict[str, Spread]:
    points = {
        NAMES[approach]: Point("age", approach, nodes, 0.75, 512 * KB, HARMONIC)
        for approach in (*APPROACHES, WITH_CONSTRAINT)
    }
    scaled = ("min", "q1", "median", "q3", "p99", "max", "mean", "sd")
    return {
        name: age.model_copy(update={key: getattr(age, key) / 1000 for key in scaled})
        for name, age in _known(points, evidence.age).items()
    }


def _misses(evidence: Evidence, nodes: int, approach: str) -> Bars:
    return {
        format_size(size) if size else "no messages": _known(
            {
                f"utilization {u:g}": Point("misses", approach, nodes, u, size, (10, 20))
                for u in UTILIZATIONS
            },
            evidence.miss_ratio,
        )
        for size in MISSES_SIZES
    }


def _old_data(evidence: Evidence, nodes: int) -> Bars:
    names = {HARMONIC: "harmonic", OTHER: "not harmonic"}
    return {
        f"{format_size(size)}, periods {name}": _known(
            {
                f"utilization {u:g}": Point("freshness", "baseline1", nodes, u, size, periods)
                for u in UTILIZATIONS
            },
            evidence.old_data,
        )
        for periods, name in names.items()
        for size in FRESHNESS_SIZES
    }


def _known(points: dict[str, Point], value: Callable[[Point], Value]) -> dict[str, Value]:
    """The values of what was executed of it."""
    found = {}
    for name, point in points.items():
        try:
            found[name] = value(point)
        except Missing:
            continue
    return found


def _bars(number: str, title: str, bars: Bars, folder: Path) -> list[Figure]:
    bars = {series: values for series, values in bars.items() if values}
    if not bars:
        return []
    places = list(dict.fromkeys(place for values in bars.values() for place in values))
    picture, axes = _picture()
    width = 0.8 / len(bars)
    for index, (series, values) in enumerate(bars.items()):
        at = [places.index(place) + (index - (len(bars) - 1) / 2) * width for place in values]
        heights = [100 * value for value in values.values()]
        drawn = axes.bar(at, heights, width, label=series, color=_COLOURS[index % len(_COLOURS)])
        axes.bar_label(drawn, fmt="%.3g", fontsize=7, padding=1)
    axes.set_xticks(range(len(places)), places)
    axes.set(title=title, ylabel="share (%)")
    axes.set_ylim(0, max(5.0, 1.1 * axes.get_ylim()[1]))
    axes.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1, 1))  # hides no bar
    return _save(picture, number, folder)


def _boxes(
    number: str, title: str, axis: str, spreads: dict[str, Spread], folder: Path
) -> list[Figure]:
    """Boxes from quartile to quartile, whiskers from minimum to maximum, as in the thesis."""
    if not spreads:
        return []
    picture, axes = _picture()
    boxes = [
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
    axes.bxp(boxes, showfliers=False)
    axes.set(title=title, ylabel=axis)
    if axis.endswith("(ms)"):
        axes.axhline(MAX_AGE_MS, linestyle="--", color=_COLOURS[3], linewidth=1)
    else:
        axes.set_yscale("log")
    return _save(picture, number, folder)


def _picture() -> tuple[Picture, Axes]:
    from matplotlib.figure import Figure as NewPicture

    picture = NewPicture(figsize=(8, 4.5), layout="constrained")
    axes = picture.add_subplot()
    axes.grid(axis="y", alpha=0.3)
    return picture, axes


def _save(picture: Picture, number: str, folder: Path) -> list[Figure]:
    names = [f"{FOLDER}/{number}.{form}" for form in ("png", "svg")]
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        with replacing(folder / name) as temporary:
            picture.savefig(temporary, dpi=150, format=name[-3:])
    return [Figure(figure=number, file=name) for name in names]
