# SPDX-License-Identifier: Apache-2.0
"""Locks of an app.yaml, from the file through analysis and simulation to the execution."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

takt_core = pytest.importorskip("takt_core", reason="the C++ workspace is not built")

from executed import cpu, executed, values  # noqa: E402

from takt.errors import TaktError  # noqa: E402
from takt.schedule.analysis.ask import analyse  # noqa: E402
from takt.schedule.application.dump import app_yaml  # noqa: E402
from takt.schedule.application.file import read_application  # noqa: E402
from takt.schedule.application.flat import flat  # noqa: E402
from takt.schedule.campaign.judge import varies  # noqa: E402
from takt.schedule.generate.code import write_packages  # noqa: E402
from takt.schedule.metrics import measure  # noqa: E402
from takt.schedule.simulation.simulate import simulate  # noqa: E402
from takt.schedule.trace.file import Type, read  # noqa: E402

LOCKS = "locks: {map: {protocol: inheritance}, bus: {protocol: ceiling}}"
NODES = """
nodes:
  a: {high: {timer: 10ms, wcet: 2ms, priority: 30, critical_sections: [{lock: map, length: 200us}]}}
  b:
    low:
      timer: 50ms
      wcet: 10ms
      priority: 10
      critical_sections:
        - {lock: bus, begin: 5ms, length: {best: 1ms, worst: 2ms}}
        - {lock: map, begin: 1ms, length: 3ms}
"""


def document(folder: Path, text: str) -> dict[str, Any]:
    file = folder / "locks.app.yaml"
    file.write_text(text, encoding="utf-8")
    return flat(read_application(file))


def test_the_file_says_what_the_core_parses(tmp_path: Path) -> None:
    found = document(tmp_path, LOCKS + NODES)
    assert found["locks"] == [
        {"name": "map", "protocol": "inheritance"},
        {"name": "bus", "protocol": "ceiling"},
    ]
    assert found["callbacks"][1]["critical_sections"] == [
        {"lock": "bus", "begin": 5_000_000, "shortest": 1_000_000, "longest": 2_000_000},
        {"lock": "map", "begin": 1_000_000, "shortest": 3_000_000, "longest": 3_000_000},
    ]
    assert document(tmp_path, app_yaml(found, "again")) == found
    assert varies(found)


def test_all_unknown_locks_are_named_with_their_lines(tmp_path: Path) -> None:
    with pytest.raises(TaktError) as error:
        document(tmp_path, "locks: {other: {protocol: ceiling}}" + NODES)
    text = str(error.value)
    for line, name in ((3, "map"), (10, "bus"), (11, "map")):
        assert f"locks.app.yaml:{line}: unknown lock {name}" in text
    assert "fix: the locks are other" in text


@pytest.mark.parametrize(
    ("section", "words"),
    [
        ("{lock: map}", "length is missing"),
        ("{lock: map, length: 0us}", "must be greater than 0"),
        ("{lock: map, length: {best: 2us, worst: 1us}}", "best 2us is above worst 1us"),
        ("{lock: map, length: 1us, end: 2us}", "unknown key"),
    ],
)
def test_a_section_says_how_long_it_holds_the_lock(
    tmp_path: Path, section: str, words: str
) -> None:
    text = (LOCKS + NODES).replace("{lock: map, length: 200us}", section)
    with pytest.raises(TaktError, match=words):
        document(tmp_path, text)


def test_the_analysis_names_who_blocks(tmp_path: Path) -> None:
    scenario = analyse(document(tmp_path, LOCKS + NODES), "here").scenarios[0]
    high, low = scenario.callbacks
    assert (high.blocking_us, high.locks, high.response_us) == (3000, ["map"], 5000)
    assert (low.blocking_us, low.locks, low.response_us) == (0, [], 14000)


ACROSS = """
policy: rm
cpus: [0, 1]
locks: {map: {protocol: spin}}
nodes:
  a: {one: {timer: 10ms, wcet: 2ms, cpu: 0, critical_sections: [{lock: map, length: 1ms}]}}
  b: {two: {timer: 50ms, wcet: 10ms, cpu: 1, critical_sections: [{lock: map, length: 3ms}]}}
"""


def test_a_spin_lock_goes_across_cores(tmp_path: Path) -> None:
    application = document(tmp_path, ACROSS)
    assert document(tmp_path, app_yaml(application, "again")) == application
    one, two = analyse(application, "here").scenarios[0].callbacks
    assert (one.locks, one.response_us) == (["map"], 2000 + 3000)
    assert (two.locks, two.response_us) == (["map"], 10000 + 1000)
    trace = tmp_path / "spins.takttrace"
    result = simulate(application, where="here", trace=trace, duration=50_000_000)
    assert [each.worst_response_ns for each in result.callbacks] == [2_000_000, 11_000_000]
    waits = values(read(trace), Type.lock_wait)
    assert waits == [(0, 0)]


@pytest.mark.usefixtures("app_runner")
@pytest.mark.parametrize(("policy", "protocol"), [("rm", "spin"), ("edf", "spin"), ("rm", "fmlp+")])
def test_an_execution_takes_locks_across_cores(tmp_path: Path, policy: str, protocol: str) -> None:
    cpus = sorted(os.sched_getaffinity(0))[:2]
    if len(cpus) < 2:
        pytest.skip("it needs a second core")
    text = ACROSS.replace("policy: rm", f"policy: {policy}").replace("[0, 1]", str(cpus))
    text = text.replace("protocol: spin", f"protocol: {protocol}")
    for number, core in enumerate(cpus):
        text = text.replace(f"cpu: {number},", f"cpu: {core},")
    done = executed(tmp_path, "takt", document(tmp_path, text))
    trace = read(done.trace)
    waiting = len(values(trace, Type.lock_wait)) - len(values(trace, Type.lock))
    assert waiting in {0, 1}  # the trace may end while one waits for the other
    jobs = {one.callback: one.executions for one in measure(done.trace).callbacks}
    assert min(jobs["a.one"], jobs["b.two"]) > 0


def test_jobs_that_wait_for_a_lock_across_cores_may_leave_theirs(tmp_path: Path) -> None:
    application = document(tmp_path, ACROSS.replace("protocol: spin", "protocol: fmlp+"))
    one, two = analyse(application, "here").scenarios[0].callbacks
    assert (one.response_us, two.response_us) == (2000 + 3000, 10000 + 1000)
    result = simulate(application, where="here", duration=50_000_000)
    assert [each.worst_response_ns for each in result.callbacks] == [2_000_000, 11_000_000]


def test_generated_code_takes_no_locks(tmp_path: Path) -> None:
    with pytest.raises(TaktError, match=r"a\.high, b\.low: the generated code does not take locks"):
        write_packages(document(tmp_path, LOCKS + NODES), tmp_path)


@pytest.mark.usefixtures("app_runner")
def test_an_execution_takes_them(tmp_path: Path) -> None:
    application = document(tmp_path, f"cpus: [{cpu()}]\n{LOCKS}{NODES}")
    done = executed(tmp_path, "takt", application)
    jobs = {one.callback: one.executions for one in measure(done.trace).callbacks}
    assert min(jobs["a.high"], jobs["b.low"]) > 0


@pytest.mark.usefixtures("app_runner")
def test_an_execution_under_edf_keeps_jobs_below_the_ceiling_from_starting(tmp_path: Path) -> None:
    locks = LOCKS.replace("inheritance", "ceiling")
    application = document(tmp_path, f"policy: edf\ncpus: [{cpu()}]\n{locks}{NODES}")
    scenario = analyse(application, "here").scenarios[0]
    assert [one.blocking_us for one in scenario.callbacks] == [3000, 0]
    done = executed(tmp_path, "takt", application)
    assert values(read(done.trace), Type.lock_wait) == []  # who could wait has not started
    jobs = {one.callback: one.executions for one in measure(done.trace).callbacks}
    assert min(jobs["a.high"], jobs["b.low"]) > 0


@pytest.mark.usefixtures("app_runner")
def test_a_lock_is_not_shared_by_processes(tmp_path: Path) -> None:
    application = document(tmp_path, f"cpus: [{cpu()}]\n{LOCKS}{NODES}")
    with pytest.raises(TaktError, match="not executed under 'baseline1'"):
        executed(tmp_path, "baseline1", application)
