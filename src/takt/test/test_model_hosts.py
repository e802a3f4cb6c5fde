# SPDX-License-Identifier: Apache-2.0
"""Models of robots on several hosts: what crossed the links, and what was lost there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import trace_files as make
from test_execute_hosts import both_here, executed, two_hosts

from takt.schedule.application.file import read_application
from takt.schedule.application.flat import flat
from takt.schedule.model.from_trace import observed
from takt.schedule.model.model import model
from takt.schedule.simulation.simulate import simulate
from takt.schedule.trace.file import Type

__all__ = ["both_here"]  # a fixture
EXAMPLE = Path(__file__).parents[3] / "examples" / "two_hosts.app.yaml"
US = 1000
MS = 1000 * US


def _modelled(trace: Path, folder: Path) -> dict[str, Any]:
    out = folder / "modelled.app.yaml"
    model(trace, out)
    return flat(read_application(out))


def test_a_simulated_robot_on_two_hosts_is_modelled_as_it_was(tmp_path: Path) -> None:
    document = flat(read_application(EXAMPLE))
    trace = tmp_path / "robot.takttrace"
    simulate(document, where="robot", duration=1_000_000_000, trace=trace)
    found = _modelled(trace, tmp_path)
    for key in ("processes", "handover", "links"):
        assert found[key] == document[key]
    before = {one["name"]: one.get("jitter") for one in document["callbacks"]}
    assert {one["name"]: one.get("jitter") for one in found["callbacks"]} == before


@pytest.mark.usefixtures("app_runner", "both_here")
def test_an_executed_robot_is_modelled_with_its_link(tmp_path: Path) -> None:
    application = two_hosts()
    application["links"][0] |= {"most": 0, "drift": 0}
    found = _modelled(executed(tmp_path, application).trace, tmp_path)
    assert found["processes"] == application["processes"]
    (link,) = found["links"]
    assert link["most"] > link["least"] >= 0
    assert link["measured"] > 0
    assert link["drift"] == 0  # of one clock
    assert {one["name"]: one["process"] for one in found["callbacks"]} == {
        "camera.look": "seeing",
        "planner.plan": "seeing",
        "arm.move": "moving",
    }


ROBOT = {
    "version": 1,
    "name": "robot",
    "processes": [
        {"name": "seeing", "host": "pc", "cpu": 0, "priority": 40},
        {"name": "moving", "host": "motors", "cpu": 0, "priority": 40},
    ],
    "links": [{"hosts": ["pc", "motors"], "least": 50 * US, "most": 100 * US, "loss": 10}],
    "callbacks": [
        {"name": "eye.look", "node": "eye", "process": "seeing", "writes": ["plan"]},
        {"name": "arm.move", "node": "arm", "process": "moving", "trigger": "plan"},
    ],
    "topics": [{"name": "plan"}],
}
LOOK, MOVE, PLAN, COUNT = 0, 1, 7, 50
DESCRIBED = {
    "eye.look": {"kind": "timer", "period": 10 * MS, "writes": ["plan"], "priority": 5},
    "arm.move": {"kind": "message", "trigger": "plan", "priority": 5},
}


def _trace(folder: Path, *, lost: set[int], skipped: int = 0) -> Path:
    """Messages take 150 us, each 1 us more than the one before it; some do not arrive."""
    records = [
        make.name("attribute", 0, "policy.default=robot"),
        make.name("attribute", 0, "scenario=default"),
        make.name("attribute", 0, f"application={json.dumps(ROBOT)}"),
        make.name("attribute", 0, "clock=motors 20000 30 chrony"),
        make.name("task", LOOK, "eye.look"),
        make.name("task", MOVE, "arm.move"),
        make.name("topic", PLAN, "/plan"),
        *(
            make.name("attribute", 0, "task=" + json.dumps({"name": name, **keys}))
            for name, keys in DESCRIBED.items()
        ),
    ]
    jobs = 0
    for number in range(COUNT):
        at = number * 10 * MS
        records += [
            make.event(at, Type.release, LOOK, number, at + 10 * MS),
            make.event(at, Type.start, LOOK, number, 5),
            make.event(at + MS, Type.publish, LOOK, number, number, topic=PLAN),
            make.event(at + MS, Type.end, LOOK, number, MS),
        ]
        if number in lost:
            continue
        arrived = at + MS + 150 * US + number * US
        records += [
            make.event(arrived, Type.release, MOVE, jobs, arrived + 10 * MS, core=1),
            make.event(arrived, Type.start, MOVE, jobs, 5, core=1),
            make.event(arrived, Type.use, MOVE, jobs, number, topic=PLAN, core=1),
            make.event(arrived + MS, Type.end, MOVE, jobs, MS, core=1),
        ]
        jobs += 1
    if skipped:
        records.append(make.event(COUNT * 10 * MS, Type.skip, MOVE, jobs, skipped))
    return make.write(folder / "run.takttrace", records)


def test_what_did_not_arrive_and_the_error_of_the_clocks_are_in_the_link(tmp_path: Path) -> None:
    found = _modelled(_trace(tmp_path, lost={3, 4, 20}), tmp_path)
    (link,) = found["links"]
    assert link["hosts"] == ["pc", "motors"]
    assert link["least"] == 50 * US
    assert link["most"] == (150 + COUNT - 1 + 20) * US
    assert link["loss"] == 1_000_000 * 3 // COUNT
    assert (link["drift"], link["measured"]) == (30, COUNT)


def test_what_is_on_its_way_or_was_skipped_is_not_lost(tmp_path: Path) -> None:
    trace = _trace(tmp_path, lost={3, COUNT - 2, COUNT - 1}, skipped=1)
    (link,) = _modelled(trace, tmp_path)["links"]
    assert (link["loss"], link["measured"]) == (10, COUNT - 2)


def test_a_link_that_loses_everything_is_described_so(tmp_path: Path) -> None:
    trace = _trace(tmp_path, lost=set(range(COUNT)))
    robot = observed(trace).robot
    assert robot is not None
    assert robot.crossed == [f"link pc to motors: {COUNT} messages, {COUNT} lost"]
    assert robot.links[0]["loss"] == 999_999
