# SPDX-License-Identifier: Apache-2.0
"""Timers' own numbers: equal to an independent computation, and to sums done by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from takt.measure.results import histogram
from takt.measure.results.model import Cyclic, OneShot, Percentiles, Subscriber
from takt.measure.run.samples import RECORD, Recording
from takt.measure.statistics.series import series_of
from takt.measure.statistics.subscribers import Listener
from takt.measure.statistics.timers import Calls, OneShots

MS = 1_000_000


@pytest.fixture(params=[1, 3, 1 << 20], autouse=True)
def batch(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever comes together, the numbers are the same."""
    monkeypatch.setattr("takt.measure.statistics.series.BATCH", request.param)


def one_shot(recording: NDArray[np.void], *, reports: bool) -> OneShot:
    shots = OneShots(reports=reports)
    for part in Recording(recording).batches():
        shots.add(part)
    return shots.result()


def cyclic(recording: NDArray[np.void], period_ns: int) -> Cyclic | None:
    calls = Calls(period_ns)
    for part in Recording(recording).batches():
        calls.add(part)
    return calls.result()


def subscriber(recording: NDArray[np.void], sent: int, duplicated: int) -> Subscriber:
    listener = Listener()
    for part in Recording(recording).batches():
        listener.add(part, series_of(part))
    return listener.result(sent, duplicated)


def records(*rows: tuple[int, int, int, int]) -> NDArray[np.void]:
    return np.array(list(rows), dtype=RECORD)


def equal(found: Percentiles, values_ns: NDArray[np.int64]) -> None:
    """The same by numpy and scipy, to the six digits of a µs that are kept."""
    values = values_ns / 1000
    assert found.count == len(values)
    assert found.min_us == round(values.min(), 6)
    assert found.max_us == round(values.max(), 6)
    assert found.mean_us == pytest.approx(values.mean(), abs=1e-6)
    assert found.stddev_us == pytest.approx(values.std(), abs=1e-6)
    for name, percent in (("p50_us", 50), ("p90_us", 90), ("p99_us", 99), ("p999_us", 99.9)):
        (by_scipy,) = stats.mstats.mquantiles(values, [percent / 100], alphap=1, betap=1)
        assert getattr(found, name) == pytest.approx(by_scipy, abs=1e-6)


def test_reported_and_difference_are_those_of_the_timers_that_fired() -> None:
    rows = [
        (0, 1000, 9000, 9900),  # the first stays apart
        (1, 2000, 2110, 2101),
        (2, 3000, 3000, 0),  # never fired
        (3, 4000, 4070, 4060),
    ]
    found = one_shot(records(*rows), reports=True)
    assert found.reported is not None
    assert found.difference is not None
    assert (found.reported.min_us, found.reported.max_us) == (0.07, 0.11)
    assert (found.difference.min_us, found.difference.max_us) == (0.009, 0.01)
    assert found.never_fired == 1


def test_a_timer_that_reports_nothing_has_no_difference() -> None:
    found = one_shot(records((0, 0, 0, 5), (1, 10, 10, 15)), reports=False)
    assert (found.reported, found.difference, found.never_fired) == (None, None, 0)


def test_jitter_is_the_interval_against_the_period() -> None:
    times = [1.0, 2.0, 3.1, 4.0, 5.0]  # ms
    rows = [(k, k * MS, k * MS, round(t * MS)) for k, t in enumerate(times)]
    found = cyclic(records(*rows), MS)
    assert found is not None
    assert found.first_two_us == [0.0, 100.0]
    assert (found.jitter.min_us, found.jitter.max_us, found.negative_share) == (-100.0, 0.0, 0.5)
    assert [one.index for one in found.lowest] == [3, 4]
    assert found.rate_hz == 1000.0
    assert found.drift.max_us == 100.0


def test_expiries_that_were_passed_over_are_a_gap_and_no_drift() -> None:
    rows = [(k, k * MS, k * MS, 0 if k == 3 else (k + 1) * MS) for k in range(6)]
    found = cyclic(records(*rows), MS)
    assert found is not None
    assert (found.callbacks, found.expiries) == (5, 6)
    assert found.jitter.max_us == 1000.0
    assert found.drift.max_us == 0.0
    assert found.rate_hz == 800.0


def test_a_jitter_needs_callbacks() -> None:
    assert cyclic(records(*((k, k, k, k + 1) for k in range(3))), MS) is None


def test_timer_statistics_equal_an_independent_computation() -> None:
    rng = np.random.default_rng(5)
    count = 2000
    due = (np.arange(count) + 1) * MS
    late = rng.gamma(3, 20_000, count).astype(np.int64)
    recording = np.zeros(count, dtype=RECORD)
    recording["sequence"], recording["intended_ns"] = np.arange(count), due
    recording["sent_ns"], recording["received_ns"] = due + late - 300, due + late
    found = cyclic(recording, MS)
    assert found is not None
    jitter = np.diff(due + late) - MS
    equal(found.jitter, jitter[2:])
    equal(found.drift, (late - late[0])[1:])
    assert found.negative_share == (jitter[2:] < 0).mean()
    shot = one_shot(recording, reports=True)
    assert shot.reported is not None
    assert shot.difference is not None
    equal(shot.reported, (late - 300)[1:])
    equal(shot.difference, np.full(count - 1, -300))


def test_each_subscriber_has_its_own_results() -> None:
    rows = [(0, 0, 0, 900), (2, 20, 20, 130), (1, 10, 10, 140), (3, 30, 30, 150), (3, 30, 30, 160)]
    found = subscriber(records(*rows), sent=6, duplicated=0)
    assert (found.count, found.lost, found.duplicated, found.out_of_order) == (5, 2, 1, 1)
    assert found.first_us == 0.9
    assert found.latency is not None
    assert (found.latency.min_us, found.latency.max_us) == (0.11, 0.13)
    assert (found.highest[0].index, found.highest[0].us) == (1, 0.13)


@pytest.mark.parametrize(
    ("order", "out_of_order", "duplicated"),
    [
        ([0, 1, 2, 3], 0, 0),
        ([0, 2, 5, 1, 4, 9], 2, 0),
        ([0, 0, 1, 1], 0, 2),
        ([5, 3, 3, 5, 4, 3], 4, 3),
        ([], 0, 0),
    ],
)
def test_order_and_repetition_are_counted(
    order: list[int], out_of_order: int, duplicated: int
) -> None:
    found = subscriber(records(*((one, 1, 1, 2) for one in order)), sent=10, duplicated=0)
    assert (found.out_of_order, found.duplicated) == (out_of_order, duplicated)
    assert found.lost == 10 - len(set(order))


def test_a_histogram_loses_no_value(tmp_path: Path) -> None:
    values = np.array([-900_001, -500, 0, 999, 1000, 55_555, 55_999])
    file = tmp_path / "h.txt"
    found = histogram.Bins()
    for part in np.split(values, [0, 3]):
        found.add(part)
    histogram.write(file, found, ["a heading"])
    assert file.read_text().startswith("# a heading\n# value_us count\n-901 1\n")
    at, counts = histogram.read(file)
    assert dict(zip(at.tolist(), counts.tolist(), strict=True)) == {
        -901: 1, -1: 1, 0: 2, 1: 1, 55: 2,
    }  # fmt: skip
