# SPDX-License-Identifier: Apache-2.0
"""Cores and scheduling of recorded processes, from how their threads were scheduled.

What a description cannot have (two threads at SCHED_OTHER on a core or with the same priority,
several cores) is written as the nearest that it can, and a note says what it takes for the bounds
to hold.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from takt.machine.scheduling import Scheduling
from takt.machine.system import format_cpu_list
from takt.schedule.ros2.called import Call, Handle
from takt.schedule.ros2.threads import Threads

_MOSTLY = 0.95  # of its calls began on one core: it is taken for its core
_PRIORITY = 80  # of the first process, where there are not more
_MOST_PRIORITIES = 98
_ABOVE = ("deadline",)  # of all real-time priorities
_LAST = ("idle",)

_UNKNOWN = (
    "priorities of processes: not in this recording; assumed: the shorter the shortest period, the "
    "higher. Bounds hold once the threads have them (SCHED_FIFO)"
)
_NONE = (
    "priorities of processes: their threads had none (other); assumed: the shorter the shortest "
    "period, the higher. Bounds hold once the threads have them (SCHED_FIFO)"
)


@dataclass(frozen=True)
class Ran:
    """One process, as its callbacks ran."""

    name: str
    calls: list[Call]
    shortest: float  # of the periods of its callbacks, in ns
    width: int = 1  # real-time priorities that its threads need, from its own on

    @property
    def threads(self) -> list[Handle]:
        """Those that ran callbacks."""
        return list(dict.fromkeys(call.thread for call in self.calls))


def cores_of(ran: Mapping[int, Ran], threads: Threads, notes: list[str]) -> dict[int, int]:
    """The core of each process, or one of its own where it moved."""
    found: dict[int, int] = {}
    moved: dict[int, str] = {}
    wider: dict[str, list[str]] = defaultdict(list)
    for number, one in ran.items():
        of = Counter(call.core for call in one.calls if call.core >= 0)
        allowed = _allowed(one, threads)
        if len(allowed) == 1:
            of = Counter(allowed)
        if not of:
            moved[number] = "its cores were not recorded"
            continue
        core, most = of.most_common(1)[0]
        share = most / of.total()
        shares = ", ".join(f"{each} ({n / of.total():.0%})" for each, n in sorted(of.items()))
        if share < _MOSTLY:
            moved[number] = f"it ran on cores {shares}"
            continue
        if list(found.values()).count(core) == _MOST_PRIORITIES:
            moved[number] = f"core {core} has as many processes as there are priorities"
            continue
        found[number] = core
        if len(allowed) > 1:
            wider[format_cpu_list(allowed)].append(one.name)
        if share < 1:
            notes.append(f"process {one.name}: core {core}; its calls began on {shares}")
    for number, why in moved.items():
        core = next(each for each in range(len(ran)) if each not in found.values())
        found[number] = core
        notes.append(
            f"process {ran[number].name}: {why}; assumed: core {core}, which no other process "
            "has. Set its affinity, and cpu to the same"
        )
    for cores, names in wider.items():
        notes.append(
            f"cores: the kernel may move {', '.join(names)} to any of {cores}. Bounds hold once "
            "each has the affinity in the file"
        )
    return found


def _allowed(one: Ran, threads: Threads) -> frozenset[int]:
    """The cores that its threads may use; none: not recorded."""
    return frozenset().union(
        *(state.scheduling.cpus for each in one.threads if (state := threads.last(each)))
    )


def scheduling_of(
    ran: Mapping[int, Ran], cores: Mapping[int, int], threads: Threads, notes: list[str]
) -> dict[int, dict[str, Any]]:
    """What a process in its flat form has of it: a reservation, a nice value or a priority."""
    found: dict[int, dict[str, Any]] = {}
    last = {number: _of_one_thread(one, threads) for number, one in ran.items()}
    for number, state in last.items():
        if state and state.reservation:
            runtime, deadline, period = state.reservation
            found[number] = {
                "reservation": {"runtime": runtime, "deadline": deadline, "period": period}
            }
            notes.append(
                f"process {ran[number].name}: its thread had a reservation (SCHED_DEADLINE), and "
                f"may have run on cores {state.cores}; bounds are those of core {cores[number]}"
            )
    reserved = set(found)
    without = {number: one for number, one in last.items() if one and one.policy == "other"}
    for number, state in without.items():
        beside = [each for each in ran if each != number and cores[each] == cores[number]]
        preferred = [each for each in beside if each in reserved or _has_priority(last[each])]
        others = [each for each in beside if each in without]
        if preferred and len(preferred) + len(others) == len(beside):
            found[number] = {"nice": state.nice}
            notes.append(
                _below(number, state, cores[number], [ran[each].name for each in others], ran)
            )
    rest = {number: one for number, one in ran.items() if number not in found}
    if rest:
        priorities = priorities_of(rest, cores, threads, notes)
        found |= {number: {"priority": priority} for number, priority in priorities.items()}
    return found


def _below(
    number: int, state: Scheduling, core: int, others: Sequence[str], ran: Mapping[int, Ran]
) -> str:
    """What is known of a process without a priority, on a core where others have one."""
    text = f"process {ran[number].name}: {state.rank}, below the others on core {core}"
    if not others:
        return f"{text}: its bounds hold where nothing else is there at SCHED_OTHER"
    return (
        f"{text}, and beside {', '.join(others)}, with which it shares by weights: no bound is "
        "known, and this is not simulated. Give all but one of them a priority"
    )


def _of_one_thread(one: Ran, threads: Threads) -> Scheduling | None:
    """That of its only thread with callbacks; None: there are more, or it was not recorded."""
    only = one.threads
    state = threads.last(only[0]) if len(only) == 1 else None
    return state.scheduling if state else None


def _has_priority(one: Scheduling | None) -> bool:
    return one is not None and one.is_real_time


def priorities_of(
    ran: Mapping[int, Ran], cores: Mapping[int, int], threads: Threads, notes: list[str]
) -> dict[int, int]:
    """Distinct on each core: as recorded, where that is possible."""
    known = {number: _scheduling(one, threads, notes) for number, one in ran.items()}
    _say_who_had_which(ran, known, notes)
    found: dict[int, int] = {}
    for core in sorted({cores[number] for number in ran}):
        own = [number for number in ran if cores[number] == core]
        own.sort(key=lambda number: (*_place(known[number]), ran[number].shortest))
        found |= _on_one_core(own, known, {number: ran[number].width for number in own})
        of = Counter(one.priority for number in own if (one := known[number]) and one.is_real_time)
        for priority in sorted(each for each, count in of.items() if count > 1):
            alike = [
                ran[number].name
                for number in own
                if (one := known[number]) and one.is_real_time and one.priority == priority
            ]
            notes.append(
                f"priorities: {', '.join(alike)} all had {priority} on core {core}, where the one "
                "that began first goes on; assumed: distinct, in this order. Bounds hold once "
                "they are"
            )
    changed = [
        f"{ran[number].name} {one.priority} as {found[number]}"
        for number, one in known.items()
        if one and one.is_real_time and one.priority != found[number]
    ]
    if changed:
        notes.append(f"priorities written otherwise, in their order: {', '.join(changed)}")
    return found


def _say_who_had_which(
    ran: Mapping[int, Ran], known: Mapping[int, Scheduling | None], notes: list[str]
) -> None:
    recorded = [number for number, one in known.items() if one and one.is_real_time]
    if not recorded:
        notes.append(_NONE if all(known.values()) else _UNKNOWN)
        return
    had = ", ".join(f"{ran[number].name} {_rank(known[number])}" for number in recorded)
    notes.append(f"priorities of processes: as recorded: {had}")
    without = [number for number in known if number not in recorded]
    if without:
        had = ", ".join(f"{ran[number].name} ({_rank(known[number])})" for number in without)
        notes.append(
            f"priorities: no real-time priority of {had}; assumed: below those that have one on "
            "their core. Bounds of the others hold; theirs do once they have it (SCHED_FIFO)"
        )


def _rank(one: Scheduling | None) -> str:
    return one.rank if one else "not recorded"


def _place(one: Scheduling | None) -> tuple[int, int]:
    """The order in which the kernel prefers threads."""
    if one is None:
        return 2, 0
    if one.is_real_time:
        return 1, -one.priority
    if one.policy in _ABOVE:
        return 0, 0
    return (3, 0) if one.policy in _LAST else (2, one.nice)


def _on_one_core(
    ordered: list[int], known: Mapping[int, Scheduling | None], widths: Mapping[int, int]
) -> dict[int, int]:
    """As recorded where these leave room for each other and the rest; else anew."""
    real_time = {
        number: one.priority for number in ordered if (one := known[number]) and one.is_real_time
    }
    if real_time:
        first = ordered.index(next(iter(real_time)))
        fixed = list(real_time)
        found = dict(real_time)
        for above, number in reversed(list(pairwise(ordered[: first + 1]))):
            found[above] = found[number] + widths[number]
        for number, below in pairwise(ordered[first + len(fixed) - 1 :]):
            found[below] = found[number] - widths[below]
        apart = all(found[one] + widths[one] <= found[above] for above, one in pairwise(fixed))
        highest = found[ordered[0]] + widths[ordered[0]] - 1
        if apart and highest <= _MOST_PRIORITIES and found[ordered[-1]] >= 1:
            return found
    return _anew(ordered, widths)


def _anew(ordered: list[int], widths: Mapping[int, int]) -> dict[int, int]:
    """From _PRIORITY down, or from above where that is too few; room only if there is enough."""
    if sum(widths.values()) > _MOST_PRIORITIES:
        widths = dict.fromkeys(widths, 1)
    found = {}
    below = sum(widths[number] for number in ordered[1:])
    priority = min(max(_PRIORITY, below + 1), _MOST_PRIORITIES + 1 - widths[ordered[0]])
    for place, number in enumerate(ordered):
        priority -= widths[number] if place else 0
        found[number] = priority
    return found


def _scheduling(one: Ran, threads: Threads, notes: list[str]) -> Scheduling | None:
    """That of the threads of its callbacks; of several the one that the kernel prefers least."""
    states = [found for each in one.threads if (found := threads.last(each))]
    if not states:
        return None
    since = min(call.begin for call in one.calls)
    for each in one.threads:
        ranks = threads.ranks(each, since)
        if len(ranks) > 1:
            notes.append(
                f"process {one.name}: its scheduling changed while it was recorded: "
                f"{', then '.join(ranks)}; the last one counts"
            )
    return max((one.scheduling for one in states), key=_place)


def note_other_threads(ran: Mapping[int, Ran], threads: Threads, notes: list[str]) -> None:
    """Those beside the callbacks, such as the threads of the middleware: no bound has them."""
    for number, one in ran.items():
        others = Counter(
            f"{_stem(state.name)} ({state.scheduling.rank} on {state.scheduling.cores})"
            for thread in threads.of(number)
            if thread not in one.threads and (state := threads.last(thread))
        )
        if others:
            notes.append(
                f"process {one.name}: threads beside those of its callbacks, which the file does "
                f"not have: {_listed(others.items())}. Those that receive messages belong under "
                "threads, with their execution time"
            )


def _stem(name: str) -> str:
    """Threads of one kind are numbered: ``dds.udp.7411``, ``recvUC.2``."""
    return name.rstrip("0123456789").rstrip(".-_#/") or name


def _listed(counted: Iterable[tuple[str, int]]) -> str:
    return ", ".join(f"{what} ×{count}" if count > 1 else what for what, count in counted)
