# SPDX-License-Identifier: Apache-2.0
"""The document of ``./takt record --json``."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

SCHEMA_VERSION = 1


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid")


class RecordedThread(_Part):
    """A thread of a process, as it was scheduled at the end."""

    thread: int
    name: str
    policy: str  # other, batch, idle, fifo, rr, deadline, ext
    priority: int  # 0 where the policy has none
    nice: int
    cpus: list[int]  # those that it may use
    calls: int  # of callbacks in it


class RecordedProcess(_Part):
    """One process with events of ROS 2."""

    file: str
    process: int
    program: str  # with its arguments
    nodes: list[str]
    events: int
    dropped: int  # events for which the recording had no space
    bytes: int  # of the recording
    threads: list[RecordedThread]  # those that were there when Takt looked, every 0.1 to 1 s


class RecordedCallback(_Part):
    """A callback of rclcpp that was called."""

    callback: str  # node.timer0, node.subscription:/topic
    period_ms: float | None  # of a timer
    calls: int
    rate_hz: float | None  # of its calls; None: fewer than two
    median_us: float  # CPU time of a call
    longest_us: float


class RecordDocument(_Part):
    """The whole document."""

    schema_version: int = SCHEMA_VERSION
    folder: str
    command: list[str]
    exit_code: int  # of the command; 0 where --for ended it
    processes: list[RecordedProcess]
    callbacks: list[RecordedCallback]
    notes: list[str]
