# SPDX-License-Identifier: Apache-2.0
"""Writes what was assigned: into the app.yaml, whose comments stay, or as a timing file."""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from takt.documents import reading
from takt.documents.units import format_duration
from takt.documents.writing import write_text
from takt.schedule.analysis.assign import Assigned
from takt.schedule.application.model import Application
from takt.schedule.timing.file import is_timing_file, timing_yaml

_WIDEST = 10_000  # of a line: callbacks stay on the lines that they have


def write(assigned: Assigned, application: Application, source: Path, out: Path) -> None:
    """``out``: NAME.timing.yaml, or else an app.yaml, which ``source`` was, of that application."""
    remark = f"takt analyse {source.name} --assign: {assigned.how}: {_verdict(assigned)}"
    if is_timing_file(out):
        callbacks = application.callbacks.items()
        recorded = {name: one.recorded for name, one in callbacks if one.recorded}
        write_text(out, timing_yaml(assigned.flat, remark, recorded))
    else:
        write_text(out, f"# {remark}\n{_app_yaml(assigned.flat, reading.read_text(source))}")


def _verdict(assigned: Assigned) -> str:
    return "every limit is kept" if assigned.analysis.verdict == "meets" else "not proved"


def _app_yaml(flat: dict[str, Any], text: str) -> str:
    """The text with the policy and each callback's core, priority and deadline changed."""
    yaml = YAML()
    yaml.width = _WIDEST
    yaml.preserve_quotes = True
    tree = yaml.load(text)
    if flat.get("policy", "fp") != tree.get("policy", "fp"):
        tree["policy"] = flat["policy"]
    for one in flat["callbacks"]:
        node, _, name = one["name"].partition(".")
        callback = tree["nodes"][node][name]
        values = {
            "priority": one.get("priority"),
            "deadline": format_duration(one["deadline"]) if one.get("deadline") else None,
            "cpu": one.get("cpu"),
        }
        for key, value in values.items():
            if value is not None:
                callback[key] = value
            elif key in callback:
                del callback[key]
    stream = StringIO()
    yaml.dump(tree, stream)
    return stream.getvalue()
