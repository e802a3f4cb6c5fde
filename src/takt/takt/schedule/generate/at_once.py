# SPDX-License-Identifier: Apache-2.0
"""Callbacks of a robot of which several jobs may run at once."""

from __future__ import annotations

from collections.abc import Iterator

from takt.schedule.application.executors import STOCK_EXECUTORS
from takt.schedule.generate.draft import Draft, Entry
from takt.schedule.ros2.topics import REQUEST

REENTRANT = "rclcpp_multi_threaded"
# Of a callback that has one of these, one job runs at a time.
EXCLUDING = ("group", "reads", "segments", "suspension", "critical_sections", "join")


def add_at_once(draft: Draft) -> None:
    """Reentrant groups of rclcpp, and timers of Takt's executors with several cores."""
    share = draft.wanted.at_once
    for process in draft.document.get("processes", []) if share else []:
        cores = len(process.get("cpus", []))
        executor = process.get("executor")
        if cores < 2 or "reservation" in process:
            continue
        if executor == REENTRANT:
            for callback in _reentrant(draft, process):
                if draft.chance.happens(share):
                    callback["at_once"] = cores + draft.chance.whole((0, 1))
        elif executor not in STOCK_EXECUTORS:
            for callback in _timers(draft, process):
                if draft.chance.happens(share):
                    callback["at_once"] = draft.chance.whole((2, cores))


def _is_exclusive(callback: Entry) -> bool:
    return callback.get("kind") == "service" or any(callback.get(key) for key in EXCLUDING)


def _own(draft: Draft, process: Entry) -> list[Entry]:
    return [one for one in draft.callbacks if one["process"] == process["name"]]


def _reentrant(draft: Draft, process: Entry) -> Iterator[Entry]:
    """None whose topic another callback of its node hears, or that serves requests."""
    own = _own(draft, process)
    for callback in own:
        topic = callback.get("trigger", "")
        heard = any(
            topic in draft.inputs(other)
            for other in own
            if other is not callback and other["node"] == callback["node"]
        )
        if not _is_exclusive(callback) and not heard and not topic.endswith(REQUEST):
            yield callback


def _timers(draft: Draft, process: Entry) -> Iterator[Entry]:
    """None that a chain leads through, or that a scenario releases at other times."""
    document = draft.document
    taken = {name for chain in document.get("chains", []) for name in chain["callbacks"]}
    taken |= {
        change["task"]
        for scenario in document.get("scenarios", [])
        for change in scenario["tasks"]
        if "period" in change or "offset" in change
    }
    for callback in _own(draft, process):
        if (
            "trigger" not in callback
            and callback["name"] not in taken
            and not _is_exclusive(callback)
        ):
            yield callback
