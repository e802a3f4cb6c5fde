# SPDX-License-Identifier: Apache-2.0
"""Callbacks that wait and bursts from outside, executed for real and found again in the trace.

No time is judged by the clock: a sleep is never shorter than declared, and a burst is whole.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("takt_core", reason="the C++ workspace is not built")

from executed import MS, cpu, executed, skip_without_rclcpp
from modelled import bounds

from takt.errors import TaktError
from takt.schedule.application.executors import ONE_THREAD, STOCK_EXECUTORS
from takt.schedule.application.file import read_application
from takt.schedule.application.flat import flat
from takt.schedule.execution import APPROACHES
from takt.schedule.explain import explain
from takt.schedule.metrics import measure
from takt.schedule.model.from_trace import observed
from takt.schedule.model.model import model

pytestmark = pytest.mark.usefixtures("app_runner")
WAITS, BURST = 3, 4


def application(**keys: Any) -> dict[str, Any]:
    """A driver that waits for its device, a controller below it, a planner with bursts of goals."""

    def callback(name: str, priority: int, **more: Any) -> dict[str, Any]:
        work = {"best": MS, "worst": MS, "quantiles": [MS]}
        return {"name": name, "node": name, "priority": priority, "execution": work, **more}

    return {
        "version": 1,
        "name": "waits",
        "policy": "fp",
        "cpus": [cpu()],
        "callbacks": [
            callback("driver", 30, period=50 * MS, suspension=9 * MS, suspensions=WAITS),
            callback("control", 20, period=10 * MS),
            callback(
                "plan",
                10,
                kind="message",
                trigger="goals",
                overrun="catch_up",
                deadline=200 * MS,
            ),
        ],
        "topics": [
            {
                "name": "goals",
                "depth": 3 * BURST,
                "external": True,
                "external_period": 20 * MS,
                "external_burst": BURST,
            }
        ],
        **keys,
    }


@pytest.mark.parametrize("approach", APPROACHES)
def test_bursts_from_outside_are_whole_in_each_approach(tmp_path: Path, approach: str) -> None:
    skip_without_rclcpp(approach)
    described = application()
    if (
        approach in STOCK_EXECUTORS
    ):  # where a callback that waits keeps its thread, and is not described so
        for key in ("suspension", "suspensions"):
            del described["callbacks"][0][key]
    done = executed(tmp_path, approach, described)
    found = observed(done.trace)
    (moments,) = found.outside.values()
    assert len(moments) >= 2 * BURST
    assert len(moments) % BURST == 0


def test_a_model_of_the_trace_has_the_waits_and_the_burst(tmp_path: Path) -> None:
    done = executed(tmp_path, "takt", application())
    out = tmp_path / "back.app.yaml"
    model(done.trace, out)
    back = flat(read_application(out))
    driver = next(one for one in back["callbacks"] if one["name"].startswith("driver"))
    assert driver["suspension"] >= 9 * MS
    assert driver["suspensions"] >= WAITS
    assert driver["execution"]["worst"] >= MS
    (goals,) = [one for one in back["topics"] if one["name"] == "goals"]
    assert goals["external_burst"] >= BURST
    assert [one for one in back["callbacks"] if one.get("suspension")] == [driver]


def test_others_run_while_a_callback_waits(tmp_path: Path) -> None:
    """The controller has a job in each of the driver's periods, in spite of its lower priority."""
    done = executed(tmp_path, "takt", application())
    found = {one.name.partition(".")[0]: one for one in observed(done.trace).callbacks}
    driver, control = found["driver"], found["control"]
    assert len(driver.execution) > 0
    assert len(control.execution) > len(driver.execution)


def client_and_server() -> dict[str, Any]:
    """The server is below another callback, which runs while the client waits, too."""
    described = application()
    client, _, server = described["callbacks"]
    client |= {
        "execution": {"best": 2 * MS, "worst": 2 * MS, "quantiles": [2 * MS]},
        "suspension": 0,
        "suspensions": 1,
        "segments": [
            {"shortest": MS, "longest": MS},
            {"call": "/plan"},
            {"shortest": MS, "longest": MS},
        ],
    }
    server |= {"kind": "service", "trigger": "/plan"}
    return described | {"topics": []}


def _each_call_is_answered(trace: Path) -> None:
    found = {one.callback: one for one in measure(trace).callbacks}
    asked, answered = found["driver"].executions, found["plan"].executions
    assert asked > 1
    assert abs(asked - answered) <= 1
    response = found["driver"].response_us
    assert response is not None
    assert response.min >= 3000  # its own 2 ms, and those of the server
    assert found["control"].executions > asked


def _the_model_has_the_call(trace: Path) -> None:
    file = trace.with_name("back.app.yaml")
    model(trace, file)
    back = flat(read_application(file))
    client, server = (
        next(one for one in back["callbacks"] if one["name"].startswith(name))
        for name in ("driver", "plan")
    )
    computes, call, _ = client["segments"]
    assert call == {"call": "/plan"}
    assert computes["longest"] >= MS
    assert not client.get("suspension")
    assert not client.get("writes")
    assert (server["kind"], server["trigger"], server.get("reads", [])) == ("service", "/plan", [])
    assert bounds(back)  # an executor would take it as it is


def test_a_client_waits_for_the_job_of_its_server(tmp_path: Path) -> None:
    done = executed(tmp_path, "takt", client_and_server())
    _each_call_is_answered(done.trace)
    _the_model_has_the_call(done.trace)


def _with_a_slow_server() -> dict[str, Any]:
    described = client_and_server()
    client, _, server = described["callbacks"]
    client["period"] = 10_000 * MS
    server["execution"] = {"best": 1000 * MS, "worst": 1000 * MS, "quantiles": [1000 * MS]}
    return described


@pytest.mark.parametrize("apart", [False, True])
def test_a_job_that_waits_at_the_end_of_the_execution_is_unfinished(
    tmp_path: Path, apart: bool
) -> None:
    described = _in_processes(_with_a_slow_server(), "edf") if apart else _with_a_slow_server()
    found = {
        one.callback: one for one in measure(executed(tmp_path, "takt", described).trace).callbacks
    }
    assert (found["driver"].executions, found["driver"].unfinished) == (0, 1)


def _in_processes(described: dict[str, Any], server: str) -> dict[str, Any]:
    del described["policy"], described["cpus"]
    homes = {"driver": "asking", "control": "asking", "plan": "answering"}
    callbacks = [one | {"process": homes[one["node"]]} for one in described["callbacks"]]
    processes = [
        {"name": "asking", "policy": "fp", "cpu": cpu(), "priority": 40},
        {"name": "answering", "cpu": cpu(), "priority": 20}
        | {"executor" if server in ONE_THREAD else "policy": server},
    ]
    handover = {"least": 0, "most": 10 * MS}
    return described | {"callbacks": callbacks, "processes": processes, "handover": handover}


@pytest.mark.parametrize("server", ["edf", *ONE_THREAD])
def test_a_client_waits_for_a_server_in_another_process(tmp_path: Path, server: str) -> None:
    skip_without_rclcpp(server)
    done = executed(tmp_path, "takt", _in_processes(client_and_server(), server))
    _each_call_is_answered(done.trace)
    _the_model_has_the_call(done.trace)
    held = explain(done.trace).bounds
    assert held is not None
    assert held.responses > 0


def users_of_a_device() -> list[dict[str, Any]]:
    """Two with a request each: while the one is served, the other one comes."""
    callbacks = []
    for name, priority, occupies in (("camera", 30, 5 * MS), ("lidar", 20, 4 * MS)):
        part = {"shortest": MS, "longest": MS}
        request = {"shortest": occupies, "longest": occupies, "device": "gpu"}
        callbacks.append(
            {
                "name": f"{name}.use",
                "node": name,
                "period": 25 * MS,
                "priority": priority,
                "execution": {"best": 2 * MS, "worst": 2 * MS, "quantiles": [2 * MS]},
                "suspension": occupies,
                "suspensions": 1,
                "segments": [part, request, part],
            }
        )
    return callbacks


def _served_one_after_the_other(trace: Path) -> None:
    found = {one.name.partition(".")[0]: one.waiting for one in observed(trace).callbacks}
    occupied = {"camera": 5 * MS, "lidar": 4 * MS}
    # Not `waiting`: a device serves from the request on, and what interrupts the thread before it
    # sleeps makes its sleep shorter.
    responses = {one.node: one.response_us for one in measure(trace).callbacks}
    for name, least in occupied.items():
        assert len(found[name]) > 1
        response = responses[name]
        assert response is not None
        assert response.min >= (least + MS) / 1000
    # Some request has found the device occupied.
    assert any(found[name].max() > least + MS for name, least in occupied.items())


def test_a_device_serves_one_callback_after_the_other(tmp_path: Path) -> None:
    described = application() | {"callbacks": users_of_a_device(), "topics": []}
    _served_one_after_the_other(executed(tmp_path, "takt", described).trace)


def test_a_device_serves_processes_one_after_the_other(tmp_path: Path) -> None:
    callbacks = [one | {"process": one["node"]} for one in users_of_a_device()]
    processes = [
        {"name": one["process"], "policy": "fp", "cpu": cpu(), "priority": 10 * place + 10}
        for place, one in enumerate(callbacks)
    ]
    described = {"version": 1, "name": "waits", "callbacks": callbacks, "processes": processes}
    _served_one_after_the_other(executed(tmp_path, "takt", described).trace)


def test_devices_are_occupied_under_takt_only(tmp_path: Path) -> None:
    described = application() | {"callbacks": users_of_a_device(), "topics": []}
    with pytest.raises(TaktError, match="occupies device 'gpu', which is executed under 'takt'"):
        executed(tmp_path, "baseline0", described)
