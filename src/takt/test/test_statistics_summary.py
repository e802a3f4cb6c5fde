# SPDX-License-Identifier: Apache-2.0
"""Summaries of series: what enters them, what stays apart, in which unit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import ArrayLike, NDArray

from takt.measure.statistics import distribution
from takt.measure.statistics.distribution import Distribution, percentiles
from takt.measure.statistics.series import Batch, Series, joined, series_of
from takt.measure.statistics.summary import summarise


def recording(*rows: tuple[int, int, int, int]) -> Series:
    return series_of(Batch(0, *np.array(rows, dtype=np.int64).T))


def received(
    latency: ArrayLike, response: ArrayLike | None = None, sequence: ArrayLike | None = None
) -> Series:
    values = np.array(latency, dtype=np.int64)
    return Series(
        sequence=np.arange(len(values)) if sequence is None else np.array(sequence),
        intended_ns=np.zeros_like(values),
        latency_ns=values,
        response_ns=values if response is None else np.array(response, dtype=np.int64),
        lost_ns=values[:0],
        first_ns=None,
    )


def test_the_first_and_the_lost_samples_stay_apart() -> None:
    series = recording(
        (0, 1000, 1010, 9010), (1, 2000, 2010, 2110), (2, 3000, 3010, 0), (3, 4000, 4010, 4310)
    )
    assert series.first_ns == 8000
    assert series.latency_ns.tolist() == [100, 300]
    assert series.response_ns.tolist() == [110, 310]
    assert series.sequence.tolist() == [1, 3]
    assert series.lost_ns.tolist() == [3000]


def test_a_lost_first_sample_is_lost_and_takes_no_other_with_it() -> None:
    series = recording((0, 1000, 1010, 0), (1, 2000, 2010, 2110))
    assert series.first_ns is None
    assert series.lost_ns.tolist() == [1000]
    assert series.latency_ns.tolist() == [100]


def test_an_empty_recording_is_an_empty_series() -> None:
    empty = np.empty(0, dtype=np.int64)
    series = series_of(Batch(0, empty, empty, empty, empty))
    assert len(series) == 0
    assert series.first_ns is None
    assert len(joined([])) == 0


def test_each_of_several_recordings_has_its_first_sample_apart() -> None:
    one = recording((0, 0, 10, 510), (1, 1000, 1010, 1020))
    two = recording((0, 0, 10, 910), (1, 1000, 1010, 1040))
    both = joined([one, two])
    assert both.latency_ns.tolist() == [10, 30]
    assert both.first_ns == 900


def test_deadlines_are_judged_on_the_response_and_kept_when_met_exactly() -> None:
    statistics = summarise([received([100, 100, 100], [1000, 1001, 5000])], deadline_us=1.0)
    assert statistics is not None
    found = statistics.exceedance
    assert (found.exceeded, found.count) == (2, 3)
    assert found.probability == pytest.approx(2 / 3)
    assert found.upper_bound > found.probability


def test_every_period_of_a_control_loop_is_judged_whatever_the_deadline() -> None:
    values = [50_000, 150_000, 250_000, 1_500_000, 60_000_000]
    for deadline_us in (1.0, 120.0, 1e6):
        found = summarise([received(values)], deadline_us)
        assert found is not None
        assert found.exceedance.exceeded == sum(one > deadline_us * 1000 for one in values)
        for one in found.loop_exceedance:
            assert one.exceeded == sum(value > one.deadline_us * 1000 for value in values)


def test_extremes_carry_the_sequence_of_their_sample() -> None:
    found = summarise([received([5000, 1000, 9000], sequence=[10, 20, 30])], 1.0)
    assert found is not None
    assert [(one.index, one.us) for one in found.highest] == [(30, 9.0), (10, 5.0), (20, 1.0)]
    assert [(one.index, one.us) for one in found.lowest] == [(20, 1.0), (10, 5.0), (30, 9.0)]
    assert found.first_us is None


def test_no_samples_are_no_statistics() -> None:
    assert summarise([received([])], 1.0) is None


VALUES = arrays(np.int64, st.integers(1, 300), elements=st.integers(-(10**9), 10**12))


@given(VALUES, st.lists(st.integers(0, 300), max_size=5))
def test_parts_give_the_same_numbers_as_the_whole(
    values: NDArray[np.int64], cuts: list[int]
) -> None:
    parts = np.split(values, sorted(min(cut, len(values)) for cut in cuts))
    sequence = np.split(np.arange(len(values)), sorted(min(cut, len(values)) for cut in cuts))
    named = zip(parts, sequence, strict=True)
    split = summarise([received(part, sequence=number) for part, number in named], 1.0)
    assert split == summarise([received(values)], 1.0)


@given(values=VALUES, cuts=st.lists(st.integers(0, 300), max_size=5))
def test_more_values_than_can_be_kept_lose_only_precision_of_percentiles(
    values: NDArray[np.int64], cuts: list[int]
) -> None:
    exact, bounded = percentiles(values), Distribution()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(distribution, "MOST_EXACT", 20)
        for part in np.split(values, sorted(min(cut, len(values)) for cut in cuts)):
            bounded.add(part)
    found = bounded.percentiles()
    assert found is not None
    assert (found.count, found.min_us, found.max_us) == (exact.count, exact.min_us, exact.max_us)
    assert found.mean_us == pytest.approx(exact.mean_us, rel=1e-12, abs=1e-6)
    assert found.stddev_us == pytest.approx(exact.stddev_us, rel=1e-9, abs=1e-3)
    ranked = np.sort(values)
    if len(values) > 20:
        for name, percent in distribution.PERCENTILES.items():
            nearest = ranked[int(np.ceil(percent / 100 * len(ranked))) - 1] / 1000
            assert getattr(found, name) == pytest.approx(nearest, rel=0.01, abs=1e-3)
    else:
        assert found == exact
    assert bounded.histogram().count == len(values)


@given(arrays(np.int64, st.integers(1, 300), elements=st.integers(0, 3_600_000_000_000)))
def test_percentiles_are_ordered_and_in_microseconds(values: NDArray[np.int64]) -> None:
    found = percentiles(values)
    ordered = [
        found.min_us,
        found.p50_us,
        found.p90_us,
        found.p99_us,
        found.p999_us,
        found.p9999_us,
        found.p99999_us,
        found.max_us,
    ]
    assert ordered == sorted(ordered)
    assert found.count == len(values)
    assert found.min_us == values.min() / 1000
    assert found.max_us == values.max() / 1000
    assert found.p50_us == pytest.approx(np.median(values) / 1000, rel=1e-12, abs=1e-6)


def test_a_run_written_and_read_again_has_the_same_numbers(tmp_path: Path) -> None:
    from synthetic_runs import CHECK, write_run

    from takt.measure.results import store
    from takt.measure.statistics.series import read_series

    write_run(tmp_path, CHECK[:1], repetitions=1, count=500)
    (cell,) = store.read(tmp_path).cells
    assert summarise([read_series(tmp_path / cell.samples[0])], cell.deadline_us) == cell.statistics
