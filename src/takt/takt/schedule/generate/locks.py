# SPDX-License-Identifier: Apache-2.0
"""Locks, and the sections of callbacks that hold them."""

from __future__ import annotations

from collections.abc import Iterator

from takt.schedule.application.executors import SEVERAL_THREADS
from takt.schedule.generate.draft import Draft, Entry
from takt.schedule.generate.parameters import SUSPENDING

MOST_SECTIONS = 2  # of a callback, one after the other
ACROSS = ("spin", "fmlp+")  # protocols of locks that callbacks of several cores may take


def add_locks(draft: Draft) -> None:
    """As many as asked for, in each process; where the rest of it allows them."""
    for process in draft.document.get("processes", [None]):
        _add_locks(draft, process)


def _add_locks(draft: Draft, process: Entry | None) -> None:
    """Of one process; None: of an application that is no robot."""
    wanted, chance = draft.wanted, draft.chance
    count = chance.whole(wanted.locks) if wanted.locks[-1] > 0 else 0
    policies = _policies(draft, process)
    if policies & {*SEVERAL_THREADS}:  # not analysed
        return
    free = _takers(draft, process)
    protocols = _protocols(draft, policies, process)
    if not count or not free or not protocols:
        return
    protocol = chance.pick(protocols)
    locks = draft.document.setdefault("locks", [])
    new = [
        {"name": f"lock{len(locks) + number}", "protocol": protocol}
        for number in range(1, count + 1)
    ]
    if protocol not in ACROSS and process is None:
        core = chance.pick(free).get("cpu")
        free = [one for one in free if one.get("cpu") == core]
    for callback in free:
        if chance.happens() and (sections := list(_sections(draft, callback, new))):
            callback["critical_sections"] = sections
    locks.extend(new)


def _policies(draft: Draft, process: Entry | None) -> set[str]:
    """Those under which jobs may hold locks."""
    if process is not None:
        return {process["policy"] if "policy" in process else process["executor"]}
    scenarios = draft.document.get("scenarios", [])
    return {draft.policy, *(one["policy"] for one in scenarios if "policy" in one)}


def _protocols(draft: Draft, policies: set[str], process: Entry | None) -> list[str]:
    """Of one process; sections of different ones are not analysed inside each other.

    None where the core refuses all: under edf with limits of ages.
    """
    if "edf" in policies and _limits_ages(draft):
        return []
    protocols = ["ceiling"] if "edf" in policies else ["inheritance", "ceiling"]
    preemptive = policies <= {"edf", *SUSPENDING}
    protocols += ["spin"] if preemptive and process is None else []
    groups = any("group" in one for one in draft.callbacks)
    fixed = policies <= set(SUSPENDING)
    return [*protocols, *(["fmlp+"] if fixed and process is None and not groups else [])]


def _limits_ages(draft: Draft) -> bool:
    scenarios = draft.document.get("scenarios", [])
    changes = [change for scenario in scenarios for change in scenario["tasks"]]
    return any(
        "max_age" in read for one in (*draft.callbacks, *changes) for read in one.get("reads", [])
    )


def _takers(draft: Draft, process: Entry | None) -> list[Entry]:
    """No callback that a timer of its node runs, for it reads the topic, too."""
    read = {(one["node"], read["topic"]) for one in draft.callbacks for read in one["reads"]}
    return [
        one
        for one in draft.callbacks
        if (one["node"], one.get("trigger")) not in read
        and (process is None or one["process"] == process["name"])
    ]


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
        if later and inner[0] < inner[1] and locks[lock]["protocol"] not in ACROSS:
            yield _section(draft, chance.pick(later)["name"], *(one * grain for one in inner))


def _section(draft: Draft, lock: str, begin: int, end: int) -> Entry:
    """In every other case it may be shorter."""
    longest = end - begin
    shortest = draft.time(draft.chance.real((0, longest))) if draft.chance.happens() else longest
    times = {"shortest": min(shortest, longest), "longest": longest}
    return {"lock": lock, "begin": begin, **times}
