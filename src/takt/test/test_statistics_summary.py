# SPDX-License-Identifier: Apache-2.0
"""Summaries of series: what enters them, what stays apart, in which unit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from takt.statistics.series import Series, joined, series_of
from takt.statistics.summary import percentiles, summarise


def recording(*rows: tuple[int, int, int, int]) -> Series:
    sequence, intended, sent, received = np.array(rows, dtype=np.int64).T
    return series_of(sequence, intended, sent, received)


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
    series = series_of(empty, empty, empty, empty)
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
    latency = np.array([100, 100, 100], dtype=np.int64)
    response = np.array([1000, 1001, 5000], dtype=np.int64)
    found = summarise(latency, response, 7, deadline_us=1.0).exceedance
    assert (found.exceeded, found.count) == (2, 3)
    assert found.probability == pytest.approx(2 / 3)
    assert found.upper_bound > found.probability


def test_extremes_carry_the_sequence_of_their_sample() -> None:
    values = np.array([5000, 1000, 9000], dtype=np.int64)
    found = summarise(values, values, None, 1.0, sequence=np.array([10, 20, 30]))
    assert [(one.index, one.us) for one in found.highest] == [(30, 9.0), (10, 5.0), (20, 1.0)]
    assert [(one.index, one.us) for one in found.lowest] == [(20, 1.0), (10, 5.0), (30, 9.0)]
    assert found.first_us is None


def test_no_samples_are_no_statistics() -> None:
    empty = np.empty(0, dtype=np.int64)
    with pytest.raises(ValueError, match="at least one sample"):
        summarise(empty, empty, 0, 1.0)


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

    from takt.results import store
    from takt.statistics.series import read_series

    write_run(tmp_path, CHECK[:1], repetitions=1, count=500)
    (cell,) = store.read(tmp_path).cells
    series = read_series(tmp_path / cell.samples[0])
    again = summarise(
        series.latency_ns, series.response_ns, series.first_ns, cell.deadline_us, series.sequence
    )
    assert again == cell.statistics
