# SPDX-License-Identifier: Apache-2.0
"""Figures 4 to 9: latencies over time with the deadline, all middlewares on one scale.

A row is a test, a column a middleware.
"""

from __future__ import annotations

import contextlib
from pathlib import Path

import pyarrow

from takt.documents.units import format_duration
from takt.measure.results.model import Cell
from takt.pages import timeplots
from takt.pages.timeplots import Course
from takt.reproduce.evidence import Evidence, Measured
from takt.reproduce.gutierrez2018.quantities import TESTS
from takt.reproduce.gutierrez2018.vendors import Vendor, known
from takt.reproduce.model import Figure
from takt.reproduce.published import Published
from takt.reproduce.runs import batches
from takt.reproduce.scatter import Missing

FOLDER = "figures"
FIGURES: dict[str, tuple[str, ...]] = {
    "4": ("2.D",),
    "5": ("1.A", "1.B", "1.C", "1.D"),
    "6": ("2.A", "2.B", "2.C", "2.D", "2.E", "2.F"),
    "7": ("3.A", "3.B"),
    "8": ("4.A",),
    "9": ("5.A", "5.B"),
}


def figures(published: Published, measured: Measured) -> list[Figure]:
    """Draws every figure of which a panel was measured."""
    figures_drawn = []
    every = known({cell.stack for cell in measured.run.cells})
    for figure, tests in FIGURES.items():
        panels = {one: _panels(measured, one, tests) for one in every}
        vendors = [one for one in every if any(panels[one])]
        if not vendors:
            continue
        courses = [panels[one][place] for place in range(len(tests)) for one in vendors]
        deadline = next(one.deadline_ms for one in courses if one)
        title = ", ".join(one.name for one in vendors)
        across = len(vendors) if len(vendors) > 1 else 2
        for file in timeplots.grid(
            measured.folder / FOLDER / figure, title, courses, deadline, across
        ):
            name = str(file.relative_to(measured.folder))
            caption = published.figures[figure].caption
            figures_drawn.append(Figure(figure=figure, file=name, caption=caption))
    return figures_drawn


def _panels(measured: Measured, vendor: Vendor, tests: tuple[str, ...]) -> list[Course | None]:
    """One of each test; None: it was not measured."""
    found: list[Course | None] = []
    for test in tests:
        cells: list[Cell] = []
        with contextlib.suppress(Missing):
            cells = Evidence(measured, vendor.stack).cells(label=test)
        kept = any(cell.samples for cell in cells)
        found.append(_course(vendor, test, cells, measured.folder) if kept else None)
    return found


def _course(vendor: Vendor, test: str, cells: list[Cell], folder: Path) -> Course:
    """All runs of a test one after the other."""
    lengths = [cell.samples_requested * cell.period_us / 1e6 for cell in cells]
    each = format_duration(round(lengths[0]) * 10**9)
    words = f"{vendor.name}, {test}: {TESTS[test]}\n{len(cells)} runs of {each}"
    course = Course(words, sum(lengths), cells[0].deadline_us / 1000)
    begin = 0.0
    for cell, length in zip(cells, lengths, strict=True):
        course.begin(begin)
        # A run whose samples are gone leaves a gap.
        with contextlib.suppress(OSError, pyarrow.ArrowException, Missing):
            _add(course, cell, folder, begin)
        begin += length
    return course


def _add(course: Course, cell: Cell, folder: Path, begin: float) -> None:
    start = None
    for batch in batches(cell, folder):
        if start is None and len(batch):
            start = int(batch.intended_ns[0])
        at = begin + (batch.intended_ns - (start or 0)) / 1e9
        came = batch.received_ns != 0
        course.add(at[came], (batch.received_ns - batch.sent_ns)[came] / 1e6)
        course.lose(at[~came])
