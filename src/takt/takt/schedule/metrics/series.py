# SPDX-License-Identifier: Apache-2.0
"""Times of a whole trace, gathered stretch by stretch: eight bytes each."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


class Series:
    """Appends in bulk."""

    def __init__(self) -> None:
        self._parts: list[NDArray[np.int64]] = []

    def extend(self, values: NDArray[Any]) -> None:
        """Copies them: a column would keep its whole table in memory."""
        if len(values):
            self._parts.append(np.array(values, np.int64))

    def all(self) -> NDArray[np.int64]:
        """In the order of their coming."""
        return np.concatenate(self._parts) if self._parts else np.empty(0, np.int64)
