# SPDX-License-Identifier: Apache-2.0
"""What a sample says of a generalised Pareto distribution: all shapes and scales, weighted.

The posterior distribution on a grid: the likelihood, times a weak prior of the shape (normal around
0 with :data:`PRIOR_DEVIATION`: tails of latencies are near exponential), the logarithm of the scale
uniform. A point fit would claim too much: with the estimated level, what is rarer than once in all
samples happens several times as often as claimed. The predictive probability averages over what
the parameters may be (Aitchison & Dunsmore 1975, chapter 2); Smith 1999, "Bayesian and frequentist
approaches to parametric predictive inference", shows it for extremes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from takt.statistics import Floats

PRIOR_DEVIATION = 0.3
_SHAPES = np.linspace(-0.99, 0.99, 100)  # none of them 0
_SCALES = np.exp(np.linspace(np.log(0.4), np.log(2.5), 64))  # times what shape and mean ask for
_NODES = 160  # of the interpolation along shape / scale
_NEGLIGIBLE = 1e-7  # of the largest weight
_HALVINGS = 40


@dataclass(frozen=True)
class Posterior:
    """Shapes and scales with their weights, which add up to 1."""

    shape: Floats
    scale: Floats
    weight: Floats

    @property
    def mean_shape(self) -> float:
        """The expected shape."""
        return float(self.shape @ self.weight)

    @property
    def mean_scale(self) -> float:
        """The expected scale."""
        return float(self.scale @ self.weight)

    def survival(self, value: float) -> float:
        """The predictive probability of an excess above this one."""
        stretched = np.maximum(1 + self.shape * value / self.scale, 0)
        with np.errstate(divide="ignore"):  # beyond the end of a tail that has one
            above = np.where(stretched > 0, np.exp(-np.log(stretched) / self.shape), 0.0)
        return float(above @ self.weight)

    def level(self, probability: float) -> float:
        """The excess whose predictive probability this is; 0 for 1."""
        low, high = 0.0, float(self._levels(probability).max())
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            low, high = (middle, high) if self.survival(middle) > probability else (low, middle)
        return high

    def interval(self, probability: float, confidence: float) -> tuple[float, float]:
        """The central interval of the excess that has this probability."""
        levels = self._levels(probability)
        order = np.argsort(levels)
        below = np.cumsum(self.weight[order])
        outside = (1 - confidence) / 2
        found = np.searchsorted(below, [outside, 1 - outside])
        low, high = levels[order][np.minimum(found, len(levels) - 1)].tolist()
        return low, high

    def _levels(self, probability: float) -> Floats:
        """By each shape and scale."""
        grown: Floats = np.expm1(-self.shape * np.log(probability)) / self.shape
        return self.scale * grown


def posterior(beyond: Floats, independent: float = 1.0) -> Posterior:
    """From excesses above a threshold, of which this share counts as independent."""
    mean = float(beyond.mean())
    shape = _SHAPES[:, None]
    scale = np.maximum(mean * (1 - shape), 0.05 * mean) * _SCALES[None, :]
    sums = _sum_of_logarithms(beyond, shape / scale)
    likelihood = -len(beyond) * np.log(scale) - (1 + 1 / shape) * sums
    density = independent * likelihood - 0.5 * (shape / PRIOR_DEVIATION) ** 2
    density = np.where(np.isfinite(density), density, -np.inf)
    weight = np.exp(density - density.max())
    kept = weight > _NEGLIGIBLE
    weights = weight[kept] / weight[kept].sum()
    return Posterior(np.broadcast_to(shape, weight.shape)[kept], scale[kept], weights)


def _sum_of_logarithms(beyond: Floats, ratio: Floats) -> Floats:
    """Sums of log(1 + ratio * x), over a grid of ratios; not finite where x is beyond the end.

    Interpolated between nodes that get denser towards the end, as a quotient that is smooth at 0;
    the largest x, whose logarithm has no bound, is added exactly.
    """
    largest = float(beyond.max())
    last = -1 / largest
    most = float(ratio.max())
    towards_end = last * (1 - np.geomspace(1e-6, 1, _NODES // 2))
    nodes = np.concatenate([towards_end[:-1], [-1e-9 / largest], np.geomspace(1e-4, 1, _NODES // 2)
                            * most])  # fmt: skip
    others = np.delete(beyond, int(beyond.argmax()))
    quotients = np.log1p(nodes[:, None] * others[None, :]).sum(axis=1) / nodes
    with np.errstate(divide="ignore", invalid="ignore"):
        exact = np.log1p(np.where(ratio > last, ratio, np.nan) * largest)
    return np.asarray(np.interp(ratio, nodes, quotients) * ratio + exact)


def fitted(beyond: Floats) -> tuple[Floats, Floats]:
    """Shape and scale of each row, by Zhang and Stephens 2009: quick, and without a search."""
    samples = np.sort(np.atleast_2d(beyond), axis=-1)
    number = samples.shape[-1]
    steps = 20 + int(np.sqrt(number))
    quartile = samples[:, int(number / 4 + 0.5) - 1]
    place = np.arange(1, steps + 1)
    ratios = 1 / samples[:, -1:] + (1 - np.sqrt(steps / (place - 0.5))) / (3 * quartile[:, None])
    shapes = np.log1p(-ratios[..., None] * samples[:, None, :]).mean(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        likelihood = number * (np.log(-ratios / shapes) - shapes - 1)
    likelihood = np.where(np.isfinite(likelihood), likelihood, -np.inf)
    weights = np.exp(likelihood - likelihood.max(axis=-1, keepdims=True))
    ratio = (ratios * weights).sum(axis=-1) / weights.sum(axis=-1)
    shape = np.log1p(-ratio[:, None] * samples).mean(axis=-1)
    return shape, -shape / ratio
