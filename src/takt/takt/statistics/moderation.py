# SPDX-License-Identifier: Apache-2.0
"""Variances from few repetitions, steadied by those of the other cells.

Three repetitions tell their own variance badly. Smyth (2004) fits one prior to the variances of
all cells and shrinks each towards it: as much as the cells agree, and not at all where they do not.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq
from scipy.special import digamma, polygamma

from takt.statistics import Floats

CELLS_AT_LEAST = 4


def moderated(variances: Floats, freedom: Floats) -> tuple[Floats, Floats]:
    """Give variances (> 0) and their degrees of freedom (> 0) after shrinkage."""
    if len(variances) < CELLS_AT_LEAST:
        return variances, freedom
    logs = np.log(variances) - digamma(freedom / 2) + np.log(freedom / 2)
    spread = float(np.var(logs, ddof=1) - np.mean(polygamma(1, freedom / 2)))
    whole = float(freedom.sum())  # all cells together know no more than this
    if spread <= 0:  # the cells differ no more than chance makes them
        return np.full_like(variances, np.exp(np.mean(logs))), np.full_like(freedom, whole)
    prior = 2 * float(_inverse_trigamma(spread))
    centre = np.exp(np.mean(logs) + digamma(prior / 2) - np.log(prior / 2))
    posterior = (prior * centre + freedom * variances) / (prior + freedom)
    return posterior, np.minimum(freedom + prior, whole)


def _inverse_trigamma(value: float) -> float:
    """Solve trigamma(x) = value; a value beyond the bounds gives the bound."""
    low, high = 1e-3, 1e6
    if value >= polygamma(1, low):
        return low
    if value <= polygamma(1, high):
        return high
    return float(brentq(lambda x: polygamma(1, x) - value, low, high))
