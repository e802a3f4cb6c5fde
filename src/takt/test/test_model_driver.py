# SPDX-License-Identifier: Apache-2.0
"""Models of a robot with a driver, a core that others use too, and a reader of the newest data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import trace_files as make

from takt.schedule.application.file import read_application
from takt.schedule.application.flat import flat
from takt.schedule.model.model import model
from takt.schedule.trace.file import Type

MS = 1_000_000
CAMERA, LOOK, MOVE = 0, 1, 2
IMAGE, FOUND = 0, 1
ROBOT = """
processes:
  see:
    {cpu: 0, priority: 50, nodes: [eye], threads: {
      cam: {priority: 90, timer: 20ms, execution: 1ms, writes: [image]}}}
  act: {cpu: 1, priority: 50, nodes: [arm]}
middleware: {latency: [50us, 500us]}
cores: {1: {latency: 70us, supply: {budget: 9ms, period: 10ms}}}
nodes:
  eye: {look: {on: image, wcet: 1ms, priority: 5, deadline: 20ms, writes: [found]}}
  arm: {move: {on: found, wcet: 1ms, priority: 5, deadline: 20ms}}
"""


def _task(number: int, name: str, trigger: str, **keys: Any) -> list[bytes]:
    text = {"name": name, "kind": "message", "trigger": trigger, "priority": 5, **keys}
    return [
        make.name("task", number, name),
        make.name("attribute", 0, f"task={json.dumps(text)}"),
    ]


def _job(
    task: int, number: int, times: tuple[int, int, int], used: int = -1, written: int | None = None
) -> list[bytes]:
    """`times`: of the release, the start and the end; it uses this message of its topic."""
    release, start, end = times
    topic = {LOOK: IMAGE, MOVE: FOUND}
    core = 1 if task == MOVE else 0
    records = [
        make.event(release, Type.release, task, number, release + 20 * MS, core),
        make.event(start, Type.start, task, number, 50, core),
    ]
    if used >= 0:
        records.append(make.event(start, Type.use, task, number, used, core, topic[task]))
    if written is not None:
        records.append(make.event(end - 1, Type.publish, task, number, number, core, written))
    return [*records, make.event(end, Type.end, task, number, end - start, core)]


@pytest.fixture
def modelled(tmp_path: Path) -> tuple[dict[str, Any], str]:
    """The model, and the text of its file."""
    described = tmp_path / "robot.app.yaml"
    described.write_text(ROBOT)
    records = [
        make.name("attribute", 0, "policy.default=robot"),
        make.name("attribute", 0, "scenario=default"),
        make.name("attribute", 0, f"application={json.dumps(flat(read_application(described)))}"),
        make.name("task", CAMERA, "see.cam"),
        make.name("topic", IMAGE, "/image"),
        make.name("topic", FOUND, "/found"),
        *_task(LOOK, "eye.look", "image", writes=["found"], deadline=20 * MS),
        *_task(MOVE, "arm.move", "found", deadline=20 * MS),
    ]
    for number in range(10):
        at = number * 20 * MS
        records += _job(CAMERA, number, (at, at, at + MS), written=IMAGE)
        records += _job(LOOK, number, (at + MS, at + MS, at + 2 * MS), number, FOUND)
        if number % 2:  # released by the message before, and begun when this one was there
            released = at - 18 * MS + 200_000
            records += _job(MOVE, number // 2, (released, at + 3 * MS, at + 4 * MS), number)
    records += _job(LOOK, 10, (200 * MS, 200 * MS, 201 * MS), written=FOUND)
    records += _job(MOVE, 5, (201 * MS + 300_000, 202 * MS, 203 * MS), 10)
    out = tmp_path / "modelled.app.yaml"
    model(make.write(tmp_path / "run.takttrace", records), out)
    return flat(read_application(out)), out.read_text()


def test_a_chain_begins_with_the_driver(modelled: tuple[dict[str, Any], str]) -> None:
    document, text = modelled
    (chain,) = document["chains"]
    assert chain["callbacks"] == ["see.cam", "eye.look", "arm.move"]
    assert "longest of 5 observed" in text


def test_what_is_known_of_cores_stays(modelled: tuple[dict[str, Any], str]) -> None:
    document, text = modelled
    supply = {"budget": 9 * MS, "period": 10 * MS}
    assert document["cores"] == [{"cpu": 1, "supply": supply, "latency": 70_000}]
    assert "cores: supply, latency and interrupts are as described" in text


def test_a_message_that_came_after_the_release_did_not_cause_it(
    modelled: tuple[dict[str, Any], str],
) -> None:
    document, text = modelled
    assert "1 messages between processes took 300.001 µs to 300.001 µs" in text
    assert document["handover"] == {"least": 50_000, "most": 500_000}


def test_a_deadline_that_varies_is_as_declared(modelled: tuple[dict[str, Any], str]) -> None:
    assert "deadline: between" not in modelled[1]
