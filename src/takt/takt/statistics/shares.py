# SPDX-License-Identifier: Apache-2.0
"""By how much a share of events grew from A to B: an interval that repetitions and bursts widen.

It is the wider of two:

* within repetitions: the exact limits of each share (Clopper & Pearson 1934), for the effective
  number of samples (Korn & Graubard 1998: their number divided by their correlation time),
  combined into limits of the difference (MOVER: Newcombe 1998, Zou & Donner 2008);
* over repetitions: Student's t on the angles asin(sqrt(share)), whose variance does not depend on
  the share (Anscombe 1948). A repetition counts once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import asin, pi, sin, sqrt

import numpy as np
from scipy.stats import beta, t

MOST_REPETITIONS = 1000


@dataclass(frozen=True)
class Counted:
    """``hits`` of ``count`` events of one repetition."""

    hits: int
    count: int
    correlation: float = 1.0  # integrated autocorrelation time, in events


@dataclass(frozen=True)
class Difference:
    """Share in B - share in A, between two limits."""

    value: float
    low: float
    high: float


def share(side: Sequence[Counted]) -> float:
    """The share over all repetitions; 0 without events."""
    count = sum(one.count for one in side)
    return sum(one.hits for one in side) / count if count else 0.0


def difference(
    a: Sequence[Counted], b: Sequence[Counted], chance: float, repetitions: int | None = None
) -> Difference:
    """The limits that hold with probability 1 - ``chance`` each; both sides have events.

    ``repetitions``: as they would be with so many on each side, if all else stays as it is.
    """
    value = share(b) - share(a)
    low, high = _within(a, b, chance, repetitions)
    if len(a) + len(b) > 2:
        below, above = _between(a, b, chance, repetitions)
        low, high = min(low, below), max(high, above)
    return Difference(value, min(low, value), max(high, value))


def least(decides: Callable[[int], bool], first: int) -> int | None:
    """The least number from ``first`` on that ``decides``, within some percent; None: none."""
    high = max(1, first)
    while not decides(high):
        if high >= MOST_REPETITIONS:
            return None
        high = min(MOST_REPETITIONS, high * 2)
    low = max(first, high // 2)
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if decides(middle) else (middle + 1, high)
    return high


def _within(
    a: Sequence[Counted], b: Sequence[Counted], chance: float, repetitions: int | None
) -> tuple[float, float]:
    (pa, la, ua), (pb, lb, ub) = (_limits(side, chance, repetitions) for side in (a, b))
    low = pb - pa - sqrt((pb - lb) ** 2 + (ua - pa) ** 2)
    high = pb - pa + sqrt((ub - pb) ** 2 + (pa - la) ** 2)
    return low, high


def _limits(
    side: Sequence[Counted], chance: float, repetitions: int | None
) -> tuple[float, float, float]:
    """The share with its lower and upper limit."""
    hits = sum(one.hits for one in side)
    effect = sum(one.hits * one.correlation for one in side) / hits if hits else 1.0
    count = sum(one.count for one in side) / max(1.0, effect)
    count *= repetitions / len(side) if repetitions else 1.0
    found = share(side)
    part = found * count
    low = float(beta.ppf(chance, part, count - part + 1)) if part > 0 else 0.0
    high = float(beta.ppf(1 - chance, part + 1, count - part)) if found < 1 else 1.0
    return found, low, high


def _between(
    a: Sequence[Counted], b: Sequence[Counted], chance: float, repetitions: int | None
) -> tuple[float, float]:
    sides = [np.array([_angle(one) for one in side]) for side in (a, b)]
    squares = sum(float(((side - side.mean()) ** 2).sum()) for side in sides)
    variance = squares / (len(a) + len(b) - 2)
    sizes = [repetitions or len(side) for side in sides]
    half = float(t.ppf(1 - chance, sum(sizes) - 2)) * sqrt(
        variance * sum(1 / size for size in sizes)
    )
    before, after = (float(side.mean()) for side in sides)
    low, high = (_share_of(after + sign * half) - _share_of(before) for sign in (-1, 1))
    return low, high


def _angle(one: Counted) -> float:
    return asin(sqrt((one.hits + 3 / 8) / (one.count + 3 / 4)))


def _share_of(angle: float) -> float:
    return sin(min(max(angle, 0.0), pi / 2)) ** 2
