# SPDX-License-Identifier: Apache-2.0
"""The repetitions of a variant as one, in bounded memory: one batch is held at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import takt_core

from takt.measure.report import charts
from takt.measure.results.model import Cell, Statistics
from takt.measure.statistics.series import Series, count_rows, joined, read_batches, series_of
from takt.measure.statistics.summary import Summary


@dataclass
class Pool:
    """What is left of the samples of a variant when they have been read."""

    summary: Summary
    repetitions: list[Series] = field(default_factory=list)  # thinned: every peak is in them
    unreadable: list[str] = field(default_factory=list)

    @property
    def latency(self) -> takt_core.Histogram:
        """All latencies in the core's buckets."""
        return self.summary.latency.histogram()


def read(folder: Path, cells: Sequence[Cell]) -> Pool:
    """Reads the samples of the cells, one after the other."""
    pool = Pool(Summary(cells[0].deadline_us))
    for cell in cells:
        kept: list[Series] = []
        for name in cell.samples:
            try:
                stretch = charts.stretch(len(cell.samples) * count_rows(folder / name))
                for batch in read_batches(folder / name):
                    series = series_of(batch, since_intended=cell.since_intended)
                    pool.summary.add(series)
                    kept.append(charts.thinned(series, stretch))
            except (OSError, pa.ArrowException, KeyError) as error:
                pool.unreadable.append(f"{name}: {error}")
        if kept:
            pool.repetitions.append(joined(kept))
    return pool


def statistics(pool: Pool, cells: Sequence[Cell]) -> Statistics | None:
    """The statistics of all cells together; None where samples are missing."""
    measured = [cell.statistics for cell in cells if cell.statistics]
    if len(measured) == 1:
        return measured[0]
    return None if pool.unreadable or not measured else pool.summary.statistics()
