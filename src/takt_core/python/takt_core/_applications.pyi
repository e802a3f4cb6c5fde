# SPDX-License-Identifier: Apache-2.0
from collections.abc import Callable, Sequence
from enum import Enum, IntEnum
from typing import Any, TypeAlias, final

import numpy as np
import numpy.typing as npt

_Int64Array: TypeAlias = npt.NDArray[np.int64]
_Table: TypeAlias = dict[str, npt.NDArray[Any]]

NO_DEADLINE: int
NO_TASK: int
NOT_RECORDED: int

class Error(ValueError):
    where: str
    problem: str
    fix: str
    path: str

def analyse(
    json: str,
    sensitivity: bool = True,
    proposals: bool = True,
    progress: Callable[[int, int], object] | None = None,
) -> dict[str, Any]: ...
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

@final
class DeclaredCallback:
    @property
    def name(self) -> str: ...
    @property
    def node(self) -> str: ...
    @property
    def timer(self) -> bool: ...
    @property
    def period(self) -> int: ...
    @property
    def offset(self) -> int: ...
    @property
    def active(self) -> bool: ...
    @property
    def group(self) -> str: ...
    @property
    def locks(self) -> list[str]: ...
    @property
    def suspension(self) -> int: ...
    @property
    def calls(self) -> bool: ...
    @property
    def worst(self) -> int: ...
    @property
    def worst_in(self) -> dict[str, int]: ...
    @property
    def overhead(self) -> int: ...
    @property
    def reads(self) -> dict[str, int]: ...

@final
class DeclaredChain:
    @property
    def name(self) -> str: ...
    @property
    def callbacks(self) -> list[str]: ...
    @property
    def max_latency(self) -> int: ...

@final
class Declared:
    @property
    def name(self) -> str: ...
    @property
    def scenario(self) -> str: ...
    @property
    def callbacks(self) -> list[DeclaredCallback]: ...
    @property
    def chains(self) -> list[DeclaredChain]: ...
    @property
    def switches(self) -> bool: ...
    @property
    def overheads(self) -> bool: ...

class Threads(Enum):
    none = 0
    drivers = 1
    all = 2

def declared(json: str, scenarios: bool = True, threads: Threads = ...) -> Declared: ...
def node_priorities(json: str) -> dict[str, int]: ...
def topics_of_scenarios(json: str) -> dict[str, tuple[list[str], list[str]]]: ...

class EventType(IntEnum):
    piece_of_name = 1
    release = 2
    skip = 3
    start = 4
    preempt = 5
    resume = 6
    end = 7
    deadline_miss = 8
    deliver = 9
    age_violation = 10
    budget_overrun = 11
    early_release = 12
    scenario = 13
    overflow = 14
    publish = 15
    use = 16
    stolen = 17
    dispatch = 18
    wait = 19
    boost = 20
    lock_wait = 21
    lock = 22

@final
class Trace:
    def __init__(self, path: str, block: int = 65536) -> None: ...
    @property
    def source(self) -> str: ...
    @property
    def closed_in_order(self) -> bool: ...
    @property
    def lost(self) -> int: ...
    @property
    def write_error(self) -> int: ...
    @property
    def realtime_offset_ns(self) -> int: ...
    @property
    def tasks(self) -> dict[int, str]: ...
    @property
    def topics(self) -> dict[int, str]: ...
    @property
    def scenarios(self) -> dict[int, str]: ...
    @property
    def attributes(self) -> list[str]: ...
    @property
    def events(self) -> int: ...
    @property
    def unknown(self) -> int: ...

@final
class Step:
    @property
    def events(self) -> _Table: ...
    @property
    def jobs(self) -> _Table: ...
    @property
    def unfinished(self) -> _Table: ...
    @property
    def slices(self) -> _Table: ...
    @property
    def uses(self) -> _Table: ...
    @property
    def arrivals(self) -> _Table: ...
    @property
    def handovers(self) -> _Int64Array: ...
    @property
    def settled(self) -> int: ...

@final
class Replay:
    def __init__(
        self,
        trace: Trace,
        chains: Sequence[Sequence[str]] = (),
        joins: Sequence[Sequence[str]] = (),
    ) -> None: ...
    def step(self) -> Step | None: ...
    @property
    def not_nested(self) -> int: ...
    @property
    def executions(self) -> dict[int, tuple[int, int]]: ...
