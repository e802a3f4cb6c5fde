# SPDX-License-Identifier: Apache-2.0
"""The app.yaml: one description of an application that is analysed, simulated and executed.

Durations are ns and sizes bytes here; in the file they carry their units. None means that the core
chooses its default. Whether the callbacks make sense together is for the core to decide.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainValidator,
    PrivateAttr,
    WithJsonSchema,
    model_validator,
)
from takt_core import Quantity

from takt.documents.quantities import Duration, DurationOrRate, PeriodOrRate, Size, Strict
from takt.documents.units import format_duration, parse_duration, pattern
from takt.documents.yaml_file import Location, Source
from takt.schedule.application.cores import Computer, Core
from takt.schedule.application.execution_time import ExecutionTime
from takt.schedule.application.executors import Cpu, Executor, Policy, Priority
from takt.schedule.application.links import Link
from takt.schedule.application.locks import CriticalSection, Lock
from takt.schedule.application.processes import Host, Middleware, Process
from takt.schedule.application.segments import Segments, check_turns


def _above_zero(value: int) -> int:
    if value == 0:
        raise ValueError("must be greater than 0")
    return value


def _offset(value: Any) -> int | Literal["unknown"]:
    return "unknown" if value == "unknown" else parse_duration(value)


Identifier = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=100)]
TopicName = Annotated[str, Field(pattern=r"^[A-Za-z_/~][A-Za-z0-9_/]*$", max_length=200)]
Offset = Annotated[
    int | Literal["unknown"],
    PlainValidator(_offset),
    WithJsonSchema(
        {
            "type": "string",
            "examples": ["10ms", "unknown"],
            "pattern": f"^({pattern(Quantity.DURATION)}|unknown)$",
        }
    ),
]
Deadline = Annotated[Duration, AfterValidator(_above_zero)]
Overrun = Literal["skip", "queue_one", "catch_up"]


def _named(value: Any) -> Any:
    """A list of names as a mapping of names to nothing; a mapping may leave its values out."""
    if isinstance(value, str):
        return {value: None}
    if isinstance(value, list) and all(isinstance(name, str) for name in value):
        if len(set(value)) < len(value):
            raise ValueError("duplicate name")
        return dict.fromkeys(value)
    return value


class Read(Strict):
    """What a callback asks of the data that it reads."""

    max_age: Duration | None = Field(None, description="maximum age of the data; default: any")


MOST_MESSAGES = 1000  # of one job on a topic


def _message_range(value: Any) -> tuple[int, int]:
    """A number is the least and the most."""
    ends = value if isinstance(value, list | tuple) else [value, value]
    numbers = len(ends) == 2 and all(type(end) is int for end in ends)
    if not numbers or not 1 <= ends[0] <= ends[1] <= MOST_MESSAGES:
        raise ValueError(
            f"must be a number from 1 to {MOST_MESSAGES}, or the least and the most, such as [1, 8]"
        )
    return ends[0], ends[1]


_COUNT = {"type": "integer", "minimum": 1, "maximum": MOST_MESSAGES}
MessageRange = Annotated[
    tuple[int, int],
    PlainValidator(_message_range),
    WithJsonSchema(
        {"anyOf": [_COUNT, {"type": "array", "items": _COUNT, "minItems": 2, "maxItems": 2}]}
    ),
]


class Write(Strict):
    """What one job of a callback publishes on a topic."""

    size: Size | None = Field(None, description="size of one message; default: that below topics")
    messages: MessageRange = Field(
        (1, 1),
        description="messages that one job publishes: a number, or the least and the most, [1, 8]; "
        "default: 1",
    )


def _reads(value: Any) -> Any:
    named = _named(value)
    return {n: r or {} for n, r in named.items()} if isinstance(named, dict) else named


def _writes(value: Any) -> Any:
    """A size alone is the size of a message; a mapping may leave its values out."""
    named = _named(value)
    if not isinstance(named, dict):
        return named
    return {
        name: {} if one is None else one if isinstance(one, dict | Write) else {"size": one}
        for name, one in named.items()
    }


def _allow_size(schema: dict[str, Any]) -> None:
    """A size alone, too, and nothing."""
    size = {"type": "string", "examples": ["32KB"], "pattern": f"^({pattern(Quantity.SIZE)})$"}
    names = schema["patternProperties"]
    schema["patternProperties"] = {
        name: {"anyOf": [write, size, {"type": "null"}]} for name, write in names.items()
    }
    _allow_list(schema)


def _allow_list(schema: dict[str, Any]) -> None:
    names = {"type": "array", "items": {"type": "string"}}
    mapping = {key: schema.pop(key) for key in list(schema) if key not in {"description", "title"}}
    mapping.pop("default", None)
    schema["anyOf"] = [names, *mapping.pop("anyOf", [mapping])]


Reads = Annotated[
    dict[TopicName, Read], BeforeValidator(_reads), Field(json_schema_extra=_allow_list)
]
Writes = Annotated[
    dict[TopicName, Write],
    BeforeValidator(_writes),
    Field(json_schema_extra=_allow_size),
]


class Timing(Strict):
    """What both a callback and a scenario's change of it may say."""

    timer: PeriodOrRate | None = Field(
        None,
        description="period of its releases, or a rate such as 30Hz; a callback has this or on",
    )
    period: DurationOrRate | None = Field(
        None,
        description="with on: minimum distance between two relevant messages; default: "
        "that of their writers",
    )
    offset: Offset | None = Field(
        None,
        description="offset of the first release from the start, or unknown: any up to the "
        "period; default: 0s",
    )
    deadline: Deadline | None = Field(
        None,
        description="deadline, counted from the release; default: the period; under "
        "edf, for messages without one: the shortest deadline of the "
        "readers of their topic, else they run after all others",
    )
    priority: Priority | None = Field(
        None, description="priority; 98 is the highest; default: set by the policy, or an error"
    )
    wcet: Duration | None = Field(
        None, description="declared worst-case execution time; default: that of execution"
    )
    budget: Duration | None = Field(
        None, description="budget: CPU time of one job that is monitored; default: not monitored"
    )
    overrun: Overrun | None = Field(
        None, description="treatment of a release while the previous job runs; default: skip"
    )
    active: bool | None = Field(
        None,
        strict=True,
        description="an inactive callback has no releases until a scenario activates "
        "it; default: true",
    )
    reads: Reads = Field(
        {}, description="topics delivered before it runs: [scan], or {scan: {max_age: 15ms}}"
    )
    writes: Writes = Field(
        {},
        description="topics that it publishes: [scan], {scan: 512kB}, or {tf: {size: 2kB, "
        "messages: 8}}",
    )

    @model_validator(mode="after")
    def _one_period(self) -> Timing:
        if self.timer is not None and self.period is not None:
            raise ValueError("timer already gives the period: remove period")
        return self


class Callback(Timing):
    """One callback of a node: a timer's, or a subscription's."""

    on: TopicName | None = Field(
        None, description="a subscription: released by each message of this topic"
    )
    execution: ExecutionTime | None = Field(
        None, description="actual execution time of a job; default: constant, wcet"
    )
    group: str | None = Field(
        None, description="at most one callback of a group runs at a time; default: none"
    )
    join: Identifier | None = Field(
        None,
        description="with on: name of a join in its node. A job of its callbacks publishes only "
        "if it completes a set: each of them has ended a job since the last publication; default: "
        "each job publishes",
    )
    publishes: Literal["end", "anywhere"] | None = Field(
        None,
        description="when a job publishes: when it has computed (end), or each message at any time "
        "between its start and its end (anywhere); default: end",
    )
    jitter: Duration | None = Field(
        None, description="longest delay until the executor notices a release; default: 0s"
    )
    suspension: Duration | None = Field(
        None,
        description="longest total time that one job sleeps or waits for a device while "
        "others run; default: it never waits, or waiting is part of wcet",
    )
    suspensions: Annotated[int, Field(ge=1, le=1_000_000, strict=True)] | None = Field(
        None,
        description="maximum number of waits of one job, between which alone others delay it; "
        "default: unknown, and with overheads of preemptions its core cannot be proved",
    )
    segments: Segments = Field(
        [],
        description="in place of wcet and suspension: what each job does, it computes and waits in "
        "turn, [1ms, {wait: 2ms}, {best: 0.5ms, worst: 1ms}]; default: it may wait anywhere",
    )
    at_once: Annotated[int, Field(ge=1, le=64, strict=True)] | None = Field(
        None,
        description="most jobs of it that run at the same time, each on another core, as in a "
        "Reentrant group of rclcpp; default: 1",
    )
    critical_sections: list[CriticalSection] = Field(
        [],
        description="parts of each job during which it holds a lock, [{lock: map, begin: 0.5ms, "
        "length: 200us}]: nested or one after the other",
    )
    cpu: Cpu | None = Field(None, description="one of cpus; default: chosen by the partitioning")
    recorded: str | None = Field(
        None,
        max_length=1000,
        description="its name in the trace read by takt model, used by the executor; default: "
        "node.callback",
    )

    @model_validator(mode="after")
    def _whole(self) -> Callback:
        if (self.timer is None) == (self.on is None):
            raise ValueError(
                "a callback has either timer (its period) or on (the topic that releases it)"
            )
        if self.suspensions is not None and not self.suspension:
            raise ValueError(
                "suspensions is the number of waits: also give their time (suspension)"
            )
        if self.segments:
            check_turns(self.segments)
            given = ("wcet", "execution", "suspension", "suspensions")
            if several := [key for key in given if getattr(self, key) is not None]:
                raise ValueError(f"segments already say all of it: remove {' and '.join(several)}")
            return self
        if self.execution is None and self.wcet is None:
            raise ValueError("execution time is missing: give wcet, execution or segments")
        if self.execution is not None and self.wcet is not None:
            worst = self.execution.bounds[1]
            if self.wcet < worst:
                raise ValueError(
                    f"wcet {format_duration(self.wcet)} is below the worst case of "
                    f"execution, {format_duration(worst)}"
                )
        return self


class Topic(Strict):
    """A topic and its quality of service."""

    size: Size | None = Field(
        None, description="size of one message; alternatively given in writes"
    )
    depth: Annotated[int, Field(ge=1, le=10_000, strict=True)] | None = Field(
        None, description="queue depth in messages; default: 1"
    )
    reliability: Literal["reliable", "best_effort"] | None = Field(
        None, description="reliability of the QoS; default: reliable"
    )
    external_period: DurationOrRate | None = Field(
        None,
        description="period of publications from outside the application; 0s: unknown; default: no "
        "outside publisher",
    )
    external_burst: Annotated[int, Field(ge=1, le=MOST_MESSAGES, strict=True)] | None = Field(
        None,
        description="publications from outside that may come at once: at most t / external_period "
        "+ external_burst in any time t; default: 1",
    )


class Chain(Strict):
    """A path of data: each callback reads what the one before it writes."""

    callbacks: Annotated[list[str], Field(min_length=1)] = Field(
        description="names of the callbacks, node.callback, in the order of the data flow"
    )
    max_latency: Duration | None = Field(
        None,
        description="maximum latency from a release of the first to the end of the last; "
        "default: any",
    )


class Scenario(Strict):
    """Changes of callbacks, by their names (node.callback), and the policy while they hold."""

    model_config = ConfigDict(extra="allow", frozen=True)
    __pydantic_extra__: dict[str, Timing]

    policy: Policy | None = Field(
        None, description="value while the scenario is active; default: the application's"
    )

    @model_validator(mode="after")
    def _changeable(self) -> Scenario:
        for callback, change in self.changes.items():
            if change.offset == "unknown":
                raise ValueError(
                    f"a scenario does not make the offset of {callback} unknown: write offset: "
                    f"unknown where {callback} is declared"
                )
            several = [name for name, one in change.writes.items() if one.messages != (1, 1)]
            if several:
                raise ValueError(
                    f"a scenario does not change how many messages {callback} publishes: give "
                    f"the messages on {several[0]} where {callback} is declared"
                )
        return self

    @property
    def changes(self) -> dict[str, Timing]:
        """What changes of which callback."""
        return self.__pydantic_extra__


class Switch(Strict):
    """A change of the scenario while the application is simulated or executed."""

    at: Duration = Field(description="time after the start")
    scenario: str = Field(description="name of the scenario")


class Overheads(Strict):
    """CPU time that executor and middleware take; what is left out counts as none."""

    measured: str | None = Field(
        None,
        alias="from",
        description="file that holds the measured ones: a trace of takt execute, or the document "
        "of takt bench overheads --json; those that are given here replace them",
    )
    dispatch: Duration | None = Field(None, description="per job")
    preemption: Duration | None = Field(None, description="per preemption")
    release: Duration | None = Field(None, description="per release")
    publish: Duration | None = Field(None, description="per message written")
    publish_per_kib: Duration | None = Field(None, description="per KiB written")
    deliver: Duration | None = Field(None, description="per message read")
    deliver_per_kib: Duration | None = Field(None, description="per KiB read")


class Application(Strict):
    """A whole app.yaml."""

    name: Identifier | None = Field(
        None, description="name of the application; default: that of the file"
    )
    description: str = Field("", description="description")
    cpus: Annotated[list[Cpu], Field(min_length=1)] | None = Field(
        None, description="cores for the callbacks; default: [0]"
    )
    cores: dict[Cpu, Core] = Field(
        {},
        description="supply, latency and interrupts of cores, by number; default: a core provides "
        "all of its time at once",
    )
    executor: Executor | None = Field(
        None,
        description="takt, or one of rclcpp's own executors, which have an order of their own "
        "instead of a policy, one core and no scenarios; default: takt",
    )
    policy: Policy | None = Field(None, description="scheduling policy; default: fp")
    processes: dict[Identifier, Process] = Field(
        {}, description="processes of a robot, by name; default: one process with all nodes"
    )
    middleware: Middleware | None = Field(
        None, description="what lies between processes; default: messages arrive at once"
    )
    hosts: dict[Host, Computer] = Field(
        {},
        description="hosts of processes, by name; default: their cores provide all of their time",
    )
    links: list[Link] = Field(
        [], description="what lies between hosts, one for each two that exchange messages"
    )
    nodes: Annotated[dict[Identifier, dict[Identifier, Callback]], Field(min_length=1)] = Field(
        description="nodes by name, each with callbacks by name"
    )
    topics: dict[TopicName, Topic] = Field(
        {}, description="topics by name: everything not given in reads and writes"
    )
    locks: dict[Identifier, Lock] = Field(
        {}, description="mutexes that critical_sections of callbacks hold, by name"
    )
    chains: dict[Identifier, Chain] = Field({}, description="paths of data, by name")
    scenarios: dict[Identifier, Scenario] = Field(
        {},
        description="scenarios by name; a scenario without changes is the application as described",
    )
    default_scenario: str | None = Field(None, description="initial scenario; default: the first")
    switches: list[Switch] = Field(
        [], description="change of the scenario at a time after the start"
    )
    overheads: Overheads | None = Field(
        None, description="CPU time of executor and middleware; default: not counted"
    )

    _source: Source = PrivateAttr(default_factory=Source)

    @property
    def callbacks(self) -> dict[str, Callback]:
        """All callbacks by their whole names, node.callback, in the order of the file."""
        return {
            f"{node}.{name}": callback
            for node, callbacks in self.nodes.items()
            for name, callback in callbacks.items()
        }

    @property
    def file(self) -> Path | None:
        """The file that it was read from."""
        return self._source.file

    def where(self, said: str) -> str:
        """``file:line`` of the first part that a message of the core names in quotes."""
        places: dict[str, Location] = {
            f"{node}.{name}": ("nodes", node, name)
            for node, callbacks in self.nodes.items()
            for name in callbacks
        }
        for part in ("processes", "topics", "locks", "chains", "scenarios"):
            for name in getattr(self, part):
                places.setdefault(name, (part, name))
        for name in re.findall(r"'([^']+)'", said):
            if name in places:
                return self._source.where(places[name])
            if name == self.policy:
                return self._source.where(("policy",))
            if name == self.executor:
                return self._source.where(("executor",))
        return self._source.where(())
