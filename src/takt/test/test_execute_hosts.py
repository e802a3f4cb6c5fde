# SPDX-License-Identifier: Apache-2.0
"""A robot of two hosts executed for real. Here both are this machine, over its loopback."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import Takt
from executed import MS, robot

from takt.errors import Failure, TaktError
from takt.network import namespace, stacks
from takt.network.clocks import Between
from takt.network.hosts import Side
from takt.processes.supervision import Stop
from takt.schedule.execution import Execution, execute, places
from takt.schedule.execution.places import Place, Places
from takt.schedule.execution.recording import RUNNER
from takt.schedule.explain import explain
from takt.schedule.metrics import measure
from takt.schedule.trace import file as traces
from takt.schedule.trace.hosts import HostClock, clocks_of, first_cores

pytestmark = pytest.mark.usefixtures("app_runner")
MACHINES = Places({"pc": "here", "motors": "namespace"})
BEHIND = 200 * MS
EXAMPLE = Path(__file__).parents[3] / "examples" / "two_machines.app.yaml"


def two_hosts(**keys: Any) -> dict[str, Any]:
    """Camera and planner on one host, the arm, which takes a lock, on another one."""
    cores = sorted(os.sched_getaffinity(0))
    application = robot()
    del application["policy"], application["cpus"]
    application["processes"] = [
        {"name": "seeing", "policy": "edf", "host": "pc", "cpu": cores[0], "priority": 40},
        {"name": "moving", "policy": "fp", "host": "motors", "cpu": cores[-1], "priority": 80},
    ]
    homes = {"camera": "seeing", "planner": "seeing", "arm": "moving"}
    for callback in application["callbacks"]:
        callback["process"] = homes[callback["node"]]
    times = {"begin": 0, "shortest": MS // 20, "longest": MS // 10}
    application["locks"] = [{"name": "map", "protocol": "ceiling"}]
    application["callbacks"][2]["critical_sections"] = [{"lock": "map", **times}]
    link = {"hosts": ["pc", "motors"], "least": 0, "most": 40 * MS, "loss": 0, "drift": 100}
    return {**application, "links": [{**link, "measured": 0}], **keys}


def with_a_call() -> dict[str, Any]:
    """The arm's host asks the other one every 40 ms."""
    application = two_hosts()
    part = {"shortest": MS // 5, "longest": MS // 5}
    computes = {"best": 2 * MS // 5, "worst": 2 * MS // 5, "quantiles": [2 * MS // 5]}
    client = {"name": "arm.ask", "node": "arm", "process": "moving", "priority": 10}
    client |= {"period": 40 * MS, "execution": computes, "suspension": 0, "suspensions": 1}
    client |= {"segments": [part, {"call": "/way"}, part]}
    server = {"name": "planner.way", "node": "planner", "process": "seeing", "kind": "service"}
    server |= {"trigger": "/way", "deadline": 40 * MS, "execution": computes}
    application["links"][0]["most"] = 10 * MS  # both ways in a period
    application["callbacks"] += [client, server | {"overrun": "catch_up"}]
    return application


@pytest.fixture
def both_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two hosts without a namespace, which needs root."""
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        pytest.skip("two hosts on one machine need two cores")

    @contextlib.contextmanager
    def opened(*_: object) -> Iterator[list[Place]]:
        yield [Place("pc", Side(), cores), Place("motors", Side(), cores)]

    monkeypatch.setattr(places, "opened", opened)


def executed(path: Path, application: dict[str, Any], **keys: Any) -> Execution:
    trace = path / "out" / "robot.takttrace"
    return execute(application, "takt", trace=trace, duration_s=0.8, **{"places": MACHINES, **keys})


def core_names(application: dict[str, Any]) -> list[str]:
    """Each host counts from 0; the second one's come behind those of the first."""
    first, second = (one["cpu"] for one in application["processes"])
    return [str(first), str(first + 1 + second)]


def test_the_hosts_leave_one_trace(tmp_path: Path, both_here: None) -> None:
    done = executed(tmp_path, with_a_call())
    assert (done.status, done.policy) == ("complete", "robot")
    assert len(done.clocks) == len(done.links) == 1
    assert "messages, 0 lost, took" in done.links[0]
    assert "times of host motors are ± 0 µs" in done.clocks[0]
    trace = traces.read(done.trace)
    assert trace.closed_in_order
    assert (trace.lost, trace.unknown) == (0, 0)
    assert trace.names.values("cpus") == [",".join(core_names(two_hosts()))]
    assert first_cores(trace.names) == {"pc": 0, "motors": two_hosts()["processes"][0]["cpu"] + 1}
    assert [one.name for one in done.trace.parent.iterdir()] == ["robot.takttrace"]
    found = measure(done.trace)
    executions = {one.callback: one.executions for one in found.callbacks}
    assert all(executions[name] > 0 for name in ("camera.look", "planner.plan", "arm.move"))
    assert abs(executions["arm.ask"] - executions["planner.way"]) <= 1 < executions["arm.ask"]
    assert found.chains[0].latency_us is not None
    assert all(one.unknown == 0 for one in found.data_age)
    bounds = explain(done.trace).bounds
    assert bounds is not None
    assert bounds.responses > 0


def test_a_host_has_the_times_of_the_first_one(
    tmp_path: Path, both_here: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A clock that is right is held to be behind: it starts, and its times are, so much off."""
    said = {"pc": Between(0, 0, "own"), "motors": Between(BEHIND, 2000, "chrony")}
    monkeypatch.setattr(places, "between", lambda _: said)
    done = executed(tmp_path, two_hosts())
    (clock,) = clocks_of(traces.read(done.trace).names)
    assert (clock.host, clock.bound_ns, clock.by) == ("motors", 2000, "chrony")
    latency = measure(done.trace).chains[0].latency_us
    assert latency is not None
    assert latency.min >= BEHIND / 1000


def dying(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    """On motors the runner is a shell that does this; ``$meeting`` is its file."""
    script = tmp_path / RUNNER
    real = stacks.program(RUNNER)
    script.write_text(
        "#!/bin/sh\n"
        f'case "$*" in *"--host pc"*) exec {real} "$@";; esac\n'
        'while [ "$1" != --meeting ]; do shift; done\n'
        f'meeting="$2"\n{what}\n'
    )
    script.chmod(0o755)
    program = stacks.program
    monkeypatch.setattr(
        stacks, "program", lambda name, *_: script if name == RUNNER else program(name)
    )


def only_on_pc() -> dict[str, Any]:
    """No host waits for readers on the other one."""
    application = two_hosts()
    application["callbacks"][1]["writes"] = []
    application["callbacks"][2] |= {"kind": "timer", "period": 20 * MS}
    del application["callbacks"][2]["trigger"], application["chains"]
    application["topics"] = [one for one in application["topics"] if one["name"] != "plan"]
    return application


def test_a_host_whose_runner_dies_is_named_and_the_recording_kept(
    tmp_path: Path, both_here: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    wait = 'touch "$meeting.ready"; until [ -f "$meeting" ]; do sleep 0.05; done; sleep 3'
    dying(tmp_path, monkeypatch, f"{wait}; echo 'app_runner: no more power' >&2; exit 1")
    with pytest.raises(Failure, match=r"failed on host motors: .*no more power") as error:
        executed(tmp_path, only_on_pc())
    assert error.value.where is not None
    kept = traces.read(Path(error.value.where))
    assert first_cores(kept.names) == {"pc": 0}
    assert "camera.look" in kept.names.tasks.values()


def test_what_a_runner_refuses_is_said_with_its_fix(tmp_path: Path, both_here: None) -> None:
    without = only_on_pc()
    without["processes"][0]["policy"] = "np-fp"
    for callback in without["callbacks"]:
        callback.pop("priority", None)
    with pytest.raises(TaktError, match=r"^task '.*': policy 'np-fp' needs a priority") as error:
        executed(tmp_path, without)
    assert error.value.exit_code == 2
    assert error.value.fix is not None
    assert error.value.fix.startswith("give it a priority of 1..98")


def test_a_host_that_is_never_ready_is_named(
    tmp_path: Path, both_here: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    dying(tmp_path, monkeypatch, "exec sleep 600")
    monkeypatch.setattr("takt.schedule.execution.apart._START_S", 4.0)
    monkeypatch.setattr("takt.schedule.execution.apart._END_S", 1.0)
    with pytest.raises(Failure, match="time limit and was terminated: host motors was not ready"):
        executed(tmp_path, only_on_pc())
    assert not list(tmp_path.rglob("*.takttrace*"))


def test_a_stop_before_the_start_leaves_nothing(tmp_path: Path, both_here: None) -> None:
    stop = Stop()
    stop.request()
    with pytest.raises(Failure, match="stopped before the start"):
        executed(tmp_path, two_hosts(), stop=stop)
    assert not list(tmp_path.rglob("*.takttrace*"))


def test_a_namespace_behind_a_link_is_a_host(tmp_path: Path) -> None:
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("two hosts on one machine need two cores")
    if lack := namespace.lacking():
        pytest.skip(lack[0])
    found = measure(executed(tmp_path, with_a_call()).trace)
    assert found.chains[0].latency_us is not None
    executions = {one.callback: one.executions for one in found.callbacks}
    assert abs(executions["arm.ask"] - executions["planner.way"]) <= 1 < executions["arm.ask"]


@pytest.mark.parametrize(
    ("machines", "says"),
    [
        (None, "no machine given, but its hosts are pc, motors"),
        ({"pc": "here"}, "pc given, but"),
        ({"pc": "here", "arm": "namespace"}, "pc, arm given, but"),
        ({"pc": "here", "motors": "here"}, "cannot be hosts of one robot: here, here"),
        ({"pc": "namespace", "motors": "far"}, "cannot be hosts of one robot"),
        ({"pc": "here", "motors": "far"}, "far is a worker, and there is no scheduler"),
    ],
)
def test_machines_that_do_not_fit_are_refused(
    tmp_path: Path, machines: dict[str, str] | None, says: str
) -> None:
    with pytest.raises(TaktError, match=says):
        executed(tmp_path, two_hosts(), places=Places(machines) if machines else None)


def test_a_robot_of_one_host_takes_no_machines(tmp_path: Path) -> None:
    application = two_hosts(links=[])
    for one in application["processes"]:
        del one["host"]
    with pytest.raises(TaktError, match="it runs on one host"):
        executed(tmp_path, application)


def test_two_hosts_on_one_machine_share_no_core(tmp_path: Path, both_here: None) -> None:
    application = two_hosts()
    application["processes"][1]["cpu"] = application["processes"][0]["cpu"]
    with pytest.raises(TaktError, match="are the same machine and both use core"):
        executed(tmp_path, application)


def test_an_external_topic_has_readers_on_one_host(tmp_path: Path) -> None:
    application = two_hosts()
    application["callbacks"][2]["reads"] = [{"topic": "stick"}]
    with pytest.raises(TaktError, match="the external topic stick is read on"):
        executed(tmp_path, application)


def test_the_drift_of_clocks_is_what_two_readings_allow() -> None:
    before, after = Between(1000, 500, "chrony"), Between(4000, 700, "chrony")
    found = HostClock.measured("motors", before, after, 1.0)
    assert (found.bound_ns, found.drift_ppm) == (3700, 5)
    one = Between(0, 0, "one clock")
    assert HostClock.measured("motors", one, one, 1.0).drift_ppm == 0


@pytest.mark.parametrize("text", ["pc", "pc=", "=here", "pc=here,"])
def test_hosts_without_machines_are_refused(text: str) -> None:
    with pytest.raises(TaktError, match="does not name a machine for each host"):
        places.parse(text)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--link", "10Mbps"], "--link is given, and no hosts"),
        (["--hosts", "pc=here,motors=far", "--link", "10Mbps"], "no host is namespace"),
    ],
)
def test_a_link_that_no_host_is_behind_is_refused(
    takt: Takt, options: list[str], says: str
) -> None:
    done = takt("execute", EXAMPLE, *options)
    assert (done.returncode, says in done.stderr) == (2, True), done.stderr
