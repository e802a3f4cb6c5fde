# SPDX-License-Identifier: Apache-2.0
"""Entities of rclcpp and the calls of their callbacks, as events of tracetools have them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Literal

from takt.schedule.ros2.topics import request_topic, response_topic

Handle = tuple[int, int]  # process and address: each process has addresses of its own


@dataclass(eq=False)
class Message:
    """One publication; times in ns."""

    topic: str
    time: int
    maker: Call | None  # None: no callback was running in its thread
    answered: int | None = None  # a request: when its response was taken
    cpu: int | None = None  # of its thread, then; where it was recorded
    waited: bool = False  # a request: its response was taken before the callback ended


@dataclass(eq=False)
class Call:
    """One call of a callback; times in ns."""

    begin: int
    cpu: int | None = None  # CPU time of its thread, at the begin
    thread: Handle = (0, 0)
    core: int = -1  # at the begin; -1: not recorded
    took: Message | None = None  # the message that it was called with, where its writer is known
    computed: int | None = None  # CPU time; where it was recorded
    end: int = 0
    off_core: int = 0  # taken away by the kernel; only where the trace has its events
    requests: list[Message] = field(default_factory=list)  # that it sent
    published: Counter[tuple[str, str]] = field(default_factory=Counter)  # by topic and way

    def compute(self, until: int | None) -> bool:
        """Counts the CPU time of its thread up to ``until``, if it is known."""
        if self.cpu is None or until is None:
            return False
        self.computed = until - self.cpu
        return True

    @property
    def execution(self) -> int:
        """CPU time, or as near to it as the trace comes."""
        return self.end - self.begin - self.off_core if self.computed is None else self.computed


@dataclass(eq=False)
class Entity:
    """A timer, a subscription, a service or a client."""

    kind: Literal["timer", "subscription", "service", "client"]
    handle: Handle
    node: Handle | None = None
    name: str = ""  # of the topic or the service
    period: int = 0
    created: int | None = None  # when; None: before the recording
    depth: int = 0
    jobs: list[Call] = field(default_factory=list)

    @property
    def topic(self) -> str:
        """What releases its callback; empty for a timer."""
        if self.kind == "client":
            return response_topic(self.name)
        return request_topic(self.name) if self.kind == "service" else self.name
