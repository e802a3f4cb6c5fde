# SPDX-License-Identifier: Apache-2.0
"""The timing file (NAME.timing.yaml): timing for callbacks whose code stays as it is.

Takt's executor of rclcpp nodes reads it (`load_timing`). Durations are ns here; in the file they
carry their units: ns, us, ms or s.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from takt.documents.quantities import Duration, Period, Strict
from takt.documents.yaml_file import KeyFaults
from takt.schedule.application.callback import Deadline
from takt.schedule.application.executors import Cpu, Policy, Priority
from takt.schedule.application.topics import Read, TopicName

Kind = Literal[
    "timer", "subscription", "intra_process", "service", "client", "qos_event", "waitable"
]
Number = Annotated[int, Field(ge=0, strict=True)]


def _full_name(value: str) -> str:
    if set(value) & set("*?"):
        raise ValueError(
            f"{value!r} is a pattern, not a full name: write an entry for each, "
            "or leave out node or name, which means any"
        )
    if not value.startswith("/"):
        raise ValueError(f"{value!r} is no full name: write it with its namespace, /{value}")
    return value


FullName = Annotated[str, AfterValidator(_full_name)]


class TimingRule(Strict):
    """A rule for matching callbacks; later rules override earlier ones."""

    node: FullName | None = Field(
        None, description="full name of the node: /arm/planner; default: any"
    )
    kind: Kind | None = Field(None, description="trigger of the callback; default: any")
    name: FullName | None = Field(
        None, description="name of its topic or service in the ROS graph: /scan; default: any"
    )
    ordinal: Number | None = Field(
        None,
        description="index among equal callbacks of its node, from 0, in the order of "
        "groups, then of creation; default: any",
    )
    group: Number | None = Field(
        None,
        description="index of the callback group in its node, in the order of creation; "
        "default: any",
    )
    priority: Priority | None = Field(
        None, description="priority; 98 is the highest; default: the executor's"
    )
    deadline: Deadline | None = Field(
        None,
        description="deadline, counted from the release; default: the period, else the executor's",
    )
    period: Period | None = Field(
        None, description="minimum distance between two messages; timers have their own period"
    )
    expected_execution: Duration | None = Field(
        None, description="worst-case execution time for the analysis; default: unknown"
    )
    budget: Duration | None = Field(
        None, description="budget: CPU time of one job that is monitored; default: not monitored"
    )
    cpu: Cpu | None = Field(None, description="one of cpus; default: chosen by the partitioning")
    waits: bool | None = Field(
        None,
        strict=True,
        description="the callback sleeps or waits while others run; default: the executor's",
    )
    reads: dict[Annotated[TopicName, AfterValidator(_full_name)], Read | None] = Field(
        {},
        description="topics of its node delivered before it runs: {/scan: {max_age: 15ms}}, or "
        "{/scan: {}}",
    )


class ThreadRule(Strict):
    """A rule for threads that run no callbacks; later rules override earlier ones."""

    name: str = Field(description="name of the thread, with * and ?: dds.udp.*")
    program: str | None = Field(
        None, description="name of its program, with * and ?: rviz2; default: any"
    )
    policy: Literal["fifo", "rr", "other"] | None = Field(
        None, description="policy of the kernel; default: fifo where a priority is given"
    )
    priority: Priority | None = Field(
        None, description="real-time priority; 98 is the highest; default: as it is"
    )
    cpus: Annotated[list[Cpu], Field(min_length=1)] | None = Field(
        None, description="cores; default: as they are"
    )


class TimingFile(Strict):
    """A whole timing file."""

    policy: Policy | None = Field(None, description="scheduling policy; default: the executor's")
    cpus: list[Cpu] | None = Field(
        None, description="cores for the callbacks; default: the executor's"
    )
    callbacks: list[TimingRule] = Field([], description="rules, applied in this order")
    threads: list[ThreadRule] = Field(
        [], description="rules for threads, applied in this order by takt spin"
    )

    @model_validator(mode="after")
    def _as_the_executor_reads_it(self) -> TimingFile:
        """What the executor would refuse, when its program already runs."""
        cpus, faults = self.cpus or [], []
        twice = next((one for one in cpus if cpus.count(one) > 1), None)
        if twice is not None:
            faults.append(("cpus", f"core {twice} stands here twice: keep one"))
        for one in self.callbacks if cpus else []:
            if one.cpu is not None and one.cpu not in cpus:
                text = f"core {one.cpu} is none of cpus: name one of them, or add it there"
                faults.append(("callbacks", text))
        if faults:
            raise KeyFaults(faults)
        return self
