# SPDX-License-Identifier: Apache-2.0
"""Statistics of plain arrays, of latencies and execution times alike: what both flows compute."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Int64 = NDArray[np.int64]
Floats = NDArray[np.float64]
