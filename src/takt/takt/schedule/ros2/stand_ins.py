# SPDX-License-Identifier: Apache-2.0
"""What stands for callbacks where a recording has none: programs on rclpy, or on rcl itself.

Of them tracetools knows who published and who took a message, and when. Each publication and each
take is a job of 1 ns; that of a take is released by the publication of its message.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from takt.schedule.ros2.called import Call, Entity, Handle, Message

NOTE = (
    "no callbacks: those of rclpy and rcl are not in a recording. In their place stand messages: "
    "NODE.publish:/TOPIC are publications, NODE.take:/TOPIC takes, whose response is the time "
    "since the publication; what a callback does after the take is not known"
)
SILENT = {"rosout", "parameter_events"}  # of no interest where nobody recorded takes them


@dataclass(frozen=True)
class Endpoint:
    """A publisher or a subscription."""

    handle: Handle
    node: Handle
    topic: str


@dataclass(frozen=True)
class Done:
    """A publication outside of all callbacks, or a take; ns."""

    by: Endpoint
    time: int
    thread: Handle
    core: int
    message: Message | None  # None: its writer was not recorded


def stand_ins(
    publications: Iterable[Done], takes: Iterable[Done], nodes: Mapping[Handle, str]
) -> list[tuple[str, Entity]]:
    """By name; makes each publication the work of its job."""
    found: dict[str, Entity] = {}
    takes = list(takes)
    taken = {one.by.topic for one in takes}
    for one in publications:
        topic = one.by.topic
        if one.message is None or (topic.rsplit("/", 1)[-1] in SILENT and topic not in taken):
            continue
        call = _call(one)
        call.published[topic, "rcl"] = 1
        one.message.maker = call
        name = _name(nodes, one.by, "publish")
        of = found.setdefault(name, Entity("timer", one.by.handle, one.by.node))
        of.jobs.append(call)
    for one in takes:
        call = _call(one)
        call.took = one.message
        name = _name(nodes, one.by, "take")
        of = found.setdefault(
            name, Entity("subscription", one.by.handle, one.by.node, one.by.topic)
        )
        of.jobs.append(call)
    return list(found.items())


def _call(one: Done) -> Call:
    # What belongs to a job lies before its end.
    return Call(one.time, thread=one.thread, core=one.core, end=one.time + 1)


def _name(nodes: Mapping[Handle, str], by: Endpoint, what: str) -> str:
    node = nodes.get(by.node, "unknown").lstrip("/")
    return f"{node}.{what}:/{by.topic.lstrip('/')}"
