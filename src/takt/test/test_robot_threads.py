# SPDX-License-Identifier: Apache-2.0
"""Threads beside the callbacks of a robot: drivers, and those that receive for the middleware."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from conftest import Takt

from takt.errors import TaktError
from takt.schedule.analysis.ask import analyse
from takt.schedule.analysis.model import Analysis
from takt.schedule.application.file import located, read_application
from takt.schedule.application.flat import flat
from takt.schedule.simulation.simulate import simulate

EXAMPLE = Path(__file__).parents[3] / "examples" / "two_processes.app.yaml"
THREADS = EXAMPLE.with_name("threads.app.yaml")


def _analysed(file: Path) -> Analysis:
    application = read_application(file)
    with located(application):
        return analyse(flat(application), str(application.file))


DDS = "dds: {priority: 90, receives: {obstacle: 60us}}"


@pytest.mark.parametrize(
    ("new", "says"),
    [
        ("dds: {priority: 90}", "a thread receives topics, such as"),
        ("dds: {priority: 90, timer: 1ms}", "key execution is missing"),
        ("dds: {priority: 90, writes: [image], receives: {obstacle: 60us}}", "that of a driver"),
        (DDS.replace("obstacle", "obstacles"), "'obstacles', which no callback of process"),
        (DDS.replace("90", "80"), "the same core and priority as process 'control'"),
        (f"{DDS}, {DDS.replace('dds', 'udp').replace('90', '91')}", "received already, as"),
    ],
)
def test_faults_of_threads_have_a_line(tmp_path: Path, new: str, says: str) -> None:
    file = tmp_path / "changed.app.yaml"
    file.write_text(THREADS.read_text().replace(f"\n      {DDS}", f" {{{new}}}"))
    with pytest.raises(TaktError, match=says) as error:
        _analysed(file)
    assert error.value.where is not None
    assert re.fullmatch(r".*changed.app.yaml:(8|9|10)(:\d+)?(: .*)?", error.value.where)


# On one core, of which 1 ns in 10 ms is left: busy periods last for a day.
FULL = """
processes:
  low: {cpu: 1, priority: 27, nodes: [c]}
  middle: {policy: edf, cpu: 1, priority: 61, nodes: [a]}
  high: {policy: edf, cpu: 1, priority: 78, nodes: [b]}
middleware: {latency: [293802ns, 300us]}
nodes:
  a: {x: {timer: 10ms, wcet: 4029918ns, priority: 1, writes: [one]}}
  b: {y: {on: three, period: 10ms, deadline: 20ms, wcet: 790437ns, priority: 1}}
  c: {z: {on: one, deadline: 5179644ns, wcet: 5179644ns, priority: 1, writes: [three]}}
"""


def test_a_core_with_hardly_any_time_left_has_no_bounds(tmp_path: Path) -> None:
    file = tmp_path / "full.app.yaml"
    file.write_text(FULL)
    (scenario,) = _analysed(file).scenarios
    assert not any(one.response_us for one in scenario.callbacks)
    # Each of them delays the others by way of messages, which nothing bounds then.
    assert any("nothing bounds the messages on topic 'three'" in one for one in scenario.remarks)


def test_what_a_thread_receives_is_named_as_written(tmp_path: Path) -> None:
    file = tmp_path / "changed.app.yaml"
    file.write_text(
        """
processes:
  p: {cpu: 0, priority: 50, nodes: [a], threads: {dds: {priority: 60, receives: {ext: 1ms}}}}
  q: {cpu: 1, priority: 50, nodes: [b]}
nodes:
  a: {x: {on: ext, wcet: 1ms, priority: 1}}
  b: {y: {timer: 10ms, wcet: 1ms, priority: 1}}
"""
    )
    with pytest.raises(
        TaktError, match="dds': it receives topic 'ext', which no callback"
    ) as error:
        _analysed(file)
    assert "p.dds.ext" not in str(error.value)
    hosts = (
        file.read_text().replace("q: {", "q: {host: there, ").replace("p: {", "p: {host: here, ")
    )
    file.write_text(hosts.replace("y: {", "y: {writes: [ext], "))
    with pytest.raises(TaktError, match="it receives topic 'ext' on host 'here', which") as error:
        _analysed(file)
    assert "p.dds.ext" not in str(error.value)


LOSES = """
processes:
  p: {cpu: 0, priority: 50, nodes: [a], threads: {dds: {priority: 60, receives: {scan: 1ms}}}}
  q: {cpu: 1, priority: 50, nodes: [b]}
topics: {scan: {depth: 1}}
nodes:
  a:
    x: {on: scan, wcet: 6ms, priority: 1, overrun: catch_up}
    z: {timer: 100ms, wcet: 5ms, priority: 9}
  b: {y: {timer: 10ms, wcet: 1ms, priority: 1, writes: [scan]}}
"""


def test_losses_of_what_a_thread_receives_are_named_as_written(tmp_path: Path) -> None:
    file = tmp_path / "loses.app.yaml"
    file.write_text(LOSES)
    text = _analysed(file).model_dump_json()
    assert "'a.x' may lose messages of 'scan'" in text, text
    assert "'p.dds.scan'" not in text


OVERLOADED = """
processes:
  p: {cpu: 0, priority: 50, nodes: [a]}
  q: {cpu: 1, priority: 50, nodes: [b]}
nodes:
  a:
    tick: {timer: 10ms, wcet: 2ms, priority: 8, writes: [path]}
    follow: {on: path, wcet: 9ms, priority: 2}
  b: {y: {timer: 10ms, wcet: 1ms, priority: 1}}
chains:
  within: {callbacks: [a.tick, a.follow]}
"""


def test_a_chain_within_a_process_says_which_callback_has_no_bound(tmp_path: Path) -> None:
    file = tmp_path / "overloaded.app.yaml"
    file.write_text(OVERLOADED)
    (chain,) = _analysed(file).scenarios[0].chains
    assert chain.latency_us is None
    assert re.fullmatch(r"'a\.(tick|follow)' has no bound", chain.bound_by)


CALLS = """
processes:
  p: {policy: fp, cpu: 0, priority: 50, nodes: [a]}
  q: {policy: fp, cpu: 1, priority: 50, nodes: [b]}
middleware: {latency: [100us, 1ms]}
nodes:
  a: {step: {timer: 50ms, priority: 5, segments: [1ms, {call: /plan}, 2ms]}}
  b:
    plan: {service: /plan, wcet: 3ms, priority: 9, writes: [path]}
    follow: {on: path, wcet: 4ms, priority: 7}
chains:
  asked: {callbacks: [a.step, b.plan]}
  led: {callbacks: [a.step, b.plan, b.follow], max_latency: 30ms}
"""


def test_a_chain_leaves_a_process_by_a_call(takt: Takt, tmp_path: Path) -> None:
    file = tmp_path / "calls.app.yaml"
    file.write_text(CALLS)
    (scenario,) = _analysed(file).scenarios
    asked, led = scenario.chains
    assert asked.callbacks == ["a.step", "b.plan"]
    # 1 + 1 + 3 + 1 + 2 ms of the client, without the 2 ms after the response and 0.1 ms of its way.
    assert asked.latency_us == 5_900
    assert led.meets
    trace = tmp_path / "calls.takttrace"
    simulated = json.loads(
        takt("simulate", file, "--duration", "1s", "--json", "--trace", trace).stdout
    )
    played = {one["chain"]: one["latency"]["max_us"] for one in simulated["chains"]}
    assert 0 < played["asked"] <= asked.latency_us
    assert played["asked"] < played["led"] <= led.latency_us
    measured = json.loads(takt("metrics", trace, "--json").stdout)["traces"][0]["chains"]
    assert {one["chain"]: one["latency_us"]["count"] for one in measured} == {
        "asked": 20,
        "led": 20,
    }


def test_threads_are_in_the_latency_of_a_chain_and_in_what_is_simulated() -> None:
    document = flat(read_application(THREADS))
    (scenario,) = analyse(document, "").scenarios
    stop, goal = scenario.chains
    assert [(one.kind, one.name) for one in stop.terms] == [
        ("thread", "vision.camera"),
        ("process", "vision"),
        ("handover", "control.dds.obstacle"),
        ("thread", "control.dds"),
        ("process", "control"),
    ]
    assert stop.latency_us is not None
    assert stop.latency_us == pytest.approx(sum(one.time_us for one in stop.terms))
    assert goal.callbacks == ["planner.plan", "vision.dds.goal", "detector.replan"]
    simulated = simulate(document, where="", duration=2 * 10**9)
    # 1 ms late, 600 us of the driver, 9 ms with two jobs of drive, the way, the thread, the brake.
    least = 1000 + 600 + 9000 + 2 * 1000 + 300 + 60 + 500
    latency = simulated.chains[0].latency
    assert latency is not None
    assert least <= latency.max_us <= stop.latency_us


def test_a_receive_thread_on_a_core_of_its_own_names_it(tmp_path: Path) -> None:
    file = tmp_path / "changed.app.yaml"
    text = THREADS.read_text().replace("dds: {priority: 90", "dds: {cpu: 3, priority: 90")
    file.write_text(f"{text}cores: {{3: {{latency: 20us}}}}\n")
    (scenario,) = analyse(flat(read_application(file)), "").scenarios
    assert next(one.cpu for one in scenario.cores if one.process == "control.dds") == 3


def test_metrics_follow_chains_through_simulated_threads_and_no_model_is_made_of_them(
    takt: Takt, tmp_path: Path
) -> None:
    trace = tmp_path / "threads.takttrace"
    assert takt("simulate", THREADS, "--duration", "1s", "--trace", trace).returncode == 0
    (metrics,) = takt.json("metrics", trace)["traces"]
    assert all(chain["latency_us"]["count"] > 5 for chain in metrics["chains"])
    assert "6 of 6 bounds of chains hold" in takt("explain", trace).stdout
    done = takt("model", trace)
    assert done.returncode == 2
    assert "a simulation of a robot with threads" in done.stderr


def test_cpu_and_cpus_of_a_process_are_one_too_many(tmp_path: Path) -> None:
    cores = EXAMPLE.with_name("several_cores.app.yaml").read_text()
    file = tmp_path / "cores.app.yaml"
    file.write_text(cores.replace("cpus: [0, 1]", "cpus: [0, 1], cpu: 0"))
    with pytest.raises(TaktError, match="cpu and cpus are given: keep cpus"):
        read_application(file)


def test_each_core_of_a_process_is_a_term_of_the_latency() -> None:
    (scenario,) = _analysed(EXAMPLE.with_name("several_cores.app.yaml")).scenarios
    steer = next(one for one in scenario.chains if one.name == "steer")
    assert "control.core0 3 ms" in steer.bound_by
    assert {(one.process, one.cpu) for one in scenario.cores} == {
        ("vision", 1),
        ("control", 0),
        ("control", 1),
    }


def test_callbacks_that_several_threads_share_have_all_their_cores(takt: Takt) -> None:
    shown = takt("analyse", EXAMPLE.with_name("several_threads.app.yaml")).stdout
    assert re.search(r"^mapper\.draw +0, 1 ", shown, re.MULTILINE)
    assert re.search(r"^guard\.brake +0 ", shown, re.MULTILINE)
    assert "cores 0, 1: utilization" in shown


def test_a_robot_with_several_scenarios_has_bounds_in_each() -> None:
    analysis = _analysed(EXAMPLE.with_name("modes.app.yaml"))
    assert [(one.name, one.verdict) for one in analysis.scenarios] == [
        ("cruise", "meets"),
        ("docking", "meets"),
    ]
    assert analysis.verdict == "meets"  # around switches, too
    assert analysis.switches is not None
    assert analysis.switches.meets
