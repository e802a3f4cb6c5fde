# SPDX-License-Identifier: Apache-2.0
"""An application in its flat form under another executor."""

from __future__ import annotations

from typing import Any

from takt.schedule.application.executors import SEVERAL_THREADS, STOCK_EXECUTORS

Flat = dict[str, Any]
_OF_SCENARIOS = ("scenarios", "default_scenario", "switches")


def as_run(flat: Flat, executor: str) -> Flat:
    """The application of one process under the executor of rclcpp that ran it.

    Unchanged where it has processes, or what these executors do not have: several cores for one
    thread, scenarios with simulated times.
    """
    if executor not in STOCK_EXECUTORS or flat.get("processes"):
        return flat
    if not fits(executor, len(flat.get("cpus", [0]))):
        return flat
    changed = under(flat, executor, None)
    return flat if changed.get("scenarios") else changed


def fits(executor: str, cores: int) -> bool:
    """Whether an executor of rclcpp is analysed on so many cores."""
    return cores == 1 or executor in SEVERAL_THREADS


def under(flat: Flat, executor: str, policy: str | None) -> Flat:
    """The application under another executor; scenarios without a policy of their own.

    An executor of rclcpp has none: there it is the application in its first scenario.
    """
    kept = {key: value for key, value in flat.items() if key not in ("executor", "policy")}
    if policy is None:
        return {**_in_first_scenario(kept), "executor": executor}
    scenarios = [
        {key: value for key, value in one.items() if key != "policy"}
        for one in kept.get("scenarios", [])
    ]
    return {**kept, "policy": policy, "scenarios": scenarios}


def _in_first_scenario(flat: Flat) -> Flat:
    scenarios = flat.get("scenarios") or []
    if not scenarios:
        return flat
    name = first_scenario(flat)
    changes = {
        change["task"]: change
        for one in scenarios
        if one["name"] == name
        for change in one["tasks"]
    }
    if any("expected_execution" in change for change in changes.values()):
        return flat  # simulated times go with it; the executor refuses the scenarios
    return {
        **{key: value for key, value in flat.items() if key not in _OF_SCENARIOS},
        "callbacks": [_changed(one, changes.get(one["name"], {})) for one in flat["callbacks"]],
    }


def first_scenario(flat: Flat) -> str | None:
    """The scenario in which the application begins; None: it has no scenarios."""
    scenarios = flat.get("scenarios") or [{"name": None}]
    name: str | None = flat.get("default_scenario", scenarios[0]["name"])
    return name


def _changed(callback: Flat, change: Flat) -> Flat:
    """What a scenario adds to reads and writes is there as well; the rest is replaced."""
    added = {key: change[key] for key in ("reads", "writes") if change.get(key)}
    rest = {key: value for key, value in change.items() if key not in ("task", "reads", "writes")}
    return {
        **callback,
        **rest,
        **{
            key: [
                *callback.get(key, []),
                *(one for one in more if one not in callback.get(key, [])),
            ]
            for key, more in added.items()
        },
    }
