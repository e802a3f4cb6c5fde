# SPDX-License-Identifier: Apache-2.0
"""Locks beside what else an application says: waits, limits of ages, scenarios, processes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

takt_core = pytest.importorskip("takt_core", reason="the C++ workspace is not built")

from executed import cpu, executed, values  # noqa: E402

from takt.errors import TaktError  # noqa: E402
from takt.schedule.analysis.ask import analyse  # noqa: E402
from takt.schedule.application.file import read_application  # noqa: E402
from takt.schedule.application.flat import flat  # noqa: E402
from takt.schedule.metrics import measure  # noqa: E402
from takt.schedule.simulation.simulate import simulate  # noqa: E402
from takt.schedule.trace.file import Type, read  # noqa: E402

MS = 1_000_000

# The high one takes its lock after its wait, in which the low one may have taken it.
WAITS = """
policy: rm
cpus: [CPU]
locks: {map: {protocol: PROTOCOL}}
nodes:
  a:
    high:
      timer: 20ms
      segments: [1ms, {wait: 5ms}, 2ms]
      critical_sections: [{lock: map, begin: 1ms, length: 1ms}]
  b: {low: {timer: 50ms, wcet: 10ms, critical_sections: [{lock: map, begin: 2ms, length: 4ms}]}}
"""
# The reader is released early at need; its source takes a lock.
AGES = """
policy: fp
cpus: [CPU]
locks: {map: {protocol: inheritance}}
nodes:
  a:
    source:
      timer: 20ms
      wcet: 2ms
      priority: 20
      writes: {scan: 1kB}
      critical_sections: [{lock: map, length: 1ms}]
  b: {reader: {timer: 20ms, offset: 10ms, wcet: 1ms, priority: 40, reads: {scan: {max_age: 15ms}}}}
  c: {low: {timer: 50ms, wcet: 5ms, priority: 10, critical_sections: [{lock: map, length: 3ms}]}}
"""
SWITCHES = """
policy: fp
cpus: [CPU]
locks: {map: {protocol: PROTOCOL}}
nodes:
  a: {one: {timer: 20ms, wcet: 2ms, priority: 20, critical_sections: [{lock: map, length: 1ms}]}}
  b: {two: {timer: 50ms, wcet: 5ms, priority: 10, critical_sections: [{lock: map, length: 4ms}]}}
scenarios:
  usual: {}
  docking: {b.two: {priority: 30}}
switches: [{at: 130ms, scenario: docking}, {at: 270ms, scenario: usual}]
"""
ROBOT = """
name: robot
processes:
  drive: {cpu: CPU, priority: 70, nodes: [a, b], policy: fp}
  plan: {cpu: CPU, priority: 20, nodes: [c], policy: fp}
locks: {map: {protocol: inheritance}, plans: {protocol: ceiling}}
nodes:
  a: {high: {timer: 20ms, wcet: 2ms, priority: 30, critical_sections: [{lock: map, length: 1ms}]}}
  b: {low: {timer: 50ms, wcet: 4ms, priority: 10, critical_sections: [{lock: map, length: 3ms}]}}
  c: {step: {timer: 100ms, wcet: 5ms, priority: 5, critical_sections: [{lock: plans, length: 1ms}]}}
"""


def document(folder: Path, text: str, protocol: str = "inheritance") -> dict[str, Any]:
    file = folder / "company.app.yaml"
    text = text.replace("CPU", str(cpu())).replace("PROTOCOL", protocol)
    file.write_text(text, encoding="utf-8")
    return flat(read_application(file))


def expect_bounds(application: dict[str, Any], times: int = 20) -> dict[str, float]:
    """No simulated response is above its bound; returns the bounds in us."""
    report = analyse(application, "here")
    bounds = {one.name: one.response_us for one in report.scenarios[0].callbacks}
    result = simulate(application, where="here", duration=times * 100 * MS)
    for each in result.callbacks:
        bound = bounds[each.callback]
        assert bound is not None
        assert each.worst_response_ns <= 1000 * bound
    return {name: bound for name, bound in bounds.items() if bound is not None}


@pytest.mark.parametrize("protocol", ["inheritance", "ceiling", "spin", "fmlp+"])
def test_a_job_that_waits_takes_locks(tmp_path: Path, protocol: str) -> None:
    bounds = expect_bounds(document(tmp_path, WAITS, protocol))
    assert bounds["a.high"] >= 8000 + 4000


@pytest.mark.usefixtures("app_runner")
@pytest.mark.parametrize("protocol", ["inheritance", "ceiling", "spin", "fmlp+"])
def test_an_execution_waits_outside_of_its_sections(tmp_path: Path, protocol: str) -> None:
    done = executed(tmp_path, "takt", document(tmp_path, WAITS, protocol))
    jobs = {one.callback: one.executions for one in measure(done.trace).callbacks}
    assert min(jobs["a.high"], jobs["b.low"]) > 0
    trace = read(done.trace)
    waiting = len(values(trace, Type.lock_wait)) - len(values(trace, Type.lock))
    assert waiting in {0, 1}


def test_a_source_that_is_released_early_takes_locks(tmp_path: Path) -> None:
    application = document(tmp_path, AGES)
    bounds = expect_bounds(application)
    assert bounds["a.source"] >= 2000 + 3000 + 1000
    application["policy"] = "edf"
    application["locks"][0]["protocol"] = "ceiling"
    with pytest.raises(TaktError, match="released early for it is due before"):
        analyse(application, "here")


@pytest.mark.usefixtures("app_runner")
def test_a_source_that_is_released_early_is_executed_with_inheritance(tmp_path: Path) -> None:
    application = document(tmp_path, AGES)
    done = executed(tmp_path, "takt", application)
    jobs = {one.callback: one.executions for one in measure(done.trace).callbacks}
    assert min(jobs.values()) > 0
    application["locks"][0]["protocol"] = "fmlp+"
    with pytest.raises(TaktError, match="jobs are raised for the age of data"):
        executed(tmp_path, "takt", application)


@pytest.mark.parametrize("protocol", ["inheritance", "ceiling", "spin"])
def test_switches_with_locks_are_proved(tmp_path: Path, protocol: str) -> None:
    application = document(tmp_path, SWITCHES, protocol)
    report = analyse(application, "here")
    assert report.switches is not None
    assert report.switches.meets
    result = simulate(application, where="here", duration=500 * MS)
    assert sum(one.misses for one in result.callbacks) == 0


@pytest.mark.parametrize(
    ("policy", "protocol", "words"),
    [("fp", "fmlp+", "without its core"), ("edf", "ceiling", "cannot be compared")],
)
def test_switches_that_are_not_proved_say_why(
    tmp_path: Path, policy: str, protocol: str, words: str
) -> None:
    application = document(tmp_path, SWITCHES.replace("policy: fp", f"policy: {policy}"), protocol)
    report = analyse(application, "here")
    assert report.switches is not None
    assert not report.switches.meets
    assert words in report.switches.bound_by


@pytest.mark.usefixtures("app_runner")
@pytest.mark.parametrize("protocol", ["inheritance", "ceiling"])
def test_an_execution_with_locks_switches(tmp_path: Path, protocol: str) -> None:
    done = executed(tmp_path, "takt", document(tmp_path, SWITCHES, protocol))
    assert values(read(done.trace), Type.scenario)
    jobs = {one.callback: one.executions for one in measure(done.trace).callbacks}
    assert min(jobs.values()) > 0


def test_each_process_of_a_robot_has_its_locks(tmp_path: Path) -> None:
    application = document(tmp_path, ROBOT)
    bounds = expect_bounds(application)
    assert bounds["a.high"] == 2000 + 3000
    assert bounds["c.step"] > 5000
    named = {one.name: one.locks for one in analyse(application, "here").scenarios[0].callbacks}
    assert named == {"a.high": ["map"], "b.low": [], "c.step": []}


def test_a_lock_belongs_to_one_process(tmp_path: Path) -> None:
    with pytest.raises(TaktError, match="belongs to one process, and callbacks of 'drive' and"):
        analyse(document(tmp_path, ROBOT.replace("lock: plans", "lock: map")), "here")
    with pytest.raises(TaktError, match="not analysed in processes of a robot"):
        analyse(document(tmp_path, ROBOT.replace("protocol: ceiling", "protocol: spin")), "here")


@pytest.mark.usefixtures("app_runner")
def test_a_robot_is_executed_with_locks(tmp_path: Path) -> None:
    done = executed(tmp_path, "takt", document(tmp_path, ROBOT))
    jobs = {one.callback: one.executions for one in measure(done.trace).callbacks}
    assert min(jobs.values()) > 0
