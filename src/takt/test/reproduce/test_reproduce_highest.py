# SPDX-License-Identifier: Apache-2.0
"""The highest value of a run: what a few runs tell of it, and what shorter runs cannot answer."""

from __future__ import annotations

import numpy as np
import pytest

from takt.reproduce.criterion import ALIKE, grown
from takt.reproduce.highest import medians
from takt.reproduce.judgement import judge
from takt.reproduce.model import Answer
from takt.reproduce.quantity import Check, highest
from takt.reproduce.scatter import Order

LONG, SHORT = 60_001, 200
PUBLISHED = {"max_load_us": 300, "max_idle_us": 100}


class Runs:
    """Two points, each with the highest values of its runs."""

    def __init__(self, idle: list[float], load: list[float], samples: int = LONG) -> None:
        self.idle, self.load, self.samples = idle, load, samples

    def drawn(self, order: Order | None) -> Runs:
        if order is None:
            return self
        some = [
            [runs[place] for place in order.integers(len(runs), size=len(runs))]
            for runs in (self.idle, self.load)
        ]
        return Runs(some[0], some[1], self.samples)

    @property
    def runs(self) -> int:
        return min(len(self.idle), len(self.load))

    @property
    def seconds(self) -> float:
        return 60.0 * (len(self.idle) + len(self.load))


QUANTITIES = {
    "max_idle_us": highest("idle", lambda runs: [runs.idle], lambda runs: runs.samples),
    "max_load_us": highest("load", lambda runs: [runs.load], lambda runs: runs.samples),
}
GROWS = Check(grown("max_load_us", "max_idle_us"), QUANTITIES, length=LONG)
HARMLESS = Check(f"max_load_us <= {ALIKE} * max_idle_us", QUANTITIES, length=LONG, too_soon=True)


def judged(check: Check[Runs], runs: Runs) -> Answer:
    return judge(check, PUBLISHED, runs, most_draws=2000)


@pytest.mark.parametrize("count", [3, 5])
@pytest.mark.parametrize("tail", ["exponential", "pareto", "uniform"])
def test_the_median_highest_is_where_its_draws_are_as_often_as_they_say(
    count: int, tail: str
) -> None:
    rng, samples = np.random.default_rng(11), 1000
    draw = {
        "exponential": lambda: 100 + 10 * rng.exponential(size=samples),
        "pareto": lambda: 100 * (1 + rng.pareto(4, samples)),
        "uniform": lambda: rng.uniform(50, 150, samples),
    }[tail]
    truth = float(np.median([draw().max() for _ in range(2000)]))
    inside = 0
    for _ in range(300):
        low, high = np.quantile(
            medians([draw().max() for _ in range(count)], 400, 1.0, rng), [0.025, 0.975]
        )
        inside += low <= truth <= high
    assert inside >= 270  # of 300; 95 % would be 285


def test_the_highest_of_few_runs_leaves_what_they_have_shown() -> None:
    found = medians([100.0, 110.0, 121.0], 4000, 1.0, np.random.default_rng(3))
    beyond = float(np.mean(found > 121)), float(np.mean(found < 100))
    assert beyond == (pytest.approx(1 / 8, abs=0.02), pytest.approx(1 / 8, abs=0.02))
    more = medians([100.0, 110.0, 121.0], 4000, 16.0, np.random.default_rng(3))
    assert more.std() < found.std() / 2


def test_an_effect_is_as_large_as_published_smaller_larger_or_absent() -> None:
    idle = [100.0, 101.0, 99.0, 100.0, 102.0]
    answers = {
        times: judged(GROWS, Runs(idle, [times * one for one in idle]))
        for times in (3.0, 2.5, 2.0, 1.3, 4.5, 1.0, 0.8)
    }
    assert {times: (one.holds, one.effect) for times, one in answers.items()} == {
        3.0: (True, ""),
        2.5: (True, ""),
        2.0: (False, "smaller"),
        1.3: (False, "smaller"),
        4.5: (True, "larger"),
        1.0: (False, ""),
        0.8: (False, ""),
    }
    assert answers[3.0].criterion == (
        "max_load_us > max_idle_us * "
        "(1 + (published_max_load_us / published_max_idle_us - 1) / 1.5)"
    )


def test_shorter_runs_cannot_show_that_the_highest_does_not_grow() -> None:
    idle, load = [100.0, 101.0, 99.0, 100.0, 102.0], [120.0, 121.0, 119.0, 120.0, 122.0]
    for check, of_long in ((GROWS, False), (HARMLESS, True)):
        assert judged(check, Runs(idle, load)).holds is of_long
        short = judged(check, Runs(idle, load, SHORT))
        assert (short.holds, short.effect) == (None, "")
        assert short.needs == (
            "runs of 60\u202f001 samples, as the paper's, because a run's highest grows with its "
            "length; these have 200"
        )


def test_shorter_runs_show_an_effect_and_its_opposite() -> None:
    idle, load = [100.0, 101.0, 99.0, 100.0, 102.0], [400.0, 410.0, 395.0, 405.0, 390.0]
    assert judged(GROWS, Runs(idle, load, SHORT)).holds is True
    assert judged(GROWS, Runs(load, idle, SHORT)).holds is False
    assert judged(HARMLESS, Runs(idle, load, SHORT)).holds is False


def test_two_runs_that_overlap_with_the_threshold_decide_nothing() -> None:
    assert judged(GROWS, Runs([100.0, 130.0], [240.0, 330.0])).holds is None
