# SPDX-License-Identifier: Apache-2.0
"""The timing file (NAME.timing.yaml): timing for callbacks whose code stays as it is.

Takt's executor of rclcpp nodes reads it (`load_timing`). Durations are ns here; in the file they
carry their units: ns, us, ms or s.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from takt.documents.quantities import Duration, Period, Strict
from takt.schedule.application.model import Cpu, Deadline, Policy, Priority, Read, TopicName

Kind = Literal[
    "timer", "subscription", "intra_process", "service", "client", "qos_event", "waitable"
]
Number = Annotated[int, Field(ge=0, strict=True)]


class TimingRule(Strict):
    """What is said of the callbacks that match; of several rules the later ones count."""

    node: str | None = Field(None, description="its whole name: /arm/planner; default: any")
    kind: Kind | None = Field(None, description="what releases it; default: any")
    name: str | None = Field(
        None, description="of its topic or service, as the graph shows it: /scan; default: any"
    )
    ordinal: Number | None = Field(
        None,
        description="among the callbacks of its node that are alike, from 0, in the order of their"
        " groups, then of their making; default: any",
    )
    group: Number | None = Field(
        None, description="callback group of its node, in the order of their making; default: any"
    )
    priority: Priority | None = Field(
        None, description="98 is the highest; default: the executor's"
    )
    deadline: Deadline | None = Field(
        None, description="counted from the release; default: the period, else the executor's"
    )
    period: Period | None = Field(
        None, description="of messages: the least distance of two; timers have their own"
    )
    expected_execution: Duration | None = Field(
        None, description="the longest that is counted with; default: unknown"
    )
    budget: Duration | None = Field(
        None, description="CPU time of one job that is watched; default: not watched"
    )
    cpu: Cpu | None = Field(None, description="one of cpus; default: chosen by the partitioning")
    waits: bool | None = Field(
        None,
        strict=True,
        description="it sleeps or waits for others, and these run meanwhile; default: the"
        " executor's",
    )
    reads: dict[TopicName, Read | None] = Field(
        {},
        description="topics of its node that are delivered before it runs:"
        " {/scan: {max_age: 15ms}}, or {/scan: {}}",
    )


class TimingFile(Strict):
    """A whole timing file."""

    policy: Policy | None = Field(
        None, description="decides which job runs; default: the executor's"
    )
    cpus: list[Cpu] | None = Field(
        None, description="the cores that callbacks are spread over; default: the executor's"
    )
    callbacks: list[TimingRule] = Field([], description="rules, applied one after the other")
