# SPDX-License-Identifier: Apache-2.0
"""Limits of tiny robots around switches of their scenarios: what is proved holds in every run.

Times are in ns. Of three scenarios the second one changes one process only, so that processes
learn of a switch at different times.
"""

from __future__ import annotations

import json
import math
import os
import random
from typing import Any

import takt_core

Document = dict[str, Any]
SETS = int(os.environ.get("TAKT_SWITCH_SETS", "150"))
SEED = int(os.environ.get("TAKT_SWITCH_SEED", "1"))


def _timing(draw: random.Random, *, timer: bool) -> Document:
    found: Document = {
        "expected_execution": draw.randint(1, 4),
        "deadline": draw.randint(4, 24),
        "priority": draw.randint(1, 4),
    }
    return found | ({"period": draw.randint(8, 30)} if timer else {})


def _robot(draw: random.Random) -> Document:
    """Two processes; a chain of messages in the first one, and to a callback of the second."""
    policies = [draw.choice(["fp", "edf"]) for _ in range(2)]
    if still := draw.random() < 0.2:  # no scenario changes the second one
        policies[1] = draw.choice(["np-fp", "np-edf", "rclcpp_events", "rclcpp_single_threaded"])
    processes = [
        {
            "name": f"p{n}",
            "executor" if policy.startswith("rclcpp") else "policy": policy,
            "cpu": draw.choice([0, n]),
            "priority": 20 + 30 * n,
        }
        for n, policy in enumerate(policies)
    ]
    callbacks: list[Document] = []

    def add(name: str, process: int, **more: Any) -> None:
        timing = _timing(draw, timer="trigger" not in more)
        worst = timing.pop("expected_execution")
        best = draw.randint(1, worst)
        execution = {"worst": worst, "quantiles": [best, worst]}
        if "trigger" in more:
            more |= {"kind": "message", "overrun": "catch_up"}
        else:
            more["offset"] = draw.randint(0, 12)
        callbacks.append(
            {"name": name, "process": f"p{process}", "execution": execution, **timing, **more}
        )

    add("a", 0, writes=["x"])
    if draw.random() < 0.7:
        add("b", 0, trigger="x", writes=["y"])
    if draw.random() < 0.7:
        add("c", 0)
    source = "y" if any(one["name"] == "b" for one in callbacks) else "x"
    if draw.random() < 0.6:
        add("d", 1, trigger=source)
    else:
        add("d", 1, reads=[{"topic": source}])
    if draw.random() < 0.7:
        add("e", 1)
    path = [one["name"] for one in callbacks if one["name"] in "abd"]
    most = draw.choice([0, 0, 2])
    return {
        "version": 1,
        "name": "tiny",
        "processes": processes,
        "handover": {"least": 0, "most": most},
        "callbacks": callbacks,
        "topics": [{"name": "x"}, {"name": "y"}],
        "chains": [{"name": "path", "callbacks": path, "max_latency": draw.randint(20, 90)}],
        "scenarios": _scenarios(
            draw, [one for one in callbacks if not (still and one["process"] == "p1")]
        ),
    }


def _scenarios(draw: random.Random, callbacks: list[Document]) -> list[Document]:
    changes: dict[str, Document] = {}
    for one in callbacks:
        if draw.random() < 0.5:
            kept = draw.sample(["expected_execution", "deadline", "priority", "period"], 2)
            timing = _timing(draw, timer="trigger" not in one)
            changes[one["name"]] = {key: timing[key] for key in kept if key in timing}
            worst = one["execution"]["worst"]
            if changes[one["name"]].get("expected_execution", worst) > worst:
                changes[one["name"]]["expected_execution"] = worst
        elif one["name"] in "ce" and draw.random() < 0.4:
            changes[one["name"]] = {"active": False}
    tasks = [{"task": name, **change} for name, change in changes.items() if change]
    first = {one["name"] for one in callbacks if one["process"] == draw.choice(["p0", "p1"])}
    return [
        {"name": "one", "tasks": []},
        {"name": "between", "tasks": [task for task in tasks if task["task"] in first]},
        {"name": "two", "tasks": tasks},
    ]


def _least_stay(robot: Document) -> int:
    """What is assumed from one switch to the next."""
    timers = {one["name"]: one for one in robot["callbacks"] if "period" in one}
    off = {
        one["task"]
        for scenario in robot["scenarios"]
        for one in scenario["tasks"]
        if one.get("active") is False
    }
    return max(
        (one["period"] - one["offset"] for name, one in timers.items() if name in off), default=1
    )


def _switches(draw: random.Random, least: int) -> list[Document]:
    """Several times there and back, at any distance from the least one on."""
    found, time, order = [], draw.randint(20, 60), ["between", "two", "between", "one"]
    for number in range(24):
        found.append({"at": time, "scenario": order[number % 4]})
        time += max(draw.choice([1, 2, 3, 5, 8, *(draw.randint(1, 60) for _ in range(2))]), least)
    return found


def test_what_is_proved_of_tiny_robots_holds_with_switches_at_any_time() -> None:
    proved = reached = moved = 0
    reasons: dict[str, int] = {}
    for seed in range(SEED, SEED + SETS):
        draw = random.Random(seed)
        robot = _robot(draw)
        report = takt_core.analyse(json.dumps(robot), sensitivity=False, proposals=False)
        if not report["switches"]["meets"]:
            reason = report["switches"]["bound_by"]
            reasons[reason] = reasons.get(reason, 0) + 1
            continue
        proved += 1
        plays = [
            json.dumps(robot | {"switches": _switches(draw, _least_stay(robot))}) for _ in range(12)
        ]
        around = report["switches"]
        assert around["responses_us"].keys() >= {one["name"] for one in robot["callbacks"]}
        deadlines: dict[str, float] = {}
        for one in (one for scenario in report["scenarios"] for one in scenario["callbacks"]):
            limit = one["deadline_us"] or math.inf
            deadlines[one["name"]] = min(deadlines.get(one["name"], limit), limit)
        moved += any(scenario["tasks"] for scenario in robot["scenarios"])
        for execution in ("worst", "drawn"):
            for played in takt_core.simulate_many(
                plays, seed=seed, execution=execution, duration_ns=600
            ):
                late = [one["callback"] for one in played["callbacks"] if one["misses"]]
                assert not late, (seed, late, json.dumps(robot))
                (chain,) = played["chains"]
                assert chain["violations"] == 0, (seed, json.dumps(robot))
                if (latency := around["latencies_us"].get("path")) and chain["latency"]:
                    assert chain["latency"]["max_us"] <= latency + 0.001, (seed, json.dumps(robot))
                for one in played["callbacks"]:
                    bound = 1000 * around["responses_us"][one["callback"]]
                    assert one["worst_response_ns"] <= bound + 0.5, (seed, one, json.dumps(robot))
                reached += any(
                    one["worst_response_ns"] >= 1000 * deadlines[one["callback"]]
                    for one in played["callbacks"]
                )
    print(proved, reached, moved, sorted(reasons.items(), key=lambda one: -one[1])[:12])
    assert proved > SETS / 10
    assert moved > SETS / 20
