# SPDX-License-Identifier: Apache-2.0
"""How often something rare happens, as far as its number of samples tells.

The bounds are those of Clopper and Pearson (1934). Cases that come together in few runs tell less
than as many that come alone: as many as come together, beyond chance, count as one.
"""

from __future__ import annotations

from collections.abc import Sequence

from scipy import stats

from takt.reproduce.scatter import CONFIDENCE

Counts = tuple[int, int]  # cases, of how many


def bounds(runs: Sequence[Counts], times: float = 1.0) -> tuple[float, float]:
    """Clopper and Pearson's bounds of a share, half of what CONFIDENCE leaves beyond each."""
    cases, of = (times * number / _dispersion(runs) for number in together(runs))
    level = (1 + CONFIDENCE) / 2
    low = stats.beta.ppf(1 - level, cases, of - cases + 1) if cases else 0.0
    high = stats.beta.ppf(level, cases + 1, of - cases) if of > cases else 1.0
    return float(low), float(high)


def _dispersion(runs: Sequence[Counts]) -> float:
    """How many cases of a run come with a case, itself included and those by chance left out."""
    cases, of = together(runs)
    if not cases:
        return 1.0
    others = sum(one * (one - 1) for one, _ in runs)
    by_chance = sum((cases * number / of) ** 2 for _, number in runs)
    return max(1.0, 1 + (others - by_chance) / cases)


def together(runs: Sequence[Counts]) -> Counts:
    """Of all runs."""
    return sum(cases for cases, _ in runs), sum(of for _, of in runs)
