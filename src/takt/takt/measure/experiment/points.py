# SPDX-License-Identifier: Apache-2.0
"""From a block of an experiment to its points: every combination of the axes, with defaults."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from takt.measure.experiment.model import MESSAGES, Experiment, Measurement
from takt.measure.experiment.values import INHERITED, UNPINNED
from takt.measure.results.point import INTERFACE, Point
from takt.network.namespace import THERE
from takt.network.shaping import SHARED
from takt.network.stacks import Stack

DEFAULT_PAYLOAD = 500
DEFAULT_LINK = 100_000_000
DEFAULT_SLAVES = 16  # as the robot of Ye 2023 has
TALKER_PERIOD_NS = 10_000_000
ONESHOT_LATE_NS = 100_000  # a one-shot timer starts anew when it has fired: its latency adds up


def points(experiment: Experiment, block: Measurement, stack: Stack) -> Iterator[Point]:
    """One point for every combination of the axes of a block, on one of its stacks."""
    axes = _axes(block, stack)
    for values in itertools.product(*axes.values()):
        yield _point(experiment, block, stack, dict(zip(axes, values, strict=True)))


def duration_ns(experiment: Experiment, block: Measurement) -> int:
    """How long one repetition lasts, where it is not a number of samples."""
    return experiment.duration if block.duration is None else block.duration


def _point(experiment: Experiment, block: Measurement, stack: Stack, axes: dict[str, Any]) -> Point:
    """From the units of the file to those of ``run.json``."""
    period, pin, links = axes["period"], axes["cpu"], THERE in axes["host"].split(",")
    policy, _, priority = axes["scheduling"].partition(" ")
    late = ONESHOT_LATE_NS if block.kind == "timer-oneshot" else 0
    deadline = experiment.deadline if block.deadline is None else block.deadline
    return Point(
        stack=stack.name,
        kind=block.kind,
        label=block.label or "",
        **{name: axes[name] for name in axes.keys() & _AS_THEY_ARE},
        executor=axes["executor"] or stack.executor(block.kind, axes["transport"]),
        scheduling=policy,
        priority=int(priority or 0),
        dds_priority=axes["dds_priority"].replace(INHERITED, ""),
        cpu=[] if pin == UNPINNED else [int(one) for one in pin.split(",")],
        period_us=period / 1e3,
        samples_requested=block.samples or duration_ns(experiment, block) // (period + late),
        deadline_us=(period if deadline is None else deadline) / 1e3,
        lost_after_us=(block.lost_after or experiment.lost_after) / 1e3,
        start_delay_us=(block.start_delay or 0) / 1e3,
        distance_us=(block.distance or 0) / 1e3 if axes["threads"] > 1 else 0.0,
        link_mbps=axes["link"] / 1e6 if links else 0.0,
        traffic_mbps=axes["traffic"] / 1e6,
        delay_us=axes["delay"] / 1e3,
        jitter_us=axes["jitter"] / 1e3,
        loss=axes["loss"] / 1e6,
        talker_period_us=(block.talker_rate or TALKER_PERIOD_NS) / 1e3 if axes["talkers"] else 0.0,
    )


def _axes(block: Measurement, stack: Stack) -> dict[str, list[Any]]:
    """The values of each axis, with the defaults of the kind."""
    simulated = block.kind == "ethercat" and not block.interface
    first = [INTERFACE] if block.interface else stack.transports(block.kind)[:1]
    return {
        "transport": block.transport or first,
        "executor": block.executor or [""],
        "payload_bytes": block.payload or [DEFAULT_PAYLOAD if block.kind in MESSAGES else 0],
        "content": block.content or ["bytes"],
        "period": block.periods_ns,
        "scheduling": block.scheduling,
        "dds_priority": block.dds_priority or [INHERITED],
        "allocator": block.allocator or ["heap"],
        "cpu": block.cpu,
        "subscribers": block.subscribers or [1],
        "threads": block.threads or [1],
        "reliability": block.reliability or ["reliable"],
        "durability": block.durability or ["volatile"],
        "history": block.history or ["keep_last"],
        "depth": block.depth or [10],
        "wait": block.wait or ["idle"],
        "late": block.late or ["at_once"],
        "talkers": block.talkers or [0],
        "load": block.load,
        "cores": block.cores,
        "tuned": block.tuned,
        "within": block.within,
        "host": block.host,
        "link": block.link or [DEFAULT_LINK],
        "queue": block.queue or [SHARED],
        "traffic": block.traffic or [0],
        "delay": block.delay or [0],
        "jitter": block.jitter or [0],
        "loss": block.loss or [0],
        "interface": block.interface or [""],
        "slaves": block.slaves or [DEFAULT_SLAVES if simulated else 0],
        "fault": block.fault or ["none"],
    }


_CONVERTED = {"executor", "scheduling", "dds_priority", "cpu", "loss"}  # with a field of their name
_AS_THEY_ARE = Point.model_fields.keys() - _CONVERTED
