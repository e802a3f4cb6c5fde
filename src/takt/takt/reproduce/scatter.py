# SPDX-License-Identifier: Apache-2.0
"""How well a few runs know their own scatter.

Each point adds to the variance of a quantity what leaving out one of its runs after the other tells
(the jackknife, stratified by points). A sum of such variances has the degrees of freedom of
Satterthwaite (1946): those of one point where it decides alone, more where many add alike.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import stats

CONFIDENCE = 0.95


class Missing(Exception):
    """A point that a statement needs was not measured, or does not tell."""


class Order(Protocol):
    """Which runs of a point count, and how often; a numpy Generator draws with replacement."""

    def integers(self, low: int, *, size: int) -> NDArray[np.int64]:
        """Places below ``low``."""


class AllBut:
    """Every run of every point but one of one point; notes how many runs each point has."""

    def __init__(self, point: int = -1, run: int = 0) -> None:
        self.sizes: list[int] = []
        self._point, self._run = point, run

    def integers(self, low: int, *, size: int) -> NDArray[np.int64]:
        """All places, or all but one of the point whose turn it is."""
        places = np.arange(size)
        if len(self.sizes) == self._point:
            places = np.delete(places, self._run)
        self.sizes.append(low)
        return places


def degrees(of: Callable[[Order], NDArray[np.float64]]) -> NDArray[np.float64]:
    """Degrees of freedom of each number of ``of``, from an order of the runs; 1 at least."""
    every = AllBut()
    known = of(every)
    variance, square = np.zeros_like(known), np.zeros_like(known)
    fewest = min((size for size in every.sizes if size > 1), default=2) - 1
    for point, size in enumerate(every.sizes):
        if size < 2:
            continue
        with contextlib.suppress(Missing):
            without = np.array([of(AllBut(point, run)) for run in range(size)])
            own = (size - 1) * without.var(axis=0)
            variance, square = variance + own, square + own**2 / (size - 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = variance**2 / square
    return np.where(square > 0, np.maximum(found, fewest), fewest)


def reach(degrees_of_freedom: NDArray[np.float64], runs: int) -> NDArray[np.float64]:
    """How many times as far from what was found as a bootstrap's draws the truth may be.

    Student's t is wider than the normal distribution; and of n runs, which a draw takes from
    themselves, the variance comes out too small by (n - 1) / n.
    """
    level = (1 + CONFIDENCE) / 2
    wider = stats.t.ppf(level, degrees_of_freedom) / stats.norm.ppf(level)
    return np.asarray(wider * (runs / (runs - 1)) ** 0.5)
