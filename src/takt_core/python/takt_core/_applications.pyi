# SPDX-License-Identifier: Apache-2.0
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

_Int64Array: TypeAlias = npt.NDArray[np.int64]

def analyse(json: str, sensitivity: bool = True, proposals: bool = True) -> dict[str, Any]: ...
def analyse_many(documents: Sequence[str]) -> list[bool]: ...
def analyse_sets(
    policy: str,
    first: _Int64Array,
    period: _Int64Array,
    deadline: _Int64Array,
    wcet: _Int64Array,
    priority: _Int64Array,
) -> npt.NDArray[np.uint8]: ...
def simulate(
    json: str,
    duration_ns: int = 0,
    seed: int = 1,
    execution: str = "worst",
    trace: str = "",
    percentiles: bool = True,
    progress: Callable[[float], bool] | None = None,
) -> dict[str, Any]: ...
def simulate_many(
    documents: Sequence[str],
    duration_ns: int = 0,
    seed: int = 1,
    execution: str = "worst",
    percentiles: bool = False,
) -> list[dict[str, Any]]: ...
def hyperperiod(json: str) -> int | None: ...
