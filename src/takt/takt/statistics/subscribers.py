# SPDX-License-Identifier: Apache-2.0
"""The results of each subscriber for itself: every one of them hears the same messages."""

from __future__ import annotations

import numpy as np
import takt_core
from numpy.typing import NDArray

from takt.results.model import Extreme, Subscriber
from takt.statistics.series import series_of
from takt.statistics.summary import EXTREMES, microseconds, percentiles


def subscriber(records: NDArray[np.void], sent: int, duplicated: int) -> Subscriber:
    """Counts and latencies of one recording; ``sent`` messages were published."""
    names = ("sequence", "intended_ns", "sent_ns", "received_ns")
    series = series_of(*(records[name].astype(np.int64) for name in names))
    highest, lowest = takt_core.extremes(series.latency_ns, EXTREMES) if len(series) else ([], [])

    def indexed(pairs: list[tuple[int, int]]) -> list[Extreme]:
        return [
            Extreme(index=int(series.sequence[place]), us=microseconds(value))
            for place, value in pairs
        ]

    distinct = distinct_count(records)
    return Subscriber(
        count=len(records),
        lost=max(0, sent - distinct),
        duplicated=max(duplicated, len(records) - distinct),
        out_of_order=out_of_order(records),
        first_us=None if series.first_ns is None else microseconds(series.first_ns),
        latency=percentiles(series.latency_ns) if len(series) else None,
        highest=indexed(highest),
        lowest=indexed(lowest),
    )


def distinct_count(records: NDArray[np.void]) -> int:
    """How many samples are there, those that came twice counted once."""
    sequence = records["sequence"]
    ascending = bool((sequence[1:] > sequence[:-1]).all())  # as nearly always, and much faster
    return len(sequence) if ascending else len(np.unique(sequence))


def out_of_order(records: NDArray[np.void]) -> int:
    """How many samples came after one with a higher sequence number."""
    sequence = records["sequence"]
    if len(sequence) < 2:
        return 0
    return int((sequence[1:] < np.maximum.accumulate(sequence)[:-1]).sum())
