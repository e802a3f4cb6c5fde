# SPDX-License-Identifier: Apache-2.0
"""The results of each recorder for itself: a subscriber, of whom all hear the same; a thread."""

from __future__ import annotations

import numpy as np

from takt.measure.results.model import Subscriber, ThreadSeries
from takt.measure.statistics.distribution import Distribution, Extremes, microseconds
from takt.measure.statistics.series import Batch, Series
from takt.statistics import Int64


class Arrivals:
    """In which order samples came: how many, how many distinct ones, how many after a later one."""

    def __init__(self) -> None:
        self.count = 0
        self.lost = 0  # recorded as lost
        self.out_of_order = 0
        self.reached = 0  # one above the highest sequence, lost ones included
        self._highest = -1
        self._in_order = 0
        self._begins: list[Int64] = []  # of stretches of sequences that came one after the other
        self._ends: list[Int64] = []
        self._behind: list[Int64] = []  # that came after a higher one, or twice

    def add(self, batch: Batch) -> None:
        """Takes in the next rows."""
        if not len(batch):
            return
        self.reached = max(self.reached, int(batch.sequence.max()) + 1)
        sequence = batch.sequence[batch.received_ns != 0]
        self.lost += len(batch) - len(sequence)
        self.count += len(sequence)
        if not len(sequence):
            return
        before = np.maximum.accumulate(np.concatenate([[self._highest], sequence]))[:-1]
        rising = sequence > before
        self.out_of_order += int((sequence < before).sum())
        self._behind += [] if rising.all() else [sequence[~rising]]
        ahead = sequence[rising]
        self._in_order += len(ahead)
        if len(ahead):
            (gaps,) = np.nonzero(np.diff(ahead) != 1)
            self._begins.append(ahead[np.concatenate([[0], gaps + 1])])
            self._ends.append(ahead[np.concatenate([gaps, [len(ahead) - 1]])] + 1)
            self._highest = int(ahead[-1])

    def distinct(self) -> int:
        """How many samples came, those that came twice counted once."""
        if not self._behind:
            return self._in_order
        behind = np.unique(np.concatenate(self._behind))
        begins, ends = np.concatenate(self._begins), np.concatenate(self._ends)
        place = np.searchsorted(begins, behind, side="right") - 1
        twice = (place >= 0) & (behind < ends[place])
        return self._in_order + int((~twice).sum())


class Listener:
    """One of the recorders; the first sample is in no percentile."""

    def __init__(self) -> None:
        self.arrivals = Arrivals()
        self._latency, self._extremes = Distribution(), Extremes()
        self._first_ns: int | None = None

    def add(self, batch: Batch, series: Series | None) -> None:
        """Takes in the next rows, and what they are as a series where latencies are asked for."""
        self.arrivals.add(batch)
        if series is None:
            return
        self._latency.add(series.latency_ns)
        self._extremes.add(series.latency_ns, series.sequence)
        self._first_ns = series.first_ns if batch.start == 0 else self._first_ns

    def result(self, sent: int, duplicated: int) -> Subscriber:
        """Its counts and latencies, ``sent`` messages being published."""
        distinct, count = self.arrivals.distinct(), self.arrivals.count
        return Subscriber(
            count=count,
            lost=max(0, sent - distinct),
            duplicated=max(duplicated, count - distinct),
            out_of_order=self.arrivals.out_of_order,
            first_us=None if self._first_ns is None else microseconds(self._first_ns),
            latency=self._latency.percentiles(),
            highest=self._extremes.highest,
            lowest=self._extremes.lowest,
        )

    def thread(self, period_us: float) -> ThreadSeries:
        """Its count and latencies as a thread of this period."""
        return ThreadSeries(
            period_us=period_us,
            count=self.arrivals.count,
            first_us=None if self._first_ns is None else microseconds(self._first_ns),
            latency=self._latency.percentiles(),
            highest=self._extremes.highest,
            lowest=self._extremes.lowest,
        )
