# SPDX-License-Identifier: Apache-2.0
"""Whether data can tell: a claim holds, does not hold, or is undecided, at 95 % confidence.

Samples of one run resemble their neighbours, so they are no independent witnesses. A statistic's
standard error is therefore that of its values over ten consecutive segments of the runs (batch
means: Law & Kelton, Simulation Modeling and Analysis, 9.5.3). Where the same was measured at both
real-time policies, which the thesis finds equal, each is asked for itself: only what both say is
decided, because a machine changes between two runs, too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import takt_core
from numpy.typing import NDArray
from scipy import stats

from takt.reproduce.judgement import Missing

Floats = NDArray[np.float64]
Runs = Sequence[Floats]  # the values of each run or recording, in their order
Holds = bool | None  # None: the data cannot tell

SEGMENTS = 10
CONFIDENCE = 0.95
PUBLISHED_RUN = 2_000_000  # samples of a run of the thesis


@dataclass(frozen=True)
class Effect:
    """A number and how far it may be from the truth."""

    value: float
    low: float
    high: float

    def above(self, limit: float) -> Holds:
        """Whether the truth lies above a limit."""
        return True if self.low > limit else False if self.high < limit else None

    def below(self, limit: float) -> Holds:
        """Whether the truth lies below a limit."""
        return True if self.high < limit else False if self.low > limit else None


def effect(statistic: Callable[..., float], *replicates: Sequence[Runs]) -> Effect:
    """A statistic of one or more groups of runs; each replicate gives all the groups once."""
    bounds = [_bounds(statistic, groups) for groups in replicates]
    pooled = [
        np.concatenate([run for groups in replicates for run in groups[place]])
        for place in range(len(replicates[0]))
    ]
    lows, highs = zip(*bounds, strict=True)
    return Effect(float(statistic(*pooled)), min(lows), max(highs))


def ratio(statistic: Callable[..., float], *replicates: Sequence[Runs]) -> Effect:
    """The same for a ratio, whose error is even on a logarithmic scale."""

    def logarithm(*groups: Floats) -> float:
        value = float(statistic(*groups))
        if not 0 < value < np.inf:
            raise Missing(f"no samples that have a ratio: it is {value:g}")
        return float(np.log(value))

    found = effect(logarithm, *replicates)
    return Effect(*(float(np.exp(one)) for one in (found.value, found.low, found.high)))


def _bounds(statistic: Callable[..., float], groups: Sequence[Runs]) -> tuple[float, float]:
    if any(len(run) < SEGMENTS for runs in groups for run in runs):
        raise Missing(f"no samples enough: a run has fewer than {SEGMENTS}")
    cut = [[np.array_split(run, SEGMENTS) for run in runs] for runs in groups]
    parts = [
        statistic(*(np.concatenate([run[place] for run in runs]) for runs in cut))
        for place in range(SEGMENTS)
    ]
    whole = statistic(*(np.concatenate(runs) for runs in groups))
    error = np.std(parts, ddof=1) / np.sqrt(SEGMENTS)
    reach = float(stats.t.ppf((1 + CONFIDENCE) / 2, SEGMENTS - 1) * error)
    return float(whole) - reach, float(whole) + reach


def every(answers: Sequence[Holds]) -> Holds:
    """Whether all hold; one that does not is enough to refuse."""
    return False if False in answers else None if None in answers else True


def share(times: int, of: int) -> Effect:
    """How often something happens (Clopper & Pearson), each bound at the confidence."""
    if not of:
        raise Missing("no samples")
    value, high = takt_core.exceedance(times, of, CONFIDENCE)
    return Effect(value, 1 - takt_core.exceedance(of - times, of, CONFIDENCE)[1], high)


def seen(times: int, of: int) -> Holds:
    """Whether something rare happens: one time proves it, none in a published run refutes it."""
    return True if times else False if of >= PUBLISHED_RUN else None


def median_within(values: Sequence[float], low: float, high: float) -> Holds:
    """Whether a median lies within limits, by the sign test's interval (needs six values)."""
    ranked = np.sort(values)
    skipped = int(stats.binom.ppf((1 - CONFIDENCE) / 2, len(ranked), 0.5))
    if len(ranked) < 6 or not skipped:
        return None
    least, most = ranked[skipped - 1], ranked[-skipped]
    if most < low or least > high:
        return False
    return True if low <= least and most <= high else None
