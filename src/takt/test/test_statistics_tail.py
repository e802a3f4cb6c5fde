# SPDX-License-Identifier: Apache-2.0
"""Peaks over threshold: the levels of known distributions are found, poor fits are refused."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from takt.measure.results import histogram
from takt.statistics.tails import LEAST_PEAKS, Refusal, Tail, fit

COUNT = 200_000


def fitted(values_us: np.ndarray) -> Tail | Refusal:
    return fit(*histogram.bins((values_us * 1000).astype(np.int64)))


def test_the_tail_of_an_exponential_is_found() -> None:
    rng = np.random.default_rng(1)
    tail = fitted(50 + rng.exponential(20, COUNT))
    assert isinstance(tail, Tail)
    assert tail.shape == pytest.approx(0, abs=0.2)
    true = 50 + 20 * np.log(1e6)
    assert tail.level(1e-6) == pytest.approx(true, rel=0.25)
    assert tail.exceedance(true) == pytest.approx(1e-6, rel=9)
    assert tail.exceedance(tail.level(1e-6)) == pytest.approx(1e-6)
    assert LEAST_PEAKS <= tail.peaks <= 400 < tail.count == COUNT


def test_a_tail_of_several_causes_is_refused() -> None:
    rng = np.random.default_rng(2)
    values = 60 + rng.gamma(4, 10, COUNT)
    stalls = rng.random(COUNT) < 3e-4
    values[stalls] = 5000 + rng.normal(0, 50, int(stalls.sum()))
    found = fitted(values)
    assert isinstance(found, Refusal)
    assert "do not follow" in found.reason


def test_a_tail_without_a_finite_variance_is_refused() -> None:
    values = 50 + stats.genpareto.rvs(0.9, scale=20, size=COUNT, random_state=3)
    found = fitted(values)
    assert isinstance(found, Refusal)
    assert "too heavy" in found.reason


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        (np.linspace(10, 200, 900), "too few; at least 1000"),
        (np.repeat([50.0, 51.0, 90.0], [9000, 900, 100]), "too few distinct values"),
    ],
)
def test_too_little_for_a_shape_is_refused(values: np.ndarray, reason: str) -> None:
    found = fitted(values)
    assert isinstance(found, Refusal)
    assert reason in found.reason
