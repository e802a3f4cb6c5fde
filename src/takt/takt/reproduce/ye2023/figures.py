# SPDX-License-Identifier: Apache-2.0
"""Figures 9 to 33, drawn from this machine's samples.

Where the paper has one figure of each kernel, that of the kernel that runs is drawn.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow

from takt.measure.results import histogram
from takt.measure.results.model import Cell
from takt.pages import pictures
from takt.reproduce.draws import DRAWS
from takt.reproduce.evidence import Evidence, Measured
from takt.reproduce.model import Figure, size_in_words
from takt.reproduce.published import Published
from takt.reproduce.scatter import Missing
from takt.reproduce.ye2023 import drawing, runs
from takt.reproduce.ye2023.between import ROS1_STACK, ROS2_STACK, VENDORS
from takt.reproduce.ye2023.drawing import SIZE, Curve, Mark
from takt.reproduce.ye2023.quantities import (
    BEST_EFFORT,
    ETHERCAT,
    FREQUENCIES,
    JITTER,
    KIB,
    LOANS,
    ONE_PROCESS,
    POINTERS,
    RELIABLE,
    SIX,
    SIZES,
    WAKEUP,
)
from takt.reproduce.ye2023.tables import NAMES, fairness_interval, realtime
from takt.statistics import Floats

FOLDER = "figures"
RCLCPP_STACK = "rclcpp"
FREQUENCY = "frequency (Hz)"
MARKS = {"max_us": "paper, highest", "highest_us": "paper"}
MOST_SMALL = 64 * KIB
LEAST_LARGE = 512 * KIB
# What cannot be drawn for want of its samples; the rest of the page is.
GONE = (Missing, OSError, pyarrow.ArrowException, IndexError)


class Drawn:
    """One run's pictures; ``figures_drawn`` has each whose points were measured."""

    def __init__(self, published: Published, measured: Measured, draws: int) -> None:
        self.published, self.measured, self.draws = published, measured, draws
        self.folder = measured.folder
        self.figures_drawn: list[Figure] = []

    def file(self, figure: str) -> Path:
        """Where a figure goes, without its suffix."""
        return self.folder / FOLDER / figure

    def add(self, figure: str, draw: Callable[[], list[Path]]) -> None:
        """Draws a figure; nothing where its points are missing."""
        with contextlib.suppress(*GONE):
            caption = self.published.figures[figure].caption
            self.figures_drawn += [
                Figure(figure=figure, file=str(file.relative_to(self.folder)), caption=caption)
                for file in draw()
            ]

    def marks(self, figure: str) -> list[Mark]:
        """The numbers that the paper gives of a figure."""
        return [
            Mark(MARKS[name], float(value))
            for name, value in self.published.figures[figure].values.items()
            if isinstance(value, int | float)
        ]

    def cells(self, stack: str, **asked: Any) -> list[Cell]:
        """The measured runs of a stack; Missing where there are none."""
        return Evidence(self.measured, stack).cells(**asked)

    def curve(self, name: str, stack: str, of: str, **asked: Any) -> Curve:
        """The runs over an attribute: medians of medians, and the extremes of all."""
        points: dict[float, list[Cell]] = {}
        for cell in self.cells(stack, **asked):
            points.setdefault(float(getattr(cell, of)), []).append(cell)
        at = sorted(points)
        each = [[runs.statistics(cell).latency for cell in points[one]] for one in at]
        return Curve(
            name,
            at if of == "payload_bytes" else [1e6 / one for one in at],
            [min(one.min_us for one in cells) for cells in each],
            [float(np.median([one.p50_us for one in cells])) for cells in each],
            [max(one.max_us for one in cells) for cells in each],
        )

    def curves(self, *asked: tuple[str, str, dict[str, Any]], least: int = 1) -> list[Curve]:
        """The curves over sizes that were measured; Missing where they are fewer than ``least``."""
        found = []
        for name, stack, more in asked:
            with contextlib.suppress(Missing):
                found.append(self.curve(name, stack, "payload_bytes", **more))
        if len(found) < least:
            raise Missing("no reference to compare with")
        return found


def figures(published: Published, measured: Measured, draws: int = DRAWS) -> list[Figure]:
    """Draws every figure whose points were measured; ``draws`` are those of an interval."""
    drawn = Drawn(published, measured, draws)
    patched = realtime(measured)
    _wakeups(drawn, "10" if patched else "9")
    _sizes(drawn)
    _executions(drawn, *(("18", "19") if patched else ("16", "17")))
    _ways(drawn)
    _jitter(drawn, "26" if patched else "25")
    _subscribers(drawn, "28", ROS1_STACK)
    _subscribers(drawn, "30" if patched else "29", ROS2_STACK)
    _frequencies(drawn)
    _master(drawn)
    return drawn.figures_drawn


def _wakeups(drawn: Drawn, figure: str) -> None:
    there = [cell.stack for cell in drawn.measured.run.cells if cell.label == WAKEUP]

    def draw() -> list[Path]:
        if not there:
            raise Missing("no wake-ups")
        series = []
        cells = drawn.cells(there[0], label=WAKEUP)
        for period, found in sorted(runs.bins_by_period(cells, drawn.folder).items()):
            parts = [(one.values, one.counts) for one in found]
            series.append(pictures.Counts(f"{period:g} µs", *histogram.merged(parts)))
        if not series:
            raise Missing("the samples of the wake-ups are gone")
        marks = [pictures.Mark(one.name, one.value) for one in drawn.marks(figure)]
        title = f"{NAMES[there[0]]} at full load"
        return pictures.histogram(drawn.file(figure), title, series, drawing.LATENCY, marks)

    drawn.add(figure, draw)


def _sizes(drawn: Drawn) -> None:
    def both(least: int = 1) -> list[Curve]:
        sizes = {"label": SIZES}
        asked = [(NAMES[one], one, sizes) for one in (ROS1_STACK, ROS2_STACK)]
        return drawn.curves(*asked, least=least)

    def small() -> list[Path]:
        found = [part(one, 0, MOST_SMALL) for one in both()]
        return drawing.curves(drawn.file("13"), "Small data", found, SIZE)

    def large() -> list[Path]:
        found = [part(one, LEAST_LARGE, None) for one in both()]
        return drawing.bars(drawn.file("14"), "Large data, median latency", found)

    def lead() -> list[Path]:
        ros1, ros2 = both(2)
        ours = dict(zip(ros2.at, ros2.median, strict=True))
        pairs = [(at, one - ours[at]) for at, one in zip(ros1.at, ros1.median, strict=True)
                 if at in ours]  # fmt: skip
        at, gained = [one for one, _ in pairs], [one for _, one in pairs]
        found = [Curve("ROS 1 less ROS 2", at, gained, gained, gained)]
        return drawing.bars(
            drawn.file("15"), "How much faster ROS 2 is", found, "median latency, µs less"
        )

    title = "Median latency, and from the lowest to the highest execution"
    drawn.add("12", lambda: drawing.curves(drawn.file("12"), title, both(), SIZE))
    drawn.add("13", small)
    drawn.add("14", large)
    drawn.add("15", lead)


def _executions(drawn: Drawn, every: str, small: str) -> None:
    def draw(figure: str, most: int | None) -> list[Path]:
        found = [
            (size_in_words(size), _joined(cells, drawn.folder))
            for size, cells in sorted(_by_size(drawn.cells(ROS2_STACK, label=SIZES)).items())
            if most is None or size <= most
        ]
        title = "ROS 2, every execution" + ", small data" * (most is not None)
        return drawing.executions(drawn.file(figure), title, found, drawn.marks(figure))

    drawn.add(every, lambda: draw(every, None))
    drawn.add(small, lambda: draw(small, MOST_SMALL))


def _ways(drawn: Drawn) -> None:
    """Vendors, QoS, and one process beside two."""
    vendors = [(name, stack, {"label": SIZES}) for stack, name in VENDORS.items()]
    between = ("between processes", ROS2_STACK, {"label": SIZES})
    reliable = ("reliable, transient local, all kept", ROS2_STACK, {"label": RELIABLE})
    best_effort = ("best effort, volatile, depth 1", ROS2_STACK, {"label": BEST_EFFORT})
    within = ("within one process", ROS2_STACK, {"label": ONE_PROCESS})
    loans = ("by loan", ROS2_STACK, {"label": LOANS})
    pointers = [
        (f"by {way}, {whose}", stack, {"label": POINTERS, "transport": way})
        for stack, whose in ((ROS2_STACK, "Takt"), (RCLCPP_STACK, "rclcpp"))
        for way in ("unique_ptr", "shared_ptr", "const_ref")
    ]
    for figure, title, asked in (
        ("20", "Middlewares", vendors),
        ("21", "ROS 2, quality of service", [reliable, best_effort]),
        ("23", "ROS 2, one process and two", [between, within, loans, *pointers]),
    ):

        def draw(
            figure: str = figure,
            title: str = title,
            asked: list[tuple[str, str, dict[str, Any]]] = asked,
        ) -> list[Path]:
            return drawing.curves(drawn.file(figure), title, drawn.curves(*asked), SIZE)

        drawn.add(figure, draw)


def _jitter(drawn: Drawn, figure: str) -> None:
    def points() -> Iterator[tuple[str, list[Cell]]]:
        found = _by_period(drawn.cells("raw", label=JITTER))
        for period, cells in sorted(found.items(), reverse=True):
            yield f"{1e6 / period:g} Hz", cells

    def over_time() -> list[Path]:
        found = [
            (name, runs.jitter_us(cells[0], drawn.folder), runs.drift_us(cells[0], drawn.folder))
            for name, cells in points()
        ]
        limit = drawn.marks(figure)[0].value
        title = "Timer at full load, a run of each frequency"
        return drawing.courses(drawn.file(figure), title, found, limit)

    def fits() -> list[Path]:
        found = []
        for name, cells in points():
            values = np.concatenate([runs.jitter_us(cell, drawn.folder) for cell in cells])
            words = f"p = {runs.normal_p(values):.2g}, distance {runs.distance(values):.2f}"
            found.append((name, values, words))
        title = "Jitter at full load with its normal fit; p of D'Agostino and Pearson's test"
        return drawing.normal_fits(drawn.file("27"), title, found)

    drawn.add(figure, over_time)
    drawn.add("27", fits)


def _subscribers(drawn: Drawn, figure: str, stack: str) -> None:
    def draw() -> list[Path]:
        found = []
        for size, cells in sorted(_by_size(drawn.cells(stack, label=SIX)).items()):
            medians = []
            for cell in cells:
                with contextlib.suppress(Missing):
                    medians.append(runs.medians(cell))
            if medians:
                fair = f"Jain's index {np.mean([runs.jain(one) for one in medians]):.3f}"
                if known := fairness_interval(drawn.measured, stack, size, drawn.draws):
                    fair += f" ({known[0]:.3f} to {known[1]:.3f})"
                found.append((f"{size_in_words(size)}\n{fair}", medians))
        if not found:
            raise Missing("no run in which every subscriber has samples")
        title = f"{NAMES[stack]}, one publisher and six subscribers"
        return drawing.subscribers(drawn.file(figure), title, found)

    drawn.add(figure, draw)


def _frequencies(drawn: Drawn) -> None:
    def surface() -> list[Path]:
        found = _by_period(drawn.cells(ROS2_STACK, label=FREQUENCIES))
        periods = sorted(found, reverse=True)
        each = [_joined(found[one], drawn.folder) for one in periods]
        rates = [1e6 / one for one in periods]
        return drawing.surface(drawn.file("31"), "ROS 2, 1 KB", rates, each)

    def curve() -> list[Path]:
        found = drawn.curve("1 KB", ROS2_STACK, "period_us", label=FREQUENCIES)
        return drawing.curves(
            drawn.file("32"), "ROS 2, 1 KB", [found], FREQUENCY, drawn.marks("31")
        )

    drawn.add("31", surface)
    drawn.add("32", curve)


def _master(drawn: Drawn) -> None:
    def over_time() -> list[Path]:
        cells = drawn.cells("ethercat", label=ETHERCAT)
        found = [
            (
                f"run {cell.repetition + 1}",
                runs.jitter_us(cell, drawn.folder),
                runs.drift_us(cell, drawn.folder),
            )
            for cell in cells
        ]
        limit = drawn.marks("33")[0].value
        title = f"EtherCAT master, {cells[0].slaves} simulated slaves, {cells[0].period_us:g} µs"
        least = float(str(drawn.published.findings["ethercat-cycle"].values["min_us"]))
        return drawing.courses(
            drawn.file("33"), title, found, limit, round(least - cells[0].period_us, 3)
        )

    drawn.add("33", over_time)


def _by_size(cells: list[Cell]) -> dict[int, list[Cell]]:
    found: dict[int, list[Cell]] = {}
    for cell in cells:
        found.setdefault(cell.payload_bytes, []).append(cell)
    return found


def _by_period(cells: list[Cell]) -> dict[float, list[Cell]]:
    found: dict[float, list[Cell]] = {}
    for cell in cells:
        found.setdefault(cell.period_us, []).append(cell)
    return found


def _joined(cells: list[Cell], folder: Path) -> Floats:
    """Every execution of all runs, one run after the other."""
    return np.concatenate([runs.executions_us(cell, folder) for cell in cells])


def part(curve: Curve, least: int, most: int | None) -> Curve:
    """The sizes from one to another."""
    kept = [place for place, at in enumerate(curve.at) if at >= least and (not most or at <= most)]
    columns = (curve.at, curve.low, curve.median, curve.high)
    return Curve(curve.name, *([column[place] for place in kept] for column in columns))
