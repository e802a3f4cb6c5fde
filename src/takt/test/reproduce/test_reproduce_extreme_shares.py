# SPDX-License-Identifier: Apache-2.0
"""The highest and the lowest share over several applications: bounds of their numbers of cases."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from synthetic_executions import as_published, executed

from takt.reproduce.judgement import judge
from takt.reproduce.krukiewicz2021.evidence import Evidence
from takt.reproduce.krukiewicz2021.findings import CHECKS
from takt.reproduce.rare import Strata, bounds, highest_bounds, lowest_bounds
from takt.reproduce.scatter import CONFIDENCE

Bounds = Callable[[Strata], tuple[float, float]]


@pytest.mark.parametrize("shares", [(0.02,) * 6, (0.001, 0.02, 0.3), (0.4, 0.5)])
@pytest.mark.parametrize(("of", "extreme"), [(highest_bounds, max), (lowest_bounds, min)])
def test_bounds_cover_the_extreme_share_as_often_as_they_say(
    of: Bounds, extreme: Callable[[tuple[float, ...]], float], shares: tuple[float, ...]
) -> None:
    rng, worlds = np.random.default_rng(5), 150
    covered = 0
    for _ in range(worlds):
        strata = [[(int(rng.binomial(400, one)), 400) for _ in range(3)] for one in shares]
        low, high = of(strata)
        assert low <= high
        covered += low <= extreme(shares) <= high
    assert covered >= CONFIDENCE * worlds - 3 * (worlds * CONFIDENCE * (1 - CONFIDENCE)) ** 0.5


def test_of_one_application_both_are_the_bounds_of_its_share() -> None:
    runs = [(3, 500), (5, 500)]
    assert highest_bounds([runs]) == lowest_bounds([runs]) == bounds([runs])


def test_more_applications_make_a_lower_bound_of_the_highest_less_certain() -> None:
    one = [(30, 500), (28, 500)]
    low, high = highest_bounds([one])
    lower, as_high = highest_bounds([one] * 8)
    assert lower < low
    assert as_high == high


@pytest.mark.parametrize(("executions", "holds"), [(50, None), (20_000, True)])
def test_no_miss_in_few_executions_does_not_show_that_misses_are_rare(
    executions: int, holds: bool | None
) -> None:
    done = {
        point: [
            run.model_copy(
                update={
                    "callbacks": [
                        one.model_copy(update={"executions": executions}) for one in run.callbacks
                    ]
                }
            )
            for run in runs
        ]
        for point, runs in executed(as_published).items()
    }
    answer = judge(CHECKS["misses-none-at-half"], {}, Evidence(done, []), most_draws=50)
    assert answer.measured == {"highest": 0.0}
    assert answer.holds is holds
    assert ("samples" in answer.needs) == (holds is None)
