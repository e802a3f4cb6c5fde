# SPDX-License-Identifier: Apache-2.0
"""Callbacks of a recording that call services and wait for the responses."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from takt.schedule.application.executors import STOCK_EXECUTORS
from takt.schedule.model.observed import ObservedCallback
from takt.schedule.model.robot import Robot
from takt.schedule.ros2.called import Call, Entity
from takt.schedule.ros2.topics import plain, response_topic, service_name

Part = dict[str, Any]
Pairs = Sequence[tuple[Entity, ObservedCallback]]
_OFF_CORE = 0.5  # of the time between request and response, at least: else it computed meanwhile


def describe(pairs: Pairs, robot: Robot | None) -> tuple[list[ObservedCallback], list[str]]:
    """Which callbacks are left, with what they wait for, and notes.

    ``robot``: its processes, where there are several. Callbacks wait in those under Takt's
    executor only.
    """
    clients = {one.recorded: calls for entity, one in pairs if (calls := waits(entity))}
    for entity, one in pairs:
        if robot and one.recorded in clients and robot.policy(one.recorded) in STOCK_EXECUTORS:
            _count_as_execution(entity, one)
            del clients[one.recorded]
    if not clients:
        return [one for _, one in pairs], []
    only = _waited_for(pairs, clients)
    left, notes = [], []
    for entity, one in pairs:
        if entity.kind == "client" and plain(entity.name) in only:
            notes.append(f"{one.name}: it takes responses that others wait for, and is left out")
            continue
        if entity.kind == "service" and plain(entity.name) in only:
            one.kind, one.trigger = "service", service_name(entity.topic)
            one.forget(response_topic(entity.name))
        elif one.recorded in clients:
            _wait(entity, one, clients[one.recorded], only)
        left.append(one)
    homes = {one.recorded: robot.homes.get(one.recorded, "") if robot else "" for one in left}
    for home in sorted({homes[name] for name in clients}):
        _rank([one for one in left if homes[one.recorded] == home])
    notes.append(
        "priorities: not in a recording; assumed: the shorter the distance of releases, the higher "
        "(policy fp), for callbacks wait for responses"
    )
    return left, notes


def segments(one: ObservedCallback, margin: float) -> Part:
    """Those of the flat form, with the longest times of computing longer by a share."""
    found = [
        part | {"longest": math.ceil(part["longest"] * (1 + margin))} if "longest" in part else part
        for part in one.segments
    ]
    return {"segments": found} if found else {}


def waits(entity: Entity) -> list[Call]:
    """Its jobs that sent requests, if each waited for each response; none if not."""
    calls = [job for job in entity.jobs if job.requests]
    return calls if all(map(_waited, calls)) else []


def _waited(job: Call) -> bool:
    answered = [one.answered for one in job.requests if one.waited and one.answered is not None]
    if len(answered) < len(job.requests) or max(answered) > job.end:
        return False
    return job.computed is None or job.end - job.begin - job.computed >= _OFF_CORE * _waiting(job)


def _waiting(job: Call) -> int:
    return sum(one.answered - one.time for one in job.requests if one.answered is not None)


def _waited_for(pairs: Pairs, clients: dict[str, list[Call]]) -> set[str]:
    """Services whose requests all come from jobs that wait and call the same ones in turn."""
    found: dict[str, list[bool]] = defaultdict(list)
    for entity, one in pairs:
        alike = len({_sequence(job) for job in clients.get(one.recorded, [])}) == 1
        for job in entity.jobs:
            for request in job.requests:
                found[_service(request.topic)].append(alike)
        if entity.kind == "service":
            found[plain(entity.name)] += [
                job.took is not None and job.took.maker is not None for job in entity.jobs
            ]
    return {name for name, alike in found.items() if all(alike)}


def _sequence(job: Call) -> tuple[str, ...]:
    return tuple(_service(one.topic) for one in job.requests)


def _service(topic: str) -> str:
    return plain(service_name(topic) or topic)


def _wait(entity: Entity, one: ObservedCallback, calls: list[Call], only: set[str]) -> None:
    one.declared.pop("group", None)  # it would keep its server from running
    services = _sequence(calls[0])
    if set(services) <= only:
        for request in calls[0].requests:
            one.forget(request.topic)
        one.segments = _segments(calls, services)
        one.notes.append(
            f"segments: in {len(calls)} of {len(entity.jobs)} jobs it waits for the response of "
            + ", ".join(f"/{name}" for name in services)
        )
        return
    one.declared["waits"] = True
    one.waiting = np.array([_waiting(job) for job in calls], np.int64)
    one.sleeps = max(len(job.requests) for job in calls)
    one.notes.append("it waits for responses of a service that others request without a wait")


def _segments(calls: list[Call], services: tuple[str, ...]) -> list[Part]:
    """What it computes before, between and after its calls."""
    pieces = np.array([list(_pieces(job)) for job in calls]).T
    found: list[Part] = []
    for piece, service in zip(pieces, (*services, ""), strict=True):
        found.append({"shortest": max(1, int(piece.min())), "longest": max(1, int(piece.max()))})
        found += [{"call": f"/{service}"}] if service else []
    return found


def _pieces(job: Call) -> Iterable[int]:
    """By the CPU time at its requests; without it, by the times between."""
    moments = [job.cpu, *(one.cpu for one in job.requests)]
    if job.computed is not None and None not in moments:
        clock = [one for one in moments if one is not None]
        clock.append(clock[0] + job.computed)
        return [max(0, after - before) for before, after in pairwise(clock)]
    answered = [job.begin, *(one.answered or one.time for one in job.requests)]
    asked = [*(one.time for one in job.requests), job.end]
    return [until - since for since, until in zip(answered, asked, strict=True)]


def _count_as_execution(entity: Entity, one: ObservedCallback) -> None:
    """Its executor does nothing else meanwhile."""
    one.execution = np.array([job.execution + _waiting(job) for job in entity.jobs], np.int64)
    one.declared["publishes"] = "anywhere"
    one.notes.append(
        "it waits for responses of services, and its executor does nothing else meanwhile: the "
        "longest observed wait is part of wcet"
    )


def _rank(callbacks: list[ObservedCallback]) -> None:
    order = sorted(callbacks, key=lambda one: one.declared.get("period") or _distance(one))
    for place, one in enumerate(order):
        one.declared["priority"] = max(1, 98 - place)


def _distance(one: ObservedCallback) -> float:
    return float(np.median(np.diff(one.releases))) if len(one.releases) > 1 else math.inf
