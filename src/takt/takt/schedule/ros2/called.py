# SPDX-License-Identifier: Apache-2.0
"""Entities of rclcpp and the calls of their callbacks, as events of tracetools have them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Literal

Handle = tuple[int, int]  # process and address: each process has addresses of its own


@dataclass(eq=False)
class Message:
    """One publication; times in ns."""

    topic: str
    time: int
    maker: Call | None  # None: no callback was running in its thread


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
    published: Counter[tuple[str, str]] = field(default_factory=Counter)  # by topic and way

    @property
    def execution(self) -> int:
        """CPU time, or as near to it as the trace comes."""
        return self.end - self.begin - self.off_core if self.computed is None else self.computed


@dataclass(eq=False)
class Entity:
    """A timer, a subscription or a service."""

    kind: Literal["timer", "subscription", "service"]
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
        return f"{self.name}/_service/request" if self.kind == "service" else self.name
