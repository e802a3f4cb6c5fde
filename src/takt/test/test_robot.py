# SPDX-License-Identifier: Apache-2.0
"""An app.yaml with several processes."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import Takt

from takt.errors import TaktError
from takt.schedule.analysis.ask import analyse
from takt.schedule.application.dump import app_yaml
from takt.schedule.application.file import read_application
from takt.schedule.application.flat import flat
from takt.schedule.application.processes import refuse_processes
from takt.schedule.simulation.simulate import simulate
from takt.schedule.trace.file import read

EXAMPLE = Path(__file__).parents[3] / "examples" / "two_processes.app.yaml"
THREADS = EXAMPLE.with_name("threads.app.yaml")


def _changed(tmp_path: Path, old: str, new: str, example: Path = EXAMPLE) -> Path:
    text = example.read_text()
    assert old in text
    file = tmp_path / "changed.app.yaml"
    file.write_text(text.replace(old, new))
    return file


def test_each_callback_names_the_process_of_its_node() -> None:
    document = flat(read_application(EXAMPLE))
    processes = {one["name"]: one["process"] for one in document["callbacks"]}
    assert processes["guard.brake"] == "control"
    assert processes["camera.grab"] == "vision"
    assert document["handover"] == {"least": 50_000, "most": 300_000}


@pytest.mark.parametrize("example", [EXAMPLE, THREADS])
def test_what_is_written_is_the_same_robot(example: Path, tmp_path: Path) -> None:
    document = flat(read_application(example))
    again = tmp_path / "again.app.yaml"
    again.write_text(app_yaml(document, "again"))
    assert flat(read_application(again)) == document


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("nodes: [guard, wheels]", "nodes: [guard]", "node wheels is in no process"),
        ("nodes: [guard, wheels]", "nodes: [guard, wheels, gard]", "names node gard"),
        ("[camera, detector]", "[camera, detector, guard]", "in process control and in"),
        ("[50us, 300us]", "[300us, 50us]", "the first latency is above the second"),
        ("name: two_processes", "policy: edf", "policy is given for the application"),
    ],
)
def test_faults_of_processes_have_a_line(tmp_path: Path, old: str, new: str, says: str) -> None:
    file = _changed(tmp_path, old, new)
    with pytest.raises(TaktError, match=says) as error:
        read_application(file)
    assert error.value.where is not None
    assert error.value.where.startswith(str(file))


def test_commands_for_one_process_refuse_several() -> None:
    with pytest.raises(
        TaktError, match="takt generate --emit-code takes an application of one process"
    ):
        refuse_processes(flat(read_application(EXAMPLE)), None, "takt generate --emit-code")


def test_assigned_processes_are_written_and_guarantee_everything(
    takt: Takt, tmp_path: Path
) -> None:
    # The vision above the controller: its jobs are longer than the controller's deadline.
    bad = tmp_path / "bad.app.yaml"
    bad.write_text(EXAMPLE.read_text().replace("priority: 80, nodes", "priority: 30, nodes"))
    assert takt("analyse", bad).returncode == 1
    out = tmp_path / "assigned.app.yaml"
    done = takt("analyse", bad, "--assign", out)
    assert done.returncode == 0
    assert "control: priority 30 -> " in done.stderr
    assert "rclcpp_single_threaded" in out.read_text()
    written = flat(read_application(out))
    assert analyse(written, "").verdict == "meets"
    before = flat(read_application(bad))
    assert written["callbacks"] == before["callbacks"]
    control, vision = written["processes"]
    assert control["priority"] > vision["priority"]


# Deadline-monotonic priorities fail: with the jitter of its message far needs all of its deadline.
JITTERY = """
processes:
  sensing: {policy: fp, cpu: 0, priority: 50, nodes: [source]}
  acting: {policy: dm, cpu: 1, priority: 50, nodes: [near, far]}
middleware: {latency: [0ms, 6ms]}
nodes:
  source: {send: {timer: 20ms, wcet: 1us, priority: 1, writes: [data]}}
  near: {act: {timer: 20ms, wcet: 2ms, deadline: 8ms, priority: 20}}
  far: {act: {on: data, wcet: 3ms, deadline: 10ms, priority: 10}}
"""


def test_priorities_of_callbacks_are_assigned_within_their_process(
    takt: Takt, tmp_path: Path
) -> None:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    app, out = tmp_path / "jittery.app.yaml", folder / "assigned.app.yaml"
    (tmp_path / "costs.json").write_text('{"upper": {"release": 1}}')
    app.write_text(JITTERY + "overheads: {from: costs.json}\n")
    assert takt("analyse", app).returncode == 1
    done = takt("analyse", app, "--assign", out)
    assert done.returncode == 0
    assert "acting: priorities of callbacks after Audsley" in done.stderr
    written, before = flat(read_application(out)), flat(read_application(app))
    assert analyse(written, "").verdict == "meets"
    assert [one["policy"] for one in before["processes"]] == ["fp", "dm"]
    assert [one["policy"] for one in written["processes"]] == ["fp", "fp"]
    assert written["overheads"] == before["overheads"] == {"release": 1}
    priorities = {one["name"]: one["priority"] for one in written["callbacks"]}
    assert priorities["far.act"] > priorities["near.act"]


def test_what_is_assigned_with_overheads_has_them_in_its_file(takt: Takt, tmp_path: Path) -> None:
    costs, app, out = (tmp_path / name for name in ("costs.json", "a.app.yaml", "b.app.yaml"))
    costs.write_text('{"upper": {"release": 1, "dispatch": 20000}}')
    app.write_text(JITTERY + "overheads: {publish: 5us}\n")
    assert takt("analyse", app, "--overheads", costs, "--assign", out).returncode == 0
    written = flat(read_application(out))
    assert written["overheads"] == {"release": 1, "dispatch": 20_000}
    assert "overheads: {release: 1ns, dispatch: 20us}" in out.read_text()
    assert analyse(written, "").verdict == "meets"


def test_assumptions_stand_below_their_verdict(takt: Takt) -> None:
    shown = takt("analyse", EXAMPLE.with_name("two_hosts.app.yaml")).stdout.splitlines()
    assert shown[0] == "two_hosts, scenario default, policy robot: meets"
    assert [one.startswith("  assuming that ") for one in shown[1:3]] == [True, True]
    assert shown[3].startswith("callback")


def test_messages_that_come_at_once_are_an_assumption(takt: Takt, tmp_path: Path) -> None:
    file = _changed(tmp_path, "middleware: {latency: [50us, 300us]}\n", "")
    shown = takt("analyse", file).stdout
    assert "assuming that a message reaches another process at once" in shown
    assert "(middleware: {latency: [50us, 300us]})" in shown


def test_a_trace_shows_how_it_ran_and_no_attributes(takt: Takt, tmp_path: Path) -> None:
    trace = tmp_path / "modes.takttrace"
    robot = EXAMPLE.with_name("modes.app.yaml")
    assert takt("simulate", robot, "--duration", "1s", "--trace", trace).returncode == 0
    lines = takt("trace", trace).stdout.splitlines()
    assert lines[1] == "first scenario cruise, execution times worst, seed 1"


def test_what_is_not_searched_for_a_robot_is_said(takt: Takt, tmp_path: Path) -> None:
    late = _changed(tmp_path, "wcet: 9ms", "wcet: 40ms")
    done = takt("analyse", late, "--assign", tmp_path / "assigned.app.yaml")
    assert done.returncode == 1
    assert "not searched: other processes for nodes" in done.stderr


def test_the_processes_of_a_robot_are_in_no_timing_file(takt: Takt, tmp_path: Path) -> None:
    done = takt("analyse", EXAMPLE, "--assign", tmp_path / "assigned.timing.yaml")
    assert done.returncode == 2
    assert "a timing file is of one process" in done.stderr
    assert not list(tmp_path.glob("*.timing.yaml"))


JOIN = """
processes:
  sensors: {policy: fp, cpu: 0, priority: 40, nodes: [front, rear]}
  fuse: {executor: rclcpp_single_threaded, cpu: 1, priority: 40, nodes: [fusion]}
  plan: {executor: rclcpp_events, cpu: 1, priority: 60, nodes: [planner]}
middleware: {latency: [50us, 300us]}
nodes:
  front: {read: {timer: 10ms, wcet: 1ms, priority: 40, writes: [front]}}
  rear: {read: {timer: 15ms, wcet: 1ms, priority: 41, writes: [rear]}}
  fusion:
    front: {on: front, wcet: 1ms, deadline: 50ms, join: both, writes: [fused]}
    rear: {on: rear, wcet: 2ms, deadline: 50ms, join: both, writes: [fused]}
  planner: {plan: {on: fused, wcet: 2ms, deadline: 50ms}}
topics: {front: {depth: 4}, rear: {depth: 4}, fused: {depth: 4}}
chains: {plan: {callbacks: [front.read, fusion.front, planner.plan], max_latency: 60ms}}
"""


def test_a_join_waits_for_messages_of_another_process(tmp_path: Path) -> None:
    path = tmp_path / "join.app.yaml"
    path.write_text(JOIN)
    document = flat(read_application(path))
    analysis = analyse(document, "")
    chain = analysis.scenarios[0].chains[0]
    assert analysis.verdict == "meets"
    assert chain.latency_us is not None
    played = simulate(document, where="").chains[0].latency
    assert played is not None
    # The message of rear comes up to a period later, which one in two messages of front must wait.
    assert 10_000 < played.max_us <= chain.latency_us
    periods = {one.name: one.period_us for one in analysis.scenarios[0].callbacks}
    assert periods["planner.plan"] == 15_000


def test_a_join_has_its_callbacks_in_one_process(tmp_path: Path) -> None:
    path = tmp_path / "join.app.yaml"
    path.write_text(JOIN)
    document = flat(read_application(path))
    next(one for one in document["callbacks"] if one["name"] == "fusion.rear")["process"] = "plan"
    with pytest.raises(TaktError, match="is in another process"):
        analyse(document, "")


def test_the_trace_of_a_robot_has_the_policy_of_no_process(takt: Takt, tmp_path: Path) -> None:
    trace = tmp_path / "robot.takttrace"
    assert takt("simulate", EXAMPLE, "--duration", "1s", "--trace", trace).returncode == 0
    assert read(trace).names.policies() == ["robot"]


def test_a_chain_across_processes_is_bounded_above_what_is_simulated() -> None:
    document = flat(read_application(EXAMPLE))
    (scenario,) = analyse(document, str(EXAMPLE)).scenarios
    (chain,) = scenario.chains
    assert chain.meets
    assert chain.bound_by.startswith("vision ")
    assert "handover 300 µs" in chain.bound_by or "handover 0.3 ms" in chain.bound_by
    (played,) = simulate(document, where=str(EXAMPLE)).chains
    assert chain.latency_us is not None
    assert played.latency is not None
    assert 13_000 < played.latency.max_us <= chain.latency_us
