# SPDX-License-Identifier: Apache-2.0
"""Task sets of SchedCAT (XML) as timers: sporadic tasks with period, cost, deadline, partition.

Its generators count microseconds. The file names no policy; deadline-monotonic priorities are what
most of its tests are about.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from math import ceil
from pathlib import Path
from typing import Any

from takt.schedule.importing.imported import (
    Given,
    Imported,
    application,
    execution,
    identifier,
    time_ns,
    wrong,
)

UNIT = 1000  # ns
_LOCKS = ("resources", "critical_sections")


def read(file: Path, text: str, given: Given) -> list[Imported]:
    """Every task set of the file; raises TaktError where it has locks, which Takt has not."""
    if re.search(r"<!(DOCTYPE|ENTITY)", text):
        raise wrong(file, None, "a document type is not allowed in a task set", "remove <!DOCTYPE>")
    try:
        root = ET.fromstring(text)  # noqa: S314 - no document type, so no entities that grow
    except ET.ParseError as error:
        raise wrong(file, error.position[0], f"no XML: {error}") from None
    sets = list(root.iter("taskset"))
    if not sets:
        raise wrong(file, None, f"no task set in <{root.tag}>", "give a file with <taskset>")
    return [_set(file, one, given.unit or UNIT) for one in sets]


def _set(file: Path, node: ET.Element, unit: int) -> Imported:
    tasks = node.findall("task")
    if not tasks:
        raise wrong(file, None, "a task set without tasks")
    callbacks = [_callback(file, place, one, unit) for place, one in enumerate(tasks)]
    names = [one["name"] for one in callbacks]
    if len(set(names)) < len(names):
        raise wrong(file, None, "two tasks of a set have the same id")
    load = sum(one["execution"]["worst"] / one["period"] for one in callbacks)
    partitions = {one["cpu"] for one in callbacks if "cpu" in one}
    cpus = sorted(partitions) if partitions else list(range(max(1, ceil(load - 1e-9))))
    notes = ["policy: the file has none; dm, to be changed in the file (fp, rm, edf, …)"]
    if not partitions and len(cpus) > 1:
        notes.append(
            f"cores: the file has no partition; {len(cpus)} cores, the least for a utilization of "
            f"{load:.2f}"
        )
    return Imported(application(callbacks, "dm", cpus), notes)


def _callback(file: Path, place: int, node: ET.Element, unit: int) -> dict[str, Any]:
    name = node.get("id", str(place + 1))
    for lock in _LOCKS:
        if (found := node.find(lock)) is not None and len(found):
            raise wrong(
                file,
                None,
                f"task {name} has {lock.replace('_', ' ')}: Takt does not analyse locks yet",
                "import a set without them",
            )
    period, worst = (
        time_ns(node.get(one), unit, file, None, f"{one} of task {name}")
        for one in ("period", "wcet")
    )
    if not period:
        raise wrong(file, None, f"period of task {name} must be greater than 0")
    found_keys: dict[str, Any] = {
        "name": f"tasks.{identifier(name, 'task_')}",
        "period": period,
        "execution": execution(worst, worst),
    }
    if (deadline := node.get("deadline")) is not None:
        found_keys["deadline"] = time_ns(deadline, unit, file, None, f"deadline of task {name}")
    if (cpu := _cpu(file, name, node)) is not None:
        found_keys["cpu"] = cpu
    return found_keys


def _cpu(file: Path, name: str, node: ET.Element) -> int | None:
    """Its partition, or the only core of its affinity."""
    cpus = [one.get("id", "") for one in node.iterfind("affinity/cpu")]
    if len(cpus) > 1:
        raise wrong(
            file,
            None,
            f"task {name} may run on {len(cpus)} cores: a callback of Takt has one core",
            "import a partitioned set",
        )
    text = node.get("partition", cpus[0] if cpus else None)
    if text is None:
        return None
    if not re.fullmatch(r"[0-9]{1,4}", text):
        raise wrong(file, None, f"partition of task {name} is no core: {text!r}")
    return int(text)
