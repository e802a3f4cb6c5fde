# SPDX-License-Identifier: Apache-2.0
"""The arrival curve of messages from outside: their period, and how many come at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from takt.schedule.model.observed import Times

MOST = 50  # at once
ENOUGH = 0.9  # of the mean distance: with a larger burst the period would hardly be longer


@dataclass(frozen=True)
class Curve:
    """At most t / period + burst messages in any time t; times in ns."""

    period: int
    burst: int
    mean: float


def curve(moments: Times, resumed: Times) -> Curve | None:
    """The curve that all of them keep, in ascending order; None: they show no distance.

    `resumed`: when the recording went on after a pause. What came meanwhile is not known, so no
    distance is across a pause. The burst is the smallest with which the period is near the mean
    distance, and the period the longest with this burst.
    """
    stretches = [
        one for one in np.split(moments, np.searchsorted(moments, resumed)) if len(one) > 1
    ]
    count = sum(len(one) - 1 for one in stretches)
    span = sum(int(one[-1] - one[0]) for one in stretches)
    if not span:
        return None
    burst = min(MOST, _burst(stretches, max(1, int(ENOUGH * span / count))))
    low, high = 0, span + 1  # it is kept with a period of `low`, and not with `high`
    while high - low > 1:
        period = (low + high) // 2
        low, high = (period, high) if _burst(stretches, period) <= burst else (low, period)
    return Curve(low, burst, span / count) if low else None


def _burst(stretches: list[Times], period: int) -> int:
    """The smallest burst: message j comes at least (j - i + 1 - burst) periods after message i."""
    early = 0
    for one in stretches:
        late = (one - one[0]) - period * np.arange(len(one), dtype=np.int64)
        early = max(early, int((np.maximum.accumulate(late) - late).max()))
    return -(-early // period) + 1
