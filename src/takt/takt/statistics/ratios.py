# SPDX-License-Identifier: Apache-2.0
"""By how much a percentile grew from A to B: a ratio, its interval, and what would decide.

A ratio is that of the geometric means of the repetitions' percentiles: a repetition counts once,
however many samples it has, because what changes between repetitions (memory layout, neighbours,
frequency) hits all of its samples alike. Its interval is the wider of two:

* over repetitions: Student's t on the logarithms, with variances steadied over all ratios
  (:mod:`takt.statistics.moderation`);
* within repetitions: the moving-block bootstrap (:mod:`takt.statistics.bootstrap`), all
  that there is where both runs have one repetition only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import norm, t

from takt.statistics import Int64
from takt.statistics.bootstrap import standard_errors
from takt.statistics.growth import Outcome
from takt.statistics.moderation import moderated
from takt.statistics.shares import least

#: Name, share, and how many samples a repetition needs for a say about it.
QUANTILES = {"p50": (0.5, 20), "p99": (0.99, 500)}
ONE_REPETITION = (
    "only one repetition each: the variation between repetitions is unknown and the "
    "interval too narrow; measure at least 3 repetitions"
)


@dataclass(frozen=True)
class Level:
    """A percentile of one repetition."""

    value: float  # > 0, in any unit
    error: float  # standard error of its logarithm


@dataclass(frozen=True)
class Shift:
    """How one percentile changed from A to B."""

    ratio: float
    low: float
    high: float  # infinite where so few repetitions tell nothing at such a confidence


@dataclass(frozen=True)
class Ratio:
    """The logarithm of a ratio before its interval is known."""

    name: str  # in QUANTILES
    repetitions: int  # the more of the two sides
    log_ratio: float
    within: float  # standard error from the bootstrap
    variance: float  # of one repetition, over repetitions
    freedom: int
    per_variance: float  # 1/a + 1/b


@dataclass(frozen=True)
class Growth:
    """A ratio with its interval, held against a threshold."""

    shift: Shift
    outcome: Outcome
    needed: int | None  # repetitions in each run that would decide; None: decided, or unknown


def levels(values: Int64, at: dict[str, float], rng: np.random.Generator) -> dict[str, Level]:
    """The percentiles of a repetition, in recorded order; ``at``: their values, by name."""
    shares = {QUANTILES[name][0]: value for name, value in at.items()}
    errors = standard_errors(values, shares, rng)
    return {name: Level(at[name], error) for name, error in zip(at, errors, strict=True)}


def ratio(name: str, a: Sequence[Level], b: Sequence[Level], repetitions: int = 0) -> Ratio:
    """B / A of one percentile; ``repetitions``: of the longer side, shorter ones included."""
    sides = (a, b)
    logs = [np.log([one.value for one in side]) for side in sides]
    errors = [np.array([one.error for one in side]) for side in sides]
    freedom = sum(len(side) - 1 for side in sides)
    squares = sum(float(((side - side.mean()) ** 2).sum()) for side in logs)
    return Ratio(
        name=name,
        repetitions=max(len(a), len(b), repetitions),
        log_ratio=float(logs[1].mean() - logs[0].mean()),
        within=float(np.sqrt(sum((side**2).sum() / len(side) ** 2 for side in errors))),
        variance=squares / freedom if freedom else 0.0,
        freedom=freedom,
        per_variance=sum(1 / len(side) for side in sides),
    )


def judge(ratios: Sequence[Ratio], threshold: float, chance: float) -> list[Growth]:
    """Give every ratio its interval and outcome, in the same order."""
    steadied = _steadied(ratios)
    return [_grown(one, steadied.get(place), threshold, chance) for place, one in enumerate(ratios)]


def _steadied(ratios: Sequence[Ratio]) -> dict[int, tuple[float, float]]:
    """By place: the variance of a repetition, and the degrees of freedom that others add."""
    found: dict[int, tuple[float, float]] = {}
    for name in QUANTILES:
        repeated = {
            place: one for place, one in enumerate(ratios) if one.name == name and one.freedom
        }
        # What the bootstrap sees within repetitions is a lower bound of what differs between them.
        variances, freedom = moderated(
            np.array([max(one.variance, _per_repetition(one), 1e-12) for one in repeated.values()]),
            np.array([float(one.freedom) for one in repeated.values()]),
        )
        # Steadying may widen an interval or narrow it by certainty, never by a smaller variance:
        # one noisy cell among quiet ones must not borrow their quiet.
        for (place, one), variance, df in zip(repeated.items(), variances, freedom, strict=True):
            found[place] = max(float(variance), one.variance), float(df) - one.freedom
    return found


def _grown(
    one: Ratio, steadied: tuple[float, float] | None, threshold: float, chance: float
) -> Growth:
    half = _half(one, steadied, chance)
    with np.errstate(over="ignore"):
        low, high = np.exp([one.log_ratio - half, one.log_ratio + half])
    shift = Shift(float(np.exp(one.log_ratio)), float(low), float(high))
    outcome, needed = _outcome(shift, threshold), None
    if outcome is Outcome.undecided:
        needed = _needed(one, steadied, threshold, chance)
    return Growth(shift, outcome, needed)


def _outcome(shift: Shift, threshold: float) -> Outcome:
    if shift.low > 1 + threshold:
        return Outcome.regressed
    return Outcome.unchanged if shift.high <= 1 + threshold else Outcome.undecided


def _half(
    one: Ratio,
    steadied: tuple[float, float] | None,
    chance: float,
    repetitions: int | None = None,
) -> float:
    """Half the width of an interval; ``repetitions``: if there were so many in each run.

    ``steadied``: variance of a repetition, and the degrees of freedom that other cells add.
    """
    per_variance = 2 / repetitions if repetitions else one.per_variance
    half = float(norm.ppf(1 - chance)) * float(np.sqrt(_per_repetition(one) * per_variance))
    if steadied is None:
        return half
    variance, more = steadied
    freedom = more + (2 * (repetitions - 1) if repetitions else one.freedom)
    return max(half, float(t.ppf(1 - chance, freedom)) * float(np.sqrt(variance * per_variance)))


def _needed(
    one: Ratio, steadied: tuple[float, float] | None, threshold: float, chance: float
) -> int | None:
    """Repetitions in each run that decide if ratio and variances stay as they are."""
    distance = abs(float(np.log1p(threshold)) - one.log_ratio)
    # The variation between single repetitions is unknown: at least that within them.
    known = steadied or (_per_repetition(one), 0.0)
    first = max(one.repetitions, 2) + 1
    return least(lambda number: _half(one, known, chance, number) <= distance, first)


def _per_repetition(one: Ratio) -> float:
    return one.within**2 / one.per_variance
