# SPDX-License-Identifier: Apache-2.0
"""Modes of two programs on made-up data, on both sides of each threshold."""

from __future__ import annotations

import random

import pytest

from takt.bench.modes import LEAST_GAP, compare


def scatter(around: float, count: int, seed: int) -> list[float]:
    draw = random.Random(seed)
    return [around * draw.uniform(0.98, 1.02) for _ in range(count)]


def test_each_mode_is_compared_with_itself_however_often_it_came_up() -> None:
    of = scatter(10, 20, 1) + scatter(20, 5, 2)
    to = scatter(10, 5, 3) + scatter(20, 20, 4)
    low, high = compare(of, to)
    assert low.ratio == pytest.approx(1, abs=0.04)
    assert high.ratio == pytest.approx(1, abs=0.04)
    assert low.values == (20, 5)
    assert high.values == (5, 20)


def test_a_program_that_is_slower_in_one_mode_is_found_there() -> None:
    low, high = compare(
        scatter(10, 9, 1) + scatter(24, 9, 2), scatter(10, 9, 3) + scatter(20, 9, 4)
    )
    assert low.ratio == pytest.approx(1, abs=0.04)
    assert high.ratio == pytest.approx(1.2, abs=0.05)


def test_a_program_that_is_always_slower_has_no_mode_of_its_own() -> None:
    (only,) = compare(scatter(20, 10, 1), scatter(10, 10, 2))
    assert only.ratio == pytest.approx(2, abs=0.1)


@pytest.mark.parametrize(("apart", "modes"), [(LEAST_GAP * 1.001, 2), (LEAST_GAP * 0.999, 1)])
def test_modes_are_apart_by_the_least_gap(apart: float, modes: int) -> None:
    assert len(compare([1.0] * 5 + [apart] * 5, [1.0] * 5 + [apart] * 5)) == modes


@pytest.mark.parametrize(("seldom", "modes"), [(1, 1), (2, 2)])
def test_a_single_outlier_is_no_mode(seldom: int, modes: int) -> None:
    assert len(compare([1.0] * 5 + [2.0] * seldom, [1.0] * 5 + [2.0] * 5)) == modes


def test_one_value_of_each_is_one_mode() -> None:
    (only,) = compare([3.0], [2.0])
    assert only.ratio == 1.5
    assert only.values == (1, 1)
