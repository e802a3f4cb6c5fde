# SPDX-License-Identifier: Apache-2.0
"""What an execution leaves: its trace, and under which conditions it came about."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict

from takt.schedule.metrics.model import Metrics

SCHEMA_VERSION = 2
BASELINES = ("baseline0", "baseline1")  # the thesis's
#: With nodes of rclcpp, by its executors and by Takt's for them; where rclcpp is installed.
RCLCPP = (
    "rclcpp_single_threaded",
    "rclcpp_multi_threaded",
    "rclcpp_events",
    "rclcpp_events_cbg",
    "rclcpp_takt",
    "rclcpp_baseline1",  # baseline1 with rclcpp's single-threaded executor in each process
)
#: Those with a process for each node.
SEPARATE = ("baseline1", "rclcpp_baseline1")
#: The ways of executing an application.
APPROACHES = ("takt", *BASELINES, *RCLCPP)


class Execution(BaseModel):
    """One execution; its trace has everything that happened."""

    model_config = ConfigDict(extra="forbid")

    application: str
    approach: str
    policy: str
    seed: int
    status: str  # "complete"; "stopped": before its time, by a signal
    duration_s: float  # as asked for, from the first release
    seconds: float  # with starting and ending
    steal_seconds: float  # CPU time that the hypervisor took from this machine meanwhile
    not_granted: list[str]  # real-time settings that were not granted
    disturbances: list[str]  # what others did to the machine meanwhile: set its clock, held a CPU
    clocks: list[str] = []  # of the hosts of a robot: how far their times may be wrong
    links: list[str] = []  # between them: messages, how many were lost, how long they took
    throttled: list[str] = []  # of the processes that have a quota: for how long
    trace: Path


class ExecutionDocument(Execution):
    """``./takt execute --json``."""

    schema_version: int = SCHEMA_VERSION
    metrics: Metrics
