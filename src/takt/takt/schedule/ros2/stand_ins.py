# SPDX-License-Identifier: Apache-2.0
"""What stands for callbacks where a recording has none: programs on rclpy, or on rcl itself.

Of them tracetools knows who published and who took a message, and when. Each publication and each
take is a job of 1 ns; that of a take is released by the publication of its message. A service is
one from the take of a request to its response, with what its thread published in between.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from takt.schedule.ros2.called import Call, Entity, Handle, Message
from takt.schedule.ros2.topics import REQUEST, service_name

NOTE = (
    "no callbacks: those of rclpy and rcl are not in a recording. In their place stand messages: "
    "NODE.publish:/TOPIC are publications, NODE.take:/TOPIC takes, whose response is the time "
    "since the publication; what a callback does after the take is not known. "
    "NODE.request:/SERVICE and NODE.response:/SERVICE are those of a client, NODE.service:/SERVICE "
    "lasts from the take of a request to its response"
)
SILENT = {"rosout", "parameter_events"}  # of no interest where nobody recorded takes them


@dataclass(frozen=True)
class Endpoint:
    """A publisher or a subscription."""

    handle: Handle
    node: Handle
    topic: str


@dataclass(eq=False)
class Done:
    """A publication outside of all callbacks, or a take; ns."""

    by: Endpoint
    time: int
    thread: Handle
    core: int
    message: Message | None  # None: its writer was not recorded
    end: int = 0  # of a service, when it had answered, or its thread went on; 0: at once
    published: list[Message] = field(default_factory=list)  # what it published until then


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
        _make(call, one.message)
        name = _name(nodes, one.by, "request" if service_name(topic) else "publish")
        of = found.setdefault(name, Entity("timer", one.by.handle, one.by.node))
        of.jobs.append(call)
    for one in takes:
        call = _call(one)
        call.took = one.message
        for message in one.published:
            _make(call, message)
        topic = one.by.topic
        what = "take"
        if service_name(topic):
            what = "service" if topic.endswith(REQUEST) else "response"
        name = _name(nodes, one.by, what)
        of = found.setdefault(name, Entity("subscription", one.by.handle, one.by.node, topic))
        of.jobs.append(call)
    return list(found.items())


def _call(one: Done) -> Call:
    # What belongs to a job lies before its end.
    return Call(one.time, thread=one.thread, core=one.core, end=max(one.end, one.time) + 1)


def _make(call: Call, message: Message) -> None:
    call.published[message.topic, "rcl"] += 1
    message.maker = call


def _name(nodes: Mapping[Handle, str], by: Endpoint, what: str) -> str:
    node = nodes.get(by.node, "unknown").lstrip("/")
    name = service_name(by.topic) or by.topic
    return f"{node}.{what}:/{name.lstrip('/')}"
