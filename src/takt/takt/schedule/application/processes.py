# SPDX-License-Identifier: Apache-2.0
"""The processes of a robot: each has an executor with a thread on each of its cores."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field, model_validator

from takt.documents.quantities import Duration, Strict, range_such_as
from takt.errors import TaktError
from takt.schedule.application.callback import Identifier
from takt.schedule.application.executors import Cpu, Executor, Policy
from takt.schedule.application.kernel_scheduling import KernelScheduling
from takt.schedule.application.threads import Thread

Host = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_-]*$", max_length=100)]


class Process(KernelScheduling):
    """One process; the kernel runs those of its core in the order of their scheduling.

    Reservations go before priorities, the higher ones first, and these before nice.
    """

    executor: Executor | None = Field(
        None, description="takt, or one of rclcpp's own executors; default: takt"
    )
    policy: Policy | None = Field(None, description="scheduling policy of takt; default: fp")
    host: Host | None = Field(
        None, description="the computer that it runs on; default: all run on one"
    )
    cpu: Cpu = Field(0, description="the core of its thread; default: 0")
    cpus: Annotated[list[Cpu], Field(min_length=1)] | None = Field(
        None,
        description="in place of cpu: cores of an executor with a thread on each, takt with a "
        "priority, rclcpp_multi_threaded or rclcpp_events_cbg; or those on which the one thread of "
        "another executor or of a reservation may run; default: that of cpu",
    )
    nodes: Annotated[list[str], Field(min_length=1)] = Field(description="names of its nodes")
    threads: dict[Identifier, Thread] = Field(
        {},
        description="threads beside its executor, by name; default: none, messages reach the "
        "process by themselves",
    )

    @property
    def cores(self) -> set[int]:
        """Of its executor and its threads."""
        threads = (one.cpu for one in self.threads.values() if one.cpu is not None)
        return {*(self.cpus or [self.cpu]), *threads}

    @model_validator(mode="after")
    def _cpu_or_cpus(self) -> Process:
        if self.cpus and "cpu" in self.model_fields_set:
            raise ValueError("cpu and cpus are given: keep cpus, or cpu for one core")
        return self


class Middleware(Strict):
    """The middleware between processes of one host."""

    latency: Annotated[
        list[Duration], Field(min_length=2, max_length=2), range_such_as("[50us, 300us]")
    ] = Field(
        description="shortest and longest time from the publication of a message until another "
        "process notices it: [50us, 300us]"
    )

    @model_validator(mode="after")
    def _ascending(self) -> Middleware:
        if self.latency[0] > self.latency[1]:
            raise ValueError("the first latency is above the second: give [shortest, longest]")
        return self


def process_of(processes: Mapping[str, Process], node: str) -> str | None:
    """The process of a node; None where there are no processes."""
    return next((name for name, one in processes.items() if node in one.nodes), None)


def cores_of(flat: Mapping[str, Any]) -> list[int]:
    """The cores of a flat application: its own, or those of its processes and their threads."""
    if flat.get("processes"):
        return sorted({cpu for _, cpu in places_of(flat)})
    return list(flat.get("cpus", [0]))


def places_of(flat: Mapping[str, Any]) -> set[tuple[str, int]]:
    """Host and core of each process of a flat robot and of its threads; "": there is one host."""
    return {
        (one.get("host") or "", cpu)
        for one in flat.get("processes", [])
        for cpu in (
            *executor_cores(one),
            *(each.get("cpu", executor_cores(one)[0]) for each in one.get("threads", [])),
        )
    }


def executor_cores(process: Mapping[str, Any]) -> list[int]:
    """The cores of the executor of a process in the flat form."""
    return list(process.get("cpus") or [process.get("cpu", 0)])


def hosts_of(flat: Mapping[str, Any]) -> list[str]:
    """The hosts of the processes of a flat application, each once, in their order."""
    named = (one["host"] for one in flat.get("processes", []) if one.get("host"))
    return list(dict.fromkeys(named))


def refuse_hosts(flat: Mapping[str, Any], where: str | None, command: str) -> None:
    """For what takes a robot of one host."""
    hosts = sorted({one["host"] for one in flat.get("processes", []) if one.get("host")})
    if len(hosts) > 1:
        raise TaktError(
            f"{command} takes a robot of one host, and this one has {', '.join(hosts)}",
            where=where,
            fix="describe the processes of each host in a file of its own; takt analyse, simulate "
            "and compare-executors take them all",
        )


def refuse_processes(flat: Mapping[str, Any], where: str | None, command: str) -> None:
    """For what takes an application of one process."""
    if flat.get("processes"):
        raise TaktError(
            f"{command} takes an application of one process, and this one has "
            f"{len(flat['processes'])}",
            where=where,
            fix="remove processes, or use takt analyse, simulate or execute without it",
        )
