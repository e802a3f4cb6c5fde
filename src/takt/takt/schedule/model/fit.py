# SPDX-License-Identifier: Apache-2.0
"""Makes policies and callbacks fit each other, in the flat form of an application."""

from __future__ import annotations

from typing import Any

from takt.schedule.model import policies
from takt.schedule.model.observed import ObservedCallback
from takt.schedule.model.robot import Robot

Part = dict[str, Any]
Kept = list[tuple[ObservedCallback, Part]]


def fit(document: Part, kept: Kept, notes: list[str]) -> Kept:
    """What is left under the policy of an application, or of a process; adds notes."""
    parts = [part for _, part in kept]
    document["policy"], added = policies.defined(document["policy"], parts)
    unranked = policies.unranked(document["policy"], parts)
    notes += added
    notes += [
        f"{name} was released less than twice: {document['policy']} has no priority "
        "for it, and it is excluded"
        for name in unranked
    ]
    return [(one, part) for one, part in kept if part["name"] not in unranked]


def fit_robot(document: Part, robot: Robot, kept: Kept, notes: list[str]) -> Kept:
    """The same in each process of a robot; processes without a callback are left out."""
    left: Kept = []
    document |= {"processes": [], "handover": robot.handover}
    for described in robot.processes:
        own = [one for one in kept if robot.homes[one[0].recorded] == described["name"]]
        if not own:
            continue
        process = dict(described)
        if "executor" not in process:
            process = {"policy": "fp", **process}
            own = fit(process, own, notes)
        for _, part in own:
            part["process"] = process["name"]
        if own:
            document["processes"].append(process)
            left += own
    hosts = {one.get("host") for one in document["processes"]}
    if links := [one for one in robot.links if set(one["hosts"]) <= hosts]:
        document["links"] = links
    notes += robot.notes
    return left
