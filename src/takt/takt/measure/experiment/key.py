# SPDX-License-Identifier: Apache-2.0
"""The readable name of a point of the matrix: equal names are comparable between runs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from takt.documents.units import format_bandwidth, format_duration, format_period, format_size
from takt.measure.experiment.model import MESSAGES
from takt.network.namespace import HERE
from takt.network.shaping import SHARED

_SPECIAL = re.compile(r"[^A-Za-z0-9_.]")  # the key names files


def key(asked: dict[str, Any], period: int) -> str:
    """A readable name of the point, such as ``rcl-pingpong-shm-500B-fifo80-cpu1-1kHz``."""
    parts = [asked["stack"].replace(",", "+"), asked["kind"], asked["transport"]]
    parts += filter(None, [asked["executor"]])
    if asked["kind"] in MESSAGES:
        parts.append(format_size(asked["payload_bytes"]))
    if asked["content"] != "bytes":
        parts.append(asked["content"])
    parts += _threads(asked)
    parts.append((format_duration if asked["kind"] == "timer-oneshot" else format_period)(period))
    if asked["wait"] != "idle":
        parts.append(asked["wait"])
    if asked["late"] != "at_once":
        parts.append(asked["late"])
    if asked["threads"] > 1:
        parts.append(f"{asked['threads']}threads")
    if asked["distance_us"]:
        parts.append("by" + format_duration(round(asked["distance_us"] * 1000)))
    if asked["subscribers"] > 1:
        parts.append(f"{asked['subscribers']}subs")
    parts += _quality(asked)
    if asked["interface"]:
        parts.append(_SPECIAL.sub("_", asked["interface"]))
    if asked["slaves"]:
        parts.append(f"{asked['slaves']}slaves")
    if asked["fault"] != "none":
        parts.append(asked["fault"])
    if asked["talkers"]:
        rate = format_period(round(asked["talker_period_us"] * 1000))
        parts.append(f"{asked['talkers']}talkers{rate}")
    return "-".join([*parts, *_conditions(asked), *filter(None, [asked["label"]])])


def _quality(asked: dict[str, Any]) -> Iterator[str]:
    """The QoS, where it is not the default."""
    if asked["reliability"] != "reliable":
        yield asked["reliability"]
    if asked["durability"] != "volatile":
        yield asked["durability"]
    if asked["history"] != "keep_last":
        yield asked["history"]
    if asked["depth"] != 10:
        yield f"depth{asked['depth']}"


def _threads(asked: dict[str, Any]) -> Iterator[str]:
    """How and where the measured threads run."""
    yield asked["scheduling"] + (str(asked["priority"]) if asked["priority"] else "")
    if asked["dds_priority"]:
        yield "dds" + asked["dds_priority"].replace("-", "to")
    if asked["allocator"] != "heap":
        yield asked["allocator"]
    if asked["cpu"]:
        yield "cpu" + "+".join(map(str, asked["cpu"]))
    if asked["cores"] != "shared":
        yield asked["cores"]


def _conditions(asked: dict[str, Any]) -> Iterator[str]:
    """What is the case meanwhile, in the name of the point."""
    if asked["host"] != HERE:
        yield "host_" + asked["host"].replace(",", "+")
    if "link_mbps" in asked:
        yield "link_" + format_bandwidth(round(asked["link_mbps"] * 1e6))
        if asked["queue"] != SHARED:
            yield f"queue_{asked['queue']}"
        if asked["traffic_mbps"]:
            yield "traffic_" + format_bandwidth(round(asked["traffic_mbps"] * 1e6))
        for name in ("delay", "jitter"):
            if time_us := asked[f"{name}_us"]:
                yield f"{name}_" + format_duration(round(time_us * 1000))
        if asked["loss"]:
            yield f"loss_{asked['loss'] * 1e2:g}percent"
    if asked["load"] != "none":
        yield "load_" + asked["load"].replace(" ", "")
    if asked["tuned"] != "none":
        yield f"tuned_{asked['tuned']}"
