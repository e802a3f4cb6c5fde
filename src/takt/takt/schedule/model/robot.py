# SPDX-License-Identifier: Apache-2.0
"""The processes of a robot: what a trace says of them, and how long messages between them took."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, Field, ValidationError

from takt.schedule.application.executors import (
    IDLING,
    STOCK_EXECUTORS,
    Cpu,
    Executor,
    Policy,
    Priority,
)
from takt.schedule.application.processes import executor_cores, hosts_of
from takt.schedule.model.declared import DeclaredTask, Name, Time
from takt.schedule.ros2.topics import topic_name

Times = NDArray[np.int64]


class _Work(BaseModel):
    best: Time = 0
    worst: Time = 0
    quantiles: list[Time] = []


class _Receipt(BaseModel):
    topic: Name
    execution: _Work = _Work()


class _Thread(BaseModel):
    name: Name
    cpu: Cpu | None = None
    priority: Priority
    receives: list[_Receipt] = []
    period: Time = 0
    jitter: Time = 0
    execution: _Work = _Work()
    writes: list[Name] = []


class _Reservation(BaseModel):
    runtime: Time
    deadline: Time
    period: Time


class _Quota(BaseModel):
    budget: Time
    period: Time


class _Process(BaseModel):
    name: Name
    host: Name | None = None
    executor: Executor | None = None
    policy: Policy | None = None
    cpu: Cpu = 0
    cpus: list[Cpu] | None = None
    priority: Priority | None = None
    reservation: _Reservation | None = None
    nice: int | None = None
    quota: _Quota | None = None
    threads: list[_Thread] = []


class _Handover(BaseModel):
    least: Time = 0
    most: Time = 0


class _Link(BaseModel):
    hosts: Annotated[list[Name], Field(min_length=2, max_length=2)]
    least: Time = 0
    most: Time = 0
    loss: Time = 0
    drift: Time = 0
    measured: Time = 0


class _Execution(BaseModel):
    worst: Time = 0


class _Callback(DeclaredTask):
    kind: Literal["timer", "message", "service"] | None = None  # type: ignore[assignment]
    process: Name
    execution: _Execution = _Execution()
    at_once: Annotated[int, Field(ge=1, strict=True)] = 1

    def names(self) -> list[str]:
        """Those in a trace: each lane has one of its own."""
        return [self.name, *(f"{self.name}#{lane}" for lane in range(2, self.at_once + 1))]


class _Topic(BaseModel):
    name: Name
    bytes: Annotated[int, Field(ge=0, strict=True)] | None = None
    depth: Annotated[int, Field(ge=1, strict=True)] | None = None


class _Described(BaseModel):
    """What the description in a trace has of its processes."""

    processes: list[_Process] = Field(min_length=1)
    handover: _Handover = _Handover()
    links: list[_Link] = []
    callbacks: list[_Callback]
    topics: list[_Topic] = []


@dataclass
class Robot:
    """Several processes, in the words of the flat form."""

    processes: list[dict[str, Any]]
    handover: dict[str, int]
    homes: dict[str, str]  # by callback, as the trace has it
    notes: list[str] = field(default_factory=list)
    # What the description says of callbacks under rclcpp's executors: no trace of theirs does.
    declared: dict[str, dict[str, Any]] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)  # of messages, by topic, where declared
    depths: dict[str, int] = field(default_factory=dict)
    links: list[dict[str, Any]] = field(default_factory=list)
    crossed: list[str] = field(default_factory=list)  # what each link has carried and lost

    @property
    def hosts(self) -> list[str]:
        """Of its processes; none where there is one."""
        return hosts_of({"processes": self.processes})

    def host(self, process: str) -> str:
        """That of a process; empty where there is one host."""
        home = next(one for one in self.processes if one["name"] == process)
        return str(home.get("host", ""))

    def policy(self, callback: str) -> str:
        """What decides about a callback: a policy of Takt, or the executor of rclcpp."""
        home = next(one for one in self.processes if one["name"] == self.homes[callback])
        return str(home.get("executor") or home.get("policy", "fp"))

    def cores(self, callback: str) -> list[int]:
        """Those of the executor that ran it, among which it has its own; none: any of them."""
        home = next(one for one in self.processes if one["name"] == self.homes[callback])
        one_thread_or_any = "executor" in home or "reservation" in home
        return [] if one_thread_or_any else executor_cores(home)

    def _driver(self, callback: str) -> dict[str, Any] | None:
        """The thread whose jobs these are, process.thread; None: those of a node's callback."""
        process, _, name = callback.partition(".")
        threads = (one.get("threads", []) for one in self.processes if one["name"] == process)
        return next(
            (one for each in threads for one in each if one["name"] == name and one.get("period")),
            None,
        )

    @property
    def drivers(self) -> dict[str, set[str]]:
        """What threads publish, by their whole names, process.thread."""
        return {
            f"{one['name']}.{thread['name']}": {topic_name(topic) for topic in thread["writes"]}
            for one in self.processes
            for thread in one.get("threads", [])
            if thread.get("writes")
        }

    @property
    def written_by_drivers(self) -> set[str]:
        """Topics that threads publish."""
        return {topic for topics in self.drivers.values() for topic in topics}

    def _is_driver(self, callback: str, execution: Times) -> bool:
        """Whether these are jobs of a driver.

        Makes its declared execution time as long as the longest that was seen.
        """
        driver = self._driver(callback)
        if driver is None or not len(execution):
            return driver is not None
        declared = driver.get("execution", {})
        least, longest = int(execution.min()), int(execution.max())
        self.notes.append(
            f"thread {callback}: {len(execution)} jobs took {_us(least)} to {_us(longest)}; "
            f"declared: at most {_us(declared.get('worst', 0))}"
        )
        if longest > declared.get("worst", 0):
            driver["execution"] = {**declared, "worst": longest}
        return True

    @property
    def idling(self) -> set[str]:
        """Callbacks whose policy may leave the core idle on purpose."""
        return {one for one in self.homes if self.policy(one) in IDLING}

    def is_of_node(self, callback: str, execution: Times) -> bool:
        """Whether these are jobs of a node's own callback; takes note of those of drivers."""
        return not self._is_own_subscription(callback) and not self._is_driver(callback, execution)

    def _is_own_subscription(self, callback: str) -> bool:
        """Whether it takes what another callback reads: executors of rclcpp have one for each.

        A simulation has callback.topic, an execution node.topic.
        """
        reader, dot, _ = callback.rpartition(".")
        stock = {one for one in self.homes if self.policy(one) in STOCK_EXECUTORS}
        nodes = {one.rpartition(".")[0] for one in stock}
        return bool(dot) and callback not in self.homes and reader in stock | nodes


def described(text: str | None) -> Robot | None:
    """The robot of a description in the flat form; None: it is none, or damaged."""
    try:
        found = _Described.model_validate_json(text or "")
    except ValidationError:
        return None
    processes = [one.model_dump(exclude_unset=True) for one in found.processes]
    homes = {name: one.process for one in found.callbacks for name in one.names()}
    if not set(homes.values()) <= {one.name for one in found.processes}:
        return None
    links = [one.model_dump() for one in found.links]
    robot = Robot(processes, found.handover.model_dump(), homes, links=links)
    for one in found.callbacks:
        if one.kind is not None and robot.policy(one.name) in STOCK_EXECUTORS:
            declared = one.model_dump(exclude_unset=True, exclude={"process", "execution"})
            if one.kind == "service":  # requests are messages
                declared["kind"] = "message"
            robot.declared[one.name] = declared | {"expected_execution": one.execution.worst}
    for topic in found.topics:
        if topic.bytes is not None:
            robot.sizes[topic.name] = topic.bytes
        if topic.depth is not None:
            robot.depths[topic.name] = topic.depth
    return robot


def note_handovers(robot: Robot, observed: Times) -> None:
    """Makes the declared handover as long as the longest that was seen."""
    if not len(observed):
        return
    least, longest = int(observed.min()), int(observed.max())
    most = robot.handover["most"]
    robot.notes.append(
        f"middleware: {len(observed)} messages between processes took {_us(least)} to "
        f"{_us(longest)}; declared: at most {_us(most)}"
    )
    robot.handover = {
        "least": min(robot.handover["least"], max(0, least)),
        "most": max(most, longest),
    }


def _us(ns: int) -> str:
    return f"{ns / 1000:.6g} µs"
