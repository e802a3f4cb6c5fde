# SPDX-License-Identifier: Apache-2.0
"""Holds a trace against an application file, instead of the description that it carries.

The trace of a running application carries none; that of another run of a modelled one does not
either. Its tasks are found by their names, or by those that the model gave them.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import takt_core

from takt.errors import TaktError
from takt.schedule.application.file import located, read_application
from takt.schedule.application.flat import flat
from takt.schedule.trace.file import RECORDING, Trace, read
from takt.schedule.trace.names import whole_name

_NO_BOUNDS = (
    "note=bounds are those of Takt's executor; a stock executor of ROS 2 follows no policy and may "
    "exceed them"
)
_BOUNDS_OF_ROBOT = (
    "note=bounds are those of the executors, cores and real-time priorities in the file; threads "
    "that ran without them may exceed them"
)


def against(trace: Trace, application: Path | None) -> Trace:
    """The trace with that application as its own, and its names; raises TaktError.

    None: the trace as it is.
    """
    if application is None:
        return trace
    described = read_application(application)
    known = set(described.callbacks)
    recorded = {one.recorded: name for name, one in described.callbacks.items() if one.recorded}
    document = flat(described)
    if trace.source == RECORDING:
        trace = read(trace.path, _deadlines(document, recorded))
    with located(described):
        text = json.dumps(document)
        try:
            takt_core.declared(text)
        except takt_core.Error as error:
            where = str(application)
            raise TaktError(f"{error.where}: {error.problem}", where=where) from None
    tasks = {
        number: recorded.get(name) or (name if name in known else whole_name(name))
        for number, name in trace.names.tasks.items()
    }
    if not known & set(tasks.values()):
        raise TaktError(
            f"none of its callbacks is in {trace.path.name}",
            where=str(application),
            fix=f"the trace has {', '.join(sorted(trace.names.tasks.values())[:8])}: give the "
            "file written by takt model for this application",
        )
    bounds = _BOUNDS_OF_ROBOT if document.get("processes") else _NO_BOUNDS
    notes = [bounds] if trace.source == RECORDING else []
    attributes = [one for one in trace.names.attributes if not one.startswith("application=")]
    names = replace(
        trace.names, tasks=tasks, attributes=[*attributes, *notes, f"application={text}"]
    )
    return replace(trace, names=names)


def _deadlines(document: dict[str, Any], recorded: dict[str, str]) -> dict[str, int]:
    """Those of an application, by the names that a recording has; that of a timer is its period."""
    names = {name: one for one, name in recorded.items()}
    found = {}
    for one in document["callbacks"]:
        deadline = one.get("deadline") or (one.get("period") if one["kind"] == "timer" else None)
        if deadline:
            found[names.get(one["name"], one["name"])] = int(deadline)
    return found
