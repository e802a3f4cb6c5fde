# SPDX-License-Identifier: Apache-2.0
"""The arrival curves that `takt model` derives of messages from outside."""

from __future__ import annotations

import numpy as np
import pytest

from takt.schedule.model.arrivals import Curve, curve

MS = 1_000_000
NEVER = np.empty(0, np.int64)


def times(*at_ms: float) -> np.ndarray:
    return np.array([round(one * MS) for one in at_ms], np.int64)


def test_regular_messages_have_their_period() -> None:
    assert curve(times(*range(0, 1000, 10)), NEVER) == Curve(10 * MS, 1, 10 * MS)


def test_a_burst_is_one_and_its_period_that_of_the_messages_on_average() -> None:
    moments = times(*(100 * k + i for k in range(50) for i in (0, 0, 0, 1)))
    found = curve(moments, NEVER)
    assert found is not None
    assert found.burst == 4
    assert 24 * MS < found.period <= 25.25 * MS


def test_what_comes_at_one_time_only_shows_no_distance() -> None:
    assert curve(times(5, 5, 5), NEVER) is None
    assert curve(times(5), NEVER) is None
    assert curve(NEVER, NEVER) is None


def test_no_distance_is_across_a_pause_of_the_recording() -> None:
    moments = times(0, 10, 20, 1000, 1010, 1020)
    assert curve(moments, times(1000)) == Curve(10 * MS, 1, 10 * MS)


@pytest.mark.parametrize("seed", range(20))
def test_all_messages_keep_their_curve(seed: int) -> None:
    rng = np.random.default_rng(seed)
    apart = rng.choice([0, 1, 1000, 40_000, 90_000], size=300, p=[0.3, 0.2, 0.2, 0.2, 0.1])
    moments = np.cumsum(apart).astype(np.int64)
    found = curve(moments, NEVER)
    assert found is not None
    tight = False
    for first in range(len(moments)):
        count = np.arange(1, len(moments) - first + 1)
        most = (moments[first:] - moments[first]) // found.period + found.burst
        assert (count <= most).all()
        longer = (moments[first:] - moments[first]) // (found.period + 1) + found.burst
        tight = tight or bool((count > longer).any())
    assert tight
