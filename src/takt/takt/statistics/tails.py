# SPDX-License-Identifier: Apache-2.0
"""Beyond the largest sample: a generalised Pareto distribution over a high threshold.

Peaks over threshold (Pickands 1975; Coles 2001, chapter 4): above a high enough threshold u, what
exceeds it is distributed as generalised Pareto, so P(X > x) = P(X > u) * G(x - u). The fit is by
maximum likelihood (scipy). How good it is says a parametric bootstrap of the Anderson-Darling
statistic, which looks at the tail in particular; a poor fit is refused, because an extrapolation
from it would be a guess. It takes exceedances as independent; bursts make the truth less certain.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.stats import genpareto

from takt.statistics import Floats, Int64

MOST_PEAKS = 400  # enough for a fit, few enough that they are tail
LEAST_PEAKS = 50
LEAST_DISTINCT = 20
TAIL_SHARE = 0.05  # the threshold is never below the 95th percentile
REFUSED_BELOW = 0.05  # p-value of the goodness of fit
HEAVIEST = 0.5  # shape; from here on the variance is infinite, and no extrapolation means anything
FARTHEST = 100  # how many times rarer than one in all samples an extrapolation may be
BOOTSTRAPS = 99
_SEED = 2014


@dataclass(frozen=True)
class Tail:
    """A fitted tail in µs."""

    threshold_us: float
    peaks: int  # samples above the threshold
    count: int  # all samples
    shape: float  # xi: below 0 the tail has an end, above 0 it is heavier than exponential
    scale_us: float
    p_value: float  # of the goodness of fit: the larger, the better
    # Shape and scale of fits to samples that were drawn from this one: how certain it is.
    refits: tuple[tuple[float, float], ...] = field(default=(), repr=False, compare=False)

    def exceedance(self, value_us: float) -> float:
        """The estimated probability of a value above this one; it must lie above the threshold."""
        above = genpareto.sf(value_us - self.threshold_us, self.shape, scale=self.scale_us)
        return float(above) * self.peaks / self.count

    @property
    def rarest(self) -> float:
        """The smallest probability that the fit may be asked for."""
        return 1 / (FARTHEST * self.count)

    def level(self, probability: float) -> float:
        """The value in µs that is exceeded with this probability; below the threshold's own."""
        return self._level(probability, self.shape, self.scale_us)

    def interval(self, probability: float) -> tuple[float, float]:
        """The interval of 95 % of that level, by parametric bootstrap, as far as the form holds."""
        levels = [self._level(probability, shape, scale) for shape, scale in self.refits]
        low, high = np.quantile(levels, [0.025, 0.975]).tolist()
        return low, high

    def _level(self, probability: float, shape: float, scale: float) -> float:
        share = probability * self.count / self.peaks
        return self.threshold_us + float(genpareto.isf(min(share, 1.0), shape, scale=scale))


@dataclass(frozen=True)
class Refusal:
    """Why no tail was fitted."""

    reason: str


def fit(value: Int64, count: Int64, *, width_us: float = 1.0) -> Tail | Refusal:
    """Fits the tail of a histogram (ascending, in bins of so many µs), or says why it does not."""
    total = int(count.sum())
    peaks = min(MOST_PEAKS, int(total * TAIL_SHARE))
    if peaks < LEAST_PEAKS:
        least = round(LEAST_PEAKS / TAIL_SHARE)
        return Refusal(f"{total} samples are too few; at least {least} are needed")
    above = np.cumsum(count[::-1])[::-1]  # samples in this bin or a higher one
    (high,) = np.nonzero(above <= peaks)
    if len(high) < LEAST_DISTINCT or int(above[high[0]]) < LEAST_PEAKS:
        return Refusal("the highest samples have too few distinct values for a fit")
    first = int(high[0])
    threshold = float(value[first]) * width_us
    beyond = _spread_out(value[first:], count[first:]) * width_us - threshold
    shape, scale = _fitted(beyond)
    observed = _anderson_darling(beyond, shape, scale)
    rng = np.random.default_rng(_SEED)
    worse, refits = 0, []
    for _ in range(BOOTSTRAPS):
        drawn = np.sort(genpareto.rvs(shape, scale=scale, size=len(beyond), random_state=rng))
        refits.append(_fitted(drawn))
        worse += _anderson_darling(drawn, *refits[-1]) >= observed
    p_value = (worse + 1) / (BOOTSTRAPS + 1)
    if p_value < REFUSED_BELOW:
        return Refusal(
            f"the {len(beyond)} samples above {threshold:g} µs do not follow a generalised "
            f"Pareto distribution (goodness of fit p = {p_value:.3f}): several causes, or "
            "bursts"
        )
    if shape >= HEAVIEST:
        return Refusal(f"the tail is too heavy for an extrapolation (shape {shape:.2f})")
    return Tail(threshold, len(beyond), total, shape, scale, p_value, tuple(refits))


def _spread_out(value: Int64, count: Int64) -> Floats:
    """The samples of each bin, evenly over its width: where in it they were is not known."""
    values = np.repeat(value.astype(np.float64), count)
    starts = np.repeat(np.cumsum(count) - count, count)
    within = np.arange(len(values)) - starts
    return values + (within + 0.5) / np.repeat(count, count)


def _fitted(beyond: Floats) -> tuple[float, float]:
    """Shape and scale by maximum likelihood, from Hosking and Wallis's (1987) moments on."""
    mean, variance = float(beyond.mean()), float(beyond.var()) or 1e-12
    ratio = mean * mean / variance
    start = (0.5 * (1 - ratio), 0.5 * mean * (ratio + 1))
    shape, _, scale = genpareto.fit(beyond, start[0], scale=start[1], floc=0)
    return float(shape), float(scale)


def _anderson_darling(ascending: Floats, shape: float, scale: float) -> float:
    """The distance of a sample from its fit, weighted towards the ends."""
    number = len(ascending)
    below = np.clip(genpareto.cdf(ascending, shape, scale=scale), 1e-12, 1 - 1e-12)
    order = 2 * np.arange(1, number + 1) - 1
    return float(-number - (order * (np.log(below) + np.log1p(-below[::-1]))).mean())
