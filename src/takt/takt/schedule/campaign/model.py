# SPDX-License-Identifier: Apache-2.0
"""What a campaign asks, its batches, and the columns of its results."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from takt.schedule.application.cores import Core, flat_core
from takt.schedule.generate.blocks import BLOCK
from takt.schedule.generate.space import Space

SCHEMA_VERSION = 1
DEEDS = ("analyse", "simulate", "execute")
BLOCKS_OF_A_BATCH = 5


@dataclass(frozen=True)
class Batch:
    """The unit of work and of resuming: at most 500 applications of one combination."""

    index: int
    combination: int
    first: int  # repetition
    size: int

    @property
    def name(self) -> str:
        """Of its files."""
        return f"cell-{self.index:06}"  # the name that folders of earlier versions have


@dataclass(frozen=True)
class Campaign:
    """What is asked; the same asks for the same."""

    grid: dict[str, Any]  # the document of GRID.json
    space: Space
    repeat: int
    seed: int
    do: tuple[str, ...]
    execution: ExecutionSettings | None = None
    overheads: dict[str, int] | None = None  # ns; None: left out
    cores: dict[int, Core] | None = None  # what each provides; None: all of its time

    def batches(self) -> Iterator[Batch]:
        """All of them, in order."""
        step = BLOCK * BLOCKS_OF_A_BATCH
        index = 0
        for combination in range(len(self.space.combinations)):
            for first in range(0, self.repeat, step):
                yield Batch(index, combination, first, min(step, self.repeat - first))
                index += 1

    def document(self) -> dict[str, Any]:
        """As campaign.json keeps it."""
        asked: dict[str, Any] = {
            "schema_version": SCHEMA_VERSION,
            "grid": self.grid,
            "repeat": self.repeat,
            "seed": self.seed,
            "do": list(self.do),
        }
        if self.overheads is not None:
            asked["overheads"] = self.overheads
        if self.cores is not None:
            asked["cores"] = [flat_core(cpu, one, 1) for cpu, one in self.cores.items()]
        if self.execution:
            asked["execution"] = vars(self.execution) | {
                "approaches": list(self.execution.approaches)
            }
        return asked


@dataclass(frozen=True)
class ExecutionSettings:
    """How applications are executed: as in Krukiewicz-Gacek 2021, section 5.2."""

    approaches: tuple[str, ...] = ("takt",)
    duration_s: float = 30.0  # strict
    executions: int = 5  # of each application


@dataclass
class Totals:
    """The totals of a campaign; None: not asked for, or nothing was there to be counted."""

    sets: int = 0
    accepted: int | None = None
    bound_violations: int | None = None
    misses_in_accepted: int | None = None
    failed: int = 0
    combinations: list[dict[str, Any]] = field(default_factory=list)
    policies: list[dict[str, Any]] = field(default_factory=list)
    executions: dict[str, Any] | None = None


# One row an application. Times in ns.
SETS = pa.schema(
    [
        ("name", pa.string()),
        ("combination", pa.int32()),
        ("repetition", pa.int32()),
        ("nodes", pa.int32()),
        ("utilization_asked", pa.float64()),
        ("utilization", pa.float64()),
        ("policy", pa.string()),
        ("parameters", pa.string()),  # JSON, all of them
        ("accepted", pa.bool_()),  # null: not analysed
        ("jobs", pa.int64()),  # simulated, in all plays
        ("misses", pa.int64()),  # simulated
        ("misses_in_accepted", pa.int64()),  # where every deadline is guaranteed
        ("unbounded", pa.int32()),  # callbacks without a bound of their response time
        ("bound_violations", pa.int32()),  # what is guaranteed and was shown not to hold
        ("tightness", pa.float64()),  # the greatest simulated response / bound
        ("violations", pa.list_(pa.string())),
        ("kinds", pa.list_(pa.string())),  # of the violations
        ("error", pa.string()),
    ]
)

# One row an execution.
EXECUTIONS = pa.schema(
    [
        ("name", pa.string()),
        ("approach", pa.string()),
        ("execution", pa.int32()),  # its number among those of the application
        ("order", pa.int32()),  # when it was executed among the others
        ("status", pa.string()),
        ("executions", pa.int64()),  # of callbacks
        ("misses", pa.int64()),
        ("mean_miss_ratio", pa.float64()),
        ("on_old_data", pa.int64()),
        ("mean_old_data_ratio", pa.float64()),
        ("accepted", pa.bool_()),  # the analysis guarantees every deadline; null: it cannot tell
        ("above_bound", pa.int64()),  # measured responses above their bound; null: it has none
        ("above_stolen", pa.int64()),  # of these: takt explain puts them on stolen CPU time
        ("above_unexplained", pa.int64()),
        ("above_whole", pa.int64()),  # with supplies: above the bounds of whole cores
        ("steal_seconds", pa.float64()),
        ("not_granted", pa.list_(pa.string())),
        ("trace", pa.string()),  # kept where takt explain has something to tell
        ("error", pa.string()),
    ]
)
