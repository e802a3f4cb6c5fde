# SPDX-License-Identifier: Apache-2.0
"""Metrics and explanations go by what the scenarios of an application declare."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import trace_files as make
from command_line import takt
from explained_traces import LOW, begin, end
from explained_traces import explained as explanation

from takt.errors import TaktError
from takt.schedule.explain.model import ShareKind
from takt.schedule.metrics import Metrics, measure
from takt.schedule.trace.file import NO_DEADLINE, NONE, Type

MS = 1_000_000
LONG, SHORT = 0, 1
SCAN = 7


def application(**keys: Any) -> dict[str, Any]:
    callbacks = [
        {"name": f"x.{name}", "node": "x", "period": period, "execution": {"worst": MS}}
        for name, period in (("long", 50 * MS), ("short", 10 * MS))
    ]
    topics = [{"name": "scan", "external": True, "external_period": 10 * MS}]
    return {"version": 1, "name": "x", "callbacks": callbacks, "topics": topics, **keys}


def scenario(name: str, **change: Any) -> dict[str, Any]:
    return {"name": name, "tasks": [{"task": "x.short", **change}] if change else []}


def trace(
    path: Path,
    flat: dict[str, Any],
    *records: bytes,
    approach: str | None = "takt",
    asked: int | str = 1000 * MS,
    done: int = 1000 * MS,
) -> Path:
    """Of a run for which one second was asked; its long callback was executed to the end."""
    jobs = []
    for number, at in enumerate(range(0, done, 50 * MS)):
        jobs += [
            make.event(at, Type.release, LONG, number, NO_DEADLINE),
            make.event(at, Type.start, LONG, number, 10),
            make.event(at + MS, Type.end, LONG, number, MS),
        ]
    attributes = {"application": json.dumps(flat), "duration_ns": asked, "approach": approach}
    head = [
        make.name("task", LONG, "x.long"),
        make.name("task", SHORT, "x.short"),
        make.name("topic", SCAN, "/scan"),
        *(make.name("attribute", 0, f"{k}={v}") for k, v in attributes.items() if v),
    ]
    return make.write(path / "made.takttrace", [*head, *jobs, *records])


def expected(found: Metrics) -> dict[str, int | None]:
    return {one.callback: one.expected for one in found.callbacks}


def test_an_inactive_callback_has_no_releases(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    flat = application()
    flat["callbacks"][1]["active"] = False
    path = trace(tmp_path, flat)
    assert expected(measure(path)) == {"x.long": 20, "x.short": 0}
    assert takt(["metrics", str(path)]) == 0
    assert "x.short" in capfd.readouterr().out


@pytest.mark.parametrize(
    ("approach", "calm"),
    [
        ("takt", {"x.long": 20, "x.short": 9}),
        ("rclcpp_takt", {"x.long": 20, "x.short": 9}),
        (None, {"x.long": 20, "x.short": 9}),  # a simulation, or an executor of somebody's own
        ("baseline1", {"x.long": 20, "x.short": 100}),  # knows no scenarios
        ("rclcpp_events", {"x.long": 20, "x.short": 100}),
    ],
)
def test_the_default_scenario_says_how_many_releases_there_are(
    tmp_path: Path, approach: str | None, calm: dict[str, int]
) -> None:
    flat = application(scenarios=[scenario("fast"), scenario("calm", period=100 * MS)])
    flat["scenarios"][1]["tasks"][0]["offset"] = 150 * MS
    flat["default_scenario"] = "calm"
    assert expected(measure(trace(tmp_path, flat, approach=approach))) == calm


def test_a_scenario_lets_callbacks_be_and_wakes_them(tmp_path: Path) -> None:
    flat = application(scenarios=[scenario("still", active=False), scenario("on", active=True)])
    assert expected(measure(trace(tmp_path, flat)))["x.short"] == 0
    found = measure(trace(tmp_path, flat, approach="baseline0"))
    assert expected(found)["x.short"] == 100
    flat["callbacks"][1]["active"] = False
    flat["default_scenario"] = "on"
    assert expected(measure(trace(tmp_path, flat)))["x.short"] == 100


def test_a_run_that_was_stopped_asked_for_no_more_than_until_then(tmp_path: Path) -> None:
    stopped = trace(tmp_path, application(), asked=30_000 * MS, done=1000 * MS)
    assert expected(measure(stopped)) == {"x.long": 20, "x.short": 96}  # the last end: 951 ms


def test_what_had_no_data_yet_had_no_data_that_was_too_old(tmp_path: Path) -> None:
    flat = application()
    flat["callbacks"][1]["reads"] = [{"topic": "scan", "max_age": 5 * MS}]
    reported = [
        make.event(960 * MS, Type.release, SHORT, 0, NO_DEADLINE),
        make.event(960 * MS, Type.start, SHORT, 0, 10),
        make.event(960 * MS, Type.age_violation, SHORT, 0, -1, topic=SCAN),
        make.event(960 * MS, Type.use, SHORT, 0, -1, topic=SCAN),
        make.event(961 * MS, Type.end, SHORT, 0, MS),
        make.event(965 * MS, Type.publish, NONE, 0, 0, topic=SCAN),
        make.event(980 * MS, Type.release, SHORT, 1, NO_DEADLINE),
        make.event(980 * MS, Type.start, SHORT, 1, 10),
        make.event(980 * MS, Type.age_violation, SHORT, 1, 15 * MS, topic=SCAN),
        make.event(980 * MS, Type.use, SHORT, 1, 0, topic=SCAN),
        make.event(981 * MS, Type.end, SHORT, 1, MS),
    ]
    (age,) = measure(trace(tmp_path, flat, *reported)).data_age
    assert (age.without_data, age.violations, age.max_age_us) == (1, 1, 5000)


@pytest.mark.parametrize(("switched", "limit"), [(False, 5000), (True, 3000)])
def test_the_limit_of_an_age_is_that_of_the_scenarios(
    tmp_path: Path, switched: bool, limit: float
) -> None:
    limits = {"never": 1, "calm": 5, "strict": 3, "any": 0}
    flat = application(
        scenarios=[
            scenario(name, reads=[{"topic": "scan", "max_age": ms * MS}])
            for name, ms in limits.items()
        ],
        default_scenario="calm",
    )
    if switched:
        flat["switches"] = [
            {"at": at * MS, "scenario": to} for at, to in ((1, "strict"), (2, "any"))
        ]
    used = [
        make.event(960 * MS, Type.publish, NONE, 0, 0, topic=SCAN),
        make.event(970 * MS, Type.release, SHORT, 0, NO_DEADLINE),
        make.event(970 * MS, Type.start, SHORT, 0, 10),
        make.event(970 * MS, Type.use, SHORT, 0, 0, topic=SCAN),
        make.event(971 * MS, Type.end, SHORT, 0, MS),
    ]
    (age,) = measure(trace(tmp_path, flat, *used)).data_age
    assert age.max_age_us == limit
    (age,) = measure(trace(tmp_path, flat, *used, approach="baseline0")).data_age
    assert age.max_age_us is None  # nobody kept one


def test_messages_of_scenarios_are_paid_for_in_all_of_them(tmp_path: Path) -> None:
    callback = {"name": "low", "node": "low", "priority": 10, "execution": {"worst": 5 * MS}}
    flat = {
        "version": 1,
        "name": "late",
        "callbacks": [callback | {"period": 100 * MS}],
        "topics": [{"name": "x"}],
        "scenarios": [{"name": "on", "tasks": [{"task": "low", "writes": ["x"]}]}],
        "overheads": {"publish": MS},
    }
    found = explanation(
        tmp_path,
        make.name("attribute", 0, "application=" + json.dumps(flat)),
        begin(LOW, 0, 0, deadline=2 * MS),
        end(LOW, 6 * MS, 6 * MS),
    )
    (miss,) = found.details
    assert [one.kind for one in miss.shares] == [ShareKind.executed]


def test_a_duration_that_is_no_number_is_a_damaged_trace(tmp_path: Path) -> None:
    with pytest.raises(TaktError, match="duration in the trace is not a number: '200x"):
        measure(trace(tmp_path, application(), asked="200x"))
