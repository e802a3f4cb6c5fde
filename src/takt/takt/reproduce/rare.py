# SPDX-License-Identifier: Apache-2.0
"""How often something rare happens, as far as its number of samples tells.

The bounds are those of Clopper and Pearson (1934). Cases that come together in few runs tell less
than as many that come alone: as many as come together, beyond chance, count as one.
"""

from __future__ import annotations

from collections.abc import Sequence

from scipy import stats

from takt.reproduce.scatter import CONFIDENCE

Counts = tuple[float, float]  # cases, of how many
Strata = Sequence[Sequence[Counts]]  # runs of what may differ: a middleware, a test


def bounds(strata: Strata, times: float = 1.0, chances: int = 1) -> tuple[float, float]:
    """Clopper and Pearson's bounds of a share, half of what CONFIDENCE leaves beyond each.

    That one stratum has more cases than another one is no sign that cases come together. Of so many
    ``chances`` for a bound to be wrong each has its part (Bonferroni).
    """
    cases, of = (times * number / _dispersion(strata) for number in together(flat(strata)))
    level = 1 - (1 - CONFIDENCE) / 2 / chances
    low = stats.beta.ppf(1 - level, cases, of - cases + 1) if cases else 0.0
    high = stats.beta.ppf(level, cases + 1, of - cases) if of > cases else 1.0
    return float(low), float(high)


def highest_bounds(strata: Strata, times: float = 1.0) -> tuple[float, float]:
    """Those of the highest share of several strata.

    The stratum that has it is below its own upper bound, and so below the highest upper bound. That
    some lower bound is above it has as many chances as there are strata.
    """
    lows = [bounds([runs], times, len(strata))[0] for runs in strata]
    return max(lows), max(bounds([runs], times)[1] for runs in strata)


def lowest_bounds(strata: Strata, times: float = 1.0) -> tuple[float, float]:
    """The same of the lowest share."""
    highs = [bounds([runs], times, len(strata))[1] for runs in strata]
    return min(bounds([runs], times)[0] for runs in strata), min(highs)


def _dispersion(strata: Strata) -> float:
    """How many cases of a run come with a case, itself included and those by chance left out."""
    cases, _ = together(flat(strata))
    if not cases:
        return 1.0
    others = by_chance = 0.0
    for runs in strata:
        own, of = together(runs)
        others += sum(one * (one - 1) for one, _ in runs)
        by_chance += sum((own * number / of) ** 2 for _, number in runs) if of else 0.0
    return max(1.0, 1 + (others - by_chance) / cases)


def flat(strata: Strata) -> list[Counts]:
    """The runs of all strata."""
    return [one for runs in strata for one in runs]


def together(runs: Sequence[Counts]) -> Counts:
    """Of all runs."""
    return sum(cases for cases, _ in runs), sum(of for _, of in runs)
