# SPDX-License-Identifier: Apache-2.0
"""Robots of several processes that are drawn, and campaigns over them."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import pytest
import takt_core

from takt.errors import TaktError
from takt.schedule.application.dump import app_yaml
from takt.schedule.application.executors import STOCK_EXECUTORS
from takt.schedule.application.file import read_application
from takt.schedule.application.flat import flat
from takt.schedule.application.processes import executor_cores
from takt.schedule.campaign.batch import evaluate
from takt.schedule.campaign.model import Batch
from takt.schedule.campaign.shrink import shrink
from takt.schedule.generate.blocks import Generated, block
from takt.schedule.generate.code import write_packages
from takt.schedule.generate.space import read_space

EXAMPLE = Path(__file__).parents[3] / "examples" / "robots.json"
OF_THE_KERNEL = EXAMPLE.with_name("kernel_scheduling.json")


@functools.cache  # they are not changed
def _drawn(count: int = 30, example: Path = EXAMPLE) -> list[Generated]:
    space = read_space(example)
    return [one for c in range(len(space.combinations)) for one in block(space, 4, c, 0, count)]


def test_each_number_of_processes_and_each_executor_is_drawn() -> None:
    applications = [one.flat for one in _drawn()]
    assert {len(one.get("processes", ["one"])) for one in applications} == {1, 2, 3, 4, 5}
    processes = [each for one in applications for each in one.get("processes", [])]
    assert {one.get("executor") or one["policy"] for one in processes} == {
        *("fp", "np-fp", "edf", "np-edf", "p-rm", "cw-edf"),
        *STOCK_EXECUTORS,
    }
    assert {tuple(executor_cores(one)) for one in processes} == {(0,), (1,), (0, 1)}
    assert any(one.get("threads") for one in processes)
    assert any(
        one["process"] != writer["process"]
        for robot in applications
        if "processes" in robot
        for one in robot["callbacks"]
        for writer in robot["callbacks"]
        if one.get("trigger") in writer["writes"]
    )


def test_each_way_of_the_kernel_is_drawn_on_one_core_and_on_several() -> None:
    applications = [one.flat for one in _drawn(10, OF_THE_KERNEL)]
    processes = [each for one in applications for each in one.get("processes", [])]
    found = {
        (key, len(executor_cores(one)))
        for one in processes
        for key in ("priority", "reservation", "quota")
        if key in one
    }
    several = {("priority", 2), ("reservation", 2)}
    assert found == {("priority", 1), ("reservation", 1), ("quota", 1)} | several


def test_each_process_of_a_drawn_robot_has_a_node() -> None:
    for one in _drawn():
        robot = one.flat
        if "processes" in robot:
            names = {each["name"] for each in robot["processes"]}
            assert {each["process"] for each in robot["callbacks"]} == names


def test_no_drawn_robot_is_refused_and_its_file_says_the_same(tmp_path: Path) -> None:
    drawn = (*_drawn(6), *_drawn(6, OF_THE_KERNEL))
    robots = [one for one in drawn if "processes" in one.document]
    texts = [one.text for one in robots]
    results = takt_core.simulate_many(texts, duration_ns=1_000_000)
    assert [one["error"] for one in results if "error" in one] == []
    path = tmp_path / "x.app.yaml"
    for one in robots:
        path.write_text(app_yaml(one.document, "drawn"))
        again = flat(read_application(path))
        assert again["processes"] == one.flat["processes"]
        assert again["handover"] == one.flat["handover"]
        homes = {each["name"]: each["process"] for each in one.flat["callbacks"]}
        assert {each["name"]: each["process"] for each in again["callbacks"]} == homes


def test_the_number_of_robots_changes_none_of_them() -> None:
    assert [one.flat for one in _drawn(3)] == [one.flat for one in _drawn(7) if one.repetition < 3]


@pytest.mark.parametrize("example", [EXAMPLE, OF_THE_KERNEL])
def test_a_campaign_holds_robots_to_their_bounds(example: Path) -> None:
    batch = Batch(index=0, combination=0, first=0, size=25)
    rows = evaluate(read_space(example), 4, batch, ("analyse", "simulate")).to_pylist()
    robots = [one for one in rows if one["policy"] == "robot"]
    assert len(robots) > 10
    for row in robots:
        assert row["error"] is None
        assert row["violations"] == []
        assert row["misses_in_accepted"] == 0
    assert sum(row["accepted"] for row in robots) > 3
    assert max(row["tightness"] for row in robots) > 0.9


@pytest.mark.parametrize(
    ("key", "value"),
    [("suspension", 0.1), ("pinned", 0.5)],
)
def test_what_no_robot_has_is_not_asked_for_with_processes(
    tmp_path: Path, key: str, value: Any
) -> None:
    document = json.loads(EXAMPLE.read_text())
    document["parameters"][key] = [value]
    path = tmp_path / "grid.json"
    path.write_text(json.dumps(document))
    with pytest.raises(TaktError, match=f"a robot of several processes has no {key}"):
        read_space(path)


def test_six_processes_are_too_many(tmp_path: Path) -> None:
    document = json.loads(EXAMPLE.read_text())
    document["parameters"]["processes"] = [[2, 6]]
    path = tmp_path / "grid.json"
    path.write_text(json.dumps(document))
    with pytest.raises(TaktError, match="6 processes"):
        read_space(path)


def _robot() -> dict[str, Any]:
    return next(one.flat for one in _drawn() if len(one.flat.get("processes", [])) == 4)


def test_a_robot_shrinks_to_what_still_shows_it() -> None:
    def shows(document: dict[str, Any]) -> bool:
        executors = {one.get("executor") for one in document.get("processes", [])}
        return "rclcpp_events" in executors and len(document["processes"]) >= 2

    robot = next(
        one.flat for one in _drawn() if len(one.flat.get("processes", [])) == 4 and shows(one.flat)
    )
    small = shrink(robot, shows)
    assert len(small["processes"]) == len(small["callbacks"]) == 2
    assert small["handover"] == {"least": 0, "most": 0}
    assert {one["cpu"] for one in small["processes"]} == {0}
    takt_core.analyse(json.dumps(small), sensitivity=False, proposals=False)


def test_a_reservation_and_a_quota_shrink_to_priorities() -> None:
    robot = next(
        one.flat
        for one in _drawn(10, OF_THE_KERNEL)
        if {"reservation", "quota"}
        <= {key for each in one.flat.get("processes", []) for key in each}
    )
    small = shrink(robot, lambda one: len(one.get("processes", [])) >= 2)
    assert all("priority" in one for one in small["processes"])
    takt_core.analyse(json.dumps(small), sensitivity=False, proposals=False)


def test_a_robot_that_need_not_be_one_shrinks_to_an_application() -> None:
    small = shrink(_robot(), lambda one: len(one["callbacks"]) >= 2)
    assert not {"processes", "handover"} & set(small)
    assert all("process" not in one for one in small["callbacks"])


def test_a_robot_has_no_packages(tmp_path: Path) -> None:
    with pytest.raises(TaktError, match="--emit-code takes an application of one process"):
        write_packages(_robot(), tmp_path)
