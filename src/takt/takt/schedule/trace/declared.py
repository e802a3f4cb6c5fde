# SPDX-License-Identifier: Apache-2.0
"""What a trace's application declares: its flat JSON, which the trace carries as an attribute.

The form and its defaults: takt/application/parse.hpp. Times in ns.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from takt.documents.reading import parse_json
from takt.errors import TaktError
from takt.schedule.trace.file import Names

ATTRIBUTE = "application"


@dataclass(frozen=True)
class Declared:
    """One callback."""

    name: str
    node: str
    timer: bool
    period: int
    offset: int
    priority: int
    group: str
    worst: int  # CPU time of a job at most, with what messages and dispatching are said to cost
    overhead: int  # that part of it
    reads: dict[str, int]  # topic: oldest data that it may use, 0: any


@dataclass(frozen=True)
class Chain:
    """A path of data through callbacks."""

    name: str
    callbacks: list[str]
    max_latency: int  # 0: unconstrained


@dataclass(frozen=True)
class Application:
    """What metrics and explanations need of the description."""

    name: str
    callbacks: dict[str, Declared]
    chains: list[Chain]
    switches: bool  # whether scenarios change while it runs


def flat_form(names: Names) -> dict[str, Any] | None:
    """The application of a trace in its flat form; None: it does not tell. Raises TaktError."""
    texts = names.values(ATTRIBUTE)
    if not texts:
        return None
    try:
        flat = parse_json(texts[0], "the application")
    except TaktError as error:
        raise _damaged(error) from None
    if not isinstance(flat, dict):
        raise _damaged(TypeError("it is no mapping"))
    return flat


def declared(names: Names) -> Application | None:
    """The application of a trace; None: it does not tell. Raises TaktError for a damaged one."""
    flat = flat_form(names)
    return None if flat is None else of_flat(flat)


def of_flat(flat: dict[str, Any]) -> Application:
    """The same of an application in its flat form."""
    try:
        topics = {one["name"]: one for one in flat.get("topics", [])}
        overheads: dict[str, int] = flat.get("overheads", {})
        callbacks = [_callback(one, topics, overheads) for one in flat["callbacks"]]
        chains = [
            Chain(one["name"], one["callbacks"], one.get("max_latency", 0))
            for one in flat.get("chains", [])
        ]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise _damaged(error) from None
    return Application(
        name=str(flat.get("name", "")),
        callbacks={one.name: one for one in callbacks},
        chains=chains,
        switches=bool(flat.get("switches")),
    )


def _damaged(error: Exception) -> TaktError:
    return TaktError(
        f"the application that the trace carries cannot be read: {error!r}",
        remedy="the trace is damaged, or was written by another version of Takt",
    )


def plain(topic: str) -> str:
    """A topic as the description names it; ROS puts a slash before it."""
    return topic.removeprefix("/")


def _callback(
    flat: dict[str, Any], topics: dict[str, dict[str, Any]], overheads: dict[str, int]
) -> Declared:
    name: str = flat["name"]
    reads = {one["topic"]: int(one.get("max_age", 0)) for one in flat.get("reads", [])}
    timer = flat.get("kind", "timer") == "timer"

    def cost(kind: str, topic: str) -> int:
        size: int = topics.get(topic, {}).get("bytes", 0)
        per_kib = overheads.get(f"{kind}_per_kib", 0) * size
        return overheads.get(kind, 0) + -(-per_kib // 1024)

    overhead = overheads.get("dispatch", 0) + overheads.get("preemption", 0)
    overhead += sum(cost("publish", topic) for topic in flat.get("writes", []))
    overhead += sum(cost("deliver", one) * topics.get(one, {}).get("depth", 1) for one in reads)
    if not timer:
        overhead += cost("deliver", flat.get("trigger", ""))
    return Declared(
        name=name,
        node=flat.get("node") or name.partition(".")[0],
        timer=timer,
        period=flat.get("period", 0),
        offset=flat.get("offset", 0),
        priority=flat.get("priority", 0),
        group=flat.get("group", ""),
        worst=flat["execution"]["worst"] + overhead,
        overhead=overhead,
        reads={plain(topic): age for topic, age in reads.items()},
    )
