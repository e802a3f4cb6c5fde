# SPDX-License-Identifier: Apache-2.0
"""Writes ROS 2 packages of an application, for those who want to start from source.

Three, as section 5.2 of Krukiewicz-Gacek 2021 has them: under Takt, baseline0 and baseline1.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from takt_core import node_priorities, topics_of_scenarios

from takt.documents.units import format_duration
from takt.documents.writing import write_text
from takt.errors import TaktError
from takt.schedule.application.processes import refuse_processes
from takt.schedule.execution.model import BASELINES
from takt.schedule.generate.files import new_folder
from takt.schedule.generate.identifiers import Identifiers

FILES = {"work.hpp.j2": "src/work.hpp", "CMakeLists.txt.j2": "CMakeLists.txt"} | {
    "package.xml.j2": "package.xml"
}
#: By approach the package's library and its CMake target.
LIBRARIES = {
    "takt": ("takt_rcl", "takt_rcl::takt_rcl"),
    "baseline0": ("takt_runner", "takt_runner::takt_baseline"),
    "baseline1": ("takt_runner", "takt_runner::takt_baseline"),
}
#: The cores of an application that names none, as under takt execute; of all three packages.
FIRST = (0,)
QUANTILES = 21  # of an execution time: as many as a reader of source code bears


def write_packages(document: dict[str, Any], folder: Path) -> list[Path]:
    """Writes the packages of a flat form below a folder and returns their paths."""
    refuse_processes(document, None, "--emit-code")
    if any(one.get("kind") == "service" for one in document["callbacks"]):
        raise TaktError(
            "the generated code does not call services yet",
            fix="remove service and call, and write both where the work of the callbacks is",
        )
    if holders := [one["name"] for one in document["callbacks"] if one.get("critical_sections")]:
        raise TaktError(
            f"{', '.join(holders)}: the generated code does not take locks yet",
            fix="remove critical_sections, and lock where the work of the callback does",
        )
    name = re.sub(r"[^a-z0-9_]", "_", document["name"].lower())
    name = name if name[0].isalpha() else f"app_{name}"
    environment = Environment(  # noqa: S701 - C++, not HTML
        loader=PackageLoader("takt.schedule.generate", "templates"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    values = _values(document)
    # The baselines know no scenarios; under Takt messages come and go alike in all of them.
    of_takt = _values(_with_topics_of_scenarios(document))
    targets = []
    for approach in ("takt", *BASELINES):
        package = name if approach == "takt" else f"{name}_{approach}"
        library, target = LIBRARIES[approach]
        own = {"package": package, "library": library, "target": target}
        own |= of_takt if approach == "takt" else values
        targets.append(new_folder(folder / package))
        for template, path in (FILES | {f"{approach}.cpp.j2": "src/main.cpp"}).items():
            file = targets[-1] / path
            file.parent.mkdir(exist_ok=True)
            write_text(file, environment.get_template(template).render(own))
    return targets


def _values(document: dict[str, Any]) -> dict[str, Any]:
    names = Identifiers()
    nodes = {
        name: names.of(name, lambda one: {f"{one}_node", f"run_{one}"})
        for name in dict.fromkeys(one["node"] for one in document["callbacks"])
    }
    topics = {topic["name"]: _topic(topic, names) for topic in document.get("topics", [])}
    callbacks = [_callback(one, topics, nodes, names) for one in document["callbacks"]]
    idle = [one["name"] for one in document["callbacks"] if one.get("active") is False]
    scenarios = document.get("scenarios") or ([{"name": "default", "tasks": []}] if idle else [])
    return {
        "app": {"policy": None, "default_scenario": None, **document},
        "remark": f"Application {document['name']}, written by takt generate --emit-code",
        "cpus": f"{{{', '.join(map(str, document.get('cpus') or FIRST))}}}",
        "priorities": node_priorities(json.dumps(document)),
        "nodes": [{"name": name, "id": identifier} for name, identifier in nodes.items()],
        "topics": list(topics.values()),
        "external": [f'"{_full(name)}"' for name, one in topics.items() if one["external"]],
        "callbacks": callbacks,
        "devices": sorted(
            {
                f"{part['device']}_"
                for one in document["callbacks"]
                for part in one.get("segments", ())
                if "device" in part
            }
        ),
        "scenarios": [
            {
                "name": scenario["name"],
                "policy": scenario.get("policy"),
                "changes": list(_changes(scenario["tasks"], idle)),
            }
            for scenario in scenarios
        ],
        "switches": [
            {"at": format_duration(one["at"]), "scenario": one["scenario"]}
            for one in document.get("switches", [])
        ],
    }


def _with_topics_of_scenarios(document: dict[str, Any]) -> dict[str, Any]:
    topics = topics_of_scenarios(json.dumps(document))
    callbacks = []
    for one in document["callbacks"]:
        reads, writes = topics[one["name"]]
        own = {read["topic"]: read for read in one["reads"]}
        reads_all = [own.get(topic, {"topic": topic}) for topic in reads]
        callbacks.append(one | {"reads": reads_all, "writes": writes})
    return document | {"callbacks": callbacks}


def _literal(text: str) -> str:
    """As C++ writes it."""
    return json.dumps(text, ensure_ascii=False)


def _full(topic: str) -> str:
    return topic if topic.startswith("/") else f"/{topic}"


def _topic(topic: dict[str, Any], names: Identifiers) -> dict[str, Any]:
    identifier = names.of(topic["name"], lambda one: {f"{one}_topic", f"{one}_topic_message"})
    return {
        "name": topic["name"],
        "id": f"{identifier}_topic",
        "bytes": topic.get("bytes", 0),
        "depth": topic.get("depth", 1),
        "reliability": "" if topic.get("reliable", True) else ".best_effort()",
        "external": topic.get("external", False),
        "writers": [],
    }


def _callback(
    one: dict[str, Any],
    topics: dict[str, dict[str, Any]],
    nodes: dict[str, str],
    names: Identifiers,
) -> dict[str, Any]:
    reads = [
        {"topic": topics[read["topic"]], "max_age": read.get("max_age", 0)} for read in one["reads"]
    ]
    writes = [topics[topic] for topic in one["writes"]]
    parts = ["times", "executions", *(topic["id"] for topic in writes)]
    parts += [f"{how}_{read['topic']['id']}" for read in reads for how in ("from", "newest")]
    identifier = names.of(one["name"], lambda it: {it, *(f"{it}_{part}" for part in parts)})
    for topic in writes:
        topic["writers"].append(one["node"])
    quantiles = one["execution"]["quantiles"]
    steps = min(QUANTILES, len(quantiles)) - 1
    times = [quantiles[round(i * (len(quantiles) - 1) / max(1, steps))] for i in range(steps + 1)]
    options = [f'.name = "{one["name"]}"']
    options += [f".priority = {one['priority']}"] if one.get("priority") else []
    options += [f".deadline = {format_duration(one['deadline'])}"] if one.get("deadline") else []
    if reads:
        sources = [
            f"{{{identifier}_from_{read['topic']['id']}, {format_duration(read['max_age'])}}}"
            for read in reads
        ]
        options.append(f".reads = {{{', '.join(sources)}}}")
    if writes:
        targets = ", ".join(f"{identifier}_{topic['id']}" for topic in writes)
        options.append(f".writes = {{{targets}}}")
    options += [f".group = {_literal(one['group'])}"] if one.get("group") else []
    options += [".waits = true"] if one.get("suspension") else []
    timer = one.get("kind", "timer") == "timer"
    # A program's timers have one: of those that are unknown, none.
    known = timer and one.get("offset", 0) not in (0, "unknown")
    offset = format_duration(one["offset"]) if known else ""
    options += [f".offset = {offset}"] if offset else []
    options.append(f".expected_execution = {format_duration(one['execution']['worst'])}")
    options += [f".budget = {format_duration(one['budget'])}"] if one.get("budget") else []
    options += [f".overrun = takt::Overrun::{one['overrun']}"] if one.get("overrun") else []
    if not timer and one.get("period"):
        options.append(f".period = {format_duration(one['period'])}")
    options += [f".cpu = {one['cpu']}"] if one.get("cpu", -1) >= 0 else []
    return {
        "name": one["name"],
        "node": one["node"],
        "node_id": nodes[one["node"]],
        "id": identifier,
        "period": format_duration(one["period"]) if timer else "",
        "trigger": None if timer else topics[one["trigger"]],
        "reads": reads,
        "writes": writes,
        "messages": {topic: _count(of) for topic, of in one.get("messages", {}).items()},
        "times": [] if one.get("segments") else [format_duration(time) for time in times],
        "work": list(_work(one, identifier)),
        "deadline": format_duration(one["deadline"]) if one.get("deadline") else "",
        "offset": offset,
        "options": options,
    }


def _work(one: dict[str, Any], identifier: str) -> Iterator[str]:
    """What a job does, as statements."""
    if not one.get("segments"):
        yield f"compute({identifier}_times)"
        if one.get("suspension"):
            yield f"std::this_thread::sleep_for({format_duration(one['suspension'])})"
    for place, segment in enumerate(one.get("segments", [])):
        times = sorted({segment.get("shortest", segment["longest"]), segment["longest"]})
        texts = [format_duration(time) for time in times]
        computes = f"compute(std::array<nanoseconds, {len(texts)}>{{{', '.join(texts)}}})"
        if place % 2 == 0:
            yield computes
        elif "device" in segment:
            yield f"devices::{segment['device']}_.occupy({texts[0]}, {texts[-1]})"
        else:
            yield f"std::this_thread::sleep_for({texts[-1]})"


def _count(messages: int | list[int]) -> str:
    """How many messages a job publishes, as an expression."""
    return str(messages) if isinstance(messages, int) else "between({}, {})".format(*messages)


def _changes(tasks: list[dict[str, Any]], idle: list[str]) -> Iterator[list[str]]:
    """The designated initialisers of each TaskChange, in the order of its members."""
    changes = {task["task"]: task for task in tasks}
    for name in [*changes, *(name for name in idle if name not in changes)]:
        change: dict[str, Any] = {"active": False} if name in idle else {}
        change |= changes.get(name, {})
        fields = [f'.task = "{name}"']
        fields += [f".priority = {change['priority']}"] if "priority" in change else []
        fields += [
            f".{key} = {format_duration(change[key])}"
            for key in ("period", "offset", "deadline", "expected_execution", "budget")
            if key in change
        ]
        fields += [f".overrun = takt::Overrun::{change['overrun']}"] if "overrun" in change else []
        fields += [f".active = {str(change['active']).lower()}"] if "active" in change else []
        reads = [
            f'{{"{_full(read["topic"])}", {format_duration(read.get("max_age", 0))}}}'
            for read in change.get("reads", [])
        ]
        fields += [f".reads = {{{', '.join(reads)}}}"] if reads else []
        writes = [f'"{_full(topic)}"' for topic in change.get("writes", [])]
        fields += [f".writes = {{{', '.join(writes)}}}"] if writes else []
        yield fields
