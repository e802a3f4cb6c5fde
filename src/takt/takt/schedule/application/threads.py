# SPDX-License-Identifier: Apache-2.0
"""Threads of a process beside its executor: those of the middleware that receive, and drivers."""

from __future__ import annotations

from typing import Any

from pydantic import Field, model_validator

from takt.documents.quantities import Duration, PeriodOrRate, Strict
from takt.schedule.application.execution_time import ExecutionTime
from takt.schedule.application.executors import Cpu, Priority
from takt.schedule.application.topics import TopicName


class Thread(Strict):
    """One thread: it receives topics, or a timer releases it (a driver)."""

    cpu: Cpu | None = Field(None, description="its core; default: that of the process")
    priority: Priority = Field(
        description="real-time priority (SCHED_FIFO); unique on the core, also among processes"
    )
    receives: dict[TopicName, ExecutionTime] = Field(
        {},
        description="topics from other processes or from outside, with its execution time for a "
        "message: {scan: 50us}; default: messages reach the process without a thread",
    )
    timer: PeriodOrRate | None = Field(
        None, description="of a driver: period of its releases, or a rate such as 30Hz"
    )
    jitter: Duration | None = Field(
        None, description="of a driver: longest delay of a release; default: 0s"
    )
    execution: ExecutionTime | None = Field(
        None, description="of a driver: execution time for a release, 200us, or {best, worst}"
    )
    writes: list[TopicName] = Field([], description="of a driver: topics that it publishes")

    @model_validator(mode="after")
    def _one_kind(self) -> Thread:
        if self.timer is None and not self.receives:
            raise ValueError(
                "a thread receives topics, such as receives: {scan: 50us}, or has a timer and "
                "execution"
            )
        if self.timer is not None and self.execution is None:
            raise ValueError("key execution is missing: the longest execution time for a release")
        own = ("jitter", "execution", "writes")
        if self.timer is None and (given := [key for key in own if getattr(self, key)]):
            raise ValueError(f"{given[0]} is that of a driver, which has a timer")
        return self


def flat_thread(name: str, thread: Thread) -> dict[str, Any]:
    """A thread as the core parses it."""
    keys = {"cpu": thread.cpu, "period": thread.timer, "jitter": thread.jitter}
    found: dict[str, Any] = {"name": name, "priority": thread.priority}
    found |= {key: value for key, value in keys.items() if value is not None}
    if thread.receives:
        found["receives"] = [
            {"topic": topic, "execution": flat_execution(execution)}
            for topic, execution in thread.receives.items()
        ]
    if thread.execution is not None:
        found["execution"] = flat_execution(thread.execution)
    if thread.writes:
        found["writes"] = thread.writes
    return found


def flat_execution(execution: ExecutionTime) -> dict[str, Any]:
    """An execution time as the core parses it."""
    best, worst = execution.bounds
    return {"best": best, "worst": worst, "quantiles": execution.quantiles()}
