# SPDX-License-Identifier: Apache-2.0
"""What one run amounts to: a number, or how often something happened of how many times.

Long runs are never held as a whole: the numbers come from the run's statistics, from its histogram
of whole microseconds, or from its samples batch by batch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from takt.measure.results import histogram as histograms
from takt.measure.results.model import Cell, Run, Statistics
from takt.measure.statistics.series import Batch, read_batches
from takt.reproduce.rare import Counts
from takt.reproduce.scatter import Missing

Value = TypeVar("Value")
OfRun = Callable[..., Value]  # (cell, folder of the run, …)


def p50(cell: Cell, _: Path) -> float:
    """Median latency in µs."""
    return statistics(cell).latency.p50_us


def p99(cell: Cell, _: Path) -> float:
    """The latency in µs that 99 % keep."""
    return statistics(cell).latency.p99_us


def within(cell: Cell, folder: Path, low: float, high: float) -> Counts:
    """Latencies or jitter from ``low`` to below ``high``, in µs."""
    values, counts = histogram(cell, folder)
    return int(counts[(values >= low) & (values < high)].sum()), int(counts.sum())


def beyond(cell: Cell, folder: Path, limit: float) -> Counts:
    """Latencies or jitter from a limit on, in µs; first messages and intervals left out."""
    return within(cell, folder, limit, float("inf"))


def statistics(cell: Cell) -> Statistics:
    """All that is known of its samples; Missing where there are none."""
    if cell.statistics is None:
        raise Missing(f"{cell.id} has no samples")
    return cell.statistics


def histogram(cell: Cell, folder: Path) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Whole µs and how often each occurred; Missing where there is none."""
    if cell.histogram is None:
        raise Missing(f"{cell.id} has no histogram")
    return histograms.read(folder / cell.histogram)


def stolen_s(run: Run) -> float:
    """CPU time that the hypervisor took from this machine in all runs."""
    return round(sum(cell.steal_seconds for cell in run.cells), 3)


def batches(cell: Cell, folder: Path) -> Iterator[Batch]:
    """The samples of its first recorder, part by part; Missing where there are none."""
    if not cell.samples:
        raise Missing(f"{cell.id} has no samples")
    return read_batches(folder / cell.samples[0])
