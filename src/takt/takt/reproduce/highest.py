# SPDX-License-Identifier: Apache-2.0
"""What the highest values of a few runs tell about the highest of a run.

The highest of a run depends on how many samples it has, and its distribution is skewed: a bootstrap
of it never leaves what was seen. The order of the runs' highest needs no form of the distribution:
with n runs the median highest lies between the kth and the next one with the probability that k of
n tosses of a coin are heads (David and Nagaraja 2003, "Order Statistics", section 7.1). Below the
lowest and above the highest run nothing was seen. There it is taken to be exponentially
distributed, in steps of the mean distance between the runs, as ratios.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Draws = NDArray[np.float64]
Maxima = Sequence[Sequence[float]]  # of each point, the highest of each of its runs
_LEAST = 1e-9  # µs: a highest of 0 has no logarithm


def medians(runs: Sequence[float], draws: int, times: float, rng: np.random.Generator) -> Draws:
    """Where the median highest of a run may be, as draws; of so many times as many runs."""
    known = np.log(np.maximum(np.sort(np.asarray(runs, dtype=np.float64)), _LEAST))
    count = len(known)
    tosses = max(1, round(count * times))
    place = (rng.binomial(tosses, 0.5, draws) + rng.random(draws)) / (tosses + 1) * (count + 1)
    step = (known[-1] - known[0]) / max(1, count - 1)
    found = np.interp(place, np.arange(1, count + 1), known)
    with np.errstate(divide="ignore"):
        found = np.where(place < 1, known[0] + step * np.log(place), found)
        found = np.where(place > count, known[-1] - step * np.log(count + 1 - place), found)
    return np.asarray(np.exp(found))
