# SPDX-License-Identifier: Apache-2.0
"""The measurements of Ye 2023 at their own length, with made-up numbers for each of their runs."""

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
from takt.reproduce.published import experiment_file
from takt.reproduce.ye2023.extent import placed, scaled
from takt.reproduce.ye2023.quantities import KIB, MIB

EVERY_STACK = ("rcl", "ros1", "cyclonedds", "rustdds", "raw", "cyclictest", "rclcpp", "ethercat")
POINTERS = ("unique_ptr", "shared_ptr", "const_ref")
QUALITY: dict[str, Any] = {
    "contents": ["bytes", "string"],
    "durabilities": ["volatile", "transient_local"],
    "histories": ["keep_last", "keep_all"],
}
TWO = ["subscriber", "publisher"]


class Installed(Stacks):
    """Stacks without executables; ``most`` is the largest message of RustDDS."""

    def __init__(self, names: tuple[str, ...] = EVERY_STACK, most: int | None = None) -> None:
        super().__init__({name: Path(name) for name in names})
        ways = {
            "rcl": [
                ("pubsub", "shm", TWO),
                ("pubsub", "process", ["both"]),
                ("pubsub", "loan", ["both"]),
                *(("pubsub", way, ["both"]) for way in POINTERS),
            ],
            "rclcpp": [("pubsub", way, ["both"]) for way in POINTERS],
            "ros1": [("pubsub", "tcpros", TWO)],
            "cyclonedds": [("pubsub", "udp", TWO)],
            "rustdds": [("pubsub", "udp", TWO)],
            "raw": [("wakeup", "nanosleep", ["both"]), ("timer-cyclic", "nanosleep", ["both"])],
            "cyclictest": [("wakeup", "nanosleep", ["both"])],
            "ethercat": [("ethercat", "simulated", ["both"])],
        }
        for name in names:
            limit = most if name == "rustdds" else None
            capabilities = [
                Capability(
                    kind=kind,
                    transport=way,
                    roles=roles,
                    max_payload_bytes=limit,
                    threads=name == "cyclictest",
                    **QUALITY,
                )
                for kind, way, roles in ways[name]
            ]
            self._asked[name] = Stack(name, Path(name), capabilities)


@cache
def planned(scale: float = 1.0, names: tuple[str, ...] = EVERY_STACK) -> Run:
    """All runs of the experiment as they are planned at a scale."""
    experiment, source = read_experiment(experiment_file("ye2023"))
    there = Installed(names)
    fitted = placed(scaled(experiment, scale), there)
    cells = plan(fitted, source, there, Machine(frozenset({0, 1}), 64 << 30), 1).cells
    return synthetic_run("ye2023", cells)


def under(kernel: str, scale: float = 1.0) -> Run:
    """The same with a kernel."""
    return planned(scale).model_copy(update={"machine": {"preemption": kernel}})


class SyntheticSizes(Synthetic):
    """Evidence whose runs amount to what a world says, with a little scatter between them."""

    @classmethod
    def of_world(
        cls, world: World, scale: float = 1.0, stack: str = "rcl", kernel: str = "PREEMPT_RT"
    ) -> Evidence:
        own = type("SyntheticOf", (cls,), {"world": staticmethod(world)})
        return own(Measured(under(kernel, scale), Path(), planned=True), stack)  # type: ignore[no-any-return]


def count(cell: Cell) -> int:
    """The samples of a run that count."""
    return cell.samples_requested - 1


def as_published(cell: Cell, of: str, _: tuple[Any, ...]) -> Any:  # noqa: PLR0911 - a case each
    """What the paper says of a run, or what fits to it."""
    size = cell.payload_bytes
    large = max(1.0, size / (256 * KIB))
    ros1 = cell.stack == "ros1"
    match of:
        case "p50" if cell.label == "wakeup":
            return 2.0
        case "p50" if cell.label == "best-effort":
            return 100.0 * large * (0.7 if size >= MIB else 1.0)
        case "p50" if cell.label == "one-process":
            return 100.0 * (0.4 * large if size >= MIB else 1.0)
        case "p50":
            return 100.0 * large * (2.0 if ros1 and size > 512 * KIB else 1.0)
        case "highest":
            return 4000.0 if cell.label == "wakeup" else 900.0
        case "spread":
            return 10.0 * large
        case "same_address":
            return 1.0 if cell.transport == "unique_ptr" else 0.0
        case "unfairness":
            return 1.95 if ros1 else 1.05
        case "fairness":
            return 0.93 if ros1 else 0.999
        case "beyond" | "jitter_beyond" | "period_outside":
            return 0, 10**9 if cell.label == "wakeup" else count(cell)
        case "jitter_within":
            return round(0.8 * count(cell)), count(cell)
    return {
        "jitter_highest": 450.0,
        "jitter_size": 5.0,
        "jitter_distance": 0.03,
        "jitter_rejected": 1.0,
        "period_off": 0.2,
        "period_p999": 1020.0,
        "wrong_counters": 0.0,
    }[of]


def the_other_way_round(  # noqa: C901, PLR0911 - a case each
    cell: Cell, of: str, _: tuple[Any, ...]
) -> Any:
    """What is alike differs here, what is faster is slower, what never happens does."""
    size = cell.payload_bytes
    ros1 = cell.stack == "ros1"
    match of:
        case "p50" if cell.label == "wakeup":
            return 20.0
        case "p50" if cell.label == "frequencies":
            return cell.period_us / 10
        case "p50" if cell.label in {"best-effort", "one-process"}:
            return 3000.0
        case "p50" if cell.label == "six":
            return 100.0
        case "p50":
            grown = {64: 300, 512 * KIB: 5000}.get(size, 1000)
            vendor = 9.0 if cell.stack == "rustdds" else 1.0
            return grown * vendor * (1 / 3 if ros1 else 1.0) * (1.2 if size == 16 * MIB else 1.0)
        case "highest":
            return 40.0
        case "spread":
            return 100.0 if size < MIB else 10.0
        case "same_address":
            return 0.0 if cell.transport == "unique_ptr" else 1.0
        case "unfairness":
            return 1.05 if ros1 else 1.95
        case "fairness":
            return 0.999 if ros1 else 0.93
        case "beyond" | "jitter_beyond" | "period_outside":
            return count(cell) // 5, count(cell)
        case "jitter_within":
            return count(cell) // 5, count(cell)
    return {
        "jitter_highest": 90.0,
        "jitter_size": cell.period_us,
        "jitter_distance": 0.2,
        "jitter_rejected": 1.0,
        "period_off": 3.0,
        "period_p999": 1300.0,
        "wrong_counters": 5.0,
    }[of]


def but(**changed: Callable[[Cell], Any]) -> World:
    """As published, but for what some names of runs.py say; each is given the cell."""

    def world(cell: Cell, of: str, more: tuple[Any, ...]) -> Any:
        return changed[of](cell) if of in changed else as_published(cell, of, more)

    return world


def of_label(label: str, number: float, sizes: tuple[int, ...] = (), other: float = 100.0) -> Any:
    """A number of a label's runs, of some sizes if these are given; of all others another one."""

    def of(cell: Cell) -> float:
        wanted = cell.label == label and (not sizes or cell.payload_bytes in sizes)
        return number if wanted else other

    return of


def of_stack(stack: str, number: float, other: float = 100.0) -> Any:
    """A number of a stack's runs, and of the other ones."""
    return lambda cell: number if cell.stack == stack else other


def share_of(label: str, share: float) -> Any:
    """A share of the samples of a label, none of others."""
    return lambda cell: (round(share * count(cell)) if cell.label == label else 0, count(cell))
