# SPDX-License-Identifier: Apache-2.0
"""Locks, and the sections of callbacks that hold them."""

from __future__ import annotations

from collections.abc import Iterator

from takt.schedule.generate.draft import Draft, Entry
from takt.schedule.generate.parameters import SUSPENDING

MOST_SECTIONS = 2  # of a callback, one after the other


def add_locks(draft: Draft) -> None:
    """As many as asked for, where the rest of the application allows them."""
    wanted, chance = draft.wanted, draft.chance
    count = chance.whole(wanted.locks) if wanted.locks[-1] > 0 else 0
    if not count or not _are_allowed(draft):
        return
    protocol = chance.pick(_protocols(draft))
    locks = [{"name": f"lock{number}", "protocol": protocol} for number in range(1, count + 1)]
    for callback in _takers(draft, protocol):
        if chance.happens() and (sections := list(_sections(draft, callback, locks))):
            callback["critical_sections"] = sections
    draft.document["locks"] = locks


def _are_allowed(draft: Draft) -> bool:
    """What the analysis does not know together with locks is refused by the core."""
    return "scenarios" not in draft.document and not any(
        "suspension" in one or any("max_age" in read for read in one["reads"])
        for one in draft.callbacks
    )


def _protocols(draft: Draft) -> list[str]:
    """Of one application; sections of different ones are not analysed inside each other."""
    if draft.policy in SUSPENDING:
        return ["inheritance", "ceiling", "spin"]
    return ["ceiling", "spin"] if draft.policy == "edf" else ["inheritance", "ceiling"]


def _takers(draft: Draft, protocol: str) -> list[Entry]:
    """Who may take them: but for spin locks callbacks that can be on one core.

    No callback that a timer of its node runs, for it reads the topic, too.
    """
    read = {(one["node"], read["topic"]) for one in draft.callbacks for read in one["reads"]}
    free = [one for one in draft.callbacks if (one["node"], one.get("trigger")) not in read]
    if protocol == "spin" or not free:
        return free
    core = draft.chance.pick(free).get("cpu")
    return [one for one in free if one.get("cpu") == core]


def _sections(draft: Draft, callback: Entry, locks: list[Entry]) -> Iterator[Entry]:
    """One after the other; within one a lock that comes later in the list may be taken, too."""
    chance, worst = draft.chance, draft.worst(callback)
    grain = max(1, draft.wanted.grain)
    steps = worst // grain
    if not steps:
        return
    for place in range(number := chance.whole((1, MOST_SECTIONS))):
        first, last = (steps * part // number for part in (place, place + 1))
        begin, end = sorted((chance.whole((first, last)), chance.whole((first, last))))
        if begin == end:
            continue
        lock = chance.pick(range(len(locks)))
        yield _section(draft, locks[lock]["name"], begin * grain, end * grain)
        later = locks[lock + 1 :]
        inner = sorted((chance.whole((begin, end)), chance.whole((begin, end))))
        if later and inner[0] < inner[1] and locks[lock]["protocol"] != "spin":
            yield _section(draft, chance.pick(later)["name"], *(one * grain for one in inner))


def _section(draft: Draft, lock: str, begin: int, end: int) -> Entry:
    """In every other case it may be shorter."""
    longest = end - begin
    shortest = draft.time(draft.chance.real((0, longest))) if draft.chance.happens() else longest
    times = {"shortest": min(shortest, longest), "longest": longest}
    return {"lock": lock, "begin": begin, **times}
