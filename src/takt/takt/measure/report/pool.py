# SPDX-License-Identifier: Apache-2.0
"""The samples of a variant, read once for its numbers and its pictures, in bounded memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import takt_core

from takt.measure.report import charts
from takt.measure.results.model import Cell
from takt.measure.statistics.pooled import Gathered, gather
from takt.measure.statistics.series import Series, count_rows, joined


@dataclass
class Pool(Gathered):
    """What is left of the samples of a variant when they have been read."""

    repetitions: list[Series] = field(default_factory=list)  # thinned: every peak is in them

    @property
    def latency(self) -> takt_core.Histogram:
        """All latencies in the core's buckets."""
        return self.summary.latency.histogram()


def read(folder: Path, cells: Sequence[Cell]) -> Pool:
    """Reads the samples of the cells, one after the other."""
    kept: dict[str, list[Series]] = {}

    def keep(cell: Cell, name: str, series: Series) -> None:
        stretch = charts.stretch(len(cell.samples) * count_rows(folder / name))
        kept.setdefault(cell.id, []).append(charts.thinned(series, stretch))

    found = gather(folder, cells, keep)
    return Pool(found.summary, found.unreadable, [joined(each) for each in kept.values()])
