# SPDX-License-Identifier: Apache-2.0
"""An application executed for real, in each approach. Nothing here is judged by the clock."""

from __future__ import annotations

import json
import signal
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import takt_core
from command_line import takt
from executed import (
    MS,
    cpu,
    executed,
    expect_ages_and_latency,
    robot,
    skip_without_rclcpp,
    values,
)
from test_addresses import held

from takt.errors import Failure, TaktError
from takt.network import addresses
from takt.processes.leftovers import Journal
from takt.schedule.execution import APPROACHES, execute
from takt.schedule.execution.execute import with_policy
from takt.schedule.execution.model import RCLCPP
from takt.schedule.execution.recording import RECORDING
from takt.schedule.explain import explain
from takt.schedule.metrics import measure
from takt.schedule.trace import file as traces

pytestmark = pytest.mark.usefixtures("app_runner")


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
    described = traces.declared(description, trace)
    names = [one.name for one in described.callbacks]
    assert names == ["camera.look", "planner.plan", "arm.move"]
    found = measure(done.trace)
    assert found.approach == approach
    by_name = {one.callback: one for one in found.callbacks}
    assert set(by_name) == set(names)
    assert by_name["camera.look"].executions + by_name["camera.look"].skipped >= 38
    assert by_name["planner.plan"].executions + by_name["planner.plan"].skipped >= 18
    assert by_name["camera.look"].executions + by_name["camera.look"].skipped <= 40
    for one in found.callbacks:
        assert one.executions > 0
        assert one.cpu_us is not None
        assert one.cpu_us.min >= 200  # what is declared as the best case, and messages on top
    expect_ages_and_latency(found)
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
        assert "source a ROS 2 installation" in str(failure.value.fix)


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


def test_the_work_of_a_job_depends_on_the_seed_and_not_on_the_approach(tmp_path: Path) -> None:
    application = robot(callbacks=[robot()["callbacks"][0] | {"writes": []}], chains=[])

    def work(approach: str, seed: int) -> dict[int, int]:
        trace = tmp_path / f"{approach}{seed}" / "t"
        done = execute(application, approach, trace=trace, duration_s=0.6, seed=seed)
        ends = values(traces.read(done.trace), takt_core.EventType.end)
        return dict(ends)

    def apart(first: dict[int, int], second: dict[int, int]) -> float:
        # The median: a job may be interrupted by the kernel, and its CPU time has that in it. The
        # jobs of both: where others have the core, releases are skipped.
        return statistics.median(abs(first[job] - second[job]) for job in first.keys() & second)

    work_of_takt = work("takt", 1)
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


@pytest.mark.parametrize("processes", ["", "processes: {a: {cpu: 0, priority: 60, nodes: [n]}}\n"])
def test_what_the_executor_refuses_has_the_line_of_the_file(
    tmp_path: Path, processes: str, capfd: pytest.CaptureFixture[str]
) -> None:
    policy = "policy: np-fp"
    described = tmp_path / "a.app.yaml"
    described.write_text(
        (processes.replace("nodes", f"{policy}, nodes") or f"{policy}\n")
        + "nodes:\n  n:\n    x: {timer: 20ms, wcet: 1ms}\n"
    )
    out = tmp_path / "o"
    assert takt(["execute", str(described), "--out", str(out), "--duration", "1s"]) == 2
    said = capfd.readouterr().err
    assert f"{described}:4: task 'n.x': policy 'np-fp' needs a priority" in said
    assert not out.exists()


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


def test_what_cannot_be_executed_is_refused_with_a_fix(tmp_path: Path) -> None:
    with pytest.raises(TaktError, match="unknown approach"):
        executed(tmp_path, "rclcpp", robot())
    with pytest.raises(TaktError, match="cores"):
        executed(tmp_path, "takt", robot(cpus=[4095]))
    with pytest.raises(TaktError, match="no callbacks"):
        executed(tmp_path, "takt", robot(callbacks=[], chains=[]))
    with pytest.raises(TaktError, match="no such policy") as caught:
        executed(tmp_path, "takt", robot(), policy="fifo")
    assert (caught.value.fix or "").startswith("choose one of 'fp', 'rm'")
    endless = robot()
    endless["callbacks"][0]["execution"] = {"best": 10**15, "worst": 10**15}
    with pytest.raises(
        TaktError, match=r"each job of 'camera.look' computes for 1000000s or longer"
    ):
        executed(tmp_path, "takt", endless)
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
    assert (document["schema_version"], document["status"]) == (2, "stopped")
    assert document["metrics"]["closed_in_order"]
    assert document["metrics"]["executions"] > 0
    assert [one.name for one in out.iterdir()] == [trace.name]


def _has_jobs(trace: Path) -> bool:
    return trace.exists() and trace.stat().st_size > 32 * 200


def test_an_overloaded_callback_is_executed_with_skipped_releases(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    description = tmp_path / "long.app.yaml"
    description.write_text(
        f"cpus: [{cpu()}]\nnodes:\n  long: {{tick: {{timer: 20ms, priority: 9, execution: "
        "{best: 50ms, worst: 50ms}}}\n",
        encoding="utf-8",
    )
    assert takt(["analyse", str(description)]) == 1
    assert "misses" in capfd.readouterr().out
    out = tmp_path / "out"
    takt(["execute", str(description), "--duration", "500ms", "--out", str(out), "--json"])
    document = json.loads(capfd.readouterr().out)
    (found,) = document["metrics"]["callbacks"]
    # A job takes the time of two and a half releases: at least two of three come while it runs.
    assert found["executions"] > 0
    assert found["misses"] == found["executions"]
    assert found["skipped"] >= 2 * found["executions"]
    accounted = found["executions"] + found["skipped"] + found["unfinished"]
    assert accounted >= found["expected"] - 1  # the last job may be stopped


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


def test_a_reader_that_never_has_data_is_the_exit_code(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    description = tmp_path / "one.app.yaml"
    description.write_text(
        f"cpus: [{cpu()}]\nnodes:\n"
        "  w: {t: {timer: 10ms, wcet: 100us, priority: 9, writes: [x], active: false}}\n"
        "  r: {t: {timer: 20ms, wcet: 100us, priority: 8, reads: {x: {max_age: 15ms}}}}\n",
        encoding="utf-8",
    )
    arguments = [str(description), "--duration", "200ms", "--out", str(tmp_path / "out")]
    assert takt(["execute", *arguments, "--json"]) == 1
    (absent,) = json.loads(capfd.readouterr().out)["metrics"]["absences"]
    assert (absent["subject"], absent["outcome"]) == ("r.t ← x", "fails")


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
