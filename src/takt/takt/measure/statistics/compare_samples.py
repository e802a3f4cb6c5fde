# SPDX-License-Identifier: Apache-2.0
"""The samples of the repetitions that are compared."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from takt.measure.results.model import Cell, Status
from takt.measure.statistics.compare_model import KeyComparison
from takt.measure.statistics.compare_shares import lost_of
from takt.measure.statistics.series import Series, joined, read_series
from takt.statistics import Int64
from takt.statistics.bootstrap import correlation_time
from takt.statistics.shares import Counted


@dataclass(frozen=True)
class Repetition:
    """The samples of one repetition in the order of time, and what became of them."""

    latency_ns: Int64
    late: Counted
    lost: Counted


def repetitions(
    target: KeyComparison, letter: str, cells: list[Cell], folder: Path, deadline_us: float
) -> list[Repetition]:
    """Read the latencies of each repetition in ns, in the order of time; say what is not there."""
    found = []
    for cell in cells:
        if cell.status is not Status.complete:
            reason = f" ({cell.error.what})" if cell.error else ""
            target.notes.append(
                f"repetition {cell.repetition} of {letter} {cell.status.value}{reason}"
            )
        try:
            series = joined(
                [
                    read_series(folder / name, since_intended=cell.since_intended)
                    for name in cell.samples
                ]
            )
        except (OSError, pa.ArrowException, KeyError) as error:
            target.notes.append(f"cannot read repetition {cell.repetition} of {letter}: {error}")
            continue
        found.append(_repetition(cell, series, deadline_us))
        if not len(series) and cell.status is Status.complete:
            target.notes.append(f"repetition {cell.repetition} of {letter} has no samples")
    return found


def _repetition(cell: Cell, series: Series, deadline_us: float) -> Repetition:
    # Subscribers hear the same messages: side by side, so that a block holds them together.
    order = np.argsort(series.intended_ns, kind="stable")
    late = series.response_ns[order] > round(deadline_us * 1000)
    every = np.concatenate([series.intended_ns, series.lost_ns])
    lost = (np.arange(len(every)) >= len(series))[np.argsort(every, kind="stable")]
    return Repetition(
        latency_ns=np.maximum(series.latency_ns[order], 1),
        late=Counted(int(late.sum()), len(late), _correlation(late)),
        lost=lost_of(cell, _correlation(lost)),
    )


def _correlation(happened: NDArray[np.bool_]) -> float:
    """Late and lost samples come in bursts, each of which is one observation."""
    return correlation_time(happened.astype(np.float64)) if happened.any() else 1.0
