# SPDX-License-Identifier: Apache-2.0
"""A robot of several processes executed for real. Nothing here is judged by the clock."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from executed import MS, cpu, executed, expect_ages_and_latency, robot

from takt.errors import TaktError
from takt.schedule.explain import explain
from takt.schedule.metrics import measure
from takt.schedule.trace import file as traces

pytestmark = pytest.mark.usefixtures("app_runner")


def robot_of_two(*, planning: str = "edf", low: int = 40, **keys: Any) -> dict[str, Any]:
    """The camera and the arm in a process above the one that plans."""
    application = robot()
    del application["policy"], application["cpus"]
    application["processes"] = [
        {"name": "seeing", "policy": "fp", "cpu": cpu(), "priority": 80},
        {"name": "planning", "cpu": cpu(), "priority": low, "policy": planning},
    ]
    homes = {"camera": "seeing", "planner": "planning", "arm": "seeing"}
    for callback in application["callbacks"]:
        callback["process"] = homes[callback["node"]]
    return {**application, "handover": {"least": 0, "most": 40 * MS}, **keys}


def test_the_processes_leave_one_trace(tmp_path: Path) -> None:
    done = executed(tmp_path, "takt", robot_of_two())
    assert (done.status, done.policy) == ("complete", "robot")
    trace = traces.read(done.trace)
    assert trace.closed_in_order
    assert (trace.lost, trace.unknown) == (0, 0)
    assert trace.names.policies() == ["robot"]
    assert trace.names.values("cpus") == [str(cpu())]
    assert [one.name for one in done.trace.parent.iterdir()] == ["robot.takttrace"]
    found = measure(done.trace)
    by_name = {one.callback: one for one in found.callbacks}
    assert set(by_name) == {"camera.look", "planner.plan", "arm.move"}
    assert by_name["camera.look"].executions + by_name["camera.look"].skipped >= 38
    assert by_name["planner.plan"].executions + by_name["planner.plan"].skipped >= 18
    assert by_name["arm.move"].executions > 0


def test_messages_between_processes_make_chains_and_ages(tmp_path: Path) -> None:
    found = measure(executed(tmp_path, "takt", robot_of_two()).trace)
    expect_ages_and_latency(found)


def test_responses_are_held_against_the_bounds_of_the_robot(tmp_path: Path) -> None:
    done = executed(tmp_path, "takt", robot_of_two())
    found = explain(done.trace)
    assert found.misses == measure(done.trace).misses
    assert found.bounds is not None
    assert found.bounds.responses == found.executions > 0


def test_the_threads_of_other_processes_are_no_other_programs(tmp_path: Path) -> None:
    done = executed(tmp_path, "takt", robot_of_two())
    held = traces.read(done.trace).names.values("held")
    assert not [one for one in held if one.split()[4].startswith("takt.f")]


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ({"low": 79}, "its threads need the priorities 79 to .*'seeing' on its core begins at 80"),
        ({"planning": "p-rm"}, "leaves the core idle"),
    ],
)
def test_processes_that_cannot_be_kept_apart_are_refused(
    tmp_path: Path, keys: dict[str, Any], says: str
) -> None:
    with pytest.raises(TaktError, match=says):
        executed(tmp_path, "takt", robot_of_two(**keys))


def test_an_executor_of_rclcpp_in_a_process_is_refused(tmp_path: Path) -> None:
    application = robot_of_two()
    del application["processes"][1]["policy"]
    application["processes"][1]["executor"] = "rclcpp_single_threaded"
    with pytest.raises(TaktError, match="only Takt's own executes processes of a robot"):
        executed(tmp_path, "takt", application)
    assert not list(tmp_path.rglob("*.takttrace*"))


def test_a_robot_has_one_approach_and_no_policy(tmp_path: Path) -> None:
    with pytest.raises(TaktError, match="--approach baseline1 takes an application of one process"):
        executed(tmp_path, "baseline1", robot_of_two())
    with pytest.raises(TaktError, match="--policy takes an application of one process"):
        executed(tmp_path, "takt", robot_of_two(), policy="edf")


def test_a_core_of_a_process_that_may_not_be_used_is_refused(tmp_path: Path) -> None:
    application = json.loads(json.dumps(robot_of_two()))
    application["processes"][0]["cpu"] = 4095
    with pytest.raises(TaktError, match="may not use 4095"):
        executed(tmp_path, "takt", application)
