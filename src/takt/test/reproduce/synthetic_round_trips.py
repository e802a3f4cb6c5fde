# SPDX-License-Identifier: Apache-2.0
"""The tests of Gutiérrez 2018 at their own length, with made-up numbers for each of their runs."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from synthetic_cells import synthetic_run
from synthetic_suites import Synthetic, World

from takt.measure.experiment.faults import Machine
from takt.measure.experiment.file import read_experiment
from takt.measure.experiment.plan import plan
from takt.measure.results.model import Cell, Run
from takt.network.stacks import Capability, Stack, Stacks
from takt.reproduce.evidence import Evidence, Measured
from takt.reproduce.experiment import scaled
from takt.reproduce.gutierrez2018.extent import extent, placed
from takt.reproduce.published import experiment_file, read_published

OTHER = "cyclonedds"
# Which of the paper's middlewares stands for a stack: the second one has misses where any has.
PAPERS = {"rcl": "DDS 2", OTHER: "DDS 1"}
ROWS = {
    (one.paper, one.point["label"]): one.published for one in read_published("gutierrez2018").tables
}
UNPUBLISHED = {
    "5.A": "2.B",
    "own-class": "2.E",
    "own-class-load": "4.A",
}  # and which row is like it


class Installed(Stacks):
    """One middleware without an executable."""

    def __init__(self) -> None:
        super().__init__({"rcl": Path("rcl")})
        capability = Capability(
            kind="pingpong", transport="udp", roles=["pong", "ping"], wire="rtps", dds=True
        )
        self._asked["rcl"] = Stack("rcl", Path("rcl"), [capability])


@cache
def trips(scale: float = 1.0) -> Run:
    """All runs of the experiment as they are planned at a scale, of two middlewares."""
    experiment, source = read_experiment(experiment_file("gutierrez2018"))
    machine = Machine(frozenset({0, 1}), 64 << 30)
    fitted = placed(scaled(experiment, scale, extent), [0, 1], Installed())
    cells = plan(fitted, source, Installed(), machine, 1).cells
    twins = [
        one.model_copy(
            update={"stack": OTHER, "key": f"{OTHER}-{one.key}", "id": f"{OTHER}-{one.id}"}
        )
        for one in cells
    ]
    return synthetic_run("gutierrez2018", cells + twins)


class SyntheticTrips(Synthetic):
    """Evidence whose runs amount to what a world says, with a little scatter between them."""

    @classmethod
    def of_world(cls, world: World, scale: float = 1.0, stack: str = "rcl") -> Evidence:
        own = type("SyntheticOf", (cls,), {"world": staticmethod(world)})
        return own(Measured(trips(scale), Path(), planned=True), stack)  # type: ignore[no-any-return]

    def counts(self, of: Any, *more: object, **asked: Any) -> list[tuple[int, int]]:
        return [self.value(cell, of, *more) for cell in self.cells(**asked)]


def as_published(  # noqa: PLR0911 - a case each
    cell: Cell, of: str, _: tuple[Any, ...]
) -> Any:
    """What the tables say of a run, each quantity by itself."""
    row = ROWS[PAPERS[cell.stack], UNPUBLISHED.get(cell.label, cell.label)]
    values = {name: float(value) for name, value in row.items() if isinstance(value, int)}
    hours = cell.label.startswith("5")
    match of:
        case "p50" | "average":
            return values["avg_us"]
        case "above_average":
            return values["max_us"] - values["avg_us"]
        case "p99" | "highest":
            return values["max_us"]
        case "far_above":
            return 0, int(values["sent"])
        case "sent":
            return values["sent"]
        case "left_out":
            return round(
                (60001 - values["sent"]) * cell.samples_requested / 60001
            ), cell.samples_requested
        case "lost" | "missed" if hours:
            some = of == "lost" and cell.label == "5.B" and cell.repetition < 3
            return int(some), cell.samples_requested
        case "lost" | "missed":
            few = values[of] < 10  # in one run of those that stand for the paper's
            return int(values[of] * (not few or cell.repetition == 0)), int(values["sent"])
    raise AssertionError(of)


def but(**changed: Callable[[Cell], Any]) -> World:
    """As published, but for what some names of runs.py say; each is given the cell."""

    def world(cell: Cell, of: str, more: tuple[Any, ...]) -> Any:
        return changed[of](cell) if of in changed else as_published(cell, of, more)

    return world


def levels(**of_test: float) -> Callable[[Cell], float]:
    """A number of each test, whose names are written ``t1A`` here; of others 1000."""
    return lambda cell: of_test.get("t" + cell.label.replace(".", "").replace("-", "_"), 1000.0)


def cases(test: str, number: float, repetitions: int = 99) -> Callable[[Cell], tuple[int, int]]:
    """So many cases in each of the first runs of a test; below 1 it is a share; else none."""

    def of(cell: Cell) -> tuple[int, int]:
        wanted = cell.label == test and cell.repetition < repetitions
        here = number if number >= 1 else round(number * cell.samples_requested)
        return (int(here) if wanted else 0), cell.samples_requested

    return of
