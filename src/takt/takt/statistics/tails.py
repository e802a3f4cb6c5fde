# SPDX-License-Identifier: Apache-2.0
"""Beyond the largest sample: a generalised Pareto distribution over a high threshold.

Peaks over threshold (Pickands 1975; Coles 2001, chapter 4): above a high enough threshold u, what
exceeds it is distributed as generalised Pareto, so P(X > x) = P(X > u) * G(x - u). Probabilities
and levels are predictive, and the interval is that of the posterior distribution
(`takt.statistics.pareto`); `takt.statistics.coverage` simulates how often the interval holds the
true level. A parametric bootstrap of the Anderson-Darling statistic, which looks at the tail in
particular, refuses a poor fit, because an extrapolation from it would be a guess. Where the order
of the samples is known, bursts count for less: Ferro & Segers 2003 estimate what share of the
peaks is independent.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from takt.statistics import Floats, Int64
from takt.statistics.pareto import Posterior, fitted, posterior

MOST_PEAKS = 400  # enough for a fit, few enough that they are tail
LEAST_PEAKS = 50
LEAST_INDEPENDENT = 20  # of the peaks
LEAST_DISTINCT = 20
TAIL_SHARE = 0.05  # the threshold is never below the 95th percentile
REFUSED_BELOW = 0.05  # p-value of the goodness of fit
HEAVIEST = 0.5  # shape; from here on the variance is infinite, and no extrapolation means anything
LIGHTEST = -0.5  # shape; below it the tail ends at once, and its likelihood has no regular form
FARTHEST = 100  # how many times rarer than one in all samples an extrapolation may be
CONFIDENCE = 0.95
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
    posterior: Posterior = field(repr=False, compare=False)

    def exceedance(self, value_us: float) -> float:
        """The predictive probability of a value above this one, which is above the threshold."""
        return self.posterior.survival(value_us - self.threshold_us) * self.peaks / self.count

    @property
    def rarest(self) -> float:
        """The smallest probability that the fit may be asked for."""
        return 1 / (FARTHEST * self.count)

    def level(self, probability: float) -> float:
        """The value in µs that is exceeded with this predictive probability."""
        return self.threshold_us + self.posterior.level(self._share(probability))

    def interval(self, probability: float) -> tuple[float, float]:
        """The interval that holds the true level with :data:`CONFIDENCE`, if the form holds."""
        low, high = self.posterior.interval(self._share(probability), CONFIDENCE)
        return self.threshold_us + low, self.threshold_us + high

    def _share(self, probability: float) -> float:
        return min(probability * self.count / self.peaks, 1.0)


@dataclass(frozen=True)
class Refusal:
    """Why no tail was fitted."""

    reason: str


def fit(
    value: Int64, count: Int64, *, width_us: float = 1.0, series: Int64 | None = None
) -> Tail | Refusal:
    """Fits the tail of a histogram (ascending, in bins of so many µs), or says why it does not.

    ``series`` holds the same values in the order of time, where that is known.
    """
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
    # Above the next lower sample: from the lowest peak on, that would be an excess of almost 0.
    threshold = float(value[first - 1] + 1) * width_us
    beyond = _spread_out(value[first:], count[first:]) * width_us - threshold
    independent = 1.0 if series is None else extremal_index(series >= value[first])
    if independent * len(beyond) < LEAST_INDEPENDENT:
        return Refusal(
            f"the {len(beyond)} samples above {threshold:g} µs come in bursts: they count as "
            f"{independent * len(beyond):.0f} independent ones, and {LEAST_INDEPENDENT} are needed"
        )
    p_value = goodness_of_fit(beyond)
    if p_value < REFUSED_BELOW:
        return Refusal(
            f"the {len(beyond)} samples above {threshold:g} µs do not follow a generalised "
            f"Pareto distribution (goodness of fit p = {p_value:.3f}): several causes, or "
            "bursts"
        )
    found = posterior(beyond, independent)
    shape = found.mean_shape
    if LIGHTEST < shape < HEAVIEST:
        return Tail(threshold, len(beyond), total, shape, found.mean_scale, p_value, found)
    heavy, light = "is too heavy for an extrapolation", "ends abruptly at the largest samples"
    return Refusal(f"the tail {heavy if shape > 0 else light} (shape {shape:.2f})")


def extremal_index(above: NDArray[np.bool_]) -> float:
    """The share of peaks that are independent: 1 over the mean size of a burst.

    The intervals estimator of Ferro & Segers 2003, equation 5.
    """
    gaps = np.diff(np.nonzero(above)[0]).astype(np.float64)
    if len(gaps) == 0:
        return 1.0
    first, second = (gaps, gaps) if gaps.max() <= 2 else (gaps - 1, gaps - 2)
    return min(1.0, 2 * float(first.sum()) ** 2 / (len(gaps) * float((first * second).sum())))


def goodness_of_fit(beyond: Floats) -> float:
    """The p-value: how many samples of a fitted distribution lie as far from their own fit."""
    shape, scale = fitted(beyond)
    observed = _anderson_darling(beyond, shape, scale)[0]
    draws = np.random.default_rng(_SEED).random((BOOTSTRAPS, len(beyond)))
    drawn = scale[:, None] * np.expm1(-shape[:, None] * np.log(draws)) / shape[:, None]
    worse = int((_anderson_darling(drawn, *fitted(drawn)) >= observed).sum())
    return (worse + 1) / (BOOTSTRAPS + 1)


def _spread_out(value: Int64, count: Int64) -> Floats:
    """The samples of each bin, evenly over its width: where in it they were is not known."""
    values = np.repeat(value.astype(np.float64), count)
    starts = np.repeat(np.cumsum(count) - count, count)
    within = np.arange(len(values)) - starts
    return values + (within + 0.5) / np.repeat(count, count)


def _anderson_darling(samples: Floats, shape: Floats, scale: Floats) -> Floats:
    """The distance of each row from its fit, weighted towards the ends."""
    ascending = np.sort(np.atleast_2d(samples), axis=-1)
    number = ascending.shape[-1]
    stretched = np.maximum(1 + (shape / scale)[:, None] * ascending, 1e-300)
    above = np.clip(np.exp(-np.log(stretched) / shape[:, None]), 1e-12, 1 - 1e-12)
    order = 2 * np.arange(1, number + 1) - 1
    sums = order * (np.log1p(-above) + np.log(above[:, ::-1]))
    return np.asarray(-number - sums.mean(axis=-1))
