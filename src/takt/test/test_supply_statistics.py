# SPDX-License-Identifier: Apache-2.0
"""The least supply and what is fitted below it, against all stretches of made-up windows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from takt.measure.statistics.series import Batch
from takt.measure.statistics.supply import (
    WHOLE,
    BoundedDelay,
    Watched,
    bounded_delay,
    delay_for,
    in_a_row,
    latency_of,
    least_rate,
    least_supply,
    watched,
)

Ticks = list[bool]  # whether each tick of a window was provided


def window(ticks: Ticks, begin: int = 100) -> Watched:
    """Whole ticks with and without supply, as a window with gaps."""
    padded = np.diff(np.concatenate([[0], 1 - np.array(ticks, np.int64), [0]]))
    return Watched(
        begin,
        begin + len(ticks),
        np.flatnonzero(padded == 1) + begin,
        np.flatnonzero(padded == -1) + begin,
    )


def by_all_stretches(windows: Sequence[Ticks], length: int) -> int | None:
    """The least supply, looked for in every stretch of whole ticks."""
    sums = [sum(one[at : at + length]) for one in windows for at in range(len(one) - length + 1)]
    return min(sums, default=None)


def of_periodic(budget: int, period: int, length: int) -> int:
    """The supply bound function of a periodic resource: Shin & Lee 2003, tick by tick."""
    left = length - 2 * (period - budget)
    if left <= 0:
        return 0
    return left // period * budget + min(left % period, budget)


RUNS = st.lists(st.lists(st.booleans(), min_size=1, max_size=40), min_size=1, max_size=4)


@given(RUNS)
def test_the_least_supply_is_that_of_all_stretches(runs: list[Ticks]) -> None:
    lengths = range(1, 42)
    found = least_supply([window(one) for one in runs], lengths)
    assert found == [by_all_stretches(runs, length) for length in lengths]


@given(RUNS, st.integers(1, 10_000))
def test_a_rate_after_its_delay_touches_the_least_supply_and_is_never_above(
    runs: list[Ticks], parts: int
) -> None:
    rate = parts * WHOLE // 10_000
    windows = [window(one) for one in runs]
    delay = delay_for(windows, rate)

    def holds(pair: BoundedDelay) -> bool:
        least = {length: by_all_stretches(runs, length) for length in range(1, 41)}
        return all(
            pair.least(length) <= got + 1e-9 for length, got in least.items() if got is not None
        )

    assert holds(BoundedDelay(rate, delay))
    assert delay == 0 or not holds(BoundedDelay(rate, delay - 1))


@given(RUNS)
def test_with_twice_its_delay_the_pair_holds_over_windows_in_a_row(runs: list[Ticks]) -> None:
    pair = bounded_delay([window(one) for one in runs])
    if pair is None:
        assert least_rate([window(one) for one in runs]) == 0
        return
    for one in runs:
        row = one * 4
        for begin in range(len(one)):
            for end in range(begin + 1, len(row) + 1):
                # It begins and ends with a part of a window, and each part has its delay.
                got = sum(row[begin:end])
                assert got >= pair.least(end - begin - pair.delay) - 1e-9


@given(RUNS)
def test_a_periodic_resource_is_never_above_the_least_supply(runs: list[Ticks]) -> None:
    pair = bounded_delay([window(one) for one in runs])
    periodic = pair.periodic() if pair else None
    if periodic is None:
        return
    budget, period = periodic
    assert 0 < budget <= period
    for length in range(1, 41):
        got = by_all_stretches(runs, length)
        assert got is None or of_periodic(budget, period, length) <= got


@given(RUNS, st.integers(1, 4))
def test_windows_in_a_row_are_one_after_the_other(runs: list[Ticks], each: int) -> None:
    rows = in_a_row([window(one, begin=1000 * place) for place, one in enumerate(runs)], each)
    groups = max(1, len(runs) // each)
    assert len(rows) == groups
    joined = [runs[each * at : each * (at + 1)] for at in range(groups - 1)]
    joined.append(runs[each * (groups - 1) :])
    ticks = [[tick for one in part for tick in one] for part in joined]
    lengths = range(1, 161)
    assert least_supply(rows, lengths) == [by_all_stretches(ticks, one) for one in lengths]


def test_a_known_record_has_its_known_curve() -> None:
    # 3 of 10 ticks are withheld at once, 1 of 10 later.
    ticks = [True] * 4 + [False] * 3 + [True] * 8 + [False] + [True] * 4
    windows = [window(ticks)]
    assert least_supply(windows, [1, 3, 4, 11, 12, 20, 21]) == [0, 0, 1, 8, 8, 16, None]
    assert least_rate(windows) == 800_000_000
    assert bounded_delay(windows) == BoundedDelay(800_000_000, 3)
    assert BoundedDelay(800_000_000, 3).periodic() == (12, 15)


def test_a_core_without_gaps_is_whole() -> None:
    pair = bounded_delay([window([True] * 20)])
    assert pair == BoundedDelay(WHOLE, 0)
    assert pair.periodic() is None


def test_a_machine_that_stood_still_for_a_minute_has_that_delay() -> None:
    minute = 60_000_000_000
    still = Watched(0, 10 * minute, np.array([minute]), np.array([2 * minute]))
    assert bounded_delay([still]) == BoundedDelay(900_000_000, minute)


def test_a_window_without_supply_has_no_rate() -> None:
    assert bounded_delay([window([True] * 20), window([False] * 20)]) is None


def batch(*rows: tuple[int, int, int]) -> Batch:
    """Window, begin, end."""
    columns = np.array(rows, np.int64).reshape(-1, 3).T
    return Batch(0, columns[0], columns[1], columns[1], columns[2])


def test_gaps_belong_to_their_windows_and_those_of_none_are_left_out() -> None:
    windows = batch((0, 1000, 1010), (1, 2000, 2020))
    gaps = batch((1, 2100, 2130), (0, 1400, 1600), (0, 1100, 1150), (2, 3100, 3200))
    first, second = watched(windows, gaps, length=500, latency=50)
    assert (first.begin, first.end, first.withheld) == (1010, 1600, 250)
    assert first.begins.tolist() == [1100, 1400]
    assert (second.begin, second.end, second.withheld) == (2020, 2500, 30)


def test_a_wake_up_later_than_the_latency_is_a_gap() -> None:
    windows = batch((0, 1000, 1010), (1, 2000, 2900), (2, 4000, 4051))
    _, late, a_little = watched(windows, batch(), length=500, latency=50)
    assert (late.begin, late.end, late.withheld) == (2000, 2900, 900)
    assert (a_little.begin, a_little.end, a_little.withheld) == (4000, 4500, 51)


@pytest.mark.parametrize(("count", "latency"), [(0, 0), (1, 1), (100, 100), (1000, 991)])
def test_the_latency_covers_99_percent_of_the_wake_ups(count: int, latency: int) -> None:
    assert latency_of(np.arange(1, count + 1, dtype=np.int64)) == latency
