# SPDX-License-Identifier: Apache-2.0
"""The topics of what was seen: who reads and writes them, and what comes from outside."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from takt.schedule.application.topics import MOST_MESSAGES
from takt.schedule.model import arrivals
from takt.schedule.model.document import Notes
from takt.schedule.model.fit import Part
from takt.schedule.model.observed import NO_TIMES, Observed, ObservedCallback, Times
from takt.schedule.ros2.topics import topic_name


def writes(one: ObservedCallback) -> list[str]:
    """Declared and seen."""
    return list(dict.fromkeys([*map(topic_name, one.declared.get("writes", [])), *one.writes]))


def age_limits(one: ObservedCallback) -> dict[str, int]:
    """Of the topics that it declares to read, in ns; 0: none."""
    declared = one.declared.get("reads", [])
    return {topic_name(read["topic"]): read.get("max_age", 0) for read in declared}


def reads(one: ObservedCallback) -> list[str]:
    """Declared and seen, without the topic that releases it."""
    used = (topic for topic in one.reads if topic != one.trigger)
    return list(dict.fromkeys([*age_limits(one), *used]))


def several_messages(one: ObservedCallback) -> dict[str, int | list[int]]:
    """By topic, where one job published several: how many, or the least and the most."""
    several: dict[str, int | list[int]] = {}
    for topic in writes(one):
        least, most = (min(n, MOST_MESSAGES) for n in one.messages.get(topic, (1, 1)))
        if most > 1:
            several[topic] = most if least == most else [least, most]
    return several


def described(kept: Sequence[ObservedCallback], observed: Observed, notes: Notes) -> list[Part]:
    """Those of the callbacks in the flat form; fills in what stands as comments beside them."""
    used = dict.fromkeys(
        topic
        for one in kept
        for topic in [*writes(one), one.trigger, *reads(one)]
        if topic is not None and (topic, one.kind) != (one.trigger, "service")
    )
    written = {topic for one in kept for topic in writes(one)}
    written |= set(observed.robot.written_by_drivers if observed.robot else ())
    found = []
    for topic in used:
        part: Part = {"name": topic}
        if topic in observed.sizes:
            part["bytes"] = observed.sizes[topic]
        if topic in observed.depths:
            part["depth"] = observed.depths[topic]
        outside = observed.outside.get(topic)
        if outside is not None or topic not in written:
            moments = outside if outside is not None else _arrivals(kept, topic)
            part |= {"external": True} | _outside(topic, moments, observed.resumed, notes)
        found.append(part)
    return found


def _outside(topic: str, moments: Times, resumed: Times, notes: Notes) -> Part:
    curve = arrivals.curve(np.sort(moments), resumed)
    if curve is None:
        notes[topic] = ["external_period: unknown"]
        return {"external_period": 0}
    burst = f" where up to {curve.burst} come at once" if curve.burst > 1 else ""
    note = (
        f"external_period: the longest that {len(moments)} messages keep{burst}, mean distance "
        f"{curve.mean / 1e6:.6g} ms; observed, not a guarantee of the writer"
    )
    notes[topic] = [note]
    several = {"external_burst": curve.burst} if curve.burst > 1 else {}
    return {"external_period": curve.period} | several


def _arrivals(kept: Sequence[ObservedCallback], topic: str) -> Times:
    """Releases by a topic, of the callback that has most of them."""
    released = [one.releases for one in kept if one.trigger == topic]
    return max(released, key=len, default=NO_TIMES)
