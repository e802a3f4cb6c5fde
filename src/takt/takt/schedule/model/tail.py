# SPDX-License-Identifier: Apache-2.0
"""What lies beyond the longest execution that was seen: an estimate, never a worst case.

Peaks over threshold, as `takt.statistics.tails` has it, for the level that one job in so many
exceeds. Bursts of long jobs count for less; the run is taken as typical. A path of the code that
was not taken is in no tail.
"""

from __future__ import annotations

import numpy as np
from pydantic import BaseModel, ConfigDict

from takt.schedule.model.observed import Times
from takt.statistics.tails import Refusal, fit

FARTHER = 10  # so many times rarer than once in all jobs that were seen


class TailEstimate(BaseModel):
    """The execution time that one job in ``once_in_jobs`` exceeds on average; µs.

    The level is predictive: it allows for what the fit does not know, so it lies above the most
    likely one. How often the interval holds the true level: reference/tails.md.
    """

    model_config = ConfigDict(extra="forbid")

    once_in_jobs: int
    level_us: float
    low_us: float  # of the interval that holds the true level with 95 % confidence
    high_us: float
    threshold_us: float
    peaks: int  # jobs above the threshold
    shape: float  # the expected one; below 0 the tail has an end
    p_value: float  # of the goodness of fit


def estimate(execution: Times) -> TailEstimate | str:
    """The estimate from the execution times of all jobs, in ns; or why there is none."""
    if len(execution) and execution.min() == execution.max():
        return "all jobs took the same time"
    values, counts = np.unique(execution, return_counts=True)
    tail = fit(values, counts, width_us=1e-3, series=execution)
    if isinstance(tail, Refusal):
        return tail.reason
    times = FARTHER * tail.count
    low, high = tail.interval(1 / times)
    return TailEstimate(
        once_in_jobs=times,
        level_us=tail.level(1 / times),
        low_us=low,
        high_us=high,
        threshold_us=tail.threshold_us,
        peaks=tail.peaks,
        shape=tail.shape,
        p_value=tail.p_value,
    )
