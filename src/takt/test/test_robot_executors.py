# SPDX-License-Identifier: Apache-2.0
"""Executors of rclcpp with several threads in a process of a robot."""

from __future__ import annotations

from pathlib import Path

import pytest

from takt.errors import TaktError
from takt.schedule.analysis.ask import analyse
from takt.schedule.analysis.model import Analysis
from takt.schedule.application.executors import SEVERAL_THREADS
from takt.schedule.application.file import located, read_application
from takt.schedule.application.flat import flat
from takt.schedule.simulation.model import SimulationResult
from takt.schedule.simulation.simulate import simulate

ROBOT = """
processes:
  top: {policy: edf, cpu: 1, priority: 80, nodes: [watch]}
  control: {executor: EXECUTOR, PLACE, nodes: [guard, wheels]}
  vision: {executor: rclcpp_single_threaded, cpu: 0, priority: 40, nodes: [camera, detector]}
middleware: {latency: [50us, 300us]}
nodes:
  watch: {look: {timer: 5ms, wcet: 500us}}
  camera: {grab: {timer: 40ms, wcet: 4ms, writes: {image: 1kB}}}
  detector: {detect: {on: image, wcet: 6ms, writes: {obstacle: 1kB}}}
  guard:
    brake: {on: obstacle, wcet: 1ms}
    plan: {timer: 50ms, wcet: 5ms}
  wheels: {drive: {timer: 10ms, wcet: 1ms}}
chains: {stop: {callbacks: [camera.grab, detector.detect, guard.brake]}}
"""
CORES = "cpus: [0, 1], priority: 60"


def _robot(folder: Path, executor: str, place: str, **changes: str) -> Path:
    file = folder / "robot.app.yaml"
    text = ROBOT.replace("EXECUTOR", executor).replace("PLACE", place)
    for old, new in changes.items():
        text = text.replace(f"{old}:", new)
    file.write_text(text, encoding="utf-8")
    return file


def _read(file: Path) -> tuple[Analysis, SimulationResult]:
    application = read_application(file)
    with located(application):
        bounds = analyse(flat(application), str(file))
    return bounds, simulate(flat(application), where=str(file), duration=2_000_000_000)


@pytest.mark.parametrize("executor", [*SEVERAL_THREADS, "rclcpp_single_threaded", "rclcpp_events"])
@pytest.mark.parametrize("place", [CORES, "cpu: 0, priority: 60"])
def test_each_executor_has_bounds_in_a_process(tmp_path: Path, executor: str, place: str) -> None:
    bounds, played = _read(_robot(tmp_path, executor, place))
    (scenario,) = bounds.scenarios
    of = {one.name: one.response_us for one in scenario.callbacks}
    for callback in played.callbacks:
        bound = of[callback.callback]
        assert bound is not None
        assert callback.worst_response_ns <= bound * 1000
    (chain,) = scenario.chains
    (measured,) = played.chains
    assert measured.latency is not None
    assert chain.latency_us is not None
    assert measured.latency.max_us <= chain.latency_us


@pytest.mark.parametrize("executor", ["rclcpp_single_threaded", "rclcpp_events"])
def test_one_thread_on_several_cores_waits_for_one_of_them(tmp_path: Path, executor: str) -> None:
    """Nothing is above it on core 0: it has that, whatever top does on core 1."""
    bounds, _ = _read(_robot(tmp_path, executor, CORES))
    pinned, _ = _read(_robot(tmp_path, executor, "cpu: 0, priority: 60"))
    of, at = ({one.name: one for one in found.scenarios[0].callbacks} for found in (bounds, pinned))
    for name in ("guard.brake", "guard.plan", "wheels.drive"):
        assert of[name].response_us == at[name].response_us
    assert any("on cores 0 and 1" in (one.bound_by or "") for one in bounds.scenarios[0].cores)


def test_a_process_above_takes_its_time_from_all_threads(tmp_path: Path) -> None:
    """While its core is away, a thread may have what the others need to look for jobs."""
    bounds, _ = _read(_robot(tmp_path, "rclcpp_multi_threaded", CORES))
    of = {one.name: one for one in bounds.scenarios[0].callbacks}
    # Three groups on two threads: brake and plan have both for 1 ms, and 500 us go above.
    assert of["wheels.drive"].response_us == 1000 + 1000 + 500
    assert "processes above" in of["wheels.drive"].bound_by


def test_what_a_thread_does_on_either_core_delays_processes_below(tmp_path: Path) -> None:
    """All jobs of control may be on the core of vision."""
    bounds, _ = _read(_robot(tmp_path, "rclcpp_multi_threaded", CORES))
    of = {one.name: one.response_us for one in bounds.scenarios[0].callbacks}
    grab = of["camera.grab"]
    assert grab is not None
    assert grab >= 4000 + 5000 + 1000 + 1000


def test_threads_with_a_nice_value_have_no_bound_but_are_simulated(tmp_path: Path) -> None:
    bounds, played = _read(_robot(tmp_path, "rclcpp_events_cbg", "cpus: [0, 1], nice: 0"))
    of = {one.name: one.response_us for one in bounds.scenarios[0].callbacks}
    assert of["wheels.drive"] is None
    assert of["camera.grab"] is not None
    assert bounds.verdict == "not_proved"
    assert any("several threads at SCHED_OTHER" in one for one in bounds.remarks)
    assert all(one.jobs for one in played.callbacks)


@pytest.mark.parametrize(
    ("executor", "place", "says"),
    [
        (
            "rclcpp_multi_threaded",
            "cpus: [0, 1], reservation: {runtime: 2ms, period: 5ms}",
            "a reservation is that of one thread",
        ),
        (
            "rclcpp_events",
            "cpus: [0, 1], nice: 3, cpu_max: 20ms 100ms",
            "of which each may keep a part of its quota",
        ),
        (
            "rclcpp_multi_threaded",
            "cpus: [0, 1], priority: 80",
            "the same core and priority as process 'top'",
        ),
    ],
)
def test_what_no_executor_of_several_threads_has_is_refused(
    tmp_path: Path, executor: str, place: str, says: str
) -> None:
    with pytest.raises(TaktError, match=says):
        _read(_robot(tmp_path, executor, place))


def test_a_group_of_threads_is_of_one_node(tmp_path: Path) -> None:
    changes = {"plan": "plan: {timer: 50ms, wcet: 5ms, group: g}\n    other:"}
    file = _robot(tmp_path, "rclcpp_multi_threaded", CORES, **changes)
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace("timer: 10ms,", "timer: 10ms, group: g,"), encoding="utf-8")
    with pytest.raises(TaktError, match="groups are of one node"):
        _read(file)
