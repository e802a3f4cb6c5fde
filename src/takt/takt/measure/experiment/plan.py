# SPDX-License-Identifier: Apache-2.0
"""From the declarative matrix to the list of cells, in the order in which they will run.

All points run once in random order, then all once more, and so on: slow changes of the machine
(heat, neighbours, a cron job) then touch all points alike instead of the one that came last.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from takt.errors import TaktError
from takt.measure.conditions.relay import expected_losses
from takt.measure.experiment import faults
from takt.measure.experiment.faults import Fault, Machine
from takt.measure.experiment.file import Location, Source
from takt.measure.experiment.key import key
from takt.measure.experiment.model import MESSAGES, Experiment, Measurement
from takt.measure.experiment.values import INHERITED, UNPINNED
from takt.measure.results.model import INTERFACE, Cell, Note, Status
from takt.network.namespace import THERE
from takt.network.shaping import SHARED
from takt.network.stacks import Stack, Stacks
from takt.network.workers import Workers

DEFAULT_PAYLOAD = 500
# Starting, discovery, stopping and storing, in seconds; only for the estimate.
OVERHEAD_S = {"wakeup": 0.3, "pingpong": 1.0, "pubsub": 1.3, "ethercat": 1.5, "supply": 0.3}
TALKER_PERIOD_NS = 10_000_000
ONESHOT_LATE_NS = 100_000  # a one-shot timer starts anew when it has fired: its latency adds up
DEFAULT_LINK = 100_000_000
DEFAULT_SLAVES = 16  # as the robot of Ye 2023 has


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
    measuring = cell.samples_asked * each_us + cell.start_delay_us
    if cell.late == "at_once":
        measuring += expected_losses(cell) * cell.lost_after_us
    return measuring / 1e6 + OVERHEAD_S.get(cell.kind, 1.0)


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
    return Machine(frozenset(cpus), memory, lambda cell: declared.lacking(cell, workers))


def plan(
    experiment: Experiment, source: Source, stacks: Stacks, machine: Machine, seed: int
) -> Plan:
    """Expands the matrix; raises TaktError for a point that cannot be measured here."""
    points: dict[str, tuple[Cell, int]] = {}
    seen: dict[str, Location] = {}
    skipped: list[Note] = []
    for index, measurement in enumerate(experiment.measurements):
        here: Location = ("measurements", index)
        for name in measurement.stack:
            if name not in stacks:
                missing = stacks.missing(name, source.where((*here, "stack")))
                if not experiment.skip_missing:
                    if source.file:
                        missing.fix = f"{missing.fix}; or skip it: skip_missing: true"
                    raise missing
                note = Note(what="skipped", why=missing.what, fix=missing.fix)
                skipped += [] if note in skipped else [note]
                continue
            for cell in _points(experiment, measurement, stacks[name], machine, source, here):
                if cell.key in seen:
                    raise TaktError(
                        f"duplicate point {cell.key} (also at {source.where(seen[cell.key])})",
                        where=source.where(here),
                        fix="list it once: each point is measured `repetitions` times; or "
                        "give each block a label",
                    )
                seen[cell.key] = here
                points[cell.key] = (cell, measurement.repetitions or experiment.repetitions)
    return Plan(seed, _interleaved(list(points.values()), seed), skipped)


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


def _points(
    experiment: Experiment,
    measurement: Measurement,
    stack: Stack,
    machine: Machine,
    source: Source,
    here: Location,
) -> Iterator[Cell]:
    """One cell for every combination of the axes, as repetition 0."""

    def refuse(fault: Fault | None) -> None:
        if fault:
            key, what, fix = fault
            raise TaktError(what, where=source.where((*here, key)), fix=fix)

    transports = stack.transports(measurement.kind)
    refuse(faults.stack_fault(measurement, stack, transports))
    duration = measurement.duration or experiment.duration
    deadline = experiment.deadline if measurement.deadline is None else measurement.deadline
    lost_after = measurement.lost_after or experiment.lost_after
    one_shot = measurement.kind == "timer-oneshot"
    for point in _combinations(measurement, transports):
        refuse(faults.segment_fault(measurement.kind, point))
        period, scheduling, cpu = (point.pop(name) for name in ("period", "scheduling", "cpu"))
        link, traffic = point.pop("link"), point.pop("traffic")
        refuse(faults.wire_fault(point))
        delay, jitter, loss = (point.pop(name) for name in ("delay", "jitter", "loss"))
        cpus = [] if cpu == UNPINNED else [int(one) for one in cpu.split(",")]
        count = measurement.samples or duration // (period + ONESHOT_LATE_NS * one_shot)
        scheduling, _, priority = scheduling.partition(" ")
        refuse(faults.transport_fault(measurement.kind, stack, point))
        refuse(faults.allocator_fault(measurement.kind, stack, point))
        refuse(faults.dds_fault(measurement.kind, stack, point, scheduling))
        point["dds_priority"] = point["dds_priority"].replace(INHERITED, "")
        refuse(faults.executor_fault(measurement.kind, stack, point, scheduling))
        point["executor"] = point["executor"] or stack.executor(
            measurement.kind, point["transport"]
        )
        refuse(faults.timer_fault(measurement.kind, stack, point, scheduling))
        refuse(faults.host_fault(measurement, stack, point))
        refuse(faults.link_fault(measurement, point))
        refuse(faults.traffic_fault(point, link, traffic))
        refuse(faults.load_fault(point["load"], machine))
        refuse(faults.threads_fault(measurement, stack, point))
        refuse(faults.content_fault(measurement, stack, point))
        refuse(faults.quality_fault(measurement, stack, point))
        refuse(faults.talkers_fault(measurement, stack, point))
        refuse(faults.cpu_fault(measurement.kind, cpus, machine, point["host"]))
        refuse(faults.cores_fault(point, cpus))
        refuse(faults.pace_fault(measurement, period, count, duration))
        refuse(faults.memory_fault(count, point, machine))
        asked: dict[str, Any] = point | {
            "stack": stack.name,
            "kind": measurement.kind,
            "scheduling": scheduling,
            "priority": int(priority or 0),
            "cpu": cpus,
            "period_us": period / 1000,
            "samples_asked": count,
            "deadline_us": (period if deadline is None else deadline) / 1000,
            "lost_after_us": lost_after / 1000,
            "start_delay_us": (measurement.start_delay or 0) / 1000,
            "distance_us": (measurement.distance or 0) / 1000 if point["threads"] > 1 else 0.0,
            "label": measurement.label or "",
        }
        if point["talkers"]:
            asked["talker_period_us"] = (measurement.talker_rate or TALKER_PERIOD_NS) / 1000
        if THERE in point["host"].split(","):
            asked |= {"link_mbps": link / 1e6, "traffic_mbps": traffic / 1e6}
            asked |= {"delay_us": delay / 1e3, "jitter_us": jitter / 1e3, "loss": loss / 1e6}
        name = key(asked, period)
        cell = Cell(
            id=f"{name}-r0", key=name, repetition=0, order=0, status=Status.pending, **asked
        )
        refuse(machine.lacking(cell))
        yield cell


def _combinations(measurement: Measurement, transports: list[str]) -> Iterator[dict[str, Any]]:
    """Every point of a block's axes, with the defaults of its kind."""
    axes: dict[str, list[Any]] = {
        "transport": measurement.transport or _default_transports(measurement, transports),
        "executor": measurement.executor or [""],
        "payload_bytes": measurement.payload
        or [DEFAULT_PAYLOAD if measurement.kind in MESSAGES else 0],
        "content": measurement.content or ["bytes"],
        "period": measurement.periods_ns,
        "scheduling": measurement.scheduling,
        "dds_priority": measurement.dds_priority or [INHERITED],
        "allocator": measurement.allocator or ["heap"],
        "cpu": measurement.cpu,
        "subscribers": measurement.subscribers or [1],
        "threads": measurement.threads or [1],
        "reliability": measurement.reliability or ["reliable"],
        "durability": measurement.durability or ["volatile"],
        "history": measurement.history or ["keep_last"],
        "depth": measurement.depth or [10],
        "wait": measurement.wait or ["idle"],
        "late": measurement.late or ["at_once"],
        "talkers": measurement.talkers or [0],
        "load": measurement.load,
        "cores": measurement.cores,
        "tuned": measurement.tuned,
        "host": measurement.host,
        "link": measurement.link or [DEFAULT_LINK],
        "queue": measurement.queue or [SHARED],
        "traffic": measurement.traffic or [0],
        "delay": measurement.delay or [0],
        "jitter": measurement.jitter or [0],
        "loss": measurement.loss or [0],
        "interface": measurement.interface or [""],
        "slaves": measurement.slaves or [_default_slaves(measurement)],
        "fault": measurement.fault or ["none"],
    }
    for values in itertools.product(*axes.values()):
        yield dict(zip(axes, values, strict=True))


def _default_transports(measurement: Measurement, transports: list[str]) -> list[str]:
    """The first one; an interface that is named is meant."""
    return [INTERFACE] if measurement.interface else transports[:1]


def _default_slaves(measurement: Measurement) -> int:
    """0: any number."""
    simulated = measurement.kind == "ethercat" and not measurement.interface
    return DEFAULT_SLAVES if simulated else 0
