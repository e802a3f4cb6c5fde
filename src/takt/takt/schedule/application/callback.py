# SPDX-License-Identifier: Apache-2.0
"""One callback of an application: its releases, its execution and what it asks of others."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, PlainValidator, WithJsonSchema, model_validator
from takt_core import Quantity

from takt.documents.quantities import (
    Duration,
    DurationOrRate,
    PeriodOrRate,
    PositiveDuration,
    Strict,
)
from takt.documents.units import format_duration, parse_duration, pattern
from takt.schedule.application.execution_time import ExecutionTime
from takt.schedule.application.executors import Cpu, Priority
from takt.schedule.application.locks import CriticalSection
from takt.schedule.application.segments import Segments, check_turns
from takt.schedule.application.topics import Reads, Services, TopicName, Writes


def _offset(value: Any) -> int | Literal["unknown"]:
    return "unknown" if value == "unknown" else parse_duration(value)


Identifier = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=100)]
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
Deadline = PositiveDuration
Overrun = Literal["skip", "queue_one", "catch_up"]


class Timing(Strict):
    """Keys of a callback that a scenario may change."""

    timer: PeriodOrRate | None = Field(
        None,
        description="period of its releases, or a rate such as 30Hz; a callback has this, on, "
        "service or response",
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
    """One callback of a node: a timer's, a subscription's, a server's, or one of a response."""

    on: TopicName | None = Field(
        None, description="a subscription: released by each message of this topic"
    )
    service: TopicName | None = Field(
        None,
        description="a server: released by each request of this service; it answers when its job "
        "ends, and catches up on all requests",
    )
    response: TopicName | None = Field(
        None,
        description="the callback of an asynchronous client: released by each response of this "
        "service",
    )
    requests: Services = Field(
        [],
        description="services to which each job sends a request without waiting for the response "
        "(async_send_request): [/plan]; to wait, call it in segments",
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
        "turn, [1ms, {wait: 2ms}, {best: 0.5ms, worst: 1ms}, {call: /plan}, 1ms]; default: it may "
        "wait anywhere",
    )
    at_once: Annotated[int, Field(ge=1, le=64, strict=True)] | None = Field(
        None,
        description="most jobs of it that run at the same time, each on another core, as in a "
        "Reentrant group of rclcpp; under rclcpp_multi_threaded at least as many as cpus; "
        "default: 1",
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
        if [self.timer, self.on, self.service, self.response].count(None) != 3:
            raise ValueError(
                "a callback has either timer (its period), on (the topic that releases it), "
                "service (the one that it answers) or response (the service whose responses "
                "release it)"
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
