# SPDX-License-Identifier: Apache-2.0
"""What events of tracetools tell about an application under the executors of rclcpp.

They tell when callbacks began and ended, of which timers and topics, and what was published in
them. They have no priorities, deadlines and groups, for these executors have none that count.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from itertools import pairwise
from pathlib import Path

import numpy as np

from takt.pages.text import listed
from takt.schedule.model import calls
from takt.schedule.model.observed import Observed, ObservedCallback
from takt.schedule.model.recorded_processes import name_apart, robot_of
from takt.schedule.model.robot import Robot
from takt.schedule.ros2 import control, threads
from takt.schedule.ros2.called import Entity, Message
from takt.schedule.ros2.due import due
from takt.schedule.ros2.reading import Reading, read
from takt.schedule.ros2.recordings import is_recorded, recordings
from takt.schedule.ros2.stand_ins import SILENT
from takt.schedule.trace.names import whole_name

_OF_ONE_PROCESS = (
    "policy, priorities, deadlines, cores: not used by the executors of rclcpp; the "
    "file has defaults for Takt's executor: edf on core 0, periods as deadlines "
    "(deadline: 5ms)"
)
_NEVER_REPORTED = (
    (
        "exclusive callback groups: not in this trace; assumed: one group for all "
        "callbacks of a node (the default of rclcpp)"
    ),
    (
        "data stored by a subscription and used by another callback: not in this trace "
        "(reads: [topic])"
    ),
)


def observed(path: Path, progress: Callable[[int], None] = lambda _: None) -> Observed:
    """Reads a trace once; raises TaktError for what is none, or tells of no callback."""
    reading = read(path, progress)
    reading.require_callbacks(path)
    span = reading.span or (0, 0)
    sent = _sent(reading)
    pairs = [(entity, _callback(reading, entity, name, sent)) for name, entity in reading.named()]
    depths = {
        one.name: one.depth
        for one in reading.entities.values()
        if one.kind == "subscription" and one.depth
    }
    stretches = control.stretches(path)
    resumed = [begin for begin, _ in stretches[1:]]
    robot = None
    if is_recorded(path):
        robot = robot_of(reading, recordings(path), resumed, threads.read(path))
    callbacks, waits = calls.describe(pairs, robot)
    if robot is not None:
        robot.notes += waits
        callbacks = [one for one in callbacks if one.recorded in robot.homes]
        name_apart(robot, callbacks)
    paused = sum(after - (end or after) for (_, end), (after, _) in pairwise(stretches))
    return Observed(
        source=f"{path.name}, a {reading.source}",
        duration=max(0, span[1] - span[0] - paused),
        callbacks=callbacks,
        policy=None if robot else "fp" if waits else "edf",
        cpus=[] if robot else [0],
        outside={
            topic: np.array(sorted(times), np.int64)
            for topic, times in (reading.outside | _requests_from_outside(reading)).items()
            if times
        },
        resumed=np.array(resumed, np.int64),
        depths=depths,
        began=_began(reading, robot),
        robot=robot,
        notes=[*([] if robot else waits or [_OF_ONE_PROCESS]), *_notes(reading)],
    )


def _requests_from_outside(reading: Reading) -> dict[str, list[int]]:
    """By topic, those for servers that recorded clients call, too."""
    found = {}
    for one in reading.entities.values():
        if one.kind == "service" and any(job.took for job in one.jobs):
            others = [job.begin for job in one.jobs if job.took is None]
            found[one.topic] = others + reading.outside.get(one.topic, [])
    return found


def _began(reading: Reading, robot: Robot | None) -> int:
    """When each process with timers had called one of them."""
    first: dict[str, int] = {}
    for name, entity in reading.named():
        if entity.kind == "timer" and entity.jobs and (robot is None or name in robot.homes):
            home = robot.homes[name] if robot else ""
            begin = min(job.begin for job in entity.jobs)
            first[home] = min(first.get(home, begin), begin)
    return max(first.values(), default=0)


def _sent(reading: Reading) -> dict[int, list[Message]]:
    """What each call published, by its id; a message that goes both ways is one."""
    found: dict[int, list[Message]] = defaultdict(list)
    for message in reading.messages.created:
        if message.maker is not None:
            found[id(message.maker)].append(message)
    return found


def _callback(
    reading: Reading, entity: Entity, recorded: str, sent: Mapping[int, list[Message]]
) -> ObservedCallback:
    jobs = sorted(entity.jobs, key=lambda job: job.begin)
    begins = np.array([job.begin for job in jobs], np.int64)
    writes: Counter[str] = Counter()
    counts: dict[str, tuple[int, int]] = {}
    publishing: dict[str, list[int]] = defaultdict(list)
    for job in jobs:
        for message in sent.get(id(job), ()):
            publishing[message.topic].append(message.time)
        writes.update({topic for topic, _ in job.published})
        for (topic, _), count in job.published.items():
            least, most = counts.get(topic, (count, count))
            counts[topic] = (min(least, count), max(most, count))
    measured = reading.has_cpu_time and (
        entity.kind != "client" or all(job.computed is not None for job in jobs)
    )
    found = ObservedCallback(
        name=whole_name(recorded),
        recorded=recorded,
        kind="timer" if entity.kind == "timer" else "message",
        execution=np.array([job.execution for job in jobs], np.int64),
        execution_is="CPU time" if measured else "from begin to end",
        releases=begins,
        indices=np.arange(len(begins), dtype=np.int64),
        writes=dict(writes),
        messages=counts,
        publishing={topic: np.array(times, np.int64) for topic, times in publishing.items()},
        ends=np.array([job.end for job in jobs], np.int64),
        published={
            topic: np.array([any(one == topic for one, _ in job.published) for job in jobs])
            for topic in writes
        },
    )
    found.declared = {"group": found.name.split(".")[0]}
    if entity.kind == "timer":
        found.declared |= {"name": recorded, "kind": "timer", "period": entity.period}
        found.declared["offset"] = "unknown"  # it counts from when the node made its timer
        if entity.period and len(begins):
            found.releases, found.indices = due(begins, entity.period, entity.created)
            late = int((begins - found.releases).max())
            found.notes.append(f"its executor started it up to {late / 1e6:.6g} ms late")
    else:
        found.trigger = entity.topic
    if entity.kind == "client":
        found.notes.append(_ends_of_responses(reading, entity))
    return found


def _ends_of_responses(reading: Reading, entity: Entity) -> str:
    """No event tells when the callback of a response ends."""
    if all(reading.waited[thread] for thread in {one.thread for one in entity.jobs}):
        return "it counts until its executor went on, for no event reports its end"
    return (
        "it counts until the last message that it published, for its executor does not show when "
        "it ends: declare its wcet"
    )


def _notes(reading: Reading) -> list[str]:
    notes = list(_NEVER_REPORTED)
    notes += _numbered_otherwise(reading)
    notes += _left_out(reading)
    if not reading.has_cpu_time:
        notes.append(
            "CPU time: not in this trace; execution times are from begin to end and "
            "include preemption; also trace the kernel's sched_switch"
        )
    if not reading.has_threads:
        notes.append(
            "threads: not in this trace; publishers are correct only for a single "
            "thread (ros2 trace adds vpid and vtid by default)"
        )
    if reading.unknown:
        notes.append(
            f"{sum(reading.unknown.values())} calls of {len(reading.unknown)} callbacks "
            "created before the start of the trace: without names they are excluded"
        )
    return notes


def _left_out(reading: Reading) -> list[str]:
    """Nodes of which messages are recorded, and no callbacks: those of rclpy and rcl."""
    called = {process for process, _ in reading.unknown}
    called |= {one.handle[0] for one in reading.entities.values() if one.jobs}
    sent, taken = (
        [one.by for one in each if one.by.handle[0] not in called]
        for each in (reading.messages.publications, reading.messages.takes)
    )
    topics = sorted({one.topic for one in sent if one.topic.rsplit("/", 1)[-1] not in SILENT})
    nodes = sorted({reading.nodes.get(one.node, "unknown").lstrip("/") for one in sent + taken})
    if not nodes:
        return []
    outside = f"; what they publish ({listed(topics)}) comes from outside" if topics else ""
    why = "left out, for no callbacks of rclpy and rcl are recorded"
    return [f"{listed(nodes, 8)}: {why}. What they compute is in no bound{outside}"]


def _numbered_otherwise(reading: Reading) -> list[str]:
    """Nodes whose timers Takt's executor may count in another order."""
    periods: dict[str, list[int]] = defaultdict(list)
    for entity in reading.entities.values():
        if entity.kind == "timer":
            node = reading.nodes.get(entity.node) if entity.node else None
            periods[node or "unknown"].append(entity.period)
    return [
        f"timers of {node}: numbered in order of creation ("
        + ", ".join(f"timer{i}: {period / 1e6:.6g} ms" for i, period in enumerate(each))
        + "); Takt's executor numbers timers of the default callback group "
        "first, then those of each other group: before using an ordinal "
        "in a timing file, check executor.callbacks() and the periods in "
        "its trace"
        for node, each in periods.items()
        if len(each) > 1
    ]
