# SPDX-License-Identifier: Apache-2.0
"""The app.yaml: one description of an application that is analysed, simulated and executed.

Durations are ns and sizes bytes here; in the file they carry their units. None means that the core
chooses its default. Whether the callbacks make sense together is for the core to decide.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

from pydantic import ConfigDict, Field, PrivateAttr, model_validator

from takt.documents.quantities import Duration, Strict
from takt.documents.yaml_file import Location, Source
from takt.schedule.application.callback import Callback, Identifier, Timing
from takt.schedule.application.cores import Computer, Core
from takt.schedule.application.executors import Cpu, Executor, Policy
from takt.schedule.application.links import Link
from takt.schedule.application.locks import Lock
from takt.schedule.application.processes import Host, Middleware, Process
from takt.schedule.application.threads import Thread
from takt.schedule.application.topics import Topic, TopicName


class Chain(Strict):
    """A path of data: each callback reads what the one before it writes."""

    callbacks: Annotated[list[str], Field(min_length=1)] = Field(
        description="names of the callbacks, node.callback, in the order of the data flow"
    )
    max_latency: Duration | None = Field(
        None,
        description="maximum latency from a release of the first to the end of the last; "
        "default: any",
    )


class Scenario(Strict):
    """Changes of callbacks, by their names (node.callback), and the policy while they hold."""

    model_config = ConfigDict(extra="allow", frozen=True)
    __pydantic_extra__: dict[str, Timing]

    policy: Policy | None = Field(
        None, description="value while the scenario is active; default: the application's"
    )

    @model_validator(mode="after")
    def _changeable(self) -> Scenario:
        for callback, change in self.changes.items():
            if change.offset == "unknown":
                raise ValueError(
                    f"a scenario does not make the offset of {callback} unknown: write offset: "
                    f"unknown where {callback} is declared"
                )
            several = [name for name, one in change.writes.items() if one.messages != (1, 1)]
            if several:
                raise ValueError(
                    f"a scenario does not change how many messages {callback} publishes: give "
                    f"the messages on {several[0]} where {callback} is declared"
                )
        return self

    @property
    def changes(self) -> dict[str, Timing]:
        """What changes of which callback."""
        return self.__pydantic_extra__


class Switch(Strict):
    """A change of the scenario while the application is simulated or executed."""

    at: Duration = Field(description="time after the start")
    scenario: str = Field(description="name of the scenario")


class Overheads(Strict):
    """CPU time that executor and middleware take; what is left out counts as none."""

    measured: str | None = Field(
        None,
        alias="from",
        description="file that holds the measured ones: a trace of takt execute, or the document "
        "of takt bench overheads --json; those that are given here replace them",
    )
    dispatch: Duration | None = Field(None, description="per job")
    preemption: Duration | None = Field(None, description="per preemption")
    release: Duration | None = Field(None, description="per release")
    publish: Duration | None = Field(None, description="per message written")
    publish_per_kib: Duration | None = Field(None, description="per KiB written")
    deliver: Duration | None = Field(None, description="per message read")
    deliver_per_kib: Duration | None = Field(None, description="per KiB read")


class Application(Strict):
    """A whole app.yaml."""

    name: Identifier | None = Field(
        None, description="name of the application; default: that of the file"
    )
    description: str = Field("", description="description")
    cpus: Annotated[list[Cpu], Field(min_length=1)] | None = Field(
        None, description="cores for the callbacks; default: [0]"
    )
    cores: dict[Cpu, Core] = Field(
        {},
        description="supply, latency and interrupts of cores, by number; default: a core provides "
        "all of its time at once",
    )
    executor: Executor | None = Field(
        None,
        description="takt, or one of rclcpp's own executors, which have an order of their own "
        "instead of a policy, one core and no scenarios; default: takt",
    )
    policy: Policy | None = Field(None, description="scheduling policy; default: fp")
    processes: dict[Identifier, Process] = Field(
        {}, description="processes of a robot, by name; default: one process with all nodes"
    )
    middleware: Middleware | None = Field(
        None, description="latency of messages between processes; default: messages arrive at once"
    )
    hosts: dict[Host, Computer] = Field(
        {},
        description="hosts of processes, by name; default: their cores provide all of their time",
    )
    links: list[Link] = Field(
        [], description="network links, one for each pair of hosts that exchange messages"
    )
    nodes: Annotated[dict[Identifier, dict[Identifier, Callback]], Field(min_length=1)] = Field(
        description="nodes by name, each with callbacks by name"
    )
    topics: dict[TopicName, Topic] = Field(
        {},
        description="topics by name: everything not given in reads and writes; by the name of a "
        "service its requests",
    )
    locks: dict[Identifier, Lock] = Field(
        {}, description="mutexes that critical_sections of callbacks hold, by name"
    )
    chains: dict[Identifier, Chain] = Field({}, description="paths of data, by name")
    scenarios: dict[Identifier, Scenario] = Field(
        {},
        description="scenarios by name; a scenario without changes is the application as described",
    )
    default_scenario: str | None = Field(None, description="initial scenario; default: the first")
    switches: list[Switch] = Field(
        [], description="change of the scenario at a time after the start"
    )
    overheads: Overheads | None = Field(
        None, description="CPU time of executor and middleware; default: not counted"
    )

    _source: Source = PrivateAttr(default_factory=Source)

    @property
    def callbacks(self) -> dict[str, Callback]:
        """All callbacks by their whole names, node.callback, in the order of the file."""
        return {
            f"{node}.{name}": callback
            for node, callbacks in self.nodes.items()
            for name, callback in callbacks.items()
        }

    @property
    def threads(self) -> dict[str, Thread]:
        """Those beside executors, by their whole names, process.thread."""
        return {
            f"{process}.{name}": thread
            for process, one in self.processes.items()
            for name, thread in one.threads.items()
        }

    @property
    def file(self) -> Path | None:
        """The file that it was read from."""
        return self._source.file

    def where(self, said: str) -> str:
        """``file:line`` of the first part that a message of the core names in quotes."""
        places: dict[str, Location] = {
            f"{node}.{name}": ("nodes", node, name)
            for node, callbacks in self.nodes.items()
            for name in callbacks
        }
        for name in self.threads:
            process, _, thread = name.partition(".")
            places.setdefault(name, ("processes", process, "threads", thread))
        for part in ("processes", "topics", "locks", "chains", "scenarios"):
            for name in getattr(self, part):
                places.setdefault(name, (part, name))
        for name in re.findall(r"'([^']+)'", said):
            if name in places:
                return self._source.where(places[name])
            for key in ("policy", "executor"):
                if (place := self._place_of(key, name)) is not None:
                    return self._source.where(place)
        for number, link in enumerate(self.links):
            if said.startswith("link '{}' to '{}'".format(*link.hosts)):
                return self._source.where(("links", number))
        return self._source.where(("cpus",) if said.startswith("cores:") else ())

    def _place_of(self, key: str, value: str) -> Location | None:
        """The first place of the key that has this value: the application, or a process."""
        if getattr(self, key) == value:
            return (key,)
        found = (name for name, one in self.processes.items() if getattr(one, key) == value)
        name = next(found, None)
        return None if name is None else ("processes", name, key)
