# SPDX-License-Identifier: Apache-2.0
"""Models of robots of several processes, from traces of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import takt_core
import trace_files as make
from executed import executed
from test_execute_robot import robot_of_two

from takt.schedule.application.file import read_application
from takt.schedule.application.flat import flat
from takt.schedule.generate.blocks import block
from takt.schedule.generate.space import read_space
from takt.schedule.model import robot as robots
from takt.schedule.model.described_chains import kept
from takt.schedule.model.model import model
from takt.schedule.simulation.simulate import simulate
from takt.schedule.trace.file import Type

EXAMPLES = Path(__file__).parents[3] / "examples"


def _modelled(document: dict[str, Any], folder: Path) -> dict[str, Any]:
    trace, out = folder / "robot.takttrace", folder / "modelled.app.yaml"
    simulate(document, where="robot", duration=1_000_000_000, trace=trace)
    model(trace, out)
    return flat(read_application(out))


def _homes(document: dict[str, Any]) -> dict[str, str]:
    return {one["name"]: one["process"] for one in document["callbacks"]}


def test_a_simulated_robot_is_modelled_as_it_was(tmp_path: Path) -> None:
    document = flat(read_application(EXAMPLES / "two_processes.app.yaml"))
    found = _modelled(document, tmp_path)
    assert found["processes"] == document["processes"]
    assert found["handover"] == document["handover"]
    assert _homes(found) == _homes(document)
    keys = ("period", "priority", "overrun", "trigger", "jitter")
    before = {one["name"]: one for one in document["callbacks"]}
    for one in found["callbacks"]:
        assert one["execution"]["worst"] == before[one["name"]]["execution"]["worst"]
        for key in keys:
            assert one.get(key) == before[one["name"]].get(key), (one["name"], key)


def test_chains_keep_the_names_and_limits_of_the_description(tmp_path: Path) -> None:
    document = flat(read_application(EXAMPLES / "two_processes.app.yaml"))
    document["chains"].append({"name": "back", "callbacks": ["detector.detect", "camera.grab"]})
    assert document["chains"][0]["max_latency"] == 50_000_000
    trace, out = tmp_path / "robot.takttrace", tmp_path / "modelled.app.yaml"
    simulate(document | {"chains": document["chains"][:1]}, where="", duration=10**9, trace=trace)
    found = model(trace, out)
    assert flat(read_application(out))["chains"] == document["chains"][:1]
    assert "ms; max_latency is as described" in out.read_text()
    assert [(one.chain, one.max_latency_us) for one in found.chains] == [("stop", 50_000)]
    followers = {"camera.grab": ["detector.detect"], "detector.detect": ["guard.brake"]}
    names = {one: one for one in (*followers, "guard.brake")}
    assert kept(document["chains"], names, followers) == document["chains"][:1]
    assert kept(document["chains"], {}, followers) == []


def test_a_described_chain_through_which_no_data_went_keeps_its_limit(tmp_path: Path) -> None:
    document = flat(read_application(EXAMPLES / "two_processes.app.yaml"))
    others = [one for one in document["callbacks"] if one["name"] == "detector.publish_map"]
    others[0]["writes"] = ["obstacle"]
    document["chains"].append({"name": "map", "callbacks": ["detector.publish_map", "guard.brake"]})
    for one in document["callbacks"]:
        if one["name"] == "camera.grab":
            one["offset"] = 900_000_000
    trace, out = tmp_path / "robot.takttrace", tmp_path / "modelled.app.yaml"
    simulate(document, where="", duration=800_000_000, trace=trace)
    model(trace, out)
    stop, other = flat(read_application(out))["chains"]
    assert stop == {**document["chains"][0], "max_latency": 50_000_000}
    assert other["name"] == "map"
    assert "# no data was observed to reach its end" in out.read_text()


def test_models_of_drawn_robots_are_accepted_and_keep_their_processes(tmp_path: Path) -> None:
    space = read_space(EXAMPLES / "robots.json")
    drawn = [one.flat for one in block(space, 9, 1, 0, 60) if "processes" in one.document]
    # What threads did in a simulation is no node's.
    robots = [one for one in drawn if not any("threads" in each for each in one["processes"])]
    assert len([one for one in robots if one.get("links")]) > 3
    assert len([one for one in robots if not one.get("links")]) > 10
    for number, document in enumerate(robots):
        folder = tmp_path / str(number)
        folder.mkdir()
        found = _modelled(document, folder)
        kept = _homes(found)
        lanes = {  # of callbacks that run at once under Takt's executors
            f"{one['name']}_{lane}": one["process"]
            for one in document["callbacks"]
            for lane in range(2, one.get("at_once", 1) + 1)
        }
        assert kept.items() <= (_homes(document) | lanes).items()
        assert found["processes"] == [
            one for one in document["processes"] if one["name"] in kept.values()
        ]
        takt_core.analyse(json.dumps(found), sensitivity=False, proposals=False)


@pytest.mark.usefixtures("app_runner")
def test_an_executed_robot_is_modelled_with_the_handovers_that_were_seen(tmp_path: Path) -> None:
    document = robot_of_two(handover={"least": 0, "most": 0})
    done = executed(tmp_path, "takt", document)
    out = tmp_path / "modelled.app.yaml"
    notes = model(done.trace, out).notes
    found = flat(read_application(out))
    assert _homes(found) == _homes(document)
    assert [one["name"] for one in found["processes"]] == ["seeing", "planning"]
    assert any("messages between processes took" in one for one in notes)
    assert found["handover"]["most"] > 0


def test_a_description_that_names_no_process_of_a_callback_is_no_robot() -> None:
    process = {"name": "a", "priority": 40}
    text = json.dumps({"processes": [process], "callbacks": [{"name": "node.run", "process": "b"}]})
    assert robots.described(text) is None
    assert robots.described("{") is None
    assert robots.described(text.replace('"b"', '"a"')) is not None


def test_what_an_execution_under_rclcpp_does_not_say_is_as_described(tmp_path: Path) -> None:
    """Its trace has jobs and messages; what releases a job is in the description alone."""
    document = flat(read_application(EXAMPLES / "two_processes.app.yaml"))
    vision = ["camera.grab", "detector.detect", "detector.publish_map"]
    records = [
        make.name("attribute", 0, "policy.default=robot"),
        make.name("attribute", 0, "scenario=default"),
        make.name("attribute", 0, f"application={json.dumps(document)}"),
        *(make.name("task", number, name) for number, name in enumerate(vision)),
        make.name("topic", 0, "/image"),
    ]
    ms = 1_000_000
    for number in range(5):
        at = number * 100 * ms
        for task, start, took in ((0, 0, 4), (1, 4, 9), (2, 13, 3)):
            begin = at + start * ms
            job = [
                make.event(at, Type.release, task, number, at + 100 * ms),
                make.event(begin, Type.start, task, number, 0),
                make.event(begin + took * ms, Type.end, task, number, took * ms),
            ]
            if task == 0:
                job.insert(2, make.event(begin + 4 * ms, Type.publish, 0, number, number, 0, 0))
            if task == 1:
                job.insert(2, make.event(begin, Type.use, 1, number, number, 0, 0))
            records += job
    trace, out = make.write(tmp_path / "run.takttrace", records), tmp_path / "modelled.app.yaml"
    model(trace, out)
    found = flat(read_application(out))
    triggers = {one["name"]: one.get("trigger") for one in found["callbacks"]}
    assert triggers == {"camera.grab": None, "detector.detect": "image", vision[2]: None}
    before = {one["name"]: one for one in document["callbacks"]}
    for one in found["callbacks"]:
        assert one.get("deadline") == before[one["name"]].get("deadline")
    image = next(one for one in found["topics"] if one["name"] == "image")
    assert (image["bytes"], image["depth"]) == (900_000, 2)
