# SPDX-License-Identifier: Apache-2.0
"""The document of ``./takt spin --json``."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

SCHEMA_VERSION = 1


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid")


class SpunExecutor(_Part):
    """An executor of rclcpp whose spin() began."""

    process: int
    program: str
    executor: str  # its class in rclcpp
    threads: int  # of rclcpp's executor
    nodes: list[str]  # at the start
    policy: str  # of Takt's executor
    cores: list[int]


class KeptExecutor(_Part):
    """An executor that stays with rclcpp."""

    process: int
    program: str
    executor: str
    why: str


class ThreadSettings(_Part):
    """How a thread is scheduled."""

    policy: Literal["other", "fifo", "rr", "batch", "idle", "deadline", "ext"]
    priority: int  # 0 unless fifo or rr
    cpus: list[int]


class SetThread(_Part):
    """A thread for which the timing file has settings."""

    process: int
    thread: int
    program: str
    name: str
    nodes: list[str]  # whose callbacks it runs
    requested: ThreadSettings
    granted: ThreadSettings
    refused: str | None  # the kernel's reason


class SpinDocument(_Part):
    """The whole document."""

    schema_version: int = SCHEMA_VERSION
    command: list[str]
    exit_code: int  # of the command
    executors: list[SpunExecutor]
    kept: list[KeptExecutor]
    threads: list[SetThread]
    notes: list[str]
