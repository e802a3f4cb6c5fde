# SPDX-License-Identifier: Apache-2.0
"""How many messages each job of a callback published on a topic."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass
class Written:
    """Gathers them piece by piece; a piece may end between two messages of a job."""

    _ended: int = 0  # jobs of which all messages are known
    _least: int = 0  # of these
    _most: int = 0
    _last: int = -1  # the job that may go on in the next piece
    _of_last: int = 0

    def take(self, jobs: NDArray[Any]) -> None:
        """Of each message of a piece, the number of the job that published it."""
        numbers, counts = np.unique(jobs, return_counts=True)
        if numbers[0] == self._last:
            counts[0] += self._of_last
        elif self._of_last:
            self._end(np.array([self._of_last]))
        self._end(counts[:-1])
        self._last, self._of_last = int(numbers[-1]), int(counts[-1])

    def _end(self, counts: NDArray[Any]) -> None:
        if len(counts):
            least = int(counts.min())
            self._least = min(least, self._least) if self._ended else least
            self._most = max(int(counts.max()), self._most)
            self._ended += len(counts)

    @property
    def jobs(self) -> int:
        """Jobs that published at least one."""
        return self._ended + (1 if self._of_last else 0)

    @property
    def range(self) -> tuple[int, int]:
        """The least and the most of one job. The trace may end within the last one."""
        least = self._least if self._ended else self._of_last
        return least, max(self._most, self._of_last)
