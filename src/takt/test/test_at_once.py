# SPDX-License-Identifier: Apache-2.0
"""Several jobs of a callback at once, from the file to the metrics of a trace."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("takt_core", reason="the C++ workspace is not built")

from takt.errors import TaktError
from takt.schedule.analysis.ask import analyse
from takt.schedule.application.dump import app_yaml
from takt.schedule.application.file import read_application
from takt.schedule.application.flat import flat
from takt.schedule.explain import explain
from takt.schedule.metrics import measure
from takt.schedule.simulation.simulate import simulate

APP = """
cpus: {cpus}
policy: fp
nodes:
  camera: {{look: {{timer: 10ms, wcet: 15ms, deadline: 16ms, priority: 30, at_once: 2,
    writes: [image]}}}}
  tracker: {{follow: {{on: image, wcet: 1ms, deadline: 10ms, priority: 40}}}}
"""


def application(folder: Path, cpus: str) -> dict[str, Any]:
    path = folder / "camera.app.yaml"
    path.write_text(APP.format(cpus=cpus), encoding="utf-8")
    return flat(read_application(path))


def test_each_lane_has_its_jobs_in_the_metrics(tmp_path: Path) -> None:
    document = application(tmp_path, "[1, 2]")
    trace = tmp_path / "run.takttrace"
    simulate(document, where="camera", duration=1_000_000_000, trace=trace)
    found = {one.callback: one for one in measure(trace).callbacks}
    assert list(found) == ["camera.look", "camera.look#2", "tracker.follow"]
    lanes = [found["camera.look"].executions, found["camera.look#2"].executions]
    assert sum(lanes) >= 97
    assert max(lanes) - min(lanes) <= 1
    assert explain(trace).misses == sum(one.misses for one in found.values())


def test_one_core_is_refused_where_the_callback_stands(tmp_path: Path) -> None:
    document = application(tmp_path, "[1]")
    with pytest.raises(TaktError, match="2 of them, and cpus names fewer cores"):
        simulate(document, where="camera")


def test_the_key_is_written_as_it_was_read(tmp_path: Path) -> None:
    document = application(tmp_path, "[1, 2]")
    path = tmp_path / "again.app.yaml"
    path.write_text(app_yaml(document, "", {}), encoding="utf-8")
    assert flat(read_application(path)) == document


ROBOT = """
processes:
  seeing: {{{place}, priority: 60, nodes: [camera]}}
  driving: {{cpu: 1, priority: 80, nodes: [wheels]}}
middleware: {{latency: [20us, 300us]}}
nodes:
  camera: {{look: {{timer: 10ms, wcet: 12ms, deadline: 16ms, priority: 30, at_once: 2,
    writes: [image]}}}}
  wheels:
    turn: {{timer: 20ms, wcet: 1ms, priority: 9}}
    follow: {{on: image, wcet: 1ms, deadline: 10ms, priority: 8}}
"""


def robot(folder: Path, place: str, **changes: str) -> dict[str, Any]:
    path = folder / "robot.app.yaml"
    text = ROBOT.format(place=place)
    for old, new in changes.items():
        text = text.replace(f"{old}: ", new)
    path.write_text(text, encoding="utf-8")
    return flat(read_application(path))


def test_lanes_of_a_robots_timer_are_on_the_cores_of_its_process(tmp_path: Path) -> None:
    document = robot(tmp_path, "cpus: [0, 1]")
    found = analyse(document, "")
    bounds = {one.name: one for one in found.scenarios[0].callbacks}
    assert {bounds["camera.look"].cpu, bounds["camera.look#2"].cpu} == {0, 1}
    assert {bounds["camera.look"].response_us, bounds["camera.look#2"].response_us} == {
        12_000,
        16_000,  # beside a job of turn and three of follow, whose messages have a jitter
    }
    for one in simulate(document, where="", duration=1_000_000_000).callbacks:
        bound = bounds[one.callback].response_us
        assert bound is not None
        assert one.worst_response_ns <= bound * 1000


@pytest.mark.parametrize(
    ("place", "changes", "says"),
    [
        ("cpu: 0", {}, "2 of them, and its process has fewer cores"),
        (
            "cpus: [0, 1], executor: rclcpp_events_cbg",
            {},
            "treats a Reentrant group as a mutually exclusive one",
        ),
        (
            "cpus: [0, 1]",
            {"follow: {on": "follow: {at_once: 2, on: "},
            "of timers that do not wait only",
        ),
    ],
)
def test_what_has_no_lanes_in_a_robot_is_refused(
    tmp_path: Path, place: str, changes: dict[str, str], says: str
) -> None:
    with pytest.raises(TaktError, match=says):
        simulate(robot(tmp_path, place, **changes), where="")


THREADS = """
executor: {executor}
cpus: [0, 1]
nodes:
  camera: {{look: {{timer: 10ms, wcet: 12ms, deadline: 30ms, at_once: 2, writes: [image]}}}}
  tracker: {{follow: {{on: image, wcet: 2ms, deadline: 30ms, at_once: 2}}}}
  wheels: {{turn: {{timer: 40ms, wcet: 3ms}}}}
"""


def threads(folder: Path, executor: str) -> dict[str, Any]:
    path = folder / "threads.app.yaml"
    path.write_text(THREADS.format(executor=executor), encoding="utf-8")
    return flat(read_application(path))


def test_a_reentrant_group_of_rclcpp_is_one_callback_with_several_jobs_at_once(
    tmp_path: Path,
) -> None:
    document = threads(tmp_path, "rclcpp_multi_threaded")
    bounds = {one.name: one for one in analyse(document, "").scenarios[0].callbacks}
    assert list(bounds) == ["camera.look", "tracker.follow", "wheels.turn"]
    assert "eq. 48" in bounds["camera.look"].bound_by
    trace = tmp_path / "run.takttrace"
    simulate(document, where="threads", duration=1_000_000_000, trace=trace)
    found = {one.callback: one for one in measure(trace).callbacks}
    look = found["camera.look"]
    assert look.executions >= 98  # of 100 releases, though two overlap at any time
    assert look.unfinished <= 2
    for name, one in found.items():
        bound = bounds[name].response_us
        assert bound is not None
        assert one.response_us is not None
        assert one.response_us.max <= bound
    assert explain(trace).misses == 0


def test_executors_of_rclcpp_without_reentrant_groups_refuse_them(tmp_path: Path) -> None:
    with pytest.raises(TaktError, match="treats a Reentrant group as a mutually exclusive one"):
        simulate(threads(tmp_path, "rclcpp_events_cbg"), where="threads")
