# SPDX-License-Identifier: Apache-2.0
"""What was seen of a running application, whatever recorded it; times in ns."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from takt.schedule.model.robot import Robot

Times = NDArray[np.int64]
NO_TIMES: Times = np.empty(0, np.int64)


@dataclass
class ObservedCallback:
    """One callback and its jobs, in the order of their releases."""

    name: str  # node.callback, as the app.yaml allows it
    recorded: str  # as the trace has it
    kind: Literal["timer", "message", "service"]
    trigger: str | None = None  # the topic, or the service, that releases it
    # What the executor was told, in the keys of the flat form; empty: the trace does not say.
    declared: dict[str, Any] = field(default_factory=dict)
    releases: Times = field(default_factory=lambda: NO_TIMES)
    indices: Times = field(default_factory=lambda: NO_TIMES)  # of these releases
    early: Times = field(default_factory=lambda: NO_TIMES)  # those that came before their time
    # Of each job that ended while the scenario held that the trace begins with; else of the others.
    execution: Times = field(default_factory=lambda: NO_TIMES)
    longest: dict[str, int] = field(default_factory=dict)  # execution, by scenario
    execution_is: str = ""  # how it was measured
    waiting: Times = field(default_factory=lambda: NO_TIMES)  # in each job, others may have run
    sleeps: int = 0  # of one job at most; 0: nothing tells
    noticing: Times = field(default_factory=lambda: NO_TIMES)  # release to start on an idle core
    deadline: int | None = None  # relative; None: none
    priorities: set[int] = field(default_factory=set)  # at the starts
    cores: Counter[int] = field(default_factory=Counter)
    reads: dict[str, int] = field(default_factory=dict)  # by topic: jobs that used it
    writes: dict[str, int] = field(default_factory=dict)  # by topic: jobs that wrote it
    # By topic: the least and the most messages of a job that wrote it.
    messages: dict[str, tuple[int, int]] = field(default_factory=dict)
    publishing: dict[str, Times] = field(default_factory=dict)  # by topic: when it did
    ends: Times = field(default_factory=lambda: NO_TIMES)  # of the jobs that had a message
    # By topic, whether each of these jobs published on it.
    published: dict[str, NDArray[np.bool_]] = field(default_factory=dict)
    segments: list[dict[str, Any]] = field(default_factory=list)  # where it calls services
    skipped: int = 0
    notes: list[str] = field(default_factory=list)  # for people

    def forget(self, topic: str) -> None:
        """What it wrote there is no message."""
        for one in (self.writes, self.messages, self.published, self.publishing):
            one.pop(topic, None)


@dataclass
class Observed:
    """A whole application."""

    source: str  # where it was recorded, in words
    duration: int
    callbacks: list[ObservedCallback]
    policy: str | None = None  # None: none that Takt knows
    cpus: list[int] = field(default_factory=list)
    changes: list[dict[str, Any]] = field(default_factory=list)  # of scenarios, as they were told
    scenarios: dict[str, str] = field(default_factory=dict)  # their policies
    default_scenario: str | None = None
    switches: list[tuple[int, str]] = field(default_factory=list)  # when after the start, to which
    outside: dict[str, Times] = field(default_factory=dict)  # by topic: when others published it
    resumed: Times = field(default_factory=lambda: NO_TIMES)  # where the recording went on again
    sizes: dict[str, int] = field(default_factory=dict)  # of messages, in bytes, by topic
    depths: dict[str, int] = field(default_factory=dict)  # of queues, by topic, where known
    # When each process had called a timer; 0: not known. What was released before is start-up, such
    # as timers that came due before spin(), or other processes that still made their nodes.
    began: int = 0
    robot: Robot | None = None  # its processes, where there are several
    cores: list[dict[str, Any]] = field(default_factory=list)  # what they provide, as described
    chains: list[dict[str, Any]] = field(default_factory=list)  # as described
    notes: list[str] = field(default_factory=list)


def start_of(callbacks: list[ObservedCallback], otherwise: int) -> int:
    """When the executor started: what the offsets count from."""
    starts = [
        int(one.releases[0])
        - int(one.indices[0]) * one.declared["period"]
        - one.declared.get("offset", 0)
        for one in callbacks
        if one.kind == "timer"
        and len(one.releases)
        and one.declared.get("period")
        and one.declared.get("offset") != "unknown"
    ]
    return min(starts, default=otherwise)
