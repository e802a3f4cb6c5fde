# SPDX-License-Identifier: Apache-2.0
"""Topologies of iRobot's ros2-performance (JSON): nodes with publishers and subscribers.

Each publisher has a timer of its own, each subscriber a callback. A topology has no execution
times, and Takt has no services yet: the user gives the one, and is told of the other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Optional

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from takt.documents.reading import parse_json
from takt.schedule.importing.imported import (
    Given,
    Imported,
    application,
    execution,
    identifier,
    wrong,
)

_BYTES = {"b": 1, "kb": 1000, "mb": 1_000_000}
_FIELDS = {"int64": 8, "int32": 4, "float32": 4}
_DEPTH = 10  # of the queue, in rmw's default profile

Name = Annotated[str, Field(min_length=1, max_length=200)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="allow")


class _Subscriber(_Part):
    topic_name: Name
    msg_type: Name
    msg_size: Annotated[int, Field(ge=0, le=2**40)] = 0
    qos_depth: Annotated[Optional[int], Field(ge=1, le=10_000)] = None  # noqa: UP045 - Python 3.10
    qos_reliability: Optional[str] = None  # noqa: UP045


class _Publisher(_Subscriber):
    period_ms: Annotated[Optional[float], Field(gt=0, le=1e9)] = None  # noqa: UP045
    freq_hz: Annotated[Optional[float], Field(gt=0, le=1e6)] = None  # noqa: UP045

    def period(self) -> int | None:
        """In ns; whole µs as ros2-performance has it, the rate first."""
        if self.freq_hz is not None:
            return int(1e6 / self.freq_hz) * 1000
        return None if self.period_ms is None else int(self.period_ms * 1000) * 1000


class _Node(_Part):
    node_name: Name
    publishers: list[_Publisher] = []
    subscribers: list[_Subscriber] = []
    clients: list[dict[str, Any]] = []
    servers: list[dict[str, Any]] = []
    executor_id: int = 0
    number: Annotated[Optional[int], Field(ge=1, le=1000)] = None  # noqa: UP045


class _Topology(_Part):
    nodes: Annotated[list[_Node], Field(min_length=1)]


def read(file: Path, text: str, given: Given) -> list[Imported]:
    """The application of a topology; raises TaktError without execution times of the user."""
    try:
        topology = _Topology.model_validate(parse_json(text, str(file)))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise wrong(file, None, f"{place}: {first['msg']}") from None
    if given.wcet is None:
        raise wrong(
            file,
            None,
            "a topology has no execution times",
            "give one for all callbacks, such as --wcet 100us, and edit the file",
        )
    callbacks = list(_callbacks(file, topology, given.wcet))
    if not callbacks:
        raise wrong(file, None, "no node of this topology publishes or subscribes to a topic")
    services = sum(len(one.clients) + len(one.servers) for one in topology.nodes)
    notes = [
        "execution times: the topology has none; all are those of --wcet",
        "policy: edf; ros2-performance runs rclcpp's executors, which have none",
    ]
    if services:
        notes.append(f"services: {services} clients and servers are left out, Takt has none yet")
    return [Imported(application(callbacks, "edf", [0], topics=list(_topics(topology))), notes)]


def _callbacks(file: Path, topology: _Topology, wcet: int) -> Iterator[dict[str, Any]]:
    for node in topology.nodes:
        for name in _names(node):
            for publisher in node.publishers:
                period = publisher.period()
                if not period:
                    raise wrong(
                        file,
                        None,
                        f"publisher {publisher.topic_name} of {node.node_name} has no period: "
                        "give period_ms or freq_hz, of at least 1 µs",
                    )
                yield {
                    "name": f"{name}.{identifier(f'publish_{publisher.topic_name}', 'publish_')}",
                    "period": period,
                    "execution": execution(wcet, wcet),
                    "writes": [_topic(publisher)],
                    **_group(node),
                }
            for subscriber in node.subscribers:
                yield {
                    "name": f"{name}.{identifier(f'on_{subscriber.topic_name}', 'on_')}",
                    "trigger": _topic(subscriber),
                    "execution": execution(wcet, wcet),
                    **_group(node),
                }


def _names(node: _Node) -> list[str]:
    name = identifier(node.node_name, "node_")
    return [name] if node.number is None else [f"{name}_{i + 1}" for i in range(node.number)]


def _group(node: _Node) -> dict[str, Any]:
    """Callbacks of one single-threaded executor exclude each other."""
    return {"group": f"executor_{node.executor_id}"}


def _topic(end: _Subscriber) -> str:
    return re.sub(r"[^A-Za-z0-9_/]", "_", end.topic_name)


def _topics(topology: _Topology) -> Iterator[dict[str, Any]]:
    """With the greatest message of their publishers, and the queue of their subscribers."""
    found: dict[str, dict[str, Any]] = {}
    published = {_topic(one) for node in topology.nodes for one in node.publishers}
    for node in topology.nodes:
        for publisher in node.publishers:
            topic = found.setdefault(_topic(publisher), {"name": _topic(publisher)})
            topic["bytes"] = max(topic.get("bytes", 0), _bytes(publisher))
        for subscriber in node.subscribers:
            topic = found.setdefault(_topic(subscriber), {"name": _topic(subscriber)})
            topic["depth"] = max(topic.get("depth", 0), subscriber.qos_depth or _DEPTH)
            if subscriber.qos_reliability == "best_effort":
                topic["reliable"] = False
    for topic in found.values():
        yield topic | ({} if topic["name"] in published else {"external": True})


def _bytes(publisher: _Publisher) -> int:
    """Of the data; types say it in their names: stamped10kb, stamped9_float32, stamped_int64."""
    kind = publisher.msg_type.rsplit("::")[-1].lower()
    if publisher.msg_size:
        return publisher.msg_size
    if match := re.fullmatch(r"stamped(\d+)(b|kb|mb)", kind):
        return int(match[1]) * _BYTES[match[2]]
    if match := re.fullmatch(r"stamped(\d*)_?(int64|int32|float32)", kind):
        return int(match[1] or 1) * _FIELDS[match[2]]
    return 0
