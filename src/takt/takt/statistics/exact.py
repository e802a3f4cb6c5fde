# SPDX-License-Identifier: Apache-2.0
"""Exact statistics of a series that is kept whole, in ns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from takt.statistics import Int64

_HALF = 32  # bits: halves of up to 2^31 values add up without overflow
Ranking = list[tuple[int, int]]  # index, value


@dataclass(frozen=True)
class OrderStatistics:
    """What a series amounts to."""

    count: int
    min: int
    max: int
    mean: float  # of the exact sum, rounded once
    stddev: float  # of the series itself (ddof 0)
    # In the order asked for: linearly interpolated (definition 7 of Hyndman & Fan 1996).
    percentiles: list[float]


def order_statistics(values: Int64, percentiles: Sequence[float]) -> OrderStatistics:
    """Of a series that is not empty; ValueError for a percentile outside of 0..100."""
    total = (int((values >> _HALF).sum()) << _HALF) + int((values & ((1 << _HALF) - 1)).sum())
    centre, rest = divmod(total, len(values))
    # Squares are summed around the mean, as differences of whole numbers: nothing cancels.
    apart = (values - centre).astype(np.float64) - rest / len(values)
    return OrderStatistics(
        count=len(values),
        min=int(values.min()),
        max=int(values.max()),
        mean=total / len(values),
        stddev=float(np.sqrt(np.mean(apart * apart))),
        percentiles=np.percentile(values, percentiles).tolist(),
    )


def extremes(values: Int64, most: int) -> tuple[Ranking, Ranking]:
    """The highest and the lowest values, the most extreme first; of equal ones the first."""
    return _first(values, ~values, most), _first(values, values, most)


def _first(values: Int64, keys: Int64, most: int) -> Ranking:
    most = min(most, len(values))
    if not most:
        return []
    last = np.partition(keys, most - 1)[most - 1]
    wanted: NDArray[np.int64] = np.flatnonzero(keys <= last)
    places = wanted[np.argsort(keys[wanted], kind="stable")][:most]
    return list(zip(places.tolist(), values[places].tolist(), strict=True))
