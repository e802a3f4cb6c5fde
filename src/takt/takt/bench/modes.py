# SPDX-License-Identifier: Apache-2.0
"""Two programs that have the same modes: each mode is compared with itself.

Where a round trip settles at its start (on which thread of the middleware a message is handed
over) its median has two values, and a ratio of medians tells which mode came up more often, not
which program is slower.
"""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

LEAST_GAP = 1.15  # modes are this far apart at least; what lies closer is scatter
LEAST_VALUES = 2  # of each program in each mode


@dataclass(frozen=True)
class Mode:
    """One mode: medians of both programs in it, and how many of their values lie there."""

    of: float
    to: float
    values: tuple[int, int]

    @property
    def ratio(self) -> float:
        """The first program's median over the second one's."""
        return self.of / self.to


def compare(of: Sequence[float], to: Sequence[float]) -> list[Mode]:
    """The modes that both have, the faster one first: two, or one of all values.

    The values are parted where the widest gap (as a ratio) lies between two that follow each other.
    Where only one of the programs has values on a side, that is a difference between the programs,
    not a mode. All values are above 0; neither sequence is empty.
    """
    values = sorted([*of, *to])
    gap, at = max(
        ((b / a, math.sqrt(a * b)) for a, b in itertools.pairwise(values)),
        default=(1.0, values[0]),
    )
    if gap >= LEAST_GAP:
        sides = [
            ([x for x in of if (x > at) == above], [x for x in to if (x > at) == above])
            for above in (False, True)
        ]
        if all(len(part) >= LEAST_VALUES for side in sides for part in side):
            return [_mode(*side) for side in sides]
    return [_mode(of, to)]


def _mode(of: Sequence[float], to: Sequence[float]) -> Mode:
    return Mode(of=statistics.median(of), to=statistics.median(to), values=(len(of), len(to)))
