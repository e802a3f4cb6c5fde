# SPDX-License-Identifier: Apache-2.0
"""Pictures of latencies over time with their deadline, as figures 4 to 9 of Gutiérrez et al. 2018.

A picture is a few hundred columns wide, a measurement may have millions of samples: a column shows
the lowest and the highest of what falls into it, so no peak is lost however long it lasted.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from takt.pages.pictures import MARKED, save
from takt.statistics import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLUMNS = 600  # of a panel
WIDE = 3  # panels in a row: from so many on they are narrower
_DRAWN, _MISSED, _BETWEEN = "#0a7d8c", "#c0392b", "#9aa5b1"
_UNITS = ((3 * 3600.0, 3600.0, "h"), (300.0, 60.0, "min"), (0.0, 1.0, "s"))


class Course:
    """One panel: samples come in any order and any number, and are kept by columns."""

    def __init__(self, title: str, seconds: float, deadline_ms: float) -> None:
        self.title, self.seconds, self.deadline_ms = title, seconds, deadline_ms
        self.low: Floats = np.full(COLUMNS, np.inf)  # ms
        self.high: Floats = np.full(COLUMNS, -np.inf)
        self.lost = np.zeros(COLUMNS, dtype=np.int64)
        self.begins: list[float] = []  # s, of each run

    def begin(self, at_s: float) -> None:
        """Another run begins here."""
        self.begins.append(at_s)

    def add(self, at_s: Floats, value_ms: Floats) -> None:
        """Takes in samples by their times since the beginning."""
        places = self._columns(at_s)
        np.minimum.at(self.low, places, value_ms)
        np.maximum.at(self.high, places, value_ms)

    def lose(self, at_s: Floats) -> None:
        """Takes in the times of what was lost."""
        np.add.at(self.lost, self._columns(at_s), 1)

    @property
    def filled(self) -> NDArray[np.bool_]:
        """The columns that have a sample."""
        return self.high >= self.low

    @property
    def times_s(self) -> Floats:
        """The middle of each column."""
        return (np.arange(COLUMNS) + 0.5) * self.seconds / COLUMNS

    def _columns(self, at_s: Floats) -> NDArray[np.int64]:
        share = np.asarray(at_s, dtype=np.float64) / self.seconds
        return np.clip((share * COLUMNS).astype(np.int64), 0, COLUMNS - 1)


def grid(
    file: Path,
    title: str,
    courses: Sequence[Course | None],
    deadline_ms: float,
    across: int = 2,
) -> list[Path]:
    """Draws panels of one scale, so many in a row; writes ``file`` as PNG and SVG.

    None leaves a place empty. Returns the paths.
    """
    from matplotlib.figure import Figure

    across = min(across, len(courses))
    down = -(-len(courses) // across)
    width = 5.4 * across if across < WIDE else 4.0 * across
    figure = Figure(figsize=(width + 1.6 * (across == 1), 2.7 * down + 0.5), layout="constrained")
    there = [one for one in courses if one is not None]
    top = 1.12 * max(deadline_ms, *(_highest(one) for one in there))
    for place, course in enumerate(courses, 1):
        if course is not None:
            _draw(figure.add_subplot(down, across, place), course, deadline_ms, top)
    figure.suptitle(title, fontsize="medium")
    # Outside: inside of a panel it would hide peaks.
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, fontsize="small", loc="outside lower center", ncols=len(labels))
    return save(figure, file)


def _highest(course: Course) -> float:
    return float(course.high[course.filled].max()) if course.filled.any() else 0.0


def _draw(axes: Axes, course: Course, deadline_ms: float, top_ms: float) -> None:
    unit, name = next((unit, name) for least, unit, name in _UNITS if course.seconds >= least)
    there = course.filled
    times = course.times_s / unit
    late = there & (course.high > deadline_ms)
    for columns, colour in ((there & ~late, _DRAWN), (late, _MISSED)):
        low, high = course.low[columns], course.high[columns]
        axes.vlines(times[columns], low, high, colors=colour, linewidth=0.9, capstyle="projecting")
        is_point = low == high  # a line of no length is not drawn
        axes.plot(times[columns][is_point], low[is_point], ".", color=colour, markersize=2)
    for begin in course.begins[1:]:
        axes.axvline(begin / unit, color=_BETWEEN, linewidth=0.6, linestyle=":")
    label = f"deadline {deadline_ms:g} ms"
    axes.axhline(deadline_ms, color=MARKED, linewidth=1, linestyle="--", label=label)
    axes.plot(times[late], course.high[late], ".", color=_MISSED, markersize=4, label="missed")
    gone = times[course.lost > 0]
    top = np.full(len(gone), 0.97)
    where = axes.get_xaxis_transform()  # the height is a share of the panel's
    axes.plot(gone, top, "v", color=MARKED, markersize=4, label="lost", transform=where)
    axes.set(xlim=(0, course.seconds / unit), ylim=(0, top_ms))
    count = int(course.lost.sum())
    axes.set_title(course.title + f", {count} lost" * (count > 0), fontsize="small")
    axes.set_xlabel(f"time ({name})", fontsize="small")
    axes.set_ylabel("round trip (ms)", fontsize="small")
    axes.tick_params(labelsize="small")
    axes.grid(alpha=0.25)
