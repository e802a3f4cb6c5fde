# SPDX-License-Identifier: Apache-2.0
"""The links of a robot on several hosts: what crossed them in an execution, and what did not."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from takt.schedule.application.executors import STOCK_EXECUTORS
from takt.schedule.model.handovers import Handovers, Taken, Times, handover_times
from takt.schedule.model.jobs import Jobs
from takt.schedule.model.observed import ObservedCallback
from takt.schedule.model.robot import Robot
from takt.schedule.trace.hosts import HostClock

_MILLIONTHS = 10**6
_EVER = np.iinfo(np.int64).max


@dataclass(frozen=True)
class Crossing:
    """Messages of one topic from one host to a callback on another one."""

    hosts: frozenset[str]
    took: Times  # from the publication until a process noticed it
    sent: int  # up to the last one that arrived
    lost: int  # of these; they did not release the callback


@dataclass
class Ways:
    """How messages between processes went: within a host, and from one to another."""

    within: list[Times]
    across: list[Crossing]


def ways(
    robot: Robot,
    handovers: Handovers,
    taken: Sequence[Taken],
    homes: Mapping[int, str],
    jobs: Mapping[int, Jobs],
    callbacks: Mapping[int, ObservedCallback],
    topics: Mapping[int, str],
) -> Ways:
    """Sorts what was taken by the hosts of those who made it."""
    found = Ways([], list(_all_lost(robot, handovers, taken, homes, callbacks, topics)))
    for one in taken:
        of, own = jobs[one.task], robot.host(homes[one.task])
        by_host = np.array([robot.host(homes[writer]) for writer in one.writers.tolist()])
        for host in np.unique(by_host).tolist():
            rows = by_host == host
            used, published = one.jobs[rows], one.published[rows]
            took = handover_times(of.job.all(), of.release.all(), used, published)
            if host == own:
                # A job that takes the newest may have been released by an older one.
                found.within.append(took[took >= 0])
                continue
            reader = callbacks[one.task]
            if robot.policy(reader.recorded) in STOCK_EXECUTORS:
                # Released when they were made: the way is until the start, on a core that is idle.
                took, reader.noticing = reader.noticing, np.empty(0, np.int64)
            writers = _on(host, robot, homes)
            sent = handovers.sent(one.topic, writers, int(published.max()))
            # What the reader skipped did arrive.
            lost = max(0, sent - len(np.unique(published)) - of.skipped)
            found.across.append(Crossing(frozenset((host, own)), took, sent, lost))
    return found


def _all_lost(
    robot: Robot,
    handovers: Handovers,
    taken: Sequence[Taken],
    homes: Mapping[int, str],
    callbacks: Mapping[int, ObservedCallback],
    topics: Mapping[int, str],
) -> Iterator[Crossing]:
    """Messages to callbacks that have had none."""
    reached = {one.task for one in taken}
    numbers = {name: number for number, name in topics.items()}
    for task, reader in callbacks.items():
        topic = numbers.get(reader.trigger or "")
        if task in reached or topic is None:
            continue
        own = robot.host(homes[task])
        for host in robot.hosts:
            sent = handovers.sent(topic, _on(host, robot, homes), _EVER) if host != own else 0
            if sent:
                yield Crossing(frozenset((host, own)), np.empty(0, np.int64), sent, sent)


def _on(host: str, robot: Robot, homes: Mapping[int, str]) -> list[int]:
    """The tasks of a host."""
    return [task for task, home in homes.items() if robot.host(home) == host]


def note_links(robot: Robot, across: Sequence[Crossing], clocks: Sequence[HostClock]) -> None:
    """Makes each declared link as long, as lossy and as uncertain as what was seen."""
    by_link: dict[frozenset[str], list[Crossing]] = defaultdict(list)
    for one in across:
        by_link[one.hosts].append(one)
    for link in robot.links:
        if crossings := by_link.get(frozenset(link["hosts"])):
            robot.crossed.append(_widen(link, crossings, clocks))
    robot.notes += robot.crossed


def _widen(link: dict[str, Any], crossings: Sequence[Crossing], clocks: Sequence[HostClock]) -> str:
    own = [one for one in clocks if one.host in link["hosts"]]
    wrong = sum(one.bound_ns for one in own)
    took = np.concatenate([np.empty(0, np.int64), *(one.took for one in crossings)])
    sent, lost = sum(one.sent for one in crossings), sum(one.lost for one in crossings)
    text = f"link {' to '.join(link['hosts'])}: {sent} messages, {lost} lost"
    if len(took):
        least, most = max(0, int(took.min()) - wrong), int(took.max()) + wrong
        text += f", took {least / 1000:.6g} to {most / 1000:.6g} µs"
        text += f" (with {wrong / 1000:.6g} µs by the clocks)" if wrong else ""
        text += f"; declared: at most {link['most'] / 1000:.6g} µs"
        if most > link["most"]:
            link["measured"] = sent
        link["least"], link["most"] = min(link["least"], least), max(link["most"], most)
    share = math.ceil(_MILLIONTHS * lost / max(1, sent))
    link["loss"] = min(max(link["loss"], share), _MILLIONTHS - 1)
    link["drift"] = max([link["drift"], *(one.drift_ppm for one in own if not link["drift"])])
    return text


def longest_way(robot: Robot, own: str, writers: Sequence[str]) -> int:
    """The most that a message takes to this host from one of these, as declared, in ns."""
    each = []
    for host in writers:
        pair = {own, host}
        linked = [one["most"] for one in robot.links if set(one["hosts"]) == pair]
        each.append(robot.handover["most"] if host == own else max(linked, default=0))
    return max(each, default=0)
