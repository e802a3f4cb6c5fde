# SPDX-License-Identifier: Apache-2.0
"""Reads a timing file, and writes one from an application."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from takt.documents import yaml_file
from takt.documents.units import format_duration
from takt.documents.yaml_file import Form
from takt.schedule.timing.model import TimingFile

SUFFIXES = (".timing.yaml", ".timing.yml")
FORM = Form(
    "a timing file",
    TimingFile,
    keys="callbacks",
    example="docs/how-to/prove-a-running-application.md",
    reference="docs/reference/timing-keys.md",
)
#: What Takt's executor of rclcpp nodes calls a callback: planner.timer0, arm/map.service:/reset#1.
_RECORDED = re.compile(
    r"(?P<node>[^.]*)\.(?P<kind>timer|subscription|intra_process|service|client|qos_event|waitable)"
    r"(?:(?P<place>\d+)|:(?P<name>[^#]+)(?:#(?P<ordinal>\d+))?)"
)
Part = dict[str, Any]


def read_timing(path: Path) -> TimingFile:
    """Reads and checks a file; raises TaktError with all of its faults."""
    timing, _ = yaml_file.read(path, FORM)
    return timing


def is_timing_file(path: Path) -> bool:
    """Whether a file of this name is one."""
    return path.name.endswith(SUFFIXES)


def timing_yaml(flat: Part, remark: str, recorded: Mapping[str, str]) -> str:
    """The timing file of an application in its flat form.

    ``recorded``: the names that an executor has for callbacks, where the application says them.
    """
    lines = [f"# {line}" for line in remark.splitlines()]
    lines.append(f"policy: {flat.get('policy', 'fp')}")
    if flat.get("cpus"):
        lines.append(f"cpus: [{', '.join(map(str, flat['cpus']))}]")
    lines.append("callbacks:")
    timers: Counter[str] = Counter()
    for one in flat["callbacks"]:
        keys = _found_by(one, recorded.get(one["name"], ""), timers) | _timing(one)
        lines.append(f"  - {{{', '.join(f'{key}: {text}' for key, text in keys.items())}}}")
    return "\n".join(lines) + "\n"


def _found_by(one: Part, recorded: str, timers: Counter[str]) -> dict[str, str]:
    """Node, kind and name, as the running system has them.

    Where the application says nothing, its timers are those of the node in the order of the file.
    """
    if match := _RECORDED.fullmatch(recorded):
        found = {"node": f"/{match['node'].lstrip('/')}", "kind": match["kind"]}
        if match["name"]:
            found["name"] = match["name"]
        return found | {"ordinal": match["place"] or match["ordinal"] or "0"}
    node = f"/{one['name'].partition('.')[0]}"
    if one.get("trigger"):
        return {"node": node, "kind": "subscription", "name": _whole(one["trigger"])}
    timers[node] += 1
    return {"node": node, "kind": "timer", "ordinal": str(timers[node] - 1)}


def _timing(one: Part) -> dict[str, str]:
    keys = {"priority": str(one["priority"])} if one.get("priority") else {}
    times = {
        "deadline": one.get("deadline"),
        "period": one.get("period") if one.get("trigger") else None,
        "expected_execution": one["execution"]["worst"],
        "budget": one.get("budget"),
    }
    keys |= {key: format_duration(time) for key, time in times.items() if time}
    if reads := one.get("reads"):
        keys["reads"] = _reads(reads)
    if one.get("cpu", -1) >= 0:
        keys["cpu"] = str(one["cpu"])
    if one.get("suspension"):
        keys["waits"] = "true"
    return keys


def _reads(reads: list[Part]) -> str:
    ages = [
        f"{_whole(read['topic'])}: "
        + (f"{{max_age: {format_duration(read['max_age'])}}}" if read.get("max_age") else "{}")
        for read in reads
    ]
    return f"{{{', '.join(ages)}}}"


def _whole(topic: str) -> str:
    """As the graph shows it: an application's topics stand below the root."""
    return topic if topic[0] in "/~" else f"/{topic}"
