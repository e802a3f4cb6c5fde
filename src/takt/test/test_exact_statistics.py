# SPDX-License-Identifier: Apache-2.0
"""Exact statistics against plain definitions and decimal arithmetic."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as nps

from takt.statistics.exact import extremes, order_statistics

INT64 = np.iinfo(np.int64)
# Differences of two values fit into int64 too.
series = nps.arrays(
    np.int64,
    st.integers(1, 200),
    elements=st.one_of(st.integers(-(2**62), 2**62 - 1), st.integers(-5, 5)),
)
any_series = nps.arrays(np.int64, st.integers(0, 100), elements=st.integers(INT64.min, INT64.max))
percentages = st.lists(st.floats(0, 100), max_size=8)

Array = npt.NDArray[np.int64]


@given(series, percentages)
def test_percentiles_lie_between_their_neighbours_in_proportion(
    values: Array, percentiles: list[float]
) -> None:
    ordered = sorted(map(int, values))
    for percent, ours in zip(
        percentiles, order_statistics(values, percentiles).percentiles, strict=True
    ):
        place = Fraction(percent) / 100 * (len(ordered) - 1)
        below = ordered[int(place)]
        above = ordered[min(int(place) + 1, len(ordered) - 1)]
        exact = below + (above - below) * (place - int(place))
        assert ours == pytest.approx(float(exact), rel=1e-12, abs=1e-9 * (above - below))


@given(series)
def test_moments_equal_those_of_decimal_arithmetic(values: Array) -> None:
    ours = order_statistics(values, [])
    assert (ours.count, ours.min, ours.max) == (values.size, values.min(), values.max())
    exact_mean = sum(map(int, values)) / values.size
    assert ours.mean == pytest.approx(exact_mean, rel=1e-15)
    with localcontext() as context:
        context.prec = 60
        mean = Decimal(sum(map(int, values))) / values.size
        squares = sum((Decimal(int(value)) - mean) ** 2 for value in values)
        exact = float((squares / values.size).sqrt())
    assert ours.stddev == pytest.approx(exact, rel=1e-12)


@given(any_series, st.integers(0, 20))
def test_extremes_equal_a_stable_sort(values: Array, n: int) -> None:
    numbered = list(enumerate(values.tolist()))
    highest, lowest = extremes(values, n)
    assert highest == sorted(numbered, key=lambda pair: -pair[1])[:n]
    assert lowest == sorted(numbered, key=lambda pair: pair[1])[:n]


def test_a_percentile_outside_of_0_to_100_is_refused() -> None:
    with pytest.raises(ValueError, match="ercentile"):
        order_statistics(np.array([1]), [101.0])
