# SPDX-License-Identifier: Apache-2.0
"""The random numbers of one application.

They are drawn in bulk, and everything is made of uniform ones here, so that an application does not
depend on how a library chooses from a list.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np

Item = TypeVar("Item")
BULK = 512
HALF = 0.5  # of the callbacks get a property that is given as a range


class Chance:
    """The same seed gives the same numbers."""

    def __init__(self, *seed: int) -> None:
        self._rng = np.random.default_rng(seed)
        self._numbers: list[float] = []

    def real(self, ends: Sequence[float]) -> float:
        """Within a range; one number is a range of itself."""
        return ends[0] + self._next() * (ends[-1] - ends[0])

    def whole(self, ends: Sequence[int]) -> int:
        """The same for whole numbers, both ends included."""
        return ends[0] + int(self._next() * (ends[-1] + 1 - ends[0]))

    def happens(self, share: float = HALF) -> bool:
        """In this share of the cases."""
        return self._next() < share

    def pick(self, items: Sequence[Item]) -> Item:
        """One of them."""
        return items[int(self._next() * len(items))]

    def some(self, items: Sequence[Item], count: int) -> list[Item]:
        """So many different ones, at most all, in random order."""
        left = list(items)
        return [left.pop(int(self._next() * len(left))) for _ in range(min(count, len(left)))]

    def _next(self) -> float:
        if not self._numbers:
            self._numbers = self._rng.random(BULK).tolist()
        return self._numbers.pop()
