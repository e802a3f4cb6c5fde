# SPDX-License-Identifier: Apache-2.0
"""Holds a trace against an application file, instead of the description that it carries.

The trace of a running application carries none; that of another run of a modelled one does not
either. Its tasks are found by their names, or by those that the model gave them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import takt_core

from takt.errors import TaktError
from takt.pages.text import listed
from takt.schedule.application.file import located, read_application
from takt.schedule.application.flat import flat
from takt.schedule.application.under import as_run
from takt.schedule.trace import scheduled
from takt.schedule.trace.file import RECORDING, Trace, read
from takt.schedule.trace.names import whole_name

_NO_BOUNDS = (
    "note=bounds are those of Takt's executor; a stock executor of ROS 2 follows no policy and may "
    "exceed them"
)
_SHOWN = {
    "rclcpp_single_threaded": "the callbacks were taken from a wait set, in one thread",
    "rclcpp_events": "the callbacks ran in one thread, without a wait set. If it was Takt's "
    "executor, add executor: takt to the file",
}
_BOUNDS_OF_ROBOT = (
    "note=bounds are those of the executors, cores and real-time priorities in the file"
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
    tasks = {
        number: recorded.get(name) or (name if name in known else whole_name(name))
        for number, name in trace.names.tasks.items()
    }
    notes = []
    if trace.source == RECORDING:
        document = _as_recorded(document, trace)
        in_file = {name: tasks[number] for number, name in trace.names.tasks.items()}
        notes = _notes(document, described.executor, trace, in_file)
    with located(described):
        text = json.dumps(document)
        try:
            takt_core.declared(text)
        except takt_core.Error as error:
            where = str(application)
            raise TaktError(f"{error.where}: {error.problem}", where=where) from None
    if not known & set(tasks.values()):
        raise TaktError(
            f"none of its callbacks is in {trace.path.name}",
            where=str(application),
            fix=f"the trace has {', '.join(sorted(trace.names.tasks.values())[:8])}: give the "
            "file written by takt model for this application",
        )
    attributes = [one for one in trace.names.attributes if not one.startswith("application=")]
    declared = takt_core.declared(text, threads=takt_core.Threads.all).callbacks
    notes += _strangers(tasks.values(), known | {one.name for one in declared})
    names = replace(
        trace.names, tasks=tasks, attributes=[*attributes, *notes, f"application={text}"]
    )
    return replace(trace, names=names)


def _strangers(ran: Iterable[str], known: set[str]) -> list[str]:
    """What ran and is not in the file, besides subscriptions of what known callbacks read."""
    found = sorted({one for one in ran if known.isdisjoint((one, one.rpartition(".")[0]))})
    if not found:
        return []
    are = "is" if len(found) == 1 else "are"
    return [f"note={listed(found)} {are} in the trace and not in the file: not counted"]


def _as_recorded(document: dict[str, Any], trace: Trace) -> dict[str, Any]:
    """Under the executor that the recording shows, where the file names none."""
    ran = trace.names.values("executor")
    return as_run(document, ran[0]) if ran and "executor" not in document else document


def _notes(
    document: dict[str, Any], declared: str | None, trace: Trace, names: dict[str, str]
) -> list[str]:
    """Of which executors the bounds are; ``declared``: that of the file; what else ran."""
    if not document.get("processes"):
        return [_note(document, declared)]
    found = scheduled.notes(document, trace.names.values(scheduled.ATTRIBUTE), names)
    if found is None:
        return [f"{_BOUNDS_OF_ROBOT}; threads that ran without them may exceed them"]
    if not found:
        return [f"{_BOUNDS_OF_ROBOT}; the recorded threads had these cores and priorities"]
    return [_BOUNDS_OF_ROBOT, *(f"note={one}" for one in found)]


def _note(document: dict[str, Any], declared: str | None) -> str:
    """Of which executor the bounds of one process are."""
    executor = document.get("executor", "takt")
    if executor == "takt":
        return _NO_BOUNDS
    why = "as the file has it" if declared else _SHOWN[executor]
    return f"note=bounds are those of {executor}: {why}"


def _deadlines(document: dict[str, Any], recorded: dict[str, str]) -> dict[str, int]:
    """Those of an application, by the names that a recording has; that of a timer is its period."""
    names = {name: one for one, name in recorded.items()}
    found = {}
    for one in document["callbacks"]:
        deadline = one.get("deadline") or (one.get("period") if one["kind"] == "timer" else None)
        if deadline:
            found[names.get(one["name"], one["name"])] = int(deadline)
    return found
