# SPDX-License-Identifier: Apache-2.0
"""Models of robots of several processes, from traces of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import takt_core
from executed import executed
from test_execute_robot import robot_of_two

from takt.schedule.application.file import read_application
from takt.schedule.application.flat import flat
from takt.schedule.generate.blocks import block
from takt.schedule.generate.space import read_space
from takt.schedule.model import robot as robots
from takt.schedule.model.model import model
from takt.schedule.simulation.simulate import simulate

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


def test_models_of_drawn_robots_are_accepted_and_keep_their_processes(tmp_path: Path) -> None:
    space = read_space(EXAMPLES / "robots.json")
    robots = [one.flat for one in block(space, 9, 1, 0, 40) if "processes" in one.document]
    drawn = [one for one in robots if not one.get("links")]  # of one host
    assert len(drawn) > 10
    for number, document in enumerate(drawn):
        folder = tmp_path / str(number)
        folder.mkdir()
        found = _modelled(document, folder)
        kept = _homes(found)
        assert kept.items() <= _homes(document).items()
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
