# SPDX-License-Identifier: Apache-2.0
"""The readable name of a point of the matrix: equal names are comparable between runs."""

from __future__ import annotations

import re
from collections.abc import Iterator

from takt.documents.units import format_bandwidth, format_duration, format_period, format_size
from takt.measure.experiment.model import MESSAGES
from takt.measure.results.point import Point

_SPECIAL = re.compile(r"[^A-Za-z0-9_.]")  # the key names files
_DEFAULTS = {name: field.default for name, field in Point.model_fields.items()}
_DEFAULTS |= {"subscribers": 1, "reliability": "reliable", "depth": 10}


def key_of(point: Point) -> str:
    """A readable name of the point, such as ``rcl-pingpong-shm-500B-fifo80-cpu1-1kHz``."""
    return "-".join(filter(None, _parts(point)))


def _parts(point: Point) -> Iterator[str]:
    """Of the axes; most of them are empty at the default."""

    def unless_default(name: str, text: str = "{}") -> str:
        value = getattr(point, name)
        return "" if value == _DEFAULTS[name] else text.format(value)

    def duration(name: str, text: str) -> str:
        value_us = getattr(point, name)
        return text.format(format_duration(round(value_us * 1000))) if value_us else ""

    yield point.stack.replace(",", "+")
    yield from (point.kind, point.transport, point.executor)
    yield format_size(point.payload_bytes) if point.kind in MESSAGES else ""
    yield unless_default("content")
    yield point.scheduling + (str(point.priority) if point.priority else "")
    yield unless_default("dds_priority", "dds{}").replace("-", "to")
    yield unless_default("allocator")
    yield "cpu" + "+".join(map(str, point.cpu)) if point.cpu else ""
    yield unless_default("cores")
    pace = format_duration if point.kind == "timer-oneshot" else format_period
    yield pace(point.period_ns)
    yield from map(unless_default, ("wait", "late"))
    yield unless_default("threads", "{}threads")
    yield duration("distance_us", "by{}")
    yield unless_default("subscribers", "{}subs")
    yield from map(unless_default, ("reliability", "durability", "history"))
    yield unless_default("depth", "depth{}")
    yield _SPECIAL.sub("_", point.interface)
    yield unless_default("slaves", "{}slaves")
    yield unless_default("fault")
    if point.talkers:
        yield f"{point.talkers}talkers{format_period(round(point.talker_period_us * 1000))}"
    yield unless_default("host", "host_{}").replace(",", "+")
    if point.link_mbps:
        yield "link_" + format_bandwidth(round(point.link_mbps * 1e6))
        yield unless_default("queue", "queue_{}")
    if point.traffic_mbps:
        yield "traffic_" + format_bandwidth(round(point.traffic_mbps * 1e6))
    if point.link_mbps:
        yield duration("delay_us", "delay_{}")
        yield duration("jitter_us", "jitter_{}")
        yield f"loss_{point.loss * 1e2:g}percent" if point.loss else ""
    load = unless_default("load", "load_{}").replace(" limited", "-limited")
    yield load.replace(" ", "").replace(",", "+")
    yield unless_default("tuned", "tuned_{}")
    yield unless_default("within", "within_{}")
    yield point.label
