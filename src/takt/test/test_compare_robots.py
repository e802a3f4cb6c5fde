# SPDX-License-Identifier: Apache-2.0
"""takt compare-executors of robots of several processes."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from conftest import Takt
from rich.console import Console

from takt.schedule.analysis.ask import analyse
from takt.schedule.application.file import read_application
from takt.schedule.application.flat import flat
from takt.schedule.executors.compare import compare
from takt.schedule.executors.model import Candidate, Comparison
from takt.schedule.executors.robots import ALL, changes
from takt.schedule.executors.show import show

EXAMPLE = Path(__file__).parents[3] / "examples" / "two_processes.app.yaml"
EVENTS = "rclcpp_events"


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    return flat(read_application(EXAMPLE))


@pytest.fixture(scope="module")
def comparison(document: dict[str, Any]) -> Comparison:
    return compare(document, "robot", duration=500_000_000)


def candidate(comparison: Comparison, name: str) -> Candidate:
    (found,) = [one for one in comparison.candidates if one.name == name]
    return found


def test_each_executor_comes_in_one_process_at_a_time_then_in_all(comparison: Comparison) -> None:
    names = [one.name for one in comparison.candidates]
    assert names[0] == "as described"
    assert comparison.described == "control: takt fp, vision: rclcpp_single_threaded"
    assert len(names) == len(set(names))
    assert {f"control: {EVENTS}", f"vision: {EVENTS}", f"all: {EVENTS}"} <= set(names)
    assert "control: takt fp" not in names  # it has that
    assert "all: takt fp" in names


def test_each_reason_is_said_once(comparison: Comparison) -> None:
    text = StringIO()
    show(Console(file=text, width=200), comparison)
    lines = [one for one in text.getvalue().splitlines() if "left out" in one]
    assert sum(one.refused is not None for one in comparison.candidates) == 10
    assert len(lines) == 3
    assert "control: takt rm, control: takt p-rm, all: takt rm, all: takt p-rm are left out" in (
        "".join(lines)
    )
    assert "needs a priority" in "".join(lines)


def test_overheads_of_the_command_count(takt: Takt, tmp_path: Path) -> None:
    costs = tmp_path / "costs.json"
    costs.write_text('{"upper": {"dispatch": 200000}}')

    def bound(*options: object) -> float:
        done = takt("compare-executors", EXAMPLE, "--duration", "100ms", "--for", "1ms", *options)
        figures = json.loads(done.stdout)["candidates"][0]["callbacks"]
        return next(float(one["bound_us"]) for one in figures if one["name"] == "guard.brake")

    assert bound("--json", "--overheads", costs) >= bound("--json") + 200


def test_the_others_stay_as_described(document: dict[str, Any]) -> None:
    found = {(one.process, one.executor): one.flat for one in changes(document, [(EVENTS, None)])}
    control, vision = found["control", EVENTS]["processes"]
    assert control["executor"] == EVENTS
    assert "policy" not in control
    assert vision == document["processes"][1]
    assert [one["executor"] for one in found[ALL, EVENTS]["processes"]] == [EVENTS, EVENTS]
    assert found[None, "as described"] == document


def test_the_factor_is_what_the_execution_times_may_be_multiplied_by(
    document: dict[str, Any], comparison: Comparison
) -> None:
    factor = comparison.candidates[0].factor
    assert factor is not None
    assert factor > 1

    def verdict(by: float) -> str:
        longer = [
            one | {"execution": {"worst": round(one["execution"]["worst"] * by)}}
            for one in document["callbacks"]
        ]
        return analyse({**document, "callbacks": longer}, "").verdict

    assert verdict(0.99 * factor) == "meets"
    assert verdict(1.01 * factor) == "not_proved"


def test_what_is_left_when_the_time_is_up_is_named(document: dict[str, Any]) -> None:
    comparison = compare(document, "robot", duration=100_000_000, limit=0)
    described, *left = comparison.candidates
    assert described.refused is None
    assert left
    assert {one.refused for one in left} == {"not compared before the time was up"}


def test_bounds_are_from_the_analysis_and_above_what_is_simulated(
    document: dict[str, Any], comparison: Comparison
) -> None:
    (changed,) = [one for one in changes(document, [(EVENTS, None)]) if one.process == "control"]
    (scenario,) = analyse(changed.flat, "robot").scenarios
    proved = {one.name: one.response_us for one in scenario.callbacks}
    proved |= {one.name: one.latency_us for one in scenario.chains}
    found = candidate(comparison, f"control: {EVENTS}")
    assert found.chains
    for one in [*found.callbacks, *found.chains]:
        assert one.bound_us == proved[one.name]
    for each in comparison.candidates:
        for one in [*each.callbacks, *each.chains]:
            if one.bound_us is not None and one.max_us is not None:
                assert one.max_us <= one.bound_us, (each.name, one.name)


def test_an_executor_without_bounds_for_a_robot_is_named_with_its_reason(
    document: dict[str, Any],
) -> None:
    without = [{key: one[key] for key in one if key != "priority"} for one in document["callbacks"]]
    found = compare({**document, "callbacks": without}, "robot", duration=500_000_000)
    refused = {one.name: one.refused for one in found.candidates if one.refused}
    assert "priority" in (refused["vision: takt fp"] or "")
    assert candidate(found, f"all: {EVENTS}").refused is None
