# SPDX-License-Identifier: Apache-2.0
"""The repetitions of a setting as one distribution: what every table of a run shows.

A table's row has to be one distribution. The worst repetition of each percentile is none: its p50
may be of one repetition and its p99 of another, and beside them stands a count over all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

from takt.measure.results import reservations, scheduling
from takt.measure.results.model import Cell, Statistics
from takt.measure.results.outcome import CellOutcome, deadline_of, judge
from takt.measure.statistics.series import Series, read_batches, series_of
from takt.measure.statistics.summary import Summary

Hearer = Callable[[Cell, str, Series], None]


@dataclass(frozen=True)
class Row:
    """One setting: the repetitions of a point that were granted the same."""

    name: str  # by what was granted
    cells: Sequence[Cell]
    statistics: Statistics | None  # of all of them together; None: nothing arrived, or unreadable

    @property
    def count(self) -> int:
        """Samples that arrived."""
        return sum(cell.count for cell in self.cells)

    @property
    def absent(self) -> int:
        """Samples that did not."""
        return sum(map(reservations.absent, self.cells))

    @property
    def outcome(self) -> CellOutcome:
        """Whether the responses meet their deadline."""
        return judge(self.cells)

    @property
    def disturbed(self) -> int:
        """Cells during which other programs took much CPU time."""
        return sum(cell.disturbed for cell in self.cells)

    @property
    def deadline_us(self) -> float | None:
        """On the response; None where it has none."""
        return deadline_of(self.cells[0])

    @property
    def late(self) -> int | None:
        """Responses after the deadline; None without a deadline, or without a response."""
        if self.deadline_us is None:
            return None
        counted = [cell.statistics.exceedance for cell in self.cells if cell.statistics]
        return sum(one.exceeded for one in counted) if counted else None


@dataclass
class Gathered:
    """What has been read of the samples of several cells."""

    summary: Summary
    unreadable: list[str] = field(default_factory=list)  # files, and why


def by_name(cells: Iterable[Cell]) -> dict[str, list[Cell]]:
    """The repetitions of each setting: alike in what was requested and in what was granted.

    One that was not measured yet is with the others of its point.
    """
    every = list(cells)
    known: dict[str, str] = {}
    for cell in every:
        if scheduling.granted(cell):
            known.setdefault(cell.key, scheduling.name(cell))
    found: dict[str, list[Cell]] = {}
    for cell in every:
        name = scheduling.name(cell) if scheduling.granted(cell) else known.get(cell.key, cell.key)
        found.setdefault(name, []).append(cell)
    return found


def rows(folder: Path, cells: Iterable[Cell]) -> list[Row]:
    """A row for each setting of a run, by stack and name."""
    ordered = sorted(cells, key=lambda one: (one.stack, one.key, one.repetition))
    return [Row(name, group, together(folder, group)) for name, group in by_name(ordered).items()]


def together(folder: Path, cells: Sequence[Cell]) -> Statistics | None:
    """The statistics of all cells as one; None without samples, or where some cannot be read."""
    if len([cell for cell in cells if cell.statistics]) > 1:
        return statistics(gather(folder, cells), cells)
    return next((cell.statistics for cell in cells if cell.statistics), None)


def gather(folder: Path, cells: Sequence[Cell], hear: Hearer | None = None) -> Gathered:
    """Reads the samples of the cells, batch by batch; ``hear`` is told each with its file."""
    found = Gathered(Summary(cells[0].deadline_us))
    for cell in cells:
        for name in cell.samples:
            try:
                for batch in read_batches(folder / name):
                    series = series_of(batch, since_intended=cell.since_intended)
                    found.summary.add(series)
                    if hear:
                        hear(cell, name, series)
            except (OSError, pa.ArrowException, KeyError) as error:
                found.unreadable.append(f"{name}: {error}")
    return found


def statistics(found: Gathered, cells: Sequence[Cell]) -> Statistics | None:
    """What they amount to; a single cell has its own."""
    measured = [cell.statistics for cell in cells if cell.statistics]
    if len(measured) == 1:
        return measured[0]
    return None if found.unreadable or not measured else found.summary.statistics()
