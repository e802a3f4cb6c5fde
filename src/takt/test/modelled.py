# SPDX-License-Identifier: Apache-2.0
"""What a modelled application must have in common with the one that was recorded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import takt_core

from takt.schedule.application.file import read_application
from takt.schedule.application.flat import flat
from takt.schedule.model.model import model
from takt.schedule.simulation.run import simulate

Part = dict[str, Any]


def round_trip(
    document: Part, folder: Path, *, execution: str = "worst", duration: int = 2_000_000_000
) -> Part:
    """The flat form of the file that a simulation's trace gives."""
    trace, out = folder / "trace.takttrace", folder / "back.app.yaml"
    simulate(document, where="made", duration=duration, execution=execution, seed=1, trace=trace)  # type: ignore[arg-type]
    model(trace, out)
    return flat(read_application(out))


def differences(original: Part, back: Part, *, exact: bool) -> list[str]:
    """What is in one and not in the other; ``exact``: every job took its worst case."""
    found = []
    others = {one["name"]: one for one in back["callbacks"]}
    changed = {change["task"] for s in original.get("scenarios", []) for change in s["tasks"]}
    for one in original["callbacks"]:
        name = one["name"]
        other = others.get(name)
        if other is None:
            found.append(f"{name} is missing")
            continue
        for key, default in (
            ("kind", "timer"),
            ("trigger", ""),
            ("group", ""),
            ("offset", 0),
            ("budget", 0),
            ("overrun", "skip"),
        ):
            if one.get(key, default) != other.get(key, default) and name not in changed:
                found.append(f"{name}.{key}: {one.get(key)} became {other.get(key)}")
        if one.get("kind", "timer") == "timer" and one["period"] != other["period"] and name not in changed:
            found.append(f"{name}.period: {one['period']} became {other['period']}")
        reads = {(r["topic"], r.get("max_age", 0)) for r in one.get("reads", [])}
        back_reads = {(r["topic"], r.get("max_age", 0)) for r in other.get("reads", [])}
        if reads - back_reads:
            found.append(f"{name}.reads: {reads} became {back_reads}")
        if set(one.get("writes", [])) - set(other.get("writes", [])):
            found.append(f"{name}.writes: {one['writes']} became {other['writes']}")
        worst, seen = one["execution"]["worst"], other["execution"]["worst"]
        if seen > worst or (exact and seen != worst):
            found.append(f"{name}.wcet: {worst} became {seen}")
        if other.get("jitter", 0) > one.get("jitter", 0):
            found.append(f"{name}.jitter: {one.get('jitter')} became {other.get('jitter')}")
        if bool(one.get("suspension")) != bool(other.get("suspension")):
            found.append(f"{name}.suspension: {one.get('suspension')} became {other.get('suspension')}")
    return found


def bounds(document: Part) -> dict[str, Part]:
    """By scenario and callback, what the analysis says."""
    report = takt_core.analyse(json.dumps(document), sensitivity=False, proposals=False)
    return {
        f"{scenario['name']}:{one['name']}": one
        for scenario in report["scenarios"]
        for one in scenario["callbacks"]
    }
