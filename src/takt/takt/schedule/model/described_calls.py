# SPDX-License-Identifier: Apache-2.0
"""Calls of services in a trace of Takt's executor: its description says who calls whom and when.

The trace has requests as messages, and of a wait only that it was one.
"""

from __future__ import annotations

import json
import math
from typing import Any

from takt.schedule.model.observed import NO_TIMES, ObservedCallback
from takt.schedule.ros2.topics import topic_name

Part = dict[str, Any]


def describe(callbacks: list[ObservedCallback], text: str | None) -> None:
    """Makes servers and clients of the callbacks that the description has as such.

    Only of services that nobody requests without a wait, and of clients that wait for nothing else.
    """
    described = _described(text)
    servers = {
        topic_name(str(one.get("trigger", ""))): name
        for name, one in described.items()
        if one.get("kind") == "service"
    }
    clients = {
        one.recorded: segments
        for one in callbacks
        if (segments := _calls(described.get(one.recorded, {})))
    }
    called = {topic_name(part["call"]) for segments in clients.values() for part in segments[1::2]}
    others = {topic for one in callbacks if one.recorded not in clients for topic in one.writes}
    found = {one.recorded for one in callbacks}
    kept = {one for one in called - others if servers.get(one) in found}
    for one in callbacks:
        services = [topic_name(part["call"]) for part in clients.get(one.recorded, [])[1::2]]
        if services and kept.issuperset(services):
            _call(one, clients[one.recorded], services)
        if described.get(one.recorded, {}).get("kind") == "service" and one.trigger in kept:
            one.reads.pop(str(one.trigger), None)
            one.kind, one.trigger = "service", str(described[one.recorded]["trigger"])
            one.declared.pop("overrun", None)  # a server answers all


def _described(text: str | None) -> dict[str, Part]:
    try:
        return {one["name"]: one for one in json.loads(text or "{}").get("callbacks", [])}
    except (ValueError, AttributeError, KeyError, TypeError):
        return {}  # damaged


def _calls(described: Part) -> list[Part]:
    """The segments of a client all of whose waits are calls; none if it is no such client."""
    try:
        segments = list(described.get("segments", []))
        if segments and all("call" in one for one in segments[1::2]):
            return segments if sum(int(one["longest"]) for one in segments[::2]) else []
    except (TypeError, ValueError, KeyError, AttributeError):
        pass
    return []


def _call(one: ObservedCallback, segments: list[Part], services: list[str]) -> None:
    if not len(one.execution):
        return
    total = sum(int(part["longest"]) for part in segments[::2])
    least, most = int(one.execution.min()), int(one.execution.max())
    one.segments = [
        part
        if "call" in part
        else {
            "shortest": max(1, least * int(part["longest"]) // total),
            "longest": max(1, math.ceil(most * int(part["longest"]) / total)),
        }
        for part in segments
    ]
    for topic in services:
        one.forget(topic)
    declared = one.declared.get("writes", [])
    one.declared["writes"] = [each for each in declared if topic_name(each) not in services]
    one.declared.pop("waits", None)
    one.waiting, one.sleeps = NO_TIMES, 0
    one.notes.append(
        "segments: as described; all of them have the observed execution time, in the proportion "
        "of the described ones"
    )
