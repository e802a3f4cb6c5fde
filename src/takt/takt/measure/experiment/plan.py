# SPDX-License-Identifier: Apache-2.0
"""From the declarative matrix to the list of cells, in the order in which they will run.

All points run once in random order, then all once more, and so on: slow changes of the machine
(heat, neighbours, a cron job) then touch all points alike instead of the one that came last.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from takt.errors import TaktError, together
from takt.measure.conditions import load
from takt.measure.conditions.relay import expected_losses
from takt.measure.experiment import faults as rules
from takt.measure.experiment.faults import Asked, Fault, Machine
from takt.measure.experiment.file import Location, Source
from takt.measure.experiment.key import key_of
from takt.measure.experiment.model import Experiment
from takt.measure.experiment.points import ONESHOT_LATE_NS, duration_ns, points
from takt.measure.results.model import Cell, Note, Status
from takt.network.hosts import other_hosts
from takt.network.stacks import Stacks
from takt.network.workers import Workers

# Starting, discovery, stopping and storing, in seconds; only for the estimate.
WORKERS_S = 3.0  # more with workers: their sessions, and recordings that come home
LOADED_WORKERS_S = 8.0  # more where all their CPUs are busy: they answer late
OVERHEAD_S = {"wakeup": 0.3, "pingpong": 1.0, "pubsub": 1.3, "ethercat": 1.5, "supply": 0.3}
LIST_ONCE = "list it once: each point is measured `repetitions` times; or give each block a label"


@dataclass(frozen=True)
class Plan:
    """The cells in their order, and what had to be left out."""

    seed: int
    cells: list[Cell]
    skipped: list[Note]

    @property
    def seconds(self) -> float:
        """How long it will take, about."""
        return sum(map(estimate, self.cells))


def estimate(cell: Cell) -> float:
    """How long a cell will take, about, in seconds."""
    each_us = cell.period_us
    if cell.kind == "timer-oneshot":
        each_us += ONESHOT_LATE_NS / 1000
    measuring = cell.samples_requested * each_us + cell.start_delay_us
    if cell.late == "at_once":
        measuring += expected_losses(cell) * cell.lost_after_us
    seconds = measuring / 1e6 + OVERHEAD_S.get(cell.kind, 1.0)
    if other_hosts(cell.host):
        seconds += WORKERS_S
        seconds += LOADED_WORKERS_S * any(map(load.by_stress_ng, cell.loads.values()))
    return seconds


def this_machine(workers: Workers | None = None) -> Machine:
    """The CPUs that this process may use, and the memory that is available now; its workers.

    An isolated CPU is in no process's affinity, but may be asked for.
    """
    import psutil

    from takt.doctor import System
    from takt.measure.conditions import declared

    system = System()
    cpus = {cpu for cpu in system.isolated if system.try_cpu(cpu)}
    cpus.update(psutil.Process().cpu_affinity() or ())
    memory = int(psutil.virtual_memory().available)
    return Machine(frozenset(cpus), memory, lambda point: declared.lacking(point, workers))


def plan(
    experiment: Experiment, source: Source, stacks: Stacks, machine: Machine, seed: int
) -> Plan:
    """Expands the matrix; raises TaktError with everything that cannot be measured here."""
    found: dict[str, tuple[Cell, int]] = {}
    planned: dict[str, Location] = {}
    skipped: list[Note] = []
    faults: dict[tuple[str, str], TaktError] = {}  # one for all the points that have it

    def refuse(here: Location, fault: Fault) -> None:
        key, what, fix = fault
        where = source.where((*here, key) if key else here)
        faults.setdefault((where, what), TaktError(what, where=where, fix=fix))

    for index, block in enumerate(experiment.measurements):
        here: Location = ("measurements", index)
        for name in block.stack:
            if name not in stacks:
                missing = stacks.missing(name, source.where((*here, "stack")))
                known = stacks.is_known(name) or not stacks.probes  # plug-ins are not there, either
                if known and experiment.skip_missing:
                    note = Note(what="skipped", why=missing.what, fix=missing.fix)
                    skipped += [] if note in skipped else [note]
                    continue
                skip = "; or skip it: skip_missing: true" if known and source.file else ""
                refuse(here, ("stack", missing.what, f"{missing.fix}{skip}"))
                continue
            stack = stacks[name]
            if unfit := list(rules.of_stack(block, stack)):
                refuse(here, *unfit)
                continue
            for point in points(experiment, block, stack):
                asked = Asked(point, block, stack, machine, duration_ns(experiment, block))
                for fault in rules.of_point(asked):
                    refuse(here, fault)
                key = key_of(point)
                if key in planned:
                    what = f"duplicate point {key} (also at {source.where(planned[key])})"
                    refuse(here, ("", what, LIST_ONCE))
                planned.setdefault(key, here)
                cell = Cell(
                    **dict(point), id=key, key=key, repetition=0, order=0, status=Status.pending
                )
                found[key] = (cell, block.repetitions or experiment.repetitions)
    if faults:
        raise together(list(faults.values()))
    return Plan(seed, _interleaved(list(found.values()), seed), skipped)


def _interleaved(points: list[tuple[Cell, int]], seed: int) -> list[Cell]:
    shuffle = random.Random(seed).shuffle  # noqa: S311 - an order, no secret
    cells: list[Cell] = []
    for repetition in range(max((times for _, times in points), default=0)):
        turn = [cell for cell, times in points if repetition < times]
        shuffle(turn)
        cells += [
            cell.model_copy(
                update={
                    "id": f"{cell.key}-r{repetition}",
                    "repetition": repetition,
                    "order": len(cells) + place,
                }
            )
            for place, cell in enumerate(turn)
        ]
    return cells
