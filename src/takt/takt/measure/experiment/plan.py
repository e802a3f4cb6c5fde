# SPDX-License-Identifier: Apache-2.0
"""From the declarative matrix to the list of cells, in the order in which they will run.

All points run once in random order, then all once more, and so on: slow changes of the machine
(heat, neighbours, a cron job) then touch all points alike instead of the one that came last.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from takt.documents.units import format_bandwidth, format_duration, format_period, format_size
from takt.errors import TaktError
from takt.measure.conditions.load import bytes_taken
from takt.measure.experiment.file import Location, Source
from takt.measure.experiment.model import MESSAGES, UNPINNED, Experiment, Measurement
from takt.measure.results.model import Cell, Note, Status
from takt.processes.namespace import HERE
from takt.processes.stacks import Stack, Stacks

DEFAULT_PAYLOAD = 500
SHORTEST_PERIOD_NS = 10_000
LARGEST_PAYLOAD = 64 * 1024 * 1024
RECORD_BYTES = 32
# Starting, discovery, stopping and storing, in seconds; only for the estimate.
OVERHEAD_S = {"wakeup": 0.3, "pingpong": 1.0, "pubsub": 1.3}
TALKER_PERIOD_NS = 10_000_000
ONESHOT_LATE_NS = 100_000  # a one-shot timer starts anew when it has fired: its latency adds up
DEFAULT_LINK = 100_000_000
OVER_A_LINK = (("rcl", "udp"), ("raw", "udp"))
RAW = "raw"  # the machine's own limits: no middleware, no QoS
ROS1 = "ros1"


Fault = tuple[str, str, str | None]  # key of the measurement, what is wrong, remedy


@dataclass(frozen=True)
class Machine:
    """What the plan must fit into."""

    cpus: frozenset[int]
    memory_bytes: int
    lacking: Callable[[Cell], Fault | None] = lambda _: None  # for the conditions of a cell


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
    return measuring / 1e6 + OVERHEAD_S.get(cell.kind, 1.0)


def this_machine() -> Machine:
    """The CPUs that this process may use, and the memory that is available now.

    An isolated CPU is in no process's affinity, but may be asked for.
    """
    import psutil

    from takt.doctor import System
    from takt.measure.conditions import declared

    system = System()
    cpus = {cpu for cpu in system.isolated if system.try_cpu(cpu)}
    cpus.update(psutil.Process().cpu_affinity() or ())
    return Machine(frozenset(cpus), int(psutil.virtual_memory().available), declared.lacking)


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
                        missing.remedy = f"{missing.remedy}; or leave it out: skip_missing: true"
                    raise missing
                note = Note(what="left out", why=missing.what, fix=missing.remedy)
                skipped += [] if note in skipped else [note]
                continue
            for cell in _points(experiment, measurement, stacks[name], machine, source, here):
                if cell.key in seen:
                    raise TaktError(
                        f"{cell.key} is asked for twice (also at {source.where(seen[cell.key])})",
                        where=source.where(here),
                        remedy="name it once: each point is measured `repetitions` times",
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
            key, what, remedy = fault
            raise TaktError(what, where=source.where((*here, key)), remedy=remedy)

    transports = stack.transports(measurement.kind)
    refuse(_stack_fault(measurement, stack, transports))
    duration = measurement.duration or experiment.duration
    deadline = experiment.deadline if measurement.deadline is None else measurement.deadline
    lost_after = measurement.lost_after or experiment.lost_after
    one_shot = measurement.kind == "timer-oneshot"
    for point in _combinations(measurement, transports):
        period, scheduling, cpu = (point.pop(name) for name in ("period", "scheduling", "cpu"))
        link, traffic = point.pop("link"), point.pop("traffic")
        cpus = [] if cpu == UNPINNED else [int(one) for one in cpu.split(",")]
        count = measurement.samples or duration // (period + ONESHOT_LATE_NS * one_shot)
        scheduling, _, priority = scheduling.partition(" ")
        refuse(_transport_fault(measurement.kind, stack, point))
        refuse(_timer_fault(measurement.kind, stack, point, scheduling))
        refuse(_host_fault(measurement, stack, point))
        refuse(_traffic_fault(point, link, traffic))
        refuse(_load_fault(point["load"], machine))
        refuse(_talkers_fault(measurement, stack, point))
        refuse(_cpu_fault(measurement.kind, cpus, machine))
        refuse(_pace_fault(measurement, period, count, duration))
        refuse(_memory_fault(count, point["subscribers"], machine))
        asked: dict[str, Any] = point | {
            "stack": stack.name,
            "kind": measurement.kind,
            "scheduling": scheduling,
            "priority": int(priority or 0),
            "cpu": cpus,
            "period_us": period / 1000,
            "samples_asked": count,
            "deadline_us": deadline / 1000,
            "lost_after_us": lost_after / 1000,
            "start_delay_us": (measurement.start_delay or 0) / 1000,
        }
        if point["talkers"]:
            asked["talker_period_us"] = (measurement.talker_rate or TALKER_PERIOD_NS) / 1000
        if point["host"] != HERE:
            asked |= {"link_mbps": link / 1e6, "traffic_mbps": traffic / 1e6}
        key = _key(asked, period)
        cell = Cell(id=f"{key}-r0", key=key, repetition=0, order=0, status=Status.pending, **asked)
        refuse(machine.lacking(cell))
        yield cell


def _combinations(measurement: Measurement, transports: list[str]) -> Iterator[dict[str, Any]]:
    """Every point of a block's axes, with the defaults of its kind."""
    axes: dict[str, list[Any]] = {
        "transport": measurement.transport or transports[:1],
        "payload_bytes": measurement.payload
        or [DEFAULT_PAYLOAD if measurement.kind in MESSAGES else 0],
        "period": measurement.periods_ns,
        "scheduling": measurement.scheduling,
        "cpu": measurement.cpu,
        "subscribers": measurement.subscribers or [1],
        "reliability": measurement.reliability or ["reliable"],
        "depth": measurement.depth or [10],
        "wait": measurement.wait or ["idle"],
        "talkers": measurement.talkers or [0],
        "load": measurement.load,
        "host": measurement.host,
        "link": measurement.link or [DEFAULT_LINK],
        "traffic": measurement.traffic or [0],
    }
    for values in itertools.product(*axes.values()):
        yield dict(zip(axes, values, strict=True))


def _stack_fault(measurement: Measurement, stack: Stack, transports: list[str]) -> Fault | None:
    if not transports:
        can = ", ".join(sorted({one.kind for one in stack.capabilities})) or "nothing"
        return "stack", f"the stack {stack.name} has no {measurement.kind}", f"it has {can}"
    if stack.name == RAW:
        for key in ("reliability", "depth"):
            if getattr(measurement, key) is not None:
                return key, f"the stack raw has no QoS, so it has no {key}", f"remove {key}"
    if stack.name == ROS1 and measurement.reliability is not None:
        what = "ROS 1 has no reliability: its transport decides"
        return "reliability", what, "take the transport tcpros (reliable) or udpros (may lose)"
    return None


def _transport_fault(kind: str, stack: Stack, point: dict[str, Any]) -> Fault | None:
    transport, payload = point["transport"], point["payload_bytes"]
    capability = stack.capability(kind, transport)
    if capability is None:
        what = f"the stack {stack.name} has no transport {transport} for {kind}"
        there = ", ".join(stack.transports(kind))
        remedy = f"it has {there}; a stack with other transports needs a block of its own"
        return "transport", what, remedy
    if point["subscribers"] > 1 and "subscriber" not in capability.roles:
        what = f"{transport} is one process, which has one subscriber"
        return "subscribers", what, "take a transport between processes"
    fixed = capability.payloads
    if fixed is not None and payload not in fixed:
        sizes = ", ".join(map(format_size, fixed))
        return "payload", f"{transport} has no size {format_size(payload)}", f"sizes: {sizes}"
    own = capability.max_payload_bytes
    limit = LARGEST_PAYLOAD if own is None else min(LARGEST_PAYLOAD, own)
    if payload > limit:
        what = f"{format_size(payload)} is more than {transport} carries"
        return "payload", what, f"the most is {limit} bytes"
    return None


def _timer_fault(kind: str, stack: Stack, point: dict[str, Any], scheduling: str) -> Fault | None:
    transport, wait = point["transport"], point["wait"]
    capability = stack.capability(kind, transport)
    if capability is not None and wait not in capability.waits:
        others = [
            one.transport for one in stack.capabilities if one.kind == kind and wait in one.waits
        ]
        remedy = f"{', '.join(others)} can" if others else f"it has {', '.join(capability.waits)}"
        return "wait", f"{transport} of {stack.name} cannot wait {wait}", remedy
    if transport == "executor" and scheduling == "rr":
        what = "Takt's executor has no round robin: its threads are real-time FIFO"
        return "scheduling", what, "take fifo N, or another transport"
    return None


def _host_fault(measurement: Measurement, stack: Stack, point: dict[str, Any]) -> Fault | None:
    if point["host"] == HERE:
        return None
    if measurement.kind not in MESSAGES:
        return "host", f"a {measurement.kind} has one role, which is here", "remove host"
    if (stack.name, point["transport"]) not in OVER_A_LINK:
        can = " and ".join(f"{transport} of {name}" for name, transport in OVER_A_LINK)
        what = f"{point['transport']} of {stack.name} does not go from host to host"
        return "host", what, f"take {can}"
    if point["talkers"]:
        return "talkers", "talkers are on one host", "give host here, or traffic instead"
    return None


def _traffic_fault(point: dict[str, Any], link: int, traffic: int) -> Fault | None:
    if point["host"] == HERE and traffic:
        what = "traffic goes over the link between two hosts, and there is one"
        return "traffic", what, 'a block of its own for each: host "here,namespace"'
    if traffic > link:
        what = f"{format_bandwidth(traffic)} do not fit on a link of {format_bandwidth(link)}"
        return "traffic", what, "take a faster link or less traffic"
    return None


def _load_fault(load: str, machine: Machine) -> Fault | None:
    if (need := bytes_taken(load)) > machine.memory_bytes // 2:
        what = f"the load {load} takes {need >> 20} MiB of memory and as much of the disk"
        return "load", what, f"{machine.memory_bytes >> 20} MiB are available: take fewer workers"
    return None


def _talkers_fault(measurement: Measurement, stack: Stack, point: dict[str, Any]) -> Fault | None:
    if measurement.talker_rate and measurement.talker_rate < SHORTEST_PERIOD_NS:
        what = f"{format_period(measurement.talker_rate)} is faster than 100kHz"
        return "talker_rate", what, "a talker sleeps between two messages, as a publisher does"
    capability = stack.capability("pubsub", point["transport"])
    if point["talkers"] and capability is not None and "subscriber" not in capability.roles:
        what = f"{point['transport']} is one process: nobody else could talk over it"
        return "talkers", what, "take a transport between processes"
    return None


def _cpu_fault(kind: str, cpus: list[int], machine: Machine) -> Fault | None:
    for cpu in cpus:
        if cpu not in machine.cpus:
            there = ", ".join(map(str, sorted(machine.cpus)))
            return "cpu", f"this process may not use CPU {cpu}", f"CPUs here: {there}"
    if len(cpus) > 1 and kind not in MESSAGES:
        return "cpu", f"a {kind} has one role, so it takes one CPU", "give one number"
    return None


def _pace_fault(measurement: Measurement, period: int, count: int, duration: int) -> Fault | None:
    if period < SHORTEST_PERIOD_NS:
        remedy = "start times closer than 10us cannot be kept by a sleeping thread"
        if measurement.timeout:
            return "timeout", f"{format_duration(period)} is shorter than 10us", remedy
        key = "period" if measurement.period else "rate"
        return key, f"{format_period(period)} is faster than 100kHz", remedy
    if count < 2:
        what = f"{format_duration(duration)} is too short for {format_period(period)}"
        return "duration", what, "two samples are the least: the first one is kept apart"
    return None


def _memory_fault(count: int, subscribers: int, machine: Machine) -> Fault | None:
    need = count * RECORD_BYTES * subscribers
    if need <= machine.memory_bytes // 2:
        return None
    what = (
        f"{count} samples for each of {subscribers} recorders take {need >> 20} MiB of memory; "
        f"{machine.memory_bytes >> 20} MiB are available, and half of it may be used"
    )
    return "duration", what, "shorten the duration or lower the rate"


def _key(asked: dict[str, Any], period: int) -> str:
    """A readable name of the point, such as ``rcl-pingpong-shm-500B-fifo80-cpu1-1kHz``."""
    parts = [asked["stack"], asked["kind"], asked["transport"]]
    if asked["kind"] in MESSAGES:
        parts.append(format_size(asked["payload_bytes"]))
    parts.append(asked["scheduling"] + (str(asked["priority"]) if asked["priority"] else ""))
    if asked["cpu"]:
        parts.append("cpu" + "+".join(map(str, asked["cpu"])))
    parts.append((format_duration if asked["kind"] == "timer-oneshot" else format_period)(period))
    if asked["wait"] != "idle":
        parts.append(asked["wait"])
    if asked["subscribers"] > 1:
        parts.append(f"{asked['subscribers']}subs")
    if asked["reliability"] != "reliable":
        parts.append(asked["reliability"])
    if asked["depth"] != 10:
        parts.append(f"depth{asked['depth']}")
    if asked["talkers"]:
        rate = format_period(round(asked["talker_period_us"] * 1000))
        parts.append(f"{asked['talkers']}talkers{rate}")
    if asked["host"] != HERE:
        parts.append("host_" + asked["host"].replace(",", "+"))
        parts.append("link_" + format_bandwidth(round(asked["link_mbps"] * 1e6)))
    if asked.get("traffic_mbps"):
        parts.append("traffic_" + format_bandwidth(round(asked["traffic_mbps"] * 1e6)))
    if asked["load"] != "none":
        parts.append("load_" + asked["load"].replace(" ", ""))
    return "-".join(parts)
