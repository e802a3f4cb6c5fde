# SPDX-License-Identifier: Apache-2.0
"""What the timing of callbacks has beyond the thesis: when, how long, where, one at a time."""

from __future__ import annotations

from typing import Any

from takt.schedule.application.execution_time import ExecutionTime
from takt.schedule.application.executors import CONSTRAINED, IDLING
from takt.schedule.generate.draft import Draft, Entry

SAMPLES = (3, 8)  # observed times of a callback
SLACK = (1.0, 1.5)  # what is declared, as a multiple of the longest that was observed


def add_timing(draft: Draft) -> None:
    """Everything but the topics, of each callback."""
    _place(draft)
    for callback in draft.callbacks:
        _set_execution(draft, callback)
        _set_deadline(draft, callback)
    for callback in draft.callbacks:
        if "trigger" in callback:
            set_distance(draft, callback)
        _set_releases(draft, callback)
    _group(draft)
    if draft.wanted.suspends:
        _suspend(draft)


def _place(draft: Draft) -> None:
    wanted, chance = draft.wanted, draft.chance
    cores = chance.whole(wanted.cores)
    if cores > 1:
        draft.document["cpus"] = list(range(cores))
        most = wanted.utilization_max
        draft.utilizations = {
            name: min(most, share * cores) for name, share in draft.utilizations.items()
        }
    for callback in draft.callbacks:
        if chance.happens(wanted.pinned):
            callback["cpu"] = chance.pick(range(cores))


def _set_execution(draft: Draft, callback: Entry) -> None:
    """As long as its share of the core lasts from one release to the next; then how it varies."""
    execution = callback["execution"]
    share = execution["best"] / execution["worst"]
    worst = draft.time(draft.utilizations[callback["name"]] * draft.period(callback))
    best = min(worst, draft.time(share * worst))
    callback["execution"] = {"best": best, "worst": worst}
    if best == worst:
        callback["execution"]["quantiles"] = [worst]
        return
    chance = draft.chance
    distribution = chance.pick(draft.wanted.distributions)
    if distribution == "uniform":
        callback["execution"]["quantiles"] = [best, worst]
    elif distribution == "normal":
        mean, deviation = (best + worst) // 2, max(1, (worst - best) // 4)
        callback["execution"] |= {"mean": mean, "deviation": deviation}
    else:
        longest = max(best, draft.time(worst / chance.real(SLACK)))
        times = [chance.real((best, longest)) for _ in range(chance.whole(SAMPLES))]
        inner = sorted(min(longest, max(best, draft.time(time))) for time in times)
        callback["execution"]["quantiles"] = [best, *inner, longest]


def _set_deadline(draft: Draft, callback: Entry) -> None:
    wanted = draft.wanted
    deadline = callback["deadline"]
    if wanted.deadlines == "range":
        deadline = draft.chance.real(wanted.deadlines_range) * draft.period(callback)
    if draft.policy in CONSTRAINED:
        deadline = min(deadline, draft.period(callback))
    callback["deadline"] = max(draft.worst(callback), draft.time(deadline))


def set_distance(draft: Draft, callback: Entry) -> None:
    """Whether the least distance of messages is declared; a deadline need not be."""
    chance, policy = draft.chance, draft.policy
    declared = policy in {"rm", "p-rm"} or not draft.rate(callback)
    if declared or chance.happens():
        # Precautious-RM looks ahead to a timer: none may have a longer period than a message.
        least = min(one["period"] for one in draft.timers) if policy in IDLING else 0
        due = callback["deadline"] if policy in CONSTRAINED else 0
        callback["period"] = max(draft.period(callback), due, least)
    else:
        del callback["period"]
        if policy in {"fp", "np-fp"} and chance.happens():
            del callback["deadline"]


def _set_releases(draft: Draft, callback: Entry) -> None:
    wanted, chance = draft.wanted, draft.chance
    period = draft.period(callback)

    def drawn(ends: list[float], of: int) -> int:
        return draft.time(chance.real(ends) * of) if ends[-1] > 0 and chance.happens() else 0

    given = {
        "offset": 0 if "trigger" in callback else drawn(wanted.offsets, period),
        "jitter": drawn(wanted.jitter, period),
        "budget": drawn(wanted.budgets, draft.worst(callback)),
    }
    callback |= {key: value for key, value in given.items() if value > 0}
    unknown = wanted.unknown_offsets
    if "trigger" not in callback and unknown and chance.happens(unknown):
        callback["offset"] = "unknown"
    if wanted.overruns and chance.happens():
        callback["overrun"] = chance.pick(wanted.overruns)


def _group(draft: Draft) -> None:
    """Groups of two or three, each on one core."""
    chance = draft.chance
    grouped = [one for one in draft.callbacks if chance.happens(draft.wanted.groups)]
    groups = max(1, len(grouped) // 2)
    for callback in grouped:
        callback["group"] = f"group{1 + chance.pick(range(groups))}"
    for group in {one["group"] for one in grouped}:
        members = [one for one in grouped if one["group"] == group]
        named = [one["cpu"] for one in members if "cpu" in one]
        for callback in members if named else []:
            callback["cpu"] = named[0]


def _suspend(draft: Draft) -> None:
    wanted, chance = draft.wanted, draft.chance
    for callback in draft.callbacks:
        if "group" not in callback and chance.happens():
            time = chance.real(wanted.suspension) * draft.period(callback)
            callback["suspension"] = draft.time(time)
            callback["suspensions"] = chance.whole(wanted.suspensions)


def filled(execution: dict[str, Any]) -> dict[str, Any]:
    """An execution time as the core reads it: whatever it is, by its quantiles."""
    if "quantiles" in execution:
        return execution
    times = ExecutionTime.model_construct(samples=None, **execution)
    return {key: execution[key] for key in ("best", "worst")} | {"quantiles": times.quantiles()}
