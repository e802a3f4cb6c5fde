# SPDX-License-Identifier: Apache-2.0
"""The timing file (NAME.timing.yaml): timing for callbacks whose code stays as it is.

Durations are ns here; in the file they carry their units.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from takt.documents.quantities import Duration, Period, Strict
from takt.schedule.application.model import Cpu, Deadline, Overrun, Policy, Priority, Reads

Kind = Literal["timer", "subscription", "service", "client", "waitable"]


class TimedCallback(Strict):
    """One callback, found by its node, its kind and its name."""

    node: Annotated[str, Field(min_length=1)] = Field(
        description="the node's whole name; slashes at its begin do not count, others are like _"
    )
    kind: Kind = Field(description="what releases it")
    name: Annotated[str, Field(min_length=1)] = Field(
        description="of its topic or service, as the graph shows it (/scan); of a timer, timer and"
        " its place among the timers of its node: timer0"
    )
    priority: Priority | None = Field(None, description="98 is the highest; default: the policy's")
    deadline: Deadline | None = Field(
        None, description="counted from the release; default: the period"
    )
    period: Period | None = Field(
        None,
        description="the least distance of its releases; default: a timer's own, of others unknown",
    )
    wcet: Duration | None = Field(
        None, description="longest execution that is counted with; default: unknown"
    )
    reads: Reads = Field(
        {}, description="topics delivered before it runs: [/scan], or {/scan: {max_age: 15ms}}"
    )
    max_age: Duration | None = Field(
        None, description="of each topic in reads that has none of its own; default: any"
    )
    group: str | None = Field(
        None, description="at most one callback of a group runs at a time; default: that of rclcpp"
    )
    cpu: Cpu | None = Field(None, description="one of cpus; default: chosen by the partitioning")
    waits: bool = Field(
        False, strict=True, description="it sleeps or waits for others, and these run meanwhile"
    )
    overrun: Overrun | None = Field(
        None, description="what happens to a release while the job before it runs; default: skip"
    )


class TimingFile(Strict):
    """A whole timing file."""

    policy: Policy | None = Field(None, description="decides which job runs; default: fp")
    cpus: Annotated[list[Cpu], Field(min_length=1)] | None = Field(
        None, description="the cores that callbacks are spread over; default: [0]"
    )
    callbacks: Annotated[list[TimedCallback], Field(min_length=1)] = Field(
        description="callbacks that are not named run below all of these"
    )

    @model_validator(mode="after")
    def _named_once(self) -> TimingFile:
        seen: set[tuple[str, str, str]] = set()
        for one in self.callbacks:
            key = (one.node.strip("/").replace("/", "_"), one.kind, one.name.strip("/"))
            if key in seen:
                raise ValueError(f"the {one.kind} {one.name} of {one.node} is there twice")
            seen.add(key)
        return self
