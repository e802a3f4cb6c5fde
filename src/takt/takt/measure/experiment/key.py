# SPDX-License-Identifier: Apache-2.0
"""The readable name of a point of the matrix: equal names are comparable between runs."""

from __future__ import annotations

import re
from collections.abc import Iterator

from takt.documents.units import format_bandwidth, format_duration, format_period, format_size
from takt.measure.experiment.model import MESSAGES
from takt.measure.results.point import Point
from takt.network.namespace import HERE
from takt.network.shaping import SHARED

_SPECIAL = re.compile(r"[^A-Za-z0-9_.]")  # the key names files


def key_of(point: Point) -> str:
    """A readable name of the point, such as ``rcl-pingpong-shm-500B-fifo80-cpu1-1kHz``."""
    parts = [point.stack.replace(",", "+"), point.kind, point.transport]
    parts += filter(None, [point.executor])
    if point.kind in MESSAGES:
        parts.append(format_size(point.payload_bytes))
    if point.content != "bytes":
        parts.append(point.content)
    parts += _threads(point)
    parts.append(
        (format_duration if point.kind == "timer-oneshot" else format_period)(point.period_ns)
    )
    if point.wait != "idle":
        parts.append(point.wait)
    if point.late != "at_once":
        parts.append(point.late)
    if point.threads > 1:
        parts.append(f"{point.threads}threads")
    if point.distance_us:
        parts.append("by" + format_duration(round(point.distance_us * 1000)))
    if point.subscribers > 1:
        parts.append(f"{point.subscribers}subs")
    parts += _quality(point)
    if point.interface:
        parts.append(_SPECIAL.sub("_", point.interface))
    if point.slaves:
        parts.append(f"{point.slaves}slaves")
    if point.fault != "none":
        parts.append(point.fault)
    if point.talkers:
        rate = format_period(round(point.talker_period_us * 1000))
        parts.append(f"{point.talkers}talkers{rate}")
    return "-".join([*parts, *_conditions(point), *filter(None, [point.label])])


def _quality(point: Point) -> Iterator[str]:
    """The QoS, where it is not the default."""
    if point.reliability != "reliable":
        yield point.reliability
    if point.durability != "volatile":
        yield point.durability
    if point.history != "keep_last":
        yield point.history
    if point.depth != 10:
        yield f"depth{point.depth}"


def _threads(point: Point) -> Iterator[str]:
    """How and where the measured threads run."""
    yield point.scheduling + (str(point.priority) if point.priority else "")
    if point.dds_priority:
        yield "dds" + point.dds_priority.replace("-", "to")
    if point.allocator != "heap":
        yield point.allocator
    if point.cpu:
        yield "cpu" + "+".join(map(str, point.cpu))
    if point.cores != "shared":
        yield point.cores


def _conditions(point: Point) -> Iterator[str]:
    """What is the case meanwhile, in the name of the point."""
    if point.host != HERE:
        yield "host_" + point.host.replace(",", "+")
    if point.link_mbps:
        yield "link_" + format_bandwidth(round(point.link_mbps * 1e6))
        if point.queue != SHARED:
            yield f"queue_{point.queue}"
        if point.traffic_mbps:
            yield "traffic_" + format_bandwidth(round(point.traffic_mbps * 1e6))
        for name in ("delay", "jitter"):
            if time_us := getattr(point, f"{name}_us"):
                yield f"{name}_" + format_duration(round(time_us * 1000))
        if point.loss:
            yield f"loss_{point.loss * 1e2:g}percent"
    if point.load != "none":
        yield "load_" + point.load.replace(" ", "")
    if point.tuned != "none":
        yield f"tuned_{point.tuned}"
