# SPDX-License-Identifier: Apache-2.0
"""What a modelled application must have in common with the one that was recorded."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import takt_core

from takt.schedule.application.file import read_application
from takt.schedule.application.flat import flat
from takt.schedule.model.document import Modelled
from takt.schedule.model.model import model
from takt.schedule.simulation.simulate import simulate

Part = dict[str, Any]


def round_trip(
    document: Part,
    folder: Path,
    *,
    execution: Literal["worst", "drawn"] = "worst",
    duration: int = 1_000_000_000,
) -> tuple[Part, Modelled]:
    """The flat form of the file that a simulation's trace gives, and what was told about it."""
    trace, out = folder / "trace.takttrace", folder / "back.app.yaml"
    simulate(document, where="made", duration=duration, execution=execution, seed=1, trace=trace)
    modelled_ = model(trace, out)
    return flat(read_application(out)), modelled_


def differences(original: Part, back: Part, modelled_: Modelled, *, exact: bool) -> Iterator[str]:
    """What is in one and not in the other; ``exact``: every job took its worst case.

    A scenario changes what the default one shows: its callbacks are compared by their topics only.
    """
    others = {one["name"]: one for one in back["callbacks"]}
    jobs = {one.callback: one.jobs for one in modelled_.callbacks}
    changed = {change["task"] for s in original.get("scenarios", []) for change in s["tasks"]}
    for one in original["callbacks"]:
        name = one["name"]
        other = others.get(name)
        if other is None:
            yield f"{name} is missing"
            continue
        keys = [("trigger", ""), ("group", ""), ("reads", []), ("writes", [])]
        if name not in changed:
            keys += [("offset", 0), ("budget", 0), ("overrun", "skip"), ("active", True)]
            keys += [("period", 0)] if not one.get("trigger") else []
        for key, default in keys:
            before, after = (_plain(part.get(key, default)) for part in (one, other))
            if not (before <= after if isinstance(before, set) else before == after):
                yield f"{name}.{key}: {before} became {after}"
        deadlines = [part.get("deadline") or part.get("period") for part in (one, other)]
        if deadlines[0] != deadlines[1] and name not in changed and not one.get("trigger"):
            yield f"{name}.deadline: {deadlines[0]} became {deadlines[1]}"
        worst, observed = one["execution"]["worst"], other["execution"]["worst"]
        if name not in changed and (observed > worst or (exact and observed != worst)):
            yield f"{name}.wcet: {worst} became {observed}"
        if other.get("jitter", 0) > one.get("jitter", 0):
            yield f"{name}.jitter: {one.get('jitter')} became {other.get('jitter')}"
        waits = [bool(part.get("suspension")) for part in (one, other)]
        if waits[0] != waits[1] and jobs[name]:
            yield f"{name}.suspension: {one.get('suspension')} became {other.get('suspension')}"


def _plain(value: Any) -> Any:
    """Topics as a set."""
    if not isinstance(value, list):
        return value
    return {(v["topic"], v.get("max_age", 0)) if isinstance(v, dict) else v for v in value}


def bounds(document: Part) -> dict[str, Part]:
    """By scenario and callback, what the analysis says."""
    report = takt_core.analyse(json.dumps(document), sensitivity=False, proposals=False)
    return {
        f"{scenario['name']}:{one['name']}": one
        for scenario in report["scenarios"]
        for one in scenario["callbacks"]
    }
