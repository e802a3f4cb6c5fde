# SPDX-License-Identifier: Apache-2.0
"""Standard errors against what many repetitions really scatter, with and without memory."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from synthetic_runs import autocorrelated

from takt.statistics.bootstrap import block_length, correlation_time, standard_errors
from takt.statistics.moderation import moderated

COUNT = 4000


def draw(rho: float, rng: np.random.Generator) -> NDArray[np.int64]:
    log = autocorrelated(COUNT, rho, rng) if rho else rng.normal(size=COUNT)
    return np.round(np.exp(11 + 0.2 * log)).astype(np.int64)


@pytest.mark.parametrize("rho", [0.0, 0.9])
@pytest.mark.parametrize("share", [0.5, 0.99])
def test_the_standard_error_is_what_repetitions_scatter(rho: float, share: float) -> None:
    rng = np.random.default_rng(5)
    found = [np.quantile(draw(rho, rng), share) for _ in range(200)]
    real = np.std(np.log(found), ddof=1)
    estimates = []
    for _ in range(15):
        values = draw(rho, rng)
        estimates += standard_errors(values, {share: float(np.quantile(values, share))}, rng)
    assert np.mean(estimates) == pytest.approx(real, rel=0.25)


def test_memory_between_samples_widens_the_error() -> None:
    rng = np.random.default_rng(1)
    errors = []
    for rho in (0.0, 0.9):
        values = draw(rho, rng)
        errors += standard_errors(values, {0.5: float(np.median(values))}, rng)
    assert errors[1] > 2 * errors[0]  # theory for the mean: sqrt((1 + 0.9) / (1 - 0.9)) = 4.4


def test_correlation_time_of_an_autoregressive_series() -> None:
    rng = np.random.default_rng(2)
    times = [correlation_time(autocorrelated(20_000, 0.8, rng)) for _ in range(10)]
    assert np.mean(times) == pytest.approx(9.0, rel=0.15)  # (1 + rho) / (1 - rho)
    assert correlation_time(rng.normal(size=20_000)) == pytest.approx(1.0, abs=0.3)
    assert correlation_time(np.ones(100)) == 1.0


@pytest.mark.parametrize("size", [1, 5, 20, 1000])
def test_blocks_are_never_longer_than_a_tenth_of_the_recording(size: int) -> None:
    assert 1 <= block_length(size, 1e6) <= max(1, size // 10)


def test_equal_samples_have_no_error() -> None:
    values = np.full(500, 1234, dtype=np.int64)
    rng = np.random.default_rng(3)
    assert standard_errors(values, {0.5: 1234.0, 0.99: 1234.0}, rng) == [0.0, 0.0]


def test_variances_that_agree_are_joined_and_others_keep_to_themselves() -> None:
    rng = np.random.default_rng(4)
    freedom = np.full(200, 4.0)
    alike = rng.chisquare(4, 200) / 4
    steadied, certainty = moderated(alike, freedom)
    assert np.std(steadied) < 0.3 * np.std(alike)
    assert certainty.min() > 3 * freedom.max()
    apart = alike * np.repeat([1e-4, 1e4], 100)
    kept, certainty = moderated(apart, freedom)
    assert np.median(np.abs(np.log(kept / apart))) < 0.5
    assert certainty.max() < 6
