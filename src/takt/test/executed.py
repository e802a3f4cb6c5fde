# SPDX-License-Identifier: Apache-2.0
"""A robot that tests execute for real, and what its trace has."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import takt_core

from takt.errors import Failure
from takt.network import stacks
from takt.schedule.execution import Execution, execute
from takt.schedule.execution.execute import RUNNER_RCLCPP
from takt.schedule.execution.model import RCLCPP
from takt.schedule.metrics.model import Metrics
from takt.schedule.trace import file as traces

MS = 1_000_000


def skip_without_rclcpp(approach: str) -> None:
    try:
        if approach in RCLCPP:
            stacks.program(RUNNER_RCLCPP)
    except Failure:
        pytest.skip("app_runner_rclcpp is not installed: there is no rclcpp")


def cpu() -> int:
    return max(os.sched_getaffinity(0))


def robot(**keys: Any) -> dict[str, Any]:
    """A camera that a planner reads, an arm that each plan moves, and a joystick from outside."""
    work = {"best": MS // 5, "worst": MS // 2, "quantiles": [MS // 5, MS // 2]}
    return {
        "version": 1,
        "name": "robot",
        "policy": "fp",
        "cpus": [cpu()],
        "callbacks": [
            {
                "name": "camera.look",
                "node": "camera",
                "period": 20 * MS,
                "priority": 30,
                "execution": work,
                "writes": ["image"],
            },
            {
                "name": "planner.plan",
                "node": "planner",
                "period": 40 * MS,
                "priority": 20,
                "execution": work,
                "reads": [{"topic": "image"}, {"topic": "stick"}],
                "writes": ["plan"],
            },
            {
                "name": "arm.move",
                "node": "arm",
                "kind": "message",
                "trigger": "plan",
                "priority": 40,
                "deadline": 40 * MS,
                "execution": work,
            },
        ],
        "topics": [
            {"name": "image", "bytes": 100_000},
            {"name": "plan", "bytes": 64},
            {"name": "stick", "bytes": 8, "external": True, "external_period": 10 * MS},
        ],
        "chains": [{"name": "act", "callbacks": ["camera.look", "planner.plan", "arm.move"]}],
        **keys,
    }


def executed(path: Path, approach: str, application: dict[str, Any], **keys: Any) -> Execution:
    return execute(
        application, approach, trace=path / "out" / "robot.takttrace", duration_s=0.8, **keys
    )


def values(trace: traces.Trace, kind: takt_core.EventType) -> list[tuple[int, int]]:
    """Job and value of each event of a kind."""
    found: list[tuple[int, int]] = []
    replay = takt_core.Replay(trace.core)
    while (step := replay.step()) is not None:
        chosen = step.events["type"] == kind
        found += zip(
            *(step.events[name][chosen].tolist() for name in ("job", "value")), strict=True
        )
    return found


def expect_ages_and_latency(found: Metrics) -> None:
    """Each data age of the robot, and the latency of its chain."""
    ages = {(one.callback, one.topic): one for one in found.data_age}
    assert set(ages) == {
        ("planner.plan", "image"),
        ("planner.plan", "stick"),
        ("arm.move", "plan"),
    }
    for age in ages.values():
        assert age.age_us is not None
        assert age.unknown == 0
        assert age.age_us.min >= 0
    assert found.chains[0].latency_us is not None
