# SPDX-License-Identifier: Apache-2.0
"""Robots on cores that do not provide all of their time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from conftest import Takt

from takt.errors import TaktError
from takt.schedule.analysis.ask import analyse
from takt.schedule.application.cores import Core
from takt.schedule.application.dump import app_yaml
from takt.schedule.application.file import read_application
from takt.schedule.application.flat import flat
from takt.schedule.application.supply import add_supply
from takt.schedule.campaign.batch import evaluate
from takt.schedule.campaign.model import Batch
from takt.schedule.generate.space import read_space
from takt.schedule.simulation.simulate import simulate

EXAMPLES = Path(__file__).parents[3] / "examples"
ONE_HOST, TWO_HOSTS = EXAMPLES / "two_processes.app.yaml", EXAMPLES / "two_hosts.app.yaml"
SUPPLY = "{supply: {budget: 9ms, period: 10ms}, latency: 30us}"


def _with(tmp_path: Path, example: Path, more: str) -> Path:
    file = tmp_path / "cores.app.yaml"
    file.write_text(f"{example.read_text()}\n{more}\n")
    return file


def _responses(file: Path) -> dict[str, float]:
    (scenario,) = analyse(flat(read_application(file)), "").scenarios
    return {one.name: one.response_us or 0 for one in scenario.callbacks}


def test_both_processes_of_a_core_respond_later(tmp_path: Path) -> None:
    file = _with(tmp_path, ONE_HOST, f"cores: {{1: {SUPPLY}}}")
    found, whole = _responses(file), _responses(ONE_HOST)
    # Twice a millisecond without supply, and the latency of each job.
    assert found["guard.brake"] == whole["guard.brake"] + 2000 + 30
    assert all(found[name] > whole[name] for name in whole)
    played = simulate(flat(read_application(file)), where="", execution="worst")
    for one in played.callbacks:
        assert one.response is not None
        assert one.response.max_us <= found[one.callback]
    longest = {one.callback: one.response.max_us for one in played.callbacks if one.response}
    before = simulate(flat(read_application(ONE_HOST)), where="", execution="worst").callbacks
    assert all(longest[one.callback] > one.response.max_us for one in before if one.response)


def test_a_host_has_its_own_cores(tmp_path: Path) -> None:
    file = _with(tmp_path, TWO_HOSTS, f"hosts: {{motors: {{cores: {{0: {SUPPLY}}}}}}}")
    document = flat(read_application(file))
    found, whole = _responses(file), _responses(TWO_HOSTS)
    homes = {one["name"]: one["process"] for one in document["callbacks"]}
    later = {homes[name] for name in whole if found[name] > whole[name]}
    assert "control" in later
    assert found["camera.grab"] == whole["camera.grab"]
    again = tmp_path / "again.app.yaml"
    again.write_text(app_yaml(document, "again"))
    assert flat(read_application(again)) == document


def test_people_read_what_is_assumed_of_which_host(takt: Takt, tmp_path: Path) -> None:
    file = _with(tmp_path, TWO_HOSTS, f"hosts: {{motors: {{cores: {{0: {SUPPLY}}}}}}}")
    assert "assuming the declared supply, latency of core 0, of host 'motors'" in (
        takt("analyse", file).stdout
    )


@pytest.mark.parametrize(
    ("example", "more", "what"),
    [
        (ONE_HOST, f"cores: {{0: {SUPPLY}}}", "core 0 is described, but the application uses 1"),
        (ONE_HOST, f"hosts: {{pc: {{cores: {{1: {SUPPLY}}}}}}}", "no process runs on host pc"),
        (ONE_HOST, "cores: {1: {supply: {cpu_max: 9ms 10ms}}}", "no quota holds for these"),
        (TWO_HOSTS, f"cores: {{0: {SUPPLY}}}", "the processes run on several hosts"),
        (
            TWO_HOSTS,
            f"hosts: {{pc: {{cores: {{3: {SUPPLY}}}}}}}",
            "core 3 of host pc is described, but the application uses 0",
        ),
    ],
)
def test_cores_that_no_process_has_are_refused(
    tmp_path: Path, example: Path, more: str, what: str
) -> None:
    with pytest.raises(TaktError, match=what):
        read_application(_with(tmp_path, example, more))


def test_a_measured_supply_is_that_of_a_robot_too(tmp_path: Path) -> None:
    supply = tmp_path / "supply.yaml"
    supply.write_text(f"cores: {{1: {SUPPLY}}}\n")
    document: dict[str, Any] = flat(read_application(ONE_HOST))
    add_supply(document, str(supply))
    declared = flat(read_application(_with(tmp_path, ONE_HOST, f"cores: {{1: {SUPPLY}}}")))
    assert document["cores"] == declared["cores"]
    supply.write_text("cores: {1: {supply: {cpu_max: 9ms 10ms}}}\n")
    with pytest.raises(TaktError, match="holds for no thread of a robot"):
        add_supply(flat(read_application(ONE_HOST)), str(supply))
    with pytest.raises(TaktError, match="takes a robot of one host"):
        add_supply(flat(read_application(TWO_HOSTS)), str(supply))


def test_drawn_robots_of_several_hosts_are_held_to_their_bounds() -> None:
    core = Core.model_validate(
        {
            "supply": {"budget": "900us", "period": "1ms"},
            "latency": "20us",
            "interrupts": [{"period": "1ms", "duration": "10us", "burst": 2}],
        }
    )
    space, batch = (
        read_space(EXAMPLES / "robots.json"),
        Batch(index=0, combination=0, first=0, size=25),
    )
    rows = evaluate(space, 7, batch, ("analyse", "simulate"), cores={0: core, 1: core}).to_pylist()
    robots = [one for one in rows if one["policy"] == "robot"]
    assert len(robots) > 10
    assert [one["error"] for one in robots if one["error"]] == []
    assert [one["violations"] for one in robots if one["violations"]] == []
    assert sum(one["accepted"] for one in robots) > 3
