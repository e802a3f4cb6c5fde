# SPDX-License-Identifier: Apache-2.0
"""Arrows between messages, however the trace is cut: against dictionaries, event by event."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from takt.schedule.trace.arrows import Arrows, Linked
from takt.schedule.trace.file import NONE, Table, Type, chosen

IN_FLIGHT = 256
Arrow = tuple[int, int]  # the times of a publication and of its use


def messages(draw: random.Random, count: int) -> Table:
    """Events at the times 0, 1, …: some from outside, some numbers used again, some never made."""
    rows = [
        {
            "type": draw.choice([Type.publish, Type.use]),
            "time": time,
            "job": draw.randrange(9),
            "value": draw.choice([-1, time // 3, draw.randrange(1 + time)]),
            "task": draw.choice([0, 1, 2, NONE]),
            "topic": draw.choice([3, 3, 3, 4]),
            "core": 0,
        }
        for time in range(count)
    ]
    return {name: np.array([int(row[name]) for row in rows]) for name in rows[0]}


def one_by_one(events: Table) -> list[Arrow]:
    found: list[Arrow] = []
    topics: dict[int, dict[int, tuple[int, int]]] = {}
    publications: dict[int, list[tuple[int, int]]] = {3: [], 4: []}
    for kind, time, number, task, topic in zip(
        *(events[name].tolist() for name in ("type", "time", "value", "task", "topic")), strict=True
    ):
        known = topics.setdefault(topic, {})
        if kind == Type.publish:
            known[number] = (time, task)
            publications[topic].append((time, number))
            if len(publications[topic]) > IN_FLIGHT:
                old_time, old = publications[topic][-IN_FLIGHT - 1]
                if known.get(old, (None,))[0] == old_time:
                    del known[old]
        elif number in known and NONE not in (task, known[number][1]):
            found.append((known[number][0], time))
    return sorted(found)


def cut(events: Table, draw: random.Random, longest: int) -> list[Linked]:
    arrows, linked, begin = Arrows(), [], 0
    while begin < len(events["time"]):
        end = begin + draw.randint(0, longest)
        linked += arrows.take(chosen(events, np.arange(len(events["time"]))[begin:end]))
        begin = end
    return linked + arrows.rest()


def all_at_one_time(linked: list[Linked]) -> None:
    """Publications stand before their uses."""
    begun: set[int] = set()
    for events, flows in linked:
        for kind, row in zip(events["type"], flows, strict=True):
            if kind == Type.publish:
                begun.update(row.tolist())
            assert begun.issuperset(row.tolist())


def drawn(linked: list[Linked]) -> tuple[list[int], list[Arrow]]:
    """The times of all events, and the arrows between them."""
    times: list[int] = []
    ends: dict[int, dict[Any, int]] = {}
    for events, flows in linked:
        times += events["time"].tolist()
        for time, kind, row in zip(events["time"], events["type"], flows, strict=True):
            for flow in row.tolist():
                assert kind not in ends.setdefault(flow, {}), "an arrow begins or ends twice"
                ends[flow][int(kind)] = int(time)
    return sorted(times), sorted((end[Type.publish], end[Type.use]) for end in ends.values())


@pytest.mark.parametrize("longest", [1, 7, 100, 5000])
@pytest.mark.parametrize("seed", range(3))
def test_however_it_is_cut_each_use_is_led_to_from_its_publication(longest: int, seed: int) -> None:
    draw = random.Random(seed)
    events = messages(draw, 3000)
    times, arrows = drawn(cut(events, draw, longest))
    assert times == list(range(3000))
    assert arrows == one_by_one(events)
    assert len(arrows) > 100


def test_at_one_time_publications_are_written_before_their_uses() -> None:
    draw = random.Random(4)
    events = messages(draw, 1000)
    events["time"] = np.zeros(1000, int)
    all_at_one_time(cut(events, draw, 50))


def test_no_more_than_what_is_in_flight_is_held_back() -> None:
    count = 2000
    events = {name: np.zeros(count, int) for name in ("job", "task", "topic", "core")}
    events |= {"type": np.full(count, int(Type.publish)), "time": np.arange(count)}
    arrows = Arrows()
    (written, *_) = arrows.take(events | {"value": np.arange(count)})
    assert len(written.events["time"]) == count - IN_FLIGHT
