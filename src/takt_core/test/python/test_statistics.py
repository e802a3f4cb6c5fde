# SPDX-License-Identifier: Apache-2.0
"""The Python module against independent implementations: numpy, scipy and decimal arithmetic."""

from __future__ import annotations

import threading
from decimal import Decimal, localcontext

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as nps
from scipy.stats import beta

takt_core = pytest.importorskip("takt_core", reason="the C++ workspace is not built")

INT64 = np.iinfo(np.int64)
# Differences of two values fit into int64 too: beyond that numpy's own interpolation wraps around.
series = nps.arrays(
    np.int64,
    st.integers(1, 200),
    elements=st.one_of(st.integers(-(2**62), 2**62 - 1), st.integers(-5, 5)),
)
any_series = nps.arrays(np.int64, st.integers(0, 100), elements=st.integers(INT64.min, INT64.max))
percentages = st.lists(st.floats(0, 100), max_size=8)

Array = npt.NDArray[np.int64]


@given(series, percentages)
def test_percentiles_equal_numpys_bit_by_bit(values: Array, percentiles: list[float]) -> None:
    ours = takt_core.order_statistics(values, percentiles).percentiles
    assert ours == [float(np.percentile(values, percentile)) for percentile in percentiles]


@given(series)
def test_moments_equal_numpys(values: Array) -> None:
    ours = takt_core.order_statistics(values, [])
    assert (ours.count, ours.min, ours.max) == (values.size, values.min(), values.max())
    exact_mean = sum(map(int, values)) / values.size
    assert ours.mean == pytest.approx(exact_mean, rel=1e-15)
    with localcontext() as context:
        context.prec = 60
        mean = Decimal(sum(map(int, values))) / values.size
        squares = sum((Decimal(int(value)) - mean) ** 2 for value in values)
        exact = float((squares / values.size).sqrt())
    assert ours.stddev == pytest.approx(exact, rel=1e-12)


def test_a_long_series_agrees_with_numpy() -> None:
    values = np.random.default_rng(7).lognormal(10, 2, 1_000_000).astype(np.int64)
    percentiles = [50, 90, 99, 99.9, 99.99, 99.999]
    ours = takt_core.order_statistics(values, percentiles)
    assert ours.percentiles == np.percentile(values, percentiles).tolist()
    assert ours.mean == pytest.approx(float(values.mean()), rel=1e-12)
    assert ours.stddev == pytest.approx(float(values.std()), rel=1e-12)


@given(any_series, st.integers(0, 20))
def test_extremes_equal_a_stable_sort(values: Array, n: int) -> None:
    numbered = list(enumerate(values.tolist()))
    highest, lowest = takt_core.extremes(values, n)
    assert highest == sorted(numbered, key=lambda pair: -pair[1])[:n]
    assert lowest == sorted(numbered, key=lambda pair: pair[1])[:n]


@given(st.integers(1, 10**8), st.floats(0, 1), st.floats(1e-6, 1 - 1e-6))
@example(1, 0.0, 0.95)
@example(10**8, 0.0, 0.95)
@example(10**8, 0.5, 0.999)
@example(10**8, 1.0, 0.5)
def test_bound_equals_scipys(count: int, share: float, confidence: float) -> None:
    exceeded = round(share * count)
    probability, bound = takt_core.exceedance(exceeded, count, confidence)
    scipys = 1.0 if exceeded == count else beta.ppf(confidence, exceeded + 1, count - exceeded)
    assert probability == exceeded / count
    # scipy itself is up to about 3e-9 off for a few of 1e8: see the exact test below.
    assert bound == pytest.approx(scipys, rel=1e-8)


@given(st.integers(0, 12), st.integers(13, 10**8), st.floats(0.5, 1 - 1e-6))
@example(1, 10**8, 0.9)
@example(3, 10**8, 0.9)
def test_bound_solves_its_equation_in_decimal_arithmetic(
    exceeded: int, count: int, confidence: float
) -> None:
    _, bound = takt_core.exceedance(exceeded, count, confidence)
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


@given(any_series)
def test_histogram_holds_every_value_in_a_narrow_bucket(values: Array) -> None:
    histogram = takt_core.Histogram()
    histogram.record(values)
    lower, upper, count = histogram.buckets()
    assert histogram.count == count.sum() == values.size
    assert histogram.sum == sum(map(int, values))
    below_max = values[values != INT64.max]
    for low, up, number in zip(lower, upper, count, strict=True):
        inside = ((values >= low) & (values < up)).sum()
        if up == INT64.max:
            inside += values.size - below_max.size
        assert inside == number
        assert int(up) - int(low) <= max(1, 0.01 * min(abs(int(low)), abs(int(up))) + 1)


@given(any_series.filter(lambda values: values.size > 0), st.floats(0, 100))
def test_histogram_percentile_is_within_one_percent_of_nearest_rank(
    values: Array, percent: float
) -> None:
    histogram = takt_core.Histogram()
    histogram.record(values)
    rank = max(1, int(np.ceil(percent / 100 * values.size)))
    exact = int(np.sort(values)[rank - 1])
    assert abs(histogram.percentile(percent) - exact) <= 0.01 * abs(exact)
    assert (histogram.min, histogram.max) == (values.min(), values.max())


@given(any_series, any_series)
def test_merged_histograms_equal_one_of_everything(first: Array, second: Array) -> None:
    merged, other, whole = (takt_core.Histogram() for _ in range(3))
    merged.record(first)
    other.record(second)
    merged.merge(other)
    whole.record(np.concatenate([first, second]))
    for ours, expected in zip(merged.buckets(), whole.buckets(), strict=True):
        assert ours.tolist() == expected.tolist()
    assert merged.sum == whole.sum


def test_arrays_of_buckets_outlive_their_histogram() -> None:
    histogram = takt_core.Histogram()
    histogram.record(np.array([5, 5, -3], dtype=np.int64))
    lower, upper, count = histogram.buckets()
    del histogram
    assert lower.tolist() == [-3, 5]
    assert upper.tolist() == [-2, 6]
    assert count.tolist() == [1, 2]
    assert (lower.dtype, upper.dtype, count.dtype) == (np.int64, np.int64, np.uint64)


def test_histogram_is_safe_to_record_into_from_many_threads() -> None:
    histogram = takt_core.Histogram()
    values = np.arange(200_000, dtype=np.int64)
    threads = [threading.Thread(target=histogram.record, args=(values,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert histogram.count == 4 * values.size
    assert histogram.sum == 4 * int(values.sum())


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ([1, 2], "list"),
        (None, "NoneType"),
        (np.zeros(3), "float64"),
        (np.zeros(3, dtype=np.uint64), "uint64"),
        (np.zeros(3, dtype=">i8"), ">i8"),
        (np.zeros((2, 2), dtype=np.int64), r"shape \(2, 2\)"),
        (np.zeros(6, dtype=np.int64)[::2], "contiguous"),
    ],
)
def test_wrong_arrays_are_named_in_the_error(wrong: object, named: str) -> None:
    histogram = takt_core.Histogram()
    for call in (
        lambda: takt_core.order_statistics(wrong, [50.0]),
        lambda: takt_core.extremes(wrong),
        lambda: histogram.record(wrong),
    ):
        with pytest.raises(TypeError, match=named):
            call()
    assert histogram.count == 0


def test_read_only_arrays_are_taken() -> None:
    values = np.array([3, 1, 2], dtype=np.int64)
    values.flags.writeable = False
    assert takt_core.order_statistics(values, [50.0]).percentiles == [2.0]


def test_impossible_numbers_are_value_errors() -> None:
    empty, one = np.array([], dtype=np.int64), np.array([1], dtype=np.int64)
    for call, named in (
        (lambda: takt_core.order_statistics(empty, [50.0]), "no values"),
        (lambda: takt_core.order_statistics(one, [101.0]), "101"),
        (lambda: takt_core.order_statistics(one, [float("nan")]), "nan"),
        (lambda: takt_core.exceedance(2, 1), "2"),
        (lambda: takt_core.exceedance(-1, 1), "negative"),
        (lambda: takt_core.exceedance(0, 0), "at least one"),
        (lambda: takt_core.exceedance(0, 1, 1.0), "confidence"),
        (lambda: takt_core.Histogram().percentile(50), "empty"),
        (lambda: takt_core.Histogram().min, "empty"),
    ):
        with pytest.raises(ValueError, match=named):
            call()
