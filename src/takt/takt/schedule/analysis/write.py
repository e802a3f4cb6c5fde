# SPDX-License-Identifier: Apache-2.0
"""Writes what was assigned: into the app.yaml, whose comments stay, or as a timing file."""

from __future__ import annotations

import contextlib
import os
from copy import deepcopy
from io import StringIO
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedBase, CommentedMap

from takt.documents import reading
from takt.documents.units import format_duration, parse_duration
from takt.documents.writing import replacing, write_text
from takt.errors import TaktError
from takt.schedule.analysis.assign import Assigned
from takt.schedule.application.file import read_application
from takt.schedule.application.flat import flat as flattened
from takt.schedule.application.kernel_scheduling import written_scheduling
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
        base = Path(os.path.relpath(source.parent, out.parent))
        changed = flattened(application).get("overheads") != assigned.flat.get("overheads")
        costs = assigned.flat["overheads"] if changed else None
        text = f"# {remark}\n{_app_yaml(assigned.flat, reading.read_text(source), base, costs)}"
        with replacing(out) as temporary:
            temporary.write_text(text, encoding="utf-8")
            _check(assigned.flat, temporary, source)


def _check(flat: dict[str, Any], written: Path, source: Path) -> None:
    """Raises TaktError where the file does not read back as the application of the proof."""
    found = flattened(read_application(written))
    if found.get("policy", "fp") == flat.get("policy", "fp"):
        pairs = zip(found["callbacks"], flat["callbacks"], strict=True)
        different = [one["name"] for one, proved in pairs if one != proved]
        if (found.get("overheads") or {}) != (flat.get("overheads") or {}):
            different.append("the overheads")
        if found.get("processes") != flat.get("processes"):
            different.append("the processes")
        if not different:
            return
    else:
        different = ["the policy"]
    raise TaktError(
        f"cannot write the assignment into this file: {', '.join(different)} would differ",
        where=str(source),
        fix="give each callback its own keys there, without aliases and merge keys (<<)",
    )


def _verdict(assigned: Assigned) -> str:
    return "every limit is kept" if assigned.analysis.verdict == "meets" else "not proved"


def _app_yaml(flat: dict[str, Any], text: str, base: Path, overheads: dict[str, int] | None) -> str:
    """The text with the policy and each callback's core, priority and deadline changed.

    ``base``: the folder of the text, from that of the file to write. ``overheads``, in ns: those
    of the proof, in place of those of the text.
    """
    yaml = YAML()
    yaml.width = _WIDEST
    yaml.preserve_quotes = True
    tree = yaml.load(text)
    if overheads is not None:
        tree["overheads"] = costs = CommentedMap()
        costs.update({key: format_duration(time) for key, time in overheads.items()})
        costs.fa.set_flow_style()  # on one line
    elif "from" in tree.get("overheads", {}):
        tree["overheads"]["from"] = str(base / tree["overheads"]["from"])
    if flat.get("policy", "fp") != tree.get("policy", "fp"):
        tree["policy"] = flat["policy"]
    if "processes" in flat:
        _place(flat["processes"], tree["processes"])
        _unshare(tree["nodes"])
        for one in flat["callbacks"]:
            node, _, name = one["name"].partition(".")
            if one.get("priority") != tree["nodes"][node][name].get("priority"):
                tree["nodes"][node][name]["priority"] = one["priority"]
        return _text(yaml, tree)
    _unshare(tree["nodes"])
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
                with contextlib.suppress(KeyError):  # a merge key has it: _check() tells
                    del callback[key]
    return _text(yaml, tree)


def _place(processes: list[dict[str, Any]], described: dict[str, Any]) -> None:
    """Changes what differs in the text; what is there by default stays unwritten."""
    _unshare({"": described})
    for one in processes:
        own = described[one["name"]]
        for key, default in (("policy", "fp"), ("cpu", 0), ("priority", None)):
            if key in one and one[key] != own.get(key, default):
                own[key] = one[key]
        if "reservation" not in one:
            continue
        written = written_scheduling(one)["reservation"]
        reservation = own["reservation"]
        if _times(reservation) == _times(written):
            continue
        for key in {*reservation} - {*written}:
            del reservation[key]
        reservation.update(written)


def _times(reservation: dict[str, Any]) -> tuple[int, int, int]:
    """Of a reservation in a file, in ns: runtime, deadline and period."""
    period = parse_duration(str(reservation["period"]))
    runtime = parse_duration(str(reservation["runtime"]))
    deadline = reservation.get("deadline")
    return runtime, parse_duration(str(deadline)) if deadline else period, period


def _text(yaml: YAML, tree: Any) -> str:
    stream = StringIO()
    yaml.dump(tree, stream)
    return stream.getvalue()


def _unshare(nodes: dict[str, Any]) -> None:
    """Gives each node and callback a text of its own: an alias is the very mapping it names."""
    visited: set[int] = set()
    for node, callbacks in nodes.items():
        nodes[node] = own = _own(callbacks, visited)
        for name, callback in own.items():
            own[name] = _own(callback, visited)


def _own(mapping: Any, visited: set[int]) -> Any:
    if id(mapping) not in visited:
        visited.add(id(mapping))
        return mapping
    own = deepcopy(mapping)
    _forget_anchors(own)
    return own


def _forget_anchors(part: Any) -> None:
    """Of a copy: two of one name would be two things."""
    if isinstance(part, CommentedBase):
        part.yaml_set_anchor(None)
    if isinstance(part, dict):
        part = list(part.values())
    if isinstance(part, list):
        for child in part:
            _forget_anchors(child)
