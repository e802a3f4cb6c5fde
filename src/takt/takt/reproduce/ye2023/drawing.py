# SPDX-License-Identifier: Apache-2.0
"""The paper's kinds of pictures: curves, executions, jitter, subscribers, a surface."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import cycle, product
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

from takt.pages.pictures import MARKED, plain_ticks, save
from takt.reproduce.model import size_in_words
from takt.statistics import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = ("#0a7d8c", "#c96a12", "#6b4fc8", "#2f8f3a", "#a3315f", "#6e6a1f")
STYLES = ("-", "--")  # the second where the colours come again
COLUMNS = 400  # of one panel: more samples than that are drawn from lowest to highest
BINS = 60
CLOSE = 0.07  # of an axis: words nearer than that overlap
FAR = 10  # times the paper's jitter: its lines would lie on each other
LATENCY, SIZE = "latency (µs)", "size of the data"


@dataclass(frozen=True)
class Curve:
    """Medians over sizes or frequencies, each with its lowest and highest execution."""

    name: str
    at: list[float]
    low: list[float]
    median: list[float]
    high: list[float]


@dataclass(frozen=True)
class Mark:
    """The paper's number."""

    name: str
    value: float


def curves(
    file: Path, title: str, found: Sequence[Curve], axis: str, marks: Sequence[Mark] = ()
) -> list[Path]:
    """Lines of medians with a band to the lowest and highest, both axes logarithmic."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axes = figure.add_subplot()
    for (style, colour), one in zip(cycle(product(STYLES, COLOURS)), found, strict=False):
        axes.plot(one.at, one.median, f"o{style}", color=colour, markersize=4, label=one.name)
        axes.fill_between(one.at, one.low, one.high, color=colour, alpha=0.13, linewidth=0)
    _mark(axes, marks)
    axes.set(xscale="log", yscale="log", title=title, xlabel=axis, ylabel=LATENCY)
    points = sorted({at for one in found for at in one.at})
    words = size_in_words if axis == SIZE else _plain
    apart = _apart(points)
    axes.set_xticks(apart, [words(int(at)) for at in apart], fontsize="small")
    axes.minorticks_off()
    plain_ticks(axes)
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small")
    return save(figure, file)


def bars(file: Path, title: str, found: Sequence[Curve], ylabel: str = LATENCY) -> list[Path]:
    """A group of bars for each size."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4.2), layout="constrained")
    axes = figure.add_subplot()
    width = 0.8 / len(found)
    for place, (colour, one) in enumerate(zip(cycle(COLOURS), found, strict=False)):
        at = np.arange(len(one.at)) + (place - (len(found) - 1) / 2) * width
        axes.bar(at, one.median, width, color=colour, label=one.name)
    axes.set_xticks(range(len(found[0].at)), [size_in_words(int(at)) for at in found[0].at])
    axes.axhline(0, color=MARKED, linewidth=0.8)
    axes.set(title=title, xlabel=SIZE, ylabel=ylabel)
    axes.grid(axis="y", alpha=0.3)
    axes.legend(fontsize="small")
    return save(figure, file)


def executions(
    file: Path, title: str, found: Sequence[tuple[str, Floats]], marks: Sequence[Mark] = ()
) -> list[Path]:
    """Every execution, a line for each size."""
    from matplotlib import colormaps
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.5, 4.6), layout="constrained")
    axes = figure.add_subplot()
    shades = colormaps["viridis"](np.linspace(0, 0.92, len(found)))
    for shade, (name, values) in zip(shades, found, strict=True):
        at = np.arange(1, len(values) + 1)
        axes.plot(at, values, ".-", color=shade, markersize=3, linewidth=0.8, label=name)
    _mark(axes, marks)
    axes.set(yscale="log", title=title, xlabel="execution, runs one after the other")
    axes.set_ylabel(LATENCY)
    plain_ticks(axes)
    axes.grid(alpha=0.3)
    figure.legend(fontsize="small", loc="outside right center")
    return save(figure, file)


def courses(
    file: Path,
    title: str,
    found: Sequence[tuple[str, Floats, Floats]],
    limit_us: float,
    least_us: float | None = None,
) -> list[Path]:
    """A row for each frequency: jitter on the left, absolute position on the right.

    ``limit_us`` is the paper's largest jitter, ``least_us`` its lowest where that is another one.
    Jitter far beyond the paper's is on an axis that is logarithmic there, so that both are seen.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10.5, 1.75 * len(found) + 0.6), layout="constrained")
    beyond = ""
    for place, (name, jitter, drift) in enumerate(found):
        for side, values in enumerate((jitter, drift)):
            axes = figure.add_subplot(len(found), 2, 2 * place + side + 1)
            _envelope(axes, values)
            if side == 0:
                for one in (-limit_us if least_us is None else least_us, limit_us):
                    axes.axhline(one, color=MARKED, linewidth=0.8, linestyle="--")
                if float(np.abs(values).max()) > FAR * limit_us:
                    axes.set_yscale("symlog", linthresh=limit_us)
                    tens = range(int(np.log10(float(np.abs(values).max()) / limit_us)) + 1)
                    beside = [side * limit_us * 10**ten for ten in tens for side in (-1, 1)]
                    axes.set_yticks([0, *beside], [_plain(at) for at in (0, *beside)])
                    axes.minorticks_off()
                    beyond = ", far beyond which the axis is logarithmic"
            what = "jitter P" if side == 0 else "position d"
            axes.set_title(f"{name}: {what} (µs)", fontsize="small")
            axes.tick_params(labelsize="x-small")
            axes.grid(alpha=0.25)
    paper = f"±{limit_us:g}" if least_us is None else f"{least_us:g} and {limit_us:g}"
    figure.suptitle(f"{title}; dashed: the paper's {paper} µs{beyond}", fontsize="medium")
    figure.supxlabel("cycle", fontsize="small")
    return save(figure, file)


def normal_fits(file: Path, title: str, found: Sequence[tuple[str, Floats, str]]) -> list[Path]:
    """A histogram for each frequency with its normal fit; the words say how well it fits."""
    from matplotlib.figure import Figure

    down = -(-len(found) // 2)
    figure = Figure(figsize=(10.5, 2.3 * down + 0.6), layout="constrained")
    for place, (name, values, words) in enumerate(found, 1):
        axes = figure.add_subplot(down, 2, place)
        middle = np.quantile(values, [0.005, 0.995])
        low, high = float(middle[0]), max(float(middle[1]), float(middle[0]) + 1.0)
        inside = values[(values >= low) & (values <= high)]
        weight = np.full(len(inside), 1 / len(values) / ((high - low) / BINS))
        axes.hist(inside, BINS, range=(low, high), weights=weight, color=COLOURS[0], alpha=0.6)
        at = np.linspace(low, high, 300)
        fit = stats.norm.pdf(at, float(values.mean()), float(values.std(ddof=1)) or 1.0)
        axes.plot(at, fit, color=COLOURS[1], linewidth=1.4, label="normal fit")
        axes.set_title(f"{name}: {words}", fontsize="small")
        axes.tick_params(labelsize="x-small")
        axes.grid(alpha=0.25)
    figure.suptitle(title, fontsize="medium")
    figure.supxlabel("jitter (µs), its middle 99 %", fontsize="small")
    figure.supylabel("share of all cycles per µs", fontsize="small")
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, fontsize="small", loc="outside lower right")
    return save(figure, file)


def subscribers(
    file: Path, title: str, found: Sequence[tuple[str, list[list[float]]]]
) -> list[Path]:
    """A panel for each size: the median of each subscriber, a dot for each run."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(2.7 * len(found) + 0.8, 3.9), layout="constrained")
    for place, (name, medians) in enumerate(found, 1):
        axes = figure.add_subplot(1, len(found), place)
        each = np.array(medians)
        at = np.arange(1, each.shape[1] + 1)
        axes.bar(at, each.mean(axis=0), 0.7, color=COLOURS[0], alpha=0.55)
        for one in each:
            axes.plot(at, one, "o", color=MARKED, markersize=3)
        axes.set_title(name, fontsize="small")
        axes.set_xticks(at)
        axes.tick_params(labelsize="small")
        axes.grid(axis="y", alpha=0.3)
    figure.axes[0].set_ylabel("median latency (µs)")
    figure.supxlabel("subscriber; a dot for each run", fontsize="small")
    figure.suptitle(title, fontsize="medium")
    return save(figure, file)


def surface(
    file: Path, title: str, rates_hz: Sequence[float], found: Sequence[Floats]
) -> list[Path]:
    """Latency over frequency and execution; what was lost is a gap."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.5, 5.6))
    figure.subplots_adjust(left=0, right=0.96, bottom=0.04, top=0.96)
    axes = figure.add_subplot(projection="3d")
    length = min(map(len, found))
    x, y = np.meshgrid(np.arange(1, length + 1), np.log10(rates_hz))
    z = np.array([one[:length] for one in found])
    axes.plot_surface(x, y, z, cmap="viridis", linewidth=0.2, edgecolor="#00000040", rcount=50,
                      ccount=200)  # fmt: skip
    axes.set_title(title, y=0.99)
    axes.set_xlabel("execution", labelpad=8)
    axes.set_ylabel("frequency (Hz)", labelpad=12)
    axes.set_zlabel(LATENCY, labelpad=8)
    axes.set_yticks(np.log10(rates_hz), [_plain(one) for one in rates_hz], fontsize="small")
    axes.view_init(elev=26, azim=-58)
    axes.set_box_aspect((1.8, 1.5, 1), zoom=1.08)
    return save(figure, file)


def _envelope(axes: Axes, values: Floats) -> None:
    """Every value where there is room, else the lowest and highest of each column."""
    if len(values) <= COLUMNS:
        axes.plot(np.arange(len(values)), values, color=COLOURS[0], linewidth=0.7)
        return
    edges = np.linspace(0, len(values), COLUMNS + 1).astype(np.int64)[:-1]
    low, high = np.minimum.reduceat(values, edges), np.maximum.reduceat(values, edges)
    axes.vlines(edges, low, high, colors=COLOURS[0], linewidth=0.9, capstyle="projecting")


def _mark(axes: Axes, marks: Sequence[Mark]) -> None:
    for one in marks:
        label = f"{one.name}, {one.value:g} µs"
        axes.axhline(one.value, color=MARKED, linewidth=1, linestyle="--", label=label)


def _apart(points: Sequence[float]) -> list[float]:
    """Those of ascending points that have room for their words on a logarithmic axis."""
    room = CLOSE * float(np.log(points[-1] / points[0]))
    found = [points[0]]
    for one in points[1:]:
        if float(np.log(one / found[-1])) >= room:
            found.append(one)
    return found


def _plain(value: float) -> str:
    return f"{value:g}"
