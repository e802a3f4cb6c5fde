# SPDX-License-Identifier: Apache-2.0
"""Histogram and bound against independent implementations: numpy, scipy, decimal arithmetic."""

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
any_series = nps.arrays(np.int64, st.integers(0, 100), elements=st.integers(INT64.min, INT64.max))

Array = npt.NDArray[np.int64]


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
    with pytest.raises(TypeError, match=named):
        histogram.record(wrong)
    assert histogram.count == 0


def test_read_only_arrays_are_taken() -> None:
    values = np.array([3, 1, 2], dtype=np.int64)
    values.flags.writeable = False
    histogram = takt_core.Histogram()
    histogram.record(values)
    assert histogram.count == 3


def test_impossible_numbers_are_value_errors() -> None:
    for call, named in (
        (lambda: takt_core.exceedance(2, 1), "2"),
        (lambda: takt_core.exceedance(-1, 1), "negative"),
        (lambda: takt_core.exceedance(0, 0), "at least one"),
        (lambda: takt_core.exceedance(0, 1, 1.0), "confidence"),
        (lambda: takt_core.Histogram().percentile(50), "empty"),
        (lambda: takt_core.Histogram().min, "empty"),
    ):
        with pytest.raises(ValueError, match=named):
            call()
