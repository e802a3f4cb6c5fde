# SPDX-License-Identifier: Apache-2.0
"""Scenarios of an application that is executed for real, of Takt's nodes and of rclcpp's."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import takt_core
from executed import MS, cpu, executed, robot, skip_without_rclcpp, values

from takt.schedule.metrics import measure
from takt.schedule.trace import file as traces

pytestmark = pytest.mark.usefixtures("app_runner")


def releases(trace: traces.Trace, callback: str) -> list[tuple[int, int]]:
    """Time and relative deadline of each release of a callback."""
    found: list[tuple[int, int]] = []
    replay = takt_core.Replay(trace.core)
    while (step := replay.step()) is not None:
        chosen = step.events["type"] == takt_core.EventType.release
        columns = (step.events[name][chosen].tolist() for name in ("task", "time", "value"))
        found += [
            (time, due - time)
            for task, time, due in zip(*columns, strict=True)
            if trace.names.task(task) == callback
        ]
    return sorted(found)


@pytest.mark.parametrize("approach", ["takt", "rclcpp_takt"])
def test_scenarios_are_switched_at_their_times(tmp_path: Path, approach: str) -> None:
    skip_without_rclcpp(approach)
    busy = {"name": "busy", "tasks": [{"task": "camera.look", "period": 5 * MS}]}
    application = robot(
        scenarios=[{"name": "calm", "tasks": []}, busy],
        default_scenario="calm",
        switches=[{"at": 300 * MS, "scenario": "busy"}],
    )
    done = executed(tmp_path, approach, application)
    trace = traces.read(done.trace)
    switched = values(trace, takt_core.EventType.scenario)
    assert [trace.names.scenario(number) for _, number in switched] == ["busy"]
    # Its jobs have the period of their scenario, and the deadline that comes of it; skipped ones
    # lie between.
    found = releases(trace, "camera.look")
    calm = [time for time, due in found if due == 20 * MS]
    fast = [time for time, due in found if due == 5 * MS]
    assert len(calm) + len(fast) == len(found)
    assert max(calm) < min(fast)
    for times, period in ((calm, 20 * MS), (fast, 5 * MS)):
        assert len(times) > 2
        assert all((later - time) % period == 0 for time, later in pairwise(times))
    camera = next(one for one in measure(done.trace).callbacks if one.callback == "camera.look")
    assert camera.executions + camera.skipped > 60  # of 115; 40 without the scenario


@pytest.mark.parametrize("approach", ["takt", "rclcpp_takt"])
def test_a_callback_that_is_woken_has_missed_nothing(tmp_path: Path, approach: str) -> None:
    skip_without_rclcpp(approach)
    application = robot()
    application["callbacks"][1]["active"] = False
    tasks = [{"task": "planner.plan", "active": True}]
    application["scenarios"] = [{"name": "still", "tasks": []}, {"name": "on", "tasks": tasks}]
    application["default_scenario"] = "still"
    application["switches"] = [{"at": 400 * MS, "scenario": "on"}]
    found = measure(executed(tmp_path, approach, application).trace)
    planner = next(one for one in found.callbacks if one.callback == "planner.plan")
    assert 0 < planner.executions + planner.skipped <= 11  # of 20 in all


@pytest.mark.parametrize("approach", ["takt", "rclcpp_takt"])
def test_a_callback_that_a_scenario_leaves_out_is_not_called(tmp_path: Path, approach: str) -> None:
    skip_without_rclcpp(approach)
    application = robot(
        scenarios=[
            {"name": "seeing", "tasks": []},
            {"name": "blind", "tasks": [{"task": "camera.look", "active": False}]},
        ],
        default_scenario="seeing",
        switches=[{"at": 100 * MS, "scenario": "blind"}],
    )
    metrics = measure(executed(tmp_path, approach, application).trace)
    calls = {one.callback: one.executions for one in metrics.callbacks}
    assert 0 < calls["camera.look"] < calls["planner.plan"] * 2


@pytest.mark.parametrize("approach", ["takt", "rclcpp_takt"])
@pytest.mark.parametrize("wakes", [True, False, None])
def test_an_inactive_callback_waits_for_the_scenario_that_wakes_it(
    tmp_path: Path, approach: str, wakes: bool | None
) -> None:
    skip_without_rclcpp(approach)
    application = robot()
    application["callbacks"][1]["active"] = False
    if wakes is not None:
        tasks = [{"task": "planner.plan", "active": True}] if wakes else []
        application["scenarios"] = [{"name": "still", "tasks": []}, {"name": "on", "tasks": tasks}]
        application["default_scenario"] = "still"
        application["switches"] = [{"at": 400 * MS, "scenario": "on"}]
    metrics = measure(executed(tmp_path, approach, application).trace)
    calls = {one.callback: one.executions for one in metrics.callbacks}
    assert calls["camera.look"] > 0
    if wakes:
        assert 0 < calls["planner.plan"] <= 11  # of 20 in all
    else:
        assert calls.get("planner.plan", 0) == 0


@pytest.mark.parametrize("approach", ["takt", "rclcpp_takt"])
def test_a_job_computes_what_its_scenario_declares(tmp_path: Path, approach: str) -> None:
    skip_without_rclcpp(approach)
    application = robot(chains=[])
    for callback in application["callbacks"]:
        callback["execution"] = {"best": 4 * MS, "worst": 4 * MS, "quantiles": [4 * MS]}
    change = [
        {"task": name, "expected_execution": MS}
        for name in ("camera.look", "planner.plan", "arm.move")
    ]
    application["scenarios"] = [{"name": "light", "tasks": change}]
    found = measure(executed(tmp_path, approach, application).trace)
    for one in found.callbacks:
        assert one.executions > 0
        assert one.cpu_us is not None
        assert 1000 <= one.cpu_us.median < 4000  # some jobs are interrupted, most are not


def with_alarm() -> dict[str, Any]:
    """A scenario lets one callback write what releases the other, and a third read it."""
    one = {"best": MS // 10, "worst": MS // 10, "quantiles": [MS // 10]}
    timer = {"period": 20 * MS, "execution": one}
    changes = [
        {"task": "a.t", "writes": ["alarm"]},
        {"task": "c.t", "reads": [{"topic": "alarm", "max_age": 40 * MS}]},
    ]
    return {
        "version": 1,
        "name": "alarm",
        "policy": "fp",
        "cpus": [cpu()],
        "callbacks": [
            {"name": "a.t", "node": "a", "priority": 20, **timer},
            {"name": "b.m", "node": "b", "priority": 10, "kind": "message", "trigger": "alarm"}
            | {"period": 20 * MS, "deadline": 20 * MS, "execution": one},
            {"name": "c.t", "node": "c", "priority": 5, **timer},
        ],
        "topics": [{"name": "alarm", "bytes": 1000}],
        "scenarios": [{"name": "on", "tasks": changes}],
    }


@pytest.mark.parametrize("approach", ["takt", "rclcpp_takt"])
def test_what_a_scenario_writes_releases_its_readers(tmp_path: Path, approach: str) -> None:
    skip_without_rclcpp(approach)
    found = measure(executed(tmp_path, approach, with_alarm()).trace)
    calls = {one.callback: one.executions for one in found.callbacks}
    assert calls["b.m"] > 0
    ages = {(one.callback, one.topic): one for one in found.data_age}
    read = ages["c.t", "alarm"]
    assert read.age_us is not None
    assert read.max_age_us == 40_000


def test_baselines_know_no_scenarios(tmp_path: Path) -> None:
    found = measure(executed(tmp_path, "baseline0", with_alarm()).trace)
    calls = {one.callback: one.executions for one in found.callbacks}
    assert calls["a.t"] > 0
    assert calls.get("b.m", 0) == 0
