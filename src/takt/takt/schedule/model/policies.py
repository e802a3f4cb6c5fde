# SPDX-License-Identifier: Apache-2.0
"""What a policy takes: deadlines within periods, and for each callback a priority."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from takt.schedule.application.executors import CONSTRAINED

_BY_PERIOD = {"rm", "p-rm"}
_MAKE_PRIORITIES = {*_BY_PERIOD, "dm"}
_NEED_PRIORITIES = {"fp", "np-fp"}
_HIGHEST = 98
Part = dict[str, Any]


def defined(policy: str, parts: Sequence[Part]) -> tuple[str, list[str]]:
    """The policy, or rm where it is not defined for a deadline; a note says why."""
    long = [one["name"] for one in parts if 0 < one.get("period", 0) < one.get("deadline", 0)]
    if not long or policy not in CONSTRAINED:
        return policy, []
    why = f"{policy} is not defined for deadlines above periods, and {long[0]} has one"
    return "rm", [f"policy: set to rm; {why}"]


def unranked(policy: str, parts: Sequence[Part]) -> set[str]:
    """Callbacks without what rm, p-rm or dm make a priority of, of their own or of a reader's."""
    if policy not in _MAKE_PRIORITIES:
        return set()
    keys = {"period"} if policy in _BY_PERIOD else {"period", "deadline"}
    ranked = [one for one in parts if one.keys() & keys]
    read = {
        topic if isinstance(topic, str) else topic["topic"]
        for one in ranked
        for topic in one["reads"]
    }
    without = [one for one in parts if not one.keys() & keys]
    return {one["name"] for one in without if one.get("trigger") not in read}


def ranks_by_period(policy: str) -> bool:
    """Whether it makes priorities of periods, so that one of messages is a rank, too."""
    return policy in _BY_PERIOD


def priority(
    policy: str, declared: int | None, observed: Collection[int]
) -> tuple[int | None, list[str]]:
    """What is written as a callback's priority, and notes; none where the policy makes it.

    ``observed`` are the priorities at which its jobs started.
    """
    if policy in _MAKE_PRIORITIES:
        return None, []
    if declared and 1 <= declared <= _HIGHEST:
        return declared, []
    if policy not in _NEED_PRIORITIES:
        return None, []
    known = sorted(one for one in observed if 1 <= one <= _HIGHEST)
    if not known:
        return 1, ["priority: neither declared nor observed; set to the lowest"]
    return known[0], [f"priority: the lowest of {known}"] if len(known) > 1 else []
