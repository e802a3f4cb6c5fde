# SPDX-License-Identifier: Apache-2.0
"""Pictures as files: histograms with a logarithmic count, and many runs behind each other.

As the figures of Sticha 2014: values in µs on a linear axis, how often each occurred on a
logarithmic one (4.1 to 4.5), and one such histogram a run in the third dimension (5.2 to 5.4). They
are drawn from histograms of whole microseconds, never from samples, so their size is bounded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from takt.documents.writing import replacing
from takt.statistics import Int64

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


MOST_BINS = 600  # of one histogram in a picture
LEGEND = 0.35  # of the height of bars: so much higher is a logarithmic axis with a legend
FLOOR = 0.1  # where nothing occurred, as in the thesis's figures
SUFFIXES = (".png", ".svg")
MARKED = "#111111"
_STYLES = (":", "--", "-.", "-")
_COLOURS = ("#0a7d8c", "#c96a12", "#6b4fc8", "#2f8f3a", "#b83280", "#4a6785")


@dataclass(frozen=True)
class Counts:
    """One histogram: whole µs, ascending, and how often each occurred."""

    name: str
    value_us: Int64
    count: Int64


@dataclass(frozen=True)
class Mark:
    """A value to compare with: a line across the picture."""

    name: str
    value_us: float


def histogram(
    file: Path, title: str, series: Sequence[Counts], axis: str, marks: Sequence[Mark] = ()
) -> list[Path]:
    """Draws histograms over each other; writes ``file`` as PNG and SVG, returns the paths."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axes = figure.add_subplot()
    _draw(axes, series)
    for place, mark in enumerate(marks):
        name = f"{mark.name}, {mark.value_us:g} µs"
        style = _STYLES[place % len(_STYLES)]
        axes.axvline(mark.value_us, color=MARKED, linewidth=1.2, linestyle=style, label=name)
    if marks:
        if own := axes.get_legend():
            own.remove()
        figure.legend(fontsize="small", loc="outside right upper")  # hides no line
    else:
        _make_room(axes)
    axes.set(title=title, xlabel=axis, ylabel="how often")
    return save(figure, file)


def panels(file: Path, named: Sequence[tuple[str, Sequence[Counts], str]]) -> list[Path]:
    """Draws one histogram below the other: title, series and axis of each."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 3.2 * len(named)), layout="constrained")
    for place, (title, series, axis) in enumerate(named, 1):
        axes = figure.add_subplot(len(named), 1, place)
        _draw(axes, series)
        _make_room(axes)
        axes.set(title=title, xlabel=axis, ylabel="how often")
    return save(figure, file)


def long_term(
    file: Path, title: str, runs: Sequence[Counts], axis: str, marks: Sequence[Mark] = ()
) -> list[Path]:
    """Draws one histogram a run behind the other: value, run, and count on a logarithmic axis.

    Marks are lines on the floor. Where positive values span more than two powers of ten, their axis
    is logarithmic, too.
    """
    from matplotlib.collections import PolyCollection
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    figure = Figure(figsize=(9, 5.6))
    figure.subplots_adjust(left=0, right=1, bottom=0.02, top=0.98)
    axes = figure.add_subplot(projection="3d")
    low = min(int(run.value_us[0]) for run in runs)
    high = max(int(run.value_us[-1]) for run in runs) + 1
    low = min([low, *(int(mark.value_us) for mark in marks)])
    high = max([high, *(int(mark.value_us * 1.05) + 1 for mark in marks)])
    logarithmic = wants_logarithm(low, high)
    shapes = []
    most = 1
    base = float(np.log10(FLOOR))
    for run in runs:
        edges, counts = (log_binned if logarithmic else binned)(run, low, high)
        most = max(most, int(counts.max()))
        x = np.repeat(np.log10(edges) if logarithmic else edges, 2)[1:-1]
        z = np.repeat(np.log10(np.maximum(counts, FLOOR)), 2)
        shapes.append([(x[0], base), *zip(x.tolist(), z.tolist(), strict=True), (x[-1], base)])
    colours = [_COLOURS[place % len(_COLOURS)] for place in range(len(runs))]
    drawn = PolyCollection(
        shapes, facecolors=colours, edgecolors=colours, alpha=0.55, linewidths=0.4
    )
    axes.add_collection3d(drawn, zs=np.arange(1, len(runs) + 1), zdir="y")
    top = np.ceil(np.log10(most) + 0.05)
    for place, mark in enumerate(marks):
        at = np.log10(mark.value_us) if logarithmic else mark.value_us
        style, name = _STYLES[place % len(_STYLES)], f"{mark.name}, {mark.value_us:g} µs"
        along = ([at, at], [0, len(runs) + 1], [base, base])
        axes.plot(*along, color=MARKED, linewidth=1.4, linestyle=style, label=name)
    if marks:
        figure.legend(fontsize="small", loc="lower left")  # hides neither title, runs nor numbers
    left, right = (np.log10(low), np.log10(high)) if logarithmic else (low, high)
    axes.set(xlim=(left, right), ylim=(0, len(runs) + 1), zlim=(base, top))
    axes.set_title(title, y=0.99)
    axes.set_xlabel(axis, labelpad=14)
    axes.set_ylabel("run", labelpad=8)
    axes.set_zlabel("how often", labelpad=6)
    if logarithmic:
        powers = np.arange(np.ceil(left), right)
        axes.set_xticks(powers, [f"{10**power:g}" for power in powers])
    else:
        axes.xaxis.set_major_locator(MaxNLocator(7))
    axes.yaxis.set_major_locator(MaxNLocator(8, integer=True))
    powers = np.arange(base, top + 1)
    axes.set_zticks(powers, [f"$10^{{{int(power)}}}$" for power in powers])
    axes.view_init(elev=28, azim=-62)
    axes.set_box_aspect((2.2, 1.4, 1), zoom=1.12)
    return save(figure, file)


def wants_logarithm(low: int, high: int) -> bool:
    """Whether values span more than two powers of ten and are positive."""
    return low > 0 and high / low > 100


def log_binned(
    run: Counts, low: int, high: int, most: int = MOST_BINS // 3
) -> tuple[NDArray[np.float64], Int64]:
    """Edges and counts of bins that grow with the value, none below 1 µs; no count is lost."""
    edges = np.unique(np.round(np.geomspace(low, high, most + 1)))
    places = np.clip(np.searchsorted(edges, run.value_us, side="right") - 1, 0, len(edges) - 2)
    counts = np.zeros(len(edges) - 1, dtype=np.int64)
    np.add.at(counts, places, run.count)
    return edges, counts


def binned(
    run: Counts, low: int, high: int, most: int = MOST_BINS
) -> tuple[NDArray[np.float64], Int64]:
    """Edges and counts of at most ``most`` equal bins of whole µs; no count is lost."""
    width = max(1, -(-(high - low) // most))
    number = -(-(high - low) // width)
    counts = np.zeros(number, dtype=np.int64)
    np.add.at(counts, (run.value_us - low) // width, run.count)
    return low + width * np.arange(number + 1, dtype=np.float64), counts


def _draw(axes: Axes, series: Sequence[Counts]) -> None:
    low = min(int(one.value_us[0]) for one in series)
    high = max(int(one.value_us[-1]) for one in series) + 1
    for place, one in enumerate(series):
        edges, counts = binned(one, low, high)
        colour = _COLOURS[place % len(_COLOURS)]
        axes.stairs(counts, edges, fill=True, color=colour, alpha=0.45, label=one.name)
        axes.stairs(counts, edges, color=colour, linewidth=0.8)
    axes.set_yscale("log")
    axes.set_ylim(bottom=0.7)
    axes.grid(alpha=0.3)
    if len(series) > 1:
        axes.legend(fontsize="small", loc="upper right")


def _make_room(axes: Axes) -> None:
    """Above the bars for a legend, which would hide some of them."""
    if axes.get_legend():
        low, high = axes.get_ylim()
        axes.set_ylim(low, high * (high / low) ** LEGEND)


def plain_ticks(axes: Axes) -> None:
    """Numbers on a logarithmic axis that has its limits: without powers, in a part of one too."""
    from matplotlib.ticker import LogLocator, MaxNLocator, NullLocator

    low, high = axes.get_ylim()
    if high / low < 10:
        axes.yaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10]))
    else:
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if high / low < 1e4 else (1,)))
    axes.yaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_minor_locator(NullLocator())


def save(figure: Figure, file: Path) -> list[Path]:
    """Writes a figure as PNG and SVG; returns the paths."""
    file.parent.mkdir(parents=True, exist_ok=True)
    written = []
    for suffix in SUFFIXES:
        target = file.with_name(file.name + suffix)
        with replacing(target) as temporary:
            figure.savefig(temporary, dpi=120, format=suffix[1:])
        figure.set_layout_engine("none")  # the next one looks alike; it is half of the drawing
        written.append(target)
    return written
