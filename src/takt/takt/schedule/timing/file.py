# SPDX-License-Identifier: Apache-2.0
"""Reads a timing file, and writes one from an application."""

from __future__ import annotations

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
    reference="docs/reference/timing.schema.json",
)
#: Begins of a callback's name that say what releases it, where no timer or topic does.
_KINDS = ("service", "client", "waitable")
Part = dict[str, Any]


def read_timing(path: Path) -> TimingFile:
    """Reads and checks a file; raises TaktError with all of its faults."""
    timing, _ = yaml_file.read(path, FORM)
    return timing


def is_timing_file(path: Path) -> bool:
    """Whether a file of this name is one."""
    return path.name.endswith(SUFFIXES)


def timing_yaml(flat: Part, remark: str) -> str:
    """The timing file of an application in its flat form."""
    lines = [f"# {line}" for line in remark.splitlines()]
    lines.append(f"policy: {flat.get('policy', 'fp')}")
    if flat.get("cpus"):
        lines.append(f"cpus: [{', '.join(map(str, flat['cpus']))}]")
    lines.append("callbacks:")
    for one in flat["callbacks"]:
        keys = ", ".join(f"{key}: {text}" for key, text in _callback(one).items())
        lines.append(f"  - {{{keys}}}")
    return "\n".join(lines) + "\n"


def _callback(one: Part) -> dict[str, str]:
    node, _, name = one["name"].partition(".")
    keys = {"node": one.get("node") or node, **_found_by(one, name)}
    if one.get("priority"):
        keys["priority"] = str(one["priority"])
    times = {"deadline": one.get("deadline"), "period": one.get("period")}
    times["wcet"] = one["execution"]["worst"]
    keys |= {key: format_duration(time) for key, time in times.items() if time}
    if reads := one.get("reads"):
        keys["reads"] = _reads(reads)
    if one.get("group"):
        keys["group"] = one["group"]
    if one.get("cpu", -1) >= 0:
        keys["cpu"] = str(one["cpu"])
    if one.get("suspension"):
        keys["waits"] = "true"
    if one.get("overrun"):
        keys["overrun"] = one["overrun"]
    return keys


def _found_by(one: Part, name: str) -> dict[str, str]:
    """Kind and name, as the running system has them."""
    for kind in _KINDS:
        if name.startswith(f"{kind}_"):
            return {"kind": kind, "name": f'"{name.removeprefix(f"{kind}_")}"'}
    if one.get("trigger"):
        return {"kind": "subscription", "name": _whole(one["trigger"])}
    return {"kind": "timer", "name": name}


def _reads(reads: list[Part]) -> str:
    if not any(read.get("max_age") for read in reads):
        return f"[{', '.join(_whole(read['topic']) for read in reads)}]"
    ages = [
        f"{_whole(read['topic'])}: "
        + (f"{{max_age: {format_duration(read['max_age'])}}}" if read.get("max_age") else "{}")
        for read in reads
    ]
    return f"{{{', '.join(ages)}}}"


def _whole(topic: str) -> str:
    """As the graph shows it: an application's topics stand below the root."""
    return topic if topic[0] in "/~" else f"/{topic}"
