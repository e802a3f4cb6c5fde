# SPDX-License-Identifier: Apache-2.0
"""Plain-text histograms: one line a microsecond that occurred, as gnuplot reads it.

    gnuplot> set logscale y; plot "rcl-timer-oneshot-….histogram.txt" with impulses

Lines that begin with # say what was measured; the rest is ``value_us count``, a value being rounded
down to the whole microsecond (-0.5 µs is -1).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from takt.documents.reading import read_text
from takt.documents.writing import write_text
from takt.errors import TaktError
from takt.statistics import Int64

DENSE = 10_000_000  # µs from the first to the last bin


def bins(values_ns: Int64) -> tuple[Int64, Int64]:
    """Whole microseconds that occurred, ascending, and how often each did."""
    whole = np.floor_divide(values_ns, 1000)
    if not len(whole):
        return whole, whole
    low, high = int(whole.min()), int(whole.max())
    if high - low < DENSE:  # counted in place instead of sorted
        counts = np.bincount(whole - low)
        (filled,) = np.nonzero(counts)
        return filled + low, counts[filled].astype(np.int64)
    values, counts = np.unique(whole, return_counts=True)
    return values, counts.astype(np.int64)


def merged(parts: Sequence[tuple[Int64, Int64]]) -> tuple[Int64, Int64]:
    """Several histograms as one; nothing is lost by it."""
    values = np.concatenate([values for values, _ in parts])
    counts = np.concatenate([counts for _, counts in parts])
    distinct, places = np.unique(values, return_inverse=True)
    return distinct, np.bincount(places, weights=counts).astype(np.int64)


class Bins:
    """A histogram that is filled part by part."""

    def __init__(self) -> None:
        self.values, self.counts = bins(np.empty(0, dtype=np.int64))

    def add(self, values_ns: Int64) -> None:
        """Counts more values."""
        if len(values_ns):
            self.values, self.counts = merged([(self.values, self.counts), bins(values_ns)])


def write(file: Path, found: Bins, heading: Sequence[str]) -> None:
    """Writes the histogram in one step; ``heading`` becomes its comment lines."""
    values, counts = found.values, found.counts
    lines = [f"# {line}" for line in heading] + ["# value_us count"]
    lines += [f"{value} {count}" for value, count in zip(values, counts, strict=True)]
    write_text(file, "\n".join(lines) + "\n")


def read(file: Path) -> tuple[Int64, Int64]:
    """What :func:`write` wrote: values in µs and their counts.

    Raises FileNotFoundError, or TaktError for what is no histogram.
    """
    lines = [line for line in read_text(file).splitlines() if line and not line.startswith("#")]
    try:
        table = np.array([line.split() for line in lines], dtype=np.int64).reshape(len(lines), 2)
    except (ValueError, OverflowError):
        raise _damaged(file, "a line does not hold two integers") from None
    values, counts = table[:, 0], table[:, 1]
    if (counts < 0).any() or (np.diff(values) <= 0).any():
        raise _damaged(file, "a count is negative, or the values do not ascend")
    return values, counts


def _damaged(file: Path, what: str) -> TaktError:
    return TaktError(
        f"this is not a histogram: {what}",
        where=str(file),
        fix="the file was edited, or the disk is damaged; the samples next to it are complete",
    )
