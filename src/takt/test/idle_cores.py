# SPDX-License-Identifier: Apache-2.0
"""An application, and a robot, whose policy leaves the core idle on purpose, for a job to come."""

from __future__ import annotations

from typing import Any

MS = 1_000_000


def callback(
    name: str, period: int, worst: int, deadline: int, offset: int = 0, process: str = ""
) -> dict[str, Any]:
    """Times in ms."""
    found: dict[str, Any] = {"name": name, "node": name, "period": period * MS}
    found |= {"deadline": deadline * MS, "offset": offset * MS, "execution": {"worst": worst * MS}}
    return found | ({"process": process, "priority": 1} if process else {})


def application(policy: str = "cw-edf", **more: Any) -> dict[str, Any]:
    """At 0 low would take the core until 8, and high, which comes at 5, is due at 10."""
    callbacks = [callback("high", 10, 3, 5, 5), callback("low", 40, 8, 40)]
    found = {"version": 1, "name": "idle", "policy": policy, "cpus": [0], "callbacks": callbacks}
    return found | more


def robot() -> dict[str, Any]:
    """The same above another process, which runs meanwhile."""
    document = application()
    for name in ("policy", "cpus"):
        del document[name]
    for one in document["callbacks"]:
        one |= {"process": "upper", "priority": 1}
    document["callbacks"].append(callback("calm", 20, 2, 20, process="lower"))
    document["processes"] = [
        {"name": "upper", "policy": "cw-edf", "cpu": 0, "priority": 80},
        {"name": "lower", "policy": "fp", "cpu": 0, "priority": 40},
    ]
    return document
