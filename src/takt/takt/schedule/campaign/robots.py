# SPDX-License-Identifier: Apache-2.0
"""Makes a robot of several processes smaller."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from takt.schedule.application.processes import executor_cores

Document = dict[str, Any]

PLAIN = {"policy": "fp"}
_OF_ROBOTS = {"processes", "handover", "links"}
_OF_THE_KERNEL = {"reservation", "nice", "quota"}
_LEAST = 10  # priority of a process: its threads need some from its own on


def smaller(document: Document) -> Iterator[Document]:
    """As one process; with two processes as one, another executor, one host, one core, no wait."""
    processes = document.get("processes", [])
    if not processes:
        return
    callbacks = [
        {key: value for key, value in one.items() if key != "process"}
        for one in document["callbacks"]
    ]
    alone = {key: one for key, one in document.items() if key not in _OF_ROBOTS}
    for executor in (PLAIN, _executor(processes[0])):
        yield alone | {"callbacks": callbacks} | executor
    for gone in processes:
        for home in processes:
            if home is not gone:
                yield _moved(document, gone["name"], home["name"])
    for place, process in enumerate(processes):
        plain = {key: process[key] for key in process if key not in {"executor", "policy"}} | PLAIN
        bare = {key: process[key] for key in process if key != "threads"}
        single = {key: process[key] for key in process if key != "cpus"} | {"cpu": 0}
        fifo = process if "priority" in process else _by_priority(process, processes)
        for other in (bare, plain, single, fifo):
            if other != process:
                yield document | {"processes": [*processes[:place], other, *processes[place + 1 :]]}
    yield from _nearer(document)
    most = document["handover"]["most"]
    for handover in ({"least": 0, "most": 0}, {"least": 0, "most": most}):
        if handover != document["handover"] and document["handover"]["most"] > 0:
            yield document | {"handover": handover}


def _nearer(document: Document) -> Iterator[Document]:
    """On one host; with one link that takes no time."""
    if "links" not in document:
        return
    without = {key: one for key, one in document.items() if key != "links"}
    here = [{key: one[key] for key in one if key != "host"} for one in document["processes"]]
    places = [
        (cpu, one["priority"]) for one in here if "priority" in one for cpu in executor_cores(one)
    ]
    if len(set(places)) == len(places):
        yield without | {"processes": here}
    for place, link in enumerate(document["links"]):
        if link["most"] > 0:
            none = link | {"least": 0, "most": 0}
            links = [*document["links"][:place], none, *document["links"][place + 1 :]]
            yield document | {"links": links}


def _by_priority(process: Document, processes: list[Document]) -> Document:
    """In place of a reservation, or of a nice value and a quota."""
    used = {one["priority"] for one in processes if "priority" in one}
    free = next(one for one in range(_LEAST, 99) if one not in used)
    kept = {key: one for key, one in process.items() if key not in _OF_THE_KERNEL}
    return kept | {"priority": free}


def whole(document: Document, callbacks: list[Document]) -> Document:
    """Without processes that none of the callbacks is in."""
    if not document.get("processes"):
        return document
    used = {one["process"] for one in callbacks}
    left = [one for one in document["processes"] if one["name"] in used]
    if "links" not in document:
        return document | {"processes": left}
    hosts = {one["host"] for one in left}
    links = [one for one in document["links"] if hosts.issuperset(one["hosts"])]
    return document | {"processes": left, "links": links}


def _executor(process: Document) -> Document:
    return {key: process[key] for key in ("executor", "policy") if key in process}


def _moved(document: Document, gone: str, home: str) -> Document:
    """All of one process in another one."""
    callbacks = [
        one | {"process": home} if one["process"] == gone else one for one in document["callbacks"]
    ]
    return whole(document | {"callbacks": callbacks}, callbacks)
