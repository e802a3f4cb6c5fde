# SPDX-License-Identifier: Apache-2.0
"""A robot of several processes executed for real. Nothing here is judged by the clock."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
import takt_core
from executed import (
    MS,
    cpu,
    executed,
    expect_ages_and_latency,
    robot,
    skip_without_rclcpp,
    values,
)

from takt.errors import Failure, TaktError
from takt.network import stacks
from takt.schedule.application.executors import ONE_THREAD, SEVERAL_THREADS, STOCK_EXECUTORS
from takt.schedule.application.file import read_application
from takt.schedule.application.flat import flat
from takt.schedule.execution.recording import RUNNER
from takt.schedule.explain import explain
from takt.schedule.metrics import measure
from takt.schedule.model.model import model
from takt.schedule.trace import file as traces

pytestmark = pytest.mark.usefixtures("app_runner")


DRIVER = {
    "name": "usb",
    "cpu": min(os.sched_getaffinity(0)),
    "priority": 20,
    "period": 20 * MS,
    "execution": {"best": MS, "worst": MS, "quantiles": [MS]},
    "writes": ["frame"],
}


def robot_of_two(
    *, planning: str = "edf", low: int = 40, threads: Any = (), **keys: Any
) -> dict[str, Any]:
    """The camera and the arm in a process above the one that plans."""
    application = robot()
    del application["policy"], application["cpus"]
    application["processes"] = [
        {"name": "seeing", "policy": "fp", "cpu": cpu(), "priority": 80},
        {"name": "planning", "cpu": cpu(), "priority": low, "policy": planning}
        | {"threads": list(threads)},
    ]
    homes = {"camera": "seeing", "planner": "planning", "arm": "seeing"}
    for callback in application["callbacks"]:
        callback["process"] = homes[callback["node"]]
    return {**application, "handover": {"least": 0, "most": 40 * MS}, **keys}


def test_the_processes_leave_one_trace(tmp_path: Path) -> None:
    """Also where the policy of one may leave the core idle on purpose."""
    done = executed(tmp_path, "takt", robot_of_two(planning="p-rm"))
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
    assert by_name["camera.look"].executions + by_name["camera.look"].skipped <= 40
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


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="it takes two cores")
def test_a_process_may_have_several_cores(tmp_path: Path) -> None:
    """Each callback runs on its own, in one executor, and its model has that again."""
    application = robot_of_two()
    cores = sorted(os.sched_getaffinity(0))[-2:]
    (seeing, _) = application["processes"]
    del seeing["cpu"]
    seeing["cpus"] = cores
    for callback in application["callbacks"]:
        if callback["process"] == "seeing":
            callback["cpu"] = cores[callback["name"] == "arm.move"]
    done = executed(tmp_path, "takt", application)
    trace = traces.read(done.trace)
    assert trace.names.values("cpus") == [f"{cores[0]},{cores[1]}"]
    ran = set()
    replay = takt_core.Replay(trace.core)
    while (step := replay.step()) is not None:
        started = step.events["type"] == takt_core.EventType.start
        columns = (step.events[name][started].tolist() for name in ("task", "core"))
        ran |= set(zip(*columns, strict=True))
    homes = {("camera.look", cores[0]), ("planner.plan", cpu()), ("arm.move", cores[1])}
    assert {(trace.names.task(task), core) for task, core in ran} == homes
    found = explain(done.trace)
    assert found.bounds is not None
    assert found.bounds.responses == found.executions > 0
    expect_ages_and_latency(measure(done.trace))
    written = tmp_path / "model.app.yaml"
    model(done.trace, written)
    again = read_application(written)
    assert again.processes["seeing"].cpus == cores
    assert again.callbacks["arm.move"].cpu == cores[1]


def test_all_processes_follow_the_scenarios(tmp_path: Path) -> None:
    """Each by its own callbacks; those of a model are the same."""
    changes = [{"task": "camera.look", "period": 80 * MS}, {"task": "planner.plan", "priority": 9}]
    application = robot_of_two(
        scenarios=[{"name": "fast", "tasks": []}, {"name": "slow", "tasks": changes}],
        switches=[{"at": 600 * MS, "scenario": "slow"}],
    )
    done = executed(tmp_path, "takt", application)
    trace = traces.read(done.trace)
    assert trace.names.policies() == ["robot", "robot"]
    assert trace.names.values("scenario") == ["fast"]
    found = measure(done.trace)
    switches = [value for _, value in values(trace, takt_core.EventType.scenario)]
    assert [trace.names.scenario(one) for one in switches] == ["slow", "slow"]
    looked = next(one for one in found.callbacks if one.callback == "camera.look")
    assert 20 <= looked.executions + looked.skipped < 38
    above = explain(done.trace)
    assert above.bounds is not None
    assert above.bounds.responses == above.executions > 0
    written = tmp_path / "model.app.yaml"
    model(done.trace, written)
    again = read_application(written)
    assert list(again.scenarios) == ["fast", "slow"]
    assert again.scenarios["slow"].changes["camera.look"].timer == 80 * MS
    assert [one.scenario for one in again.switches] == ["slow"]


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ({"low": 79}, "its threads need the priorities 79 to .*'seeing' on its core begins at 80"),
    ],
)
def test_processes_that_cannot_be_executed_are_refused(
    tmp_path: Path, keys: dict[str, Any], says: str
) -> None:
    with pytest.raises(TaktError, match=says):
        executed(tmp_path, "takt", robot_of_two(**keys))


def with_driver(planning: str) -> dict[str, Any]:
    """A driver of the process that plans, whose messages release a callback there."""
    application = robot_of_two(planning=planning, threads=[DRIVER])
    if planning in ONE_THREAD:
        application["processes"][1]["executor"] = application["processes"][1].pop("policy")
    work = {"best": MS // 10, "worst": MS // 10, "quantiles": [MS // 10]}
    application["callbacks"].append(
        {"name": "planner.grab", "node": "planner", "kind": "message", "trigger": "frame"}
        | {"process": "planning", "priority": 10, "deadline": 40 * MS, "execution": work}
    )
    application["topics"].append({"name": "frame", "bytes": 1000})
    application["chains"].append({"name": "see", "callbacks": ["planning.usb", "planner.grab"]})
    return application


@pytest.mark.parametrize("planning", ["edf", *ONE_THREAD])
def test_a_driver_is_a_thread_with_jobs_of_its_own(tmp_path: Path, planning: str) -> None:
    skip_without_rclcpp(planning)
    done = executed(tmp_path, "takt", with_driver(planning))
    trace = traces.read(done.trace)
    assert (trace.closed_in_order, trace.lost, trace.unknown) == (True, 0, 0)
    assert [one.name for one in done.trace.parent.iterdir()] == ["robot.takttrace"]
    found = measure(done.trace)
    jobs = {one.callback: one for one in found.callbacks}
    driver = jobs["planning.usb"]
    assert driver.expected == driver.executions + driver.skipped + driver.unfinished == 40
    assert driver.cpu_us is not None
    assert driver.cpu_us.max >= 900  # what it publishes for is a part of its execution time
    assert jobs["planner.grab"].executions > 0
    assert {one.chain: one.latency_us is not None for one in found.chains}["see"]
    bounds = explain(done.trace).bounds
    assert bounds is not None
    assert bounds.unexplained == 0
    back = tmp_path / "back.app.yaml"
    model(done.trace, back)
    written = flat(read_application(back))
    (thread,) = written["processes"][1]["threads"]
    assert (thread["name"], thread["period"], thread["writes"]) == ("usb", 20 * MS, ["frame"])
    assert not next(one for one in written["topics"] if one["name"] == "frame").get("external")


def test_a_process_releases_its_timers_early_for_the_age_of_their_data(tmp_path: Path) -> None:
    application = robot_of_two()
    work = {"best": MS // 10, "worst": MS // 10, "quantiles": [MS // 10]}
    application["callbacks"].append(
        {"name": "camera.watch", "node": "camera", "process": "seeing", "period": 50 * MS}
        | {"priority": 20, "reads": [{"topic": "image", "max_age": 10 * MS}], "execution": work}
    )
    done = executed(tmp_path, "takt", application)
    early = values(traces.read(done.trace), takt_core.EventType.early_release)
    assert early
    found = measure(done.trace)
    ages = {(one.callback, one.topic): one for one in found.data_age}
    assert ages["camera.watch", "image"].max_age_us == 10_000


def planned_by(executor: str) -> dict[str, Any]:
    application = robot_of_two()
    del application["processes"][1]["policy"]
    application["processes"][1]["executor"] = executor
    cores = sorted(os.sched_getaffinity(0))[-2:]
    if executor in SEVERAL_THREADS and len(cores) > 1:
        del application["processes"][1]["cpu"]
        application["processes"][1]["cpus"] = cores
    return application


@pytest.mark.parametrize("executor", STOCK_EXECUTORS)
def test_a_process_with_an_executor_of_rclcpp_is_in_the_same_trace(
    tmp_path: Path, executor: str
) -> None:
    skip_without_rclcpp(executor)
    done = executed(tmp_path, "takt", planned_by(executor))
    trace = traces.read(done.trace)
    assert trace.closed_in_order
    assert (trace.lost, trace.unknown) == (0, 0)
    assert trace.names.policies() == ["robot"]
    found = measure(done.trace)
    executions = {one.callback: one.executions for one in found.callbacks}
    assert all(executions[name] > 0 for name in ("camera.look", "planner.plan", "arm.move"))
    (planner,) = (one for one in found.callbacks if one.callback == "planner.plan")
    assert planner.executions + planner.skipped <= 20  # the one at the end is no job
    assert found.chains[0].latency_us is not None
    bounds = explain(done.trace).bounds
    assert bounds is not None
    assert bounds.responses > executions["camera.look"]
    assert bounds.unexplained == 0


def test_one_thread_of_rclcpp_excludes_callbacks_of_several_nodes(tmp_path: Path) -> None:
    skip_without_rclcpp("rclcpp_events")
    application = planned_by("rclcpp_events")
    for callback in application["callbacks"][:2]:
        callback.update(process="planning", group="one at a time")
    found = measure(executed(tmp_path, "takt", application).trace)
    executions = {one.callback: one.executions for one in found.callbacks}
    assert all(executions[name] > 0 for name in ("camera.look", "planner.plan", "arm.move"))


def test_without_rclcpp_a_process_that_needs_it_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stacks, "prefixes", lambda: [tmp_path])
    with pytest.raises(Failure, match="app_runner_rclcpp is not installed") as error:
        executed(tmp_path, "takt", planned_by("rclcpp_events"))
    assert error.value.fix == stacks.HOW_TO_GET_RCLCPP
    assert not list(tmp_path.rglob("*.takttrace*"))


def test_the_runner_without_rclcpp_refuses_what_it_cannot_execute(tmp_path: Path) -> None:
    description = tmp_path / "robot.json"
    description.write_text(json.dumps(planned_by("rclcpp_events")))
    command = [str(stacks.program(RUNNER)), str(description), "--approach", "takt"]
    command += ["--duration-ns", str(MS), "--trace", str(tmp_path / "robot.takttrace")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert "process 'planning': its executor is 'rclcpp_events'" in done.stderr
    assert not list(tmp_path.glob("*.takttrace*"))


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
