# SPDX-License-Identifier: Apache-2.0
"""The suites of Sticha 2014 at their own length, with made-up numbers for each of their runs."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from synthetic_cells import synthetic_run

from takt.measure.experiment.faults import Machine
from takt.measure.experiment.file import read_experiment
from takt.measure.experiment.plan import plan
from takt.measure.results.model import Cell, Run
from takt.network.stacks import Capability, Stack, Stacks
from takt.reproduce.evidence import Evidence
from takt.reproduce.experiment import scaled
from takt.reproduce.published import experiment_file, read_published
from takt.reproduce.sticha2014 import BARE_CHECKS, CHECKS
from takt.reproduce.sticha2014.evidence import Measured

# What a run amounts to: a number, or cases of how many, for a name of runs.py and what it is asked.
World = Callable[[Cell, str, tuple[Any, ...]], Any]
SCATTER = (-0.01, 0.01, 0.005, -0.005, 0.002, 0.0)
EVERY = {**CHECKS, **BARE_CHECKS}
PUBLISHED = read_published("sticha2014")
# What the samples of a small scale cannot decide.
RARE = {
    "oneshot-ignored-without-rt", "oneshot-reported-peak", "oneshot-reported-drifts-without-rt",
    "oneshot-400us", "nanosleep-50us", "cyclic-two-clusters", "cyclic-400us", "pubsub-1600us",
    "pubsub-1400us", "pubsub-500us-one-subscriber",
}  # fmt: skip


class Installed(Stacks):
    """The stacks of the thesis without executables."""

    def __init__(self) -> None:
        super().__init__({name: Path(name) for name in ("rcl", "raw", "cyclictest")})
        asked = {
            "rcl": {
                "timer-oneshot": ["rcl_timer"],
                "timer-cyclic": ["rcl_timer", "executor"],
                "pubsub": ["shm"],
            },
            "raw": {"wakeup": ["nanosleep"], "timer-oneshot": ["nanosleep", "timerfd", "futex"]},
            "cyclictest": {"wakeup": ["nanosleep"]},
        }
        for stack, kinds in asked.items():
            capabilities = [
                Capability(
                    kind=kind,
                    transport=transport,
                    roles=["subscriber", "publisher"] if kind == "pubsub" else ["both"],
                )
                for kind, transports in kinds.items()
                for transport in transports
            ]
            self._asked[stack] = Stack(stack, Path(stack), capabilities)


@cache
def suites(scale: float = 1.0) -> Run:
    """All runs of the experiment as they are planned at a scale."""
    experiment, source = read_experiment(experiment_file("sticha2014"))
    machine = Machine(frozenset({0, 1}), 64 << 30)
    cells = plan(scaled(experiment, scale), source, Installed(), machine, 1).cells
    return synthetic_run("sticha2014", cells)


class Synthetic(Evidence):
    """Evidence whose runs amount to what a world says, with a little scatter between them."""

    world: World

    @classmethod
    def of_world(cls, world: World, scale: float = 1.0, stack: str = "rcl") -> Evidence:
        own = type("SyntheticOf", (cls,), {"world": staticmethod(world)})
        return own(Measured(suites(scale), Path(), planned=True), stack)  # type: ignore[no-any-return]

    def value(self, cell: Cell, of: Any, *more: object) -> Any:
        found = type(self).world(cell, of.__name__, more)
        if isinstance(found, tuple):
            return found
        return found * (1 + SCATTER[cell.repetition % len(SCATTER)])


def rates(cell: Cell) -> tuple[int, bool]:
    """The period in µs, and whether the priority is a real-time one."""
    return int(cell.period_us), cell.scheduling != "other"


def as_published(  # noqa: PLR0911 - a case each
    cell: Cell, of: str, more: tuple[Any, ...]
) -> Any:
    """What the thesis says of a run, or what fits between two runs that it speaks of."""
    period, realtime = rates(cell)
    count = cell.samples_requested * cell.subscribers
    wide = 1.0 if realtime else 5.0
    match of:
        case "p50":
            one_shot = {800: 300, 1000: 100, 10_000: 150}
            talk = {1000: 203, 10_000: 224}
            return (one_shot if cell.kind == "timer-oneshot" else talk)[period] * wide
        case "p99":
            return 40.0 if cell.kind == "wakeup" else 177.0
        case "width":
            cyclic = {1000: 1000, 10_000: 1000, 500: 1500, 200: 4000}
            talk_width = 200 if cell.subscribers == 1 else 500
            own = {"timer-cyclic": cyclic.get(period, 0), "pubsub": talk_width}
            return own.get(cell.kind, 120) * wide
        case "positive_p50":
            return {1000: 100, 10_000: 150}[period]
        case "within":
            return round(0.12 * count), count
        case "beyond" if cell.kind == "timer-oneshot":
            first = (cell.scheduling, period, cell.load, cell.repetition) == ("rr", 1000, "idle", 0)
            return int(first), count  # one in all of them
        case "outside" | "beyond" | "beyond_with_first" | "passed_over":
            return 0, count
        case "never_fired":
            return (0 if realtime else 5), count
        case "differences_from":
            return (0 if realtime else 1000), count
        case "first_above":
            return cell.subscribers, cell.subscribers
    return {
        "mean_difference": 9,
        "first_jitter": (-9900, -4000)[more[0]] if more else 0,
        "jitter_deviation": 300,
        "rate_error": 1e-6,
        "peaks_place": 0.5,
        "peaks_distance": 0.25,
        "first_message": 538,
        "time_slice": 100,
        "hung": (1, 1),
    }[of]


def the_other_way_round(  # noqa: PLR0911 - a case each
    cell: Cell, of: str, _: tuple[Any, ...]
) -> Any:
    """What is late there is early here, what grows shrinks, what never happens does."""
    period, realtime = rates(cell)
    count = cell.samples_requested * cell.subscribers
    unlike = 1.15 if cell.repetition % 2 else 1.0  # no run is like another one
    fifo = 3.0 if cell.scheduling == "fifo" else 1.0
    match of:
        case "p50":
            one_shot = {800: 50, 1000: 400, 10_000: 100}
            talk = {1000: 900, 10_000: 200}
            return (one_shot if cell.kind == "timer-oneshot" else talk)[period] * unlike * fifo
        case "p99":
            return 4000.0 if cell.kind == "wakeup" else 177.0
        case "width":
            cyclic = {1000: 1000, 10_000: 1000, 500: 400, 200: 200}
            talk_width = 500 if cell.subscribers == 1 else 200
            own = {"timer-cyclic": cyclic.get(period, 0), "pubsub": talk_width}
            return own.get(cell.kind, 120) * unlike * (1 if realtime else 0.3)
        case "positive_p50":
            return {1000: 150, 10_000: 100}[period]
        case "within":
            return 0, count
        case "outside" | "beyond" | "beyond_with_first" | "passed_over":
            return count // 100, count
        case "never_fired":
            return (100 if realtime else 0), count
        case "differences_from":
            return (1000 if realtime else 0), count
        case "first_above":
            return 0, cell.subscribers
    return {
        "mean_difference": 300,
        "first_jitter": 10,
        "jitter_deviation": 300 * fifo,
        "rate_error": 0.1,
        "peaks_place": 0.05,
        "peaks_distance": 0.45,
        "first_message": 100,
        "time_slice": 10,
        "hung": (0, 1),
    }[of]


def but(**changed: Callable[..., Any]) -> World:
    """As published, but for what some names of runs.py say; each is given the cell."""

    def world(cell: Cell, of: str, more: tuple[Any, ...]) -> Any:
        return changed[of](cell) if of in changed else as_published(cell, of, more)

    return world


def cases(number: float, wanted: Callable[[Cell], bool] = lambda _: True) -> Callable[[Cell], Any]:
    """So many cases in each run that is wanted, none in others; a number below 1 is a share."""

    def of(cell: Cell) -> tuple[int, int]:
        count = cell.samples_requested * cell.subscribers
        here = number if number >= 1 else round(number * count)
        return (int(here) if wanted(cell) else 0), count

    return of


def levels(level: Callable[[Cell], float]) -> Callable[[Cell], Any]:
    """A number of each run."""
    return lambda cell: float(np.float64(level(cell)))
