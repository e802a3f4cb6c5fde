# SPDX-License-Identifier: Apache-2.0
"""Exact statistics and bounds against plain definitions and decimal arithmetic."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as nps
from scipy.stats import beta

from takt.measure.statistics.clopper_pearson import upper_bound
from takt.measure.statistics.exact import extremes, order_statistics

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


@given(st.integers(1, 10**8), st.floats(0, 1), st.floats(1e-6, 1 - 1e-6))
@example(1, 0.0, 0.95)
@example(10**8, 0.0, 0.95)
@example(10**8, 0.5, 0.999)
@example(10**8, 1.0, 0.5)
def test_bound_equals_scipys(count: int, share: float, confidence: float) -> None:
    exceeded = round(share * count)
    bound = upper_bound(exceeded, count, confidence)
    scipys = 1.0 if exceeded == count else beta.ppf(confidence, exceeded + 1, count - exceeded)
    # scipy itself is up to about 3e-9 off for a few of 1e8: see the exact test below.
    assert bound == pytest.approx(scipys, rel=1e-8)


@given(st.integers(0, 12), st.integers(13, 10**8), st.floats(0.5, 1 - 1e-6))
@example(1, 10**8, 0.9)
@example(3, 10**8, 0.9)
def test_bound_solves_its_equation_in_decimal_arithmetic(
    exceeded: int, count: int, confidence: float
) -> None:
    bound = upper_bound(exceeded, count, confidence)
    with localcontext() as context:
        context.prec = 40

        def so_few(p: Decimal) -> Decimal:
            term = (1 - p) ** count
            total = term
            for k in range(exceeded):
                term *= (count - k) * p / ((k + 1) * (1 - p))
                total += term
            return total

        rest = 1 - Decimal(confidence)
        assert so_few(Decimal(bound) * (1 - Decimal("1e-9"))) > rest
        assert so_few(Decimal(bound) * (1 + Decimal("1e-9"))) < rest


def test_bounds_that_are_known_by_heart() -> None:
    assert upper_bound(5, 5, 0.95) == 1.0
    assert upper_bound(0, 1, 0.95) == pytest.approx(0.95, rel=1e-14)
    assert upper_bound(0, 1000, 0.95) == pytest.approx(1 - 0.05 ** (1 / 1000), rel=1e-12)
    # Table of Clopper & Pearson's limits: 2 of 10, one-sided 97.5 %.
    assert upper_bound(2, 10, 0.975) == pytest.approx(0.5561, abs=5e-5)


@pytest.mark.parametrize(
    ("times", "of", "confidence"), [(2, 1, 0.95), (-1, 1, 0.95), (0, 0, 0.95), (0, 1, 1.0)]
)
def test_what_cannot_be_has_no_bound(times: int, of: int, confidence: float) -> None:
    with pytest.raises(ValueError, match=f"{times} of {of}"):
        upper_bound(times, of, confidence)


def test_a_percentile_outside_of_0_to_100_is_refused() -> None:
    with pytest.raises(ValueError, match="ercentile"):
        order_statistics(np.array([1]), [101.0])
