# SPDX-License-Identifier: Apache-2.0
"""``takt compare-executors``, and rclcpp's executors in an app.yaml."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("takt_core", reason="the C++ workspace is not built")

from takt.cli.main import main
from takt.schedule.application.dump import app_yaml
from takt.schedule.application.executors import SEVERAL_THREADS
from takt.schedule.application.file import read_application
from takt.schedule.application.flat import flat

# A plan keeps the thread for 6 ms, longer than control may take, and begins before control is due.
APP = """
{head}
nodes:
  arm:
    control: {{timer: 10ms, wcet: 1ms, deadline: 5ms, priority: 80, reads: [target]}}
    plan:
      {{timer: 50ms, offset: 9ms, execution: {{best: 2ms, worst: 6ms}}, priority: 10,
        writes: [target]}}
chains:
  planned: {{callbacks: [arm.plan, arm.control], max_latency: 100ms}}
"""


def written(folder: Path, head: str = "policy: fp") -> Path:
    file = folder / "arm.app.yaml"
    file.write_text(APP.format(head=head), encoding="utf-8")
    return file


def run(*arguments: object) -> int:
    with pytest.raises(SystemExit) as exit_:
        main([*map(str, arguments)])
    return int(exit_.value.code or 0)


def compared(
    file: Path, capsys: pytest.CaptureFixture[str], *more: str
) -> tuple[int, dict[str, Any]]:
    code = run("compare-executors", file, "--json", *more)
    return code, json.loads(capsys.readouterr().out)


def test_a_verdict_against_all_proved_limits_has_its_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "arm.app.yaml"
    path.write_text(
        "{name: arm, cpus: [1], policy: edf, nodes: {arm: {"
        "fast: {timer: 10ms, wcet: 3ms, priority: 2}, slow: {timer: 60ms, wcet: 6ms, priority: 1}}}"
        ", scenarios: {day: {}, night: {arm.fast: {timer: 12ms, wcet: 5ms}}}}",
        encoding="utf-8",
    )
    run("compare-executors", path, "--duration", "100ms")
    said = " ".join(capsys.readouterr().out.split())
    assert "takt np-fp 2 of 2 0 x 1.09 not proved" in said
    assert "takt np-fp: not proved: the limits across switches: the bound for jobs of two" in said
    assert "takt edf: not proved" not in said


def test_no_simulated_response_is_above_its_bound_under_any_executor(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, found = compared(written(tmp_path), capsys, "--duration", "5s")
    assert code == 0
    names = [(one["executor"], one["policy"]) for one in found["candidates"]]
    assert names[0] == ("takt", "fp")
    assert {("rclcpp_single_threaded", None), ("rclcpp_events", None), ("takt", "edf")} < {*names}
    assert ("rclcpp_multi_threaded", None) in names
    assert ("rclcpp_events_cbg", None) in names
    assert len({*names}) == len(names)
    figures = [
        figure
        for one in found["candidates"]
        for figure in [*one["callbacks"], *one["chains"]]
        if figure["bound_us"] is not None
    ]
    assert len(figures) > 20
    for figure in figures:
        assert figure["max_us"] <= figure["bound_us"], figure


def test_candidates_with_equal_figures_share_a_row(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "arm.app.yaml"
    path.write_text("nodes: {arm: {control: {timer: 10ms, wcet: 1ms}}}", encoding="utf-8")
    run("compare-executors", path, "--duration", "100ms")
    (row,) = re.findall(r"takt rm and \d+ more .*", capsys.readouterr().out)
    assert row.split()[5:] == ["1", "ms"] * 4 + ["meets"]


def test_the_names_of_candidates_leave_room_for_their_figures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "arm.app.yaml"
    path.write_text(
        "processes:\n"
        "  drive: {policy: dm, cpu: 0, priority: 80, nodes: [arm]}\n"
        "  perception: {executor: rclcpp_events, cpu: 1, priority: 40, nodes: [eye]}\n"
        "nodes:\n"
        "  arm: {control: {timer: 10ms, wcet: 1ms}, log: {timer: 100ms, wcet: 2ms}}\n"
        "  eye: {look: {timer: 10ms, wcet: 1ms}, sort: {timer: 100ms, wcet: 2ms}}\n",
        encoding="utf-8",
    )
    run("compare-executors", path, "--duration", "100ms")
    rows = [one for one in capsys.readouterr().out.splitlines() if "  meets" in one]
    assert any(re.search(r" and \d+ more ", one) for one in rows)
    assert max(map(len, rows)) < 110


def test_only_preemption_keeps_the_short_deadline(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, found = compared(written(tmp_path), capsys)
    of = {one["policy"] or one["executor"]: one for one in found["candidates"]}
    assert of["fp"]["verdict"] == "meets"
    for executor in ("rclcpp_single_threaded", "rclcpp_events"):
        control = next(one for one in of[executor]["callbacks"] if one["name"] == "arm.control")
        assert control["verdict"] != "meets"
        assert control["bound_us"] >= 7000


def test_the_verdict_is_that_of_the_executor_in_the_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = written(tmp_path, "executor: rclcpp_events")
    code, found = compared(file, capsys)
    assert code == 1
    assert found["described"] == "rclcpp_events"
    assert run("compare-executors", file) == 1
    shown = capsys.readouterr().out
    assert "arm.control (limit 5 ms)" in shown
    assert "described for rclcpp_events" in shown


def test_what_an_executor_cannot_run_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = written(tmp_path, "cpus: [0, 1]")
    _, found = compared(file, capsys)
    refused = {one["executor"]: one["refused"] for one in found["candidates"] if one["refused"]}
    assert {*refused} >= {"rclcpp_single_threaded", "rclcpp_events"}
    assert "one thread" in refused["rclcpp_events"]
    assert refused.keys().isdisjoint(SEVERAL_THREADS)  # they have a thread for each core
    run("compare-executors", file)
    assert "rclcpp_events is left out" in capsys.readouterr().out


def test_what_no_executor_can_run_is_refused_with_its_fix(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "arm.app.yaml"
    file.write_text("nodes: {arm: {control: {timer: 9ms, wcet: 1ms, reads: [target]}}}")
    assert run("compare-executors", file) == 2
    refused = capsys.readouterr().err
    assert "no executor can run it: task 'arm.control': it reads topic 'target'" in refused
    assert "fix: name the topic among the writes" in refused


def test_of_several_scenarios_the_first_is_that_of_rclcpp(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = written(tmp_path, "scenarios: {busy: {arm.control: {timer: 20ms}}, calm: {}}")
    _, found = compared(file, capsys)
    assert found["scenario"] == "busy"
    of = {one["policy"] or one["executor"]: one for one in found["candidates"]}
    assert of["rclcpp_events"]["refused"] is None
    assert of["rclcpp_events"]["chains"][0]["bound_us"] > 20_000  # the period of control
    run("compare-executors", file)
    assert "in scenario busy only" in capsys.readouterr().out


@pytest.mark.parametrize("command", ["analyse", "simulate"])
def test_an_executor_of_rclcpp_is_analysed_and_simulated(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(command, written(tmp_path, "executor: rclcpp_single_threaded")) == 1
    assert "arm.control.target" in capsys.readouterr().out  # its subscription


def test_a_policy_beside_an_executor_of_rclcpp_is_an_error_with_its_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("analyse", written(tmp_path, "executor: rclcpp_events\npolicy: edf")) == 2
    error = capsys.readouterr().err
    assert "arm.app.yaml:2" in error
    assert "remove policy" in error


def test_nothing_is_assigned_to_an_executor_of_rclcpp(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = written(tmp_path, "executor: rclcpp_events")
    assert run("analyse", file, "--assign", tmp_path / "out.app.yaml") == 2
    assert "remove executor" in capsys.readouterr().err


def test_the_executor_is_written_back(tmp_path: Path) -> None:
    document = flat(read_application(written(tmp_path, "executor: rclcpp_events")))
    again = tmp_path / "again.app.yaml"
    again.write_text(app_yaml(document, "written"), encoding="utf-8")
    assert flat(read_application(again)) == document
