# SPDX-License-Identifier: Apache-2.0
"""Peaks over threshold: the levels of known distributions are found, poor fits are refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from takt.measure.results import histogram
from takt.statistics import coverage, pareto
from takt.statistics.tails import LEAST_PEAKS, Refusal, Tail, extremal_index, fit

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


# what the estimate claims

SAMPLES = 100
HELD = (0.90, 0.98)  # of intervals that claim 95 %


@pytest.mark.parametrize("known", coverage.DISTRIBUTIONS, ids=lambda one: one.name)
def test_the_interval_holds_the_true_level_as_often_as_it_claims(known: coverage.Known) -> None:
    found = coverage.simulate(known, 2_000, 10, SAMPLES)
    assert HELD[0] <= found.share <= HELD[1]
    assert found.refused <= 0.1 * SAMPLES
    assert 0.5 <= found.exceeded <= 1.5  # one in 20,000 is one in 20,000, on average


def test_bursts_do_not_make_the_interval_too_narrow() -> None:
    (bursts,) = (one for one in coverage.FURTHER if one.bursts)
    assert coverage.simulate(bursts, 2_000, 10, SAMPLES // 2).share >= HELD[0]


def test_long_bursts_carry_no_estimate() -> None:
    rng = np.random.default_rng(4)
    series = np.repeat(1_000 + (100_000 * rng.exponential(1, 200)).astype(np.int64), 20)
    series += rng.integers(0, 50, len(series))
    found = fit(*np.unique(series, return_counts=True), width_us=1e-3, series=series)
    assert isinstance(found, Refusal)
    assert "come in bursts" in found.reason
    assert isinstance(fit(*np.unique(series, return_counts=True), width_us=1e-3), Tail | Refusal)


def test_a_tail_that_ends_abruptly_is_refused() -> None:
    found = fitted(np.random.default_rng(5).uniform(1000, 90_000, COUNT))
    assert isinstance(found, Refusal)
    assert "ends abruptly" in found.reason


@pytest.mark.parametrize(("every", "index"), [(1, 1.0), (4, 0.25)])
def test_the_extremal_index_is_one_over_the_size_of_a_burst(every: int, index: float) -> None:
    rng = np.random.default_rng(6)
    above = np.repeat(rng.random(20_000) < 0.02, every)
    assert extremal_index(above) == pytest.approx(index, abs=0.05)


@pytest.mark.parametrize("shape", [-0.3, 0.1, 0.4])
def test_shape_and_scale_are_found_quickly(shape: float) -> None:
    values = stats.genpareto.rvs(shape, scale=7, size=4000, random_state=8)
    shapes, scales = pareto.fitted(values)
    expected, scale = genpareto_by_search(values)
    assert shapes[0] == pytest.approx(expected, abs=0.03)
    assert scales[0] == pytest.approx(scale, rel=0.03)
    found = pareto.posterior(values[:400])
    assert found.mean_shape == pytest.approx(shape, abs=0.15)
    assert found.survival(0) == pytest.approx(1)
    assert found.survival(found.level(1e-4)) == pytest.approx(1e-4, rel=1e-3)


def genpareto_by_search(values: np.ndarray) -> tuple[float, float]:
    shape, _, scale = stats.genpareto.fit(values, floc=0)
    return float(shape), float(scale)


def test_the_table_of_the_reference_has_every_case() -> None:
    page = (Path(__file__).parents[3] / "docs/reference/tails.md").read_text(encoding="utf-8")
    rows = [line.split("|")[1:-1] for line in page.partition(coverage.MARK)[2].splitlines()[2:]]
    named = {(row[0].strip(), number(row[1])) for row in rows}
    known = (*coverage.DISTRIBUTIONS, *coverage.FURTHER)
    assert named == {(one.name, count) for one in known for count, _ in coverage.CASES}
    for name, count, once, share in ((row[0].strip(), *map(number, row[1:4])) for row in rows):
        assert name not in FIVE or once > 10 * count or 90 <= share <= 98
        assert share >= 90


def number(text: str) -> float:
    return float(text.strip(" %").replace(",", ""))


FIVE = {one.name for one in coverage.DISTRIBUTIONS}
