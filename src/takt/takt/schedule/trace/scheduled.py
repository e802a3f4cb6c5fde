# SPDX-License-Identifier: Apache-2.0
"""Compares how the threads of a recording were scheduled with what an application file has.

Bounds hold for the priorities and cores of the file. A recording has those of its threads in the
attributes ``scheduled``, one for each callback and thread.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from takt.machine.scheduling import Scheduling
from takt.machine.system import format_cpu_list

ATTRIBUTE = "scheduled"
_STOCK = "rclcpp_"


def attribute(callback: str, thread: str, found: Scheduling) -> str:
    """How a thread that ran a callback was scheduled when the recording ended."""
    document = {
        "callback": callback,
        "thread": thread,
        "policy": found.policy,
        "priority": found.priority,
        "nice": found.nice,
        "cpus": sorted(found.cpus),
    }
    return f"{ATTRIBUTE}={json.dumps(document)}"


def notes(
    application: Mapping[str, Any], recorded: Sequence[str], names: Mapping[str, str]
) -> list[str] | None:
    """What each process of a robot had instead of its scheduling and core; None: not recorded.

    ``application`` in its flat form; ``recorded``: the values of the attributes; ``names``: of
    callbacks in the file, by those in the recording.
    """
    ran: dict[str, dict[str, Scheduling]] = defaultdict(dict)  # by callback and thread
    for text in recorded:
        one = json.loads(text)
        scheduling = Scheduling(one["policy"], one["priority"], one["nice"], frozenset(one["cpus"]))
        ran[names.get(one["callback"], one["callback"])][one["thread"]] = scheduling
    found = []
    known = False
    for process in application["processes"]:
        threads: dict[str, Scheduling] = {}
        for callback in application["callbacks"]:
            if callback["process"] == process["name"]:
                threads |= ran.get(callback["name"], {})
        known |= bool(threads)
        had = sorted({one.rank for one in threads.values() if not _is_as_described(one, process)})
        if had:
            found.append(
                f"process {process['name']}: its threads had {_listed(had)}, not "
                f"{_wanted(process)} as in the file: its bounds, and those of processes below, are "
                "not those of this recording"
            )
        own = process.get("cpus") or [process.get("cpu", 0)]
        cores = {
            format_cpu_list(one.cpus)
            for one in threads.values()
            if len(one.cpus) != 1 or not one.cpus <= set(own)
        }
        if cores:
            found.append(
                f"process {process['name']}: the kernel could run its threads on cores "
                f"{_listed(sorted(cores))}, not on {format_cpu_list(own)} alone as in the file"
            )
    return found if known else None


def _is_as_described(one: Scheduling, process: Mapping[str, Any]) -> bool:
    """Takt's threads have a band of priorities, from that of the process on."""
    if "reservation" in process:
        return one.policy == "deadline"
    if "nice" in process:
        return one.policy == "other" and one.nice == process["nice"]
    if _is_stock(process):
        return one.is_real_time and one.priority == process["priority"]
    return one.is_real_time and one.priority >= process["priority"]


def _wanted(process: Mapping[str, Any]) -> str:
    if "reservation" in process:
        return "deadline"
    if "nice" in process:
        return Scheduling("other", 0, process["nice"], frozenset()).rank
    above = "" if _is_stock(process) else " or above"
    return f"fifo {process['priority']}{above}"


def _is_stock(process: Mapping[str, Any]) -> bool:
    return str(process.get("executor", "")).startswith(_STOCK)


def _listed(words: Sequence[str]) -> str:
    return " and ".join(words)
