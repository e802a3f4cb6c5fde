# SPDX-License-Identifier: Apache-2.0
"""An application executed for real, in each approach. Nothing here is judged by the clock."""

from __future__ import annotations

import json
import os
import signal
import statistics
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import takt_core
from command_line import takt
from test_addresses import held

from takt.errors import Failure, TaktError
from takt.processes import addresses, stacks
from takt.processes.leftovers import Journal
from takt.schedule.execution import APPROACHES, Execution, execute
from takt.schedule.execution.execute import RECORDING, RUNNER_RCLCPP, with_policy
from takt.schedule.execution.model import RCLCPP
from takt.schedule.explain import explain
from takt.schedule.metrics import measure
from takt.schedule.trace import file as traces

MS = 1_000_000


@pytest.fixture(autouse=True)
def _runner() -> None:
    try:
        stacks.program("app_runner")
    except Failure:
        pytest.skip("app_runner is not installed")


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


@pytest.mark.parametrize("approach", APPROACHES)
def test_each_approach_leaves_a_whole_trace_with_the_same_metrics(
    tmp_path: Path, approach: str
) -> None:
    skip_without_rclcpp(approach)
    done = executed(tmp_path, approach, robot())
    assert (done.status, done.approach) == ("complete", approach)
    trace = traces.read(done.trace)
    assert trace.closed_in_order
    assert (trace.lost, trace.unknown) == (0, 0)
    description = traces.description(trace.names)
    assert description is not None
    described = traces.declared(description)
    names = [one.name for one in described.callbacks]
    assert names == ["camera.look", "planner.plan", "arm.move"]
    found = measure(done.trace)
    assert found.approach == approach
    by_name = {one.callback: one for one in found.callbacks}
    assert set(by_name) == set(names)
    assert by_name["camera.look"].executions + by_name["camera.look"].skipped >= 38
    assert by_name["planner.plan"].executions + by_name["planner.plan"].skipped >= 18
    for one in found.callbacks:
        assert one.executions > 0
        assert one.cpu_us is not None
        assert one.cpu_us.min >= 200  # what is declared as the best case, and messages on top
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
    assert found.overhead.cpu_us is not None
    assert found.helpers == ([] if approach == "takt" else ["planner.image", "planner.stick"])
    assert found.freshness is not None
    if approach == "takt":
        assert found.freshness.on_old_data == 0
    explained = explain(done.trace)
    assert explained.misses == found.misses
    for miss in explained.details:
        assert sum(round(share.us * 1000) for share in miss.shares) == round(miss.end_us * 1000)
    assert [one.name for one in done.trace.parent.iterdir()] == ["robot.takttrace"]


def test_without_rclcpp_its_approaches_are_refused_with_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TAKT_PREFIX", str(tmp_path))
    monkeypatch.setenv("AMENT_PREFIX_PATH", "")
    for approach in RCLCPP:
        with pytest.raises(Failure, match="app_runner_rclcpp is not installed") as failure:
            executed(tmp_path, approach, robot())
        assert "source a ROS 2 installation" in str(failure.value.remedy)


@pytest.mark.parametrize(
    ("approach", "keys", "words"),
    [
        ("rclcpp_events", {"group": "both"}, "rclcpp's groups are of one node"),
        ("rclcpp_takt", {"offset": 5 * MS}, "scenario 'default' changes its offset"),
    ],
)
def test_what_rclcpp_nodes_cannot_have_is_refused(
    tmp_path: Path, approach: str, keys: dict[str, Any], words: str
) -> None:
    skip_without_rclcpp(approach)
    application = robot()
    if "group" in keys:
        for callback in application["callbacks"][:2]:
            callback["group"] = keys["group"]
    else:
        change = {"task": "camera.look", **keys}
        application["scenarios"] = [{"name": "default", "tasks": [change]}]
    with pytest.raises(TaktError, match=words):
        executed(tmp_path, approach, application)


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


def test_the_work_of_a_job_depends_on_the_seed_and_not_on_the_approach(tmp_path: Path) -> None:
    application = robot(callbacks=[robot()["callbacks"][0] | {"writes": []}], chains=[])

    def work(approach: str, seed: int) -> list[int]:
        trace = tmp_path / f"{approach}{seed}" / "t"
        done = execute(application, approach, trace=trace, duration_s=0.6, seed=seed)
        ends = values(traces.read(done.trace), takt_core.EventType.end)
        return [value for job, value in ends if job < 20]

    def apart(first: list[int], second: list[int]) -> float:
        # The median: a job may be interrupted by the kernel, and its CPU time has that in it.
        return statistics.median(abs(a - b) for a, b in zip(first, second, strict=True))

    work_of_takt = work("takt", 1)
    assert len(work_of_takt) == 20
    same = apart(work_of_takt, work("baseline0", 1))
    assert same < apart(work_of_takt, work("takt", 2)) / 2


def test_shared_memory_is_noted_at_each_look_while_there_is_news(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    noted: list[list[int]] = []
    looked: list[float] = []
    monkeypatch.setattr(Journal, "note", lambda _, pids: not noted.append(pids))
    executed(tmp_path, "takt", robot(), progress=looked.append)
    assert len(noted) >= min(10, len(looked))


@pytest.mark.parametrize("approach", ["takt", "baseline1"])
def test_addresses_are_kept_while_processes_of_nodes_start(
    tmp_path: Path, approach: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(addresses, "folder", lambda: str(tmp_path))
    kept: list[bool] = []
    executed(tmp_path, approach, robot(), progress=lambda _: kept.append(held(addresses.changing)))
    assert kept[0] is (approach == "baseline1")


def test_a_policy_takes_the_place_of_the_descriptions(tmp_path: Path) -> None:
    scenario = {"name": "busy", "policy": "fp", "tasks": []}
    assert with_policy(robot(scenarios=[scenario]), "edf")["scenarios"] == [
        {"name": "busy", "tasks": []}
    ]
    done = executed(tmp_path, "takt", robot(), policy="edf")
    assert done.policy == "edf"
    assert measure(done.trace).policy == ["edf"]


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


def test_what_cannot_be_executed_is_refused_with_a_remedy(tmp_path: Path) -> None:
    with pytest.raises(TaktError, match="no approach"):
        executed(tmp_path, "rclcpp", robot())
    with pytest.raises(TaktError, match="cores"):
        executed(tmp_path, "takt", robot(cpus=[4095]))
    with pytest.raises(TaktError, match="no callbacks"):
        executed(tmp_path, "takt", robot(callbacks=[], chains=[]))
    with pytest.raises(TaktError, match="policy"):
        executed(tmp_path, "takt", robot(), policy="fifo")
    broken = robot()
    broken["callbacks"][0]["colour"] = "red"
    with pytest.raises(TaktError, match="colour"):
        executed(tmp_path, "takt", broken)


@pytest.mark.parametrize("approach", ["takt", "baseline1"])
def test_ctrl_c_keeps_the_trace(tmp_path: Path, approach: str) -> None:
    description = tmp_path / "robot.json"
    description.write_text(json.dumps(robot()), encoding="utf-8")
    out = tmp_path / "out"
    arguments = ["execute", str(description), "--approach", approach, "--duration", "60s"]
    command = [sys.executable, "-m", "takt", *arguments, "--out", str(out), "--json"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    trace = out / f"robot.{approach}.takttrace"
    recording = Path(f"{trace}{RECORDING}")
    parts = [recording] if approach == "takt" else [Path(f"{recording}.part{i}") for i in range(4)]
    limit = time.monotonic() + 150  # a machine may be slow
    while not all(_has_jobs(part) for part in parts):
        assert process.poll() is None, process.communicate()[1]
        assert time.monotonic() < limit, f"nothing is recorded in {out}"
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    printed, errors = process.communicate(timeout=150)
    assert process.returncode == 1, errors
    document = json.loads(printed)
    assert (document["schema_version"], document["status"]) == (1, "stopped")
    assert document["metrics"]["closed_in_order"]
    assert document["metrics"]["executions"] > 0
    assert [one.name for one in out.iterdir()] == [trace.name]


def _has_jobs(trace: Path) -> bool:
    return trace.exists() and trace.stat().st_size > 32 * 200


def test_the_command_executes_an_app_yaml(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    description = tmp_path / "one.app.yaml"
    description.write_text(
        f"cpus: [{cpu()}]\nnodes:\n  one: {{tick: {{timer: 10ms, wcet: 100us, priority: 9}}}}\n",
        encoding="utf-8",
    )
    out = tmp_path / "out"
    arguments = [str(description), "--duration", "200ms", "--out", str(out)]
    assert takt(["execute", *arguments]) == 0
    assert "one.tick" in capfd.readouterr().out
    assert [one.name for one in out.iterdir()] == ["one.takt.takttrace"]


@pytest.mark.parametrize(
    "arguments",
    [["--duration", "30"], ["--duration", "0s"], ["--approach", "fast"], ["--policy", "fifo"]],
)
def test_wrong_use_ends_with_2_and_a_word_about_it(
    tmp_path: Path, arguments: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    description = tmp_path / "robot.json"
    description.write_text(json.dumps(robot()), encoding="utf-8")
    assert takt(["execute", str(description), "--out", str(tmp_path / "o"), *arguments]) == 2
    assert arguments[1] in capfd.readouterr().err
    assert not (tmp_path / "o").exists()
