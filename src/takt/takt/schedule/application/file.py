# SPDX-License-Identifier: Apache-2.0
"""Reads an app.yaml; every error names the file, the line, the key and what is allowed."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from takt.documents import yaml_file
from takt.documents.units import format_size
from takt.documents.yaml_file import Form, Location, Source
from takt.errors import TaktError, together
from takt.schedule.application.callback import Timing
from takt.schedule.application.hosts import check_cores
from takt.schedule.application.model import Application, Overheads
from takt.schedule.application.robot import check_processes
from takt.schedule.application.services import check_services
from takt.schedule.ros2.topics import plain

FORM = Form(
    "an application",
    Application,
    keys="nodes",
    example="examples/docking.app.yaml",
    reference="docs/reference/application-keys.md",
)


def read_application(path: Path) -> Application:
    """Reads and checks a file; raises TaktError with all of its faults."""
    application, source = yaml_file.read(path, FORM)
    if application.name is None:
        application = application.model_copy(update={"name": _name_of(path)})
    if application.overheads is not None:
        overheads = _measured(application.overheads, path, source)
        application = application.model_copy(update={"overheads": overheads})
    application._source = source  # noqa: SLF001 - the reader is the one who knows
    _check_callbacks(application, source)
    check_processes(application, source)
    check_services(application, source)
    _check_locks(application, source)
    check_cores(application, source)
    _check_topics(application, source)
    _check_sizes(application, source)
    _check_scenarios(application, source)
    _check_changes(application, source)
    _check_chains(application, source)
    return application


@contextmanager
def located(application: Application) -> Iterator[None]:
    """Gives what the core refuses about an application the line that it is about."""
    try:
        yield
    except TaktError as error:
        if error.where == str(application.file):
            error.where = application.where(error.what)
        raise


def _measured(overheads: Overheads, path: Path, source: Source) -> Overheads:
    """With those of the file that it names, relative to the application."""
    if overheads.measured is None:
        return overheads
    # A trace takes the core to read, and most applications name none.
    from takt.schedule.application.overheads import read_overheads

    try:
        found = read_overheads(path.parent / overheads.measured)
    except TaktError as error:
        error.where = f"{source.where(('overheads', 'from'))}: {error.where}"
        raise
    given = {key: ns for key, ns in dict(overheads).items() if ns is not None and key != "measured"}
    return Overheads.model_construct(**(found | given))


def _name_of(path: Path) -> str:
    name = path.name.removesuffix(".yaml").removesuffix(".app")
    return re.sub(r"^(?=[0-9])|[^A-Za-z0-9_]", "_", name)


def _check_callbacks(application: Application, source: Source) -> None:
    """Of nothing, everything could be said."""
    if not application.callbacks:
        raise TaktError(
            "no node has a callback",
            where=source.where(("nodes",)),
            fix="add one to a node, such as scan: {timer: 10ms, wcet: 1ms}",
        )


def _check_locks(application: Application, source: Source) -> None:
    """Each section names a lock. Raises TaktError with all faults."""
    faults = []
    known = ", ".join(application.locks)
    fix = f"the locks are {known}" if known else "declare it: locks: {NAME: {protocol: ceiling}}"
    for node, callbacks in application.nodes.items():
        for name, callback in callbacks.items():
            for place, one in enumerate(callback.critical_sections):
                if one.lock not in application.locks:
                    where = source.where(("nodes", node, name, "critical_sections", place))
                    faults.append(TaktError(f"unknown lock {one.lock}", where=where, fix=fix))
    if faults:
        raise together(faults)


def _check_topics(application: Application, source: Source) -> None:
    """What is said of a topic is of one that somebody has. Raises TaktError with all faults."""
    known = {plain(name): name for name in _named_topics(application)}
    faults = []
    for topic in application.topics:
        if plain(topic) not in known:
            near = difflib.get_close_matches(plain(topic), known, n=1)
            fix = f"did you mean {known[near[0]]}?" if near else "name it there, or remove it"
            where = source.where(("topics", topic))
            what = f"no callback or thread has topic {topic} in reads, writes, on or receives"
            faults.append(TaktError(what, where=where, fix=fix))
    if faults:
        raise together(faults)


def _named_topics(application: Application) -> Iterator[str]:
    """All topics and services that callbacks and threads have."""
    for _, timing in _timings(application):
        yield from (*timing.reads, *timing.writes)
    for callback in application.callbacks.values():
        yield from filter(None, (callback.on, callback.service))
    for thread in application.threads.values():
        yield from (*thread.receives, *thread.writes)


def _check_sizes(application: Application, source: Source) -> None:
    """A topic has one size, wherever it is written."""
    sizes: dict[str, tuple[int, Location]] = {
        name: (topic.size, ("topics", name, "size"))
        for name, topic in application.topics.items()
        if topic.size is not None
    }
    for place, timing in _timings(application):
        for topic, write in timing.writes.items():
            if (size := write.size) is None:
                continue
            other, there = sizes.setdefault(topic, (size, (*place, "writes", topic)))
            if other != size:
                raise TaktError(
                    f"topic {topic} has message size {format_size(size)} here and "
                    f"{format_size(other)} at {source.where(there)}",
                    where=source.where((*place, "writes", topic)),
                    fix="give the size once, below topics",
                )


def _check_scenarios(application: Application, source: Source) -> None:
    named: list[tuple[str, Location]] = [
        (switch.scenario, ("switches", place, "scenario"))
        for place, switch in enumerate(application.switches)
    ]
    if application.default_scenario is not None:
        named.append((application.default_scenario, ("default_scenario",)))
    for name, place in named:
        if name not in application.scenarios:
            fix = f"the scenarios are {', '.join(application.scenarios)}"
            if not application.scenarios:
                fix = f"declare it: scenarios: {{{name}: {{}}}}"
            raise TaktError(f"unknown scenario {name}", where=source.where(place), fix=fix)


def _check_changes(application: Application, source: Source) -> None:
    """A scenario cannot make a timer of a subscription."""
    for name, scenario in application.scenarios.items():
        for callback, change in scenario.changes.items():
            target = application.callbacks.get(callback)
            if target is None:
                raise TaktError(
                    f"scenario {name} changes unknown callback {callback}",
                    where=source.where(("scenarios", name, callback)),
                    fix=f"the callbacks are {', '.join(application.callbacks)}",
                )
            if change.timer is not None and target.on is not None:
                raise TaktError(
                    f"{callback} is released by topic {target.on}, not by a timer",
                    where=source.where(("scenarios", name, callback, "timer")),
                    fix="change its period, the minimum distance between two messages",
                )


def _check_chains(application: Application, source: Source) -> None:
    drivers = (name for name, thread in application.threads.items() if thread.timer is not None)
    known = {*application.callbacks, *drivers}
    for name, chain in application.chains.items():
        for place, callback in enumerate(chain.callbacks):
            if callback not in known:
                raise TaktError(
                    f"chain {name} contains unknown callback {callback}",
                    where=source.where(("chains", name, "callbacks", place)),
                    fix=f"the callbacks are {', '.join(application.callbacks)}",
                )


def _timings(application: Application) -> list[tuple[Location, Timing]]:
    found: list[tuple[Location, Timing]] = [
        (("nodes", node, name), callback)
        for node, callbacks in application.nodes.items()
        for name, callback in callbacks.items()
    ]
    for name, scenario in application.scenarios.items():
        found += [(("scenarios", name, task), change) for task, change in scenario.changes.items()]
    return found
