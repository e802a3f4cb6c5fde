# SPDX-License-Identifier: Apache-2.0
"""One series of values, taken in part by part in bounded memory.

Up to MOST_EXACT values everything is exact. Above, percentiles come from the core's histogram, of
nearest rank and within 1 %; count, extremes, mean and deviation stay exact.
"""

from __future__ import annotations

from math import hypot, sqrt

import numpy as np
import takt_core

from takt.measure.results.model import Extreme, Percentiles
from takt.statistics import Int64
from takt.statistics.exact import extremes, order_statistics

#: The names in ``Percentiles`` and the percentiles that they stand for.
PERCENTILES = {
    "p50_us": 50.0,
    "p90_us": 90.0,
    "p99_us": 99.0,
    "p999_us": 99.9,
    "p9999_us": 99.99,
    "p99999_us": 99.999,
}
MOST_EXACT = 10_000_000
EXTREMES = 10


class Distribution:
    """Values in ns; the numbers are asked for when all are there."""

    def __init__(self) -> None:
        self.count = 0
        self._parts: list[Int64] | None = []  # None: too many to keep
        self._histogram = takt_core.Histogram()
        self._stddev = 0.0

    def add(self, values_ns: Int64) -> None:
        """Takes in more values."""
        if not len(values_ns):
            return
        if self._parts is not None:
            self._parts.append(values_ns)
        if self.count + len(values_ns) <= MOST_EXACT:
            self.count += len(values_ns)
            return
        for part in self._parts or [values_ns]:
            self._merge(part)
        self._parts = None

    def percentiles(self) -> Percentiles | None:
        """The order statistics in µs; None without values."""
        if not self.count:
            return None
        if self._parts is not None:
            return percentiles(self._joined(self._parts))
        found = self._histogram
        named = {name: microseconds(found.percentile(p)) for name, p in PERCENTILES.items()}
        return Percentiles(
            count=self.count,
            min_us=microseconds(found.min),
            mean_us=microseconds(found.mean),
            stddev_us=microseconds(self._stddev),
            max_us=microseconds(found.max),
            **named,
        )

    def histogram(self) -> takt_core.Histogram:
        """All values in the core's buckets."""
        if self._parts is None:
            return self._histogram
        pooled = takt_core.Histogram()
        for part in self._parts:
            pooled.record(part)
        return pooled

    def _joined(self, parts: list[Int64]) -> Int64:
        whole = parts[0] if len(parts) == 1 else np.concatenate(parts)
        self._parts = [whole]
        return whole

    def _merge(self, part: Int64) -> None:
        """The deviation of two groups as one (Chan, Golub & LeVeque 1979); the rest adds up."""
        own = order_statistics(part, [])
        before = self._histogram.count
        self.count = before + own.count
        share = own.count / self.count
        apart = sqrt(share * (1 - share)) * (own.mean - self._histogram.mean) if before else 0.0
        self._stddev = hypot(self._stddev * sqrt(1 - share), own.stddev * sqrt(share), apart)
        self._histogram.record(part)


class Extremes:
    """The ten highest and the ten lowest values, each with its index; of equal ones the first."""

    def __init__(self) -> None:
        self._highest: list[tuple[int, int]] = []  # index, ns
        self._lowest: list[tuple[int, int]] = []

    def add(self, values_ns: Int64, index: Int64) -> None:
        """Takes in values and what names them."""
        if len(values_ns):
            highest, lowest = extremes(values_ns, EXTREMES)
            self._highest += [(int(index[place]), value) for place, value in highest]
            self._lowest += [(int(index[place]), value) for place, value in lowest]
            self._highest = sorted(self._highest, key=lambda one: -one[1])[:EXTREMES]
            self._lowest = sorted(self._lowest, key=lambda one: one[1])[:EXTREMES]

    @property
    def highest(self) -> list[Extreme]:
        """The most extreme first."""
        return [Extreme(index=index, us=microseconds(value)) for index, value in self._highest]

    @property
    def lowest(self) -> list[Extreme]:
        """The most extreme first."""
        return [Extreme(index=index, us=microseconds(value)) for index, value in self._lowest]


def percentiles(values_ns: Int64) -> Percentiles:
    """Order statistics of ``values_ns`` (ns, not empty) in µs, exact."""
    found = order_statistics(values_ns, list(PERCENTILES.values()))
    named = dict(zip(PERCENTILES, map(microseconds, found.percentiles), strict=True))
    return Percentiles(
        count=found.count,
        min_us=microseconds(found.min),
        mean_us=microseconds(found.mean),
        stddev_us=microseconds(found.stddev),
        max_us=microseconds(found.max),
        **named,
    )


def microseconds(nanoseconds: float) -> float:
    """ns to µs, kept to the last ns that a clock can tell."""
    return round(nanoseconds / 1000, 6)
