# SPDX-License-Identifier: Apache-2.0
"""The name of a point: all that was asked of it, what is the default left out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from takt.documents.units import format_bandwidth, format_duration, format_period, format_size
from takt.measure.experiment.model import MESSAGES
from takt.processes.namespace import HERE
from takt.processes.shaping import SHARED

_SPECIAL = re.compile(r"[^A-Za-z0-9_.]")  # the key names files
# Of the words that stand for themselves: before and after the numbers of threads and subscribers.
_OF_THE_LOOP = (("wait", "idle"), ("late", "at_once"))
_OF_THE_QOS = (("reliability", "reliable"), ("durability", "volatile"), ("history", "keep_last"))


def key_of(asked: dict[str, Any], period: int) -> str:
    """A readable name of the point, such as ``rcl-pingpong-shm-500B-fifo80-cpu1-1kHz``."""
    parts = [
        asked["stack"].replace(",", "+"),
        asked["kind"],
        asked["transport"],
        *_messages(asked),
        asked["scheduling"] + (str(asked["priority"]) if asked["priority"] else ""),
    ]
    if asked["cpu"]:
        parts.append("cpu" + "+".join(map(str, asked["cpu"])))
    parts.append((format_duration if asked["kind"] == "timer-oneshot" else format_period)(period))
    parts += _others(asked, _OF_THE_LOOP)
    parts += _numbers(asked)
    parts += _others(asked, _OF_THE_QOS)
    if asked["depth"] != 10:
        parts.append(f"depth{asked['depth']}")
    parts += _slaves(asked)
    if asked["talkers"]:
        rate = format_period(round(asked["talker_period_us"] * 1000))
        parts.append(f"{asked['talkers']}talkers{rate}")
    return "-".join([*parts, *_conditions(asked), *filter(None, [asked["label"]])])


def _others(asked: dict[str, Any], presets: tuple[tuple[str, str], ...]) -> Iterator[str]:
    """The values that are not the default."""
    for name, preset in presets:
        if asked[name] != preset:
            yield asked[name]


def _messages(asked: dict[str, Any]) -> Iterator[str]:
    """What runs the callbacks, and what is sent."""
    if asked["executor"]:
        yield asked["executor"]
    if asked["kind"] in MESSAGES:
        yield format_size(asked["payload_bytes"])
    if asked["content"] != "bytes":
        yield asked["content"]


def _numbers(asked: dict[str, Any]) -> Iterator[str]:
    """How many take part."""
    if asked["threads"] > 1:
        yield f"{asked['threads']}threads"
    if asked["distance_us"]:
        yield "by" + format_duration(round(asked["distance_us"] * 1000))
    if asked["subscribers"] > 1:
        yield f"{asked['subscribers']}subs"


def _slaves(asked: dict[str, Any]) -> Iterator[str]:
    """Those of EtherCAT."""
    if asked["interface"]:
        yield _SPECIAL.sub("_", asked["interface"])
    if asked["slaves"]:
        yield f"{asked['slaves']}slaves"
    if asked["fault"] != "none":
        yield asked["fault"]


def _conditions(asked: dict[str, Any]) -> Iterator[str]:
    """What is the case meanwhile."""
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
