# SPDX-License-Identifier: Apache-2.0
"""Scenarios that change what callbacks say of themselves, and switches between them."""

from __future__ import annotations

from takt.schedule.application.executors import CONSTRAINED, IDLING
from takt.schedule.generate.ages import age_limit
from takt.schedule.generate.draft import Draft, Entry
from takt.schedule.generate.parameters import SUSPENDING

POLICIES = ("fp", "np-fp", "edf", "np-edf", "rm", "dm", *IDLING)
RARELY, SELDOM = 0.125, 0.25
LONGER = 1.25  # execution times, as a multiple of what is declared outside
LATEST = 6  # switches come within so many of the longest periods


def add_scenarios(draft: Draft) -> None:
    """Each with changes of some callbacks; sometimes with another policy."""
    wanted, chance = draft.wanted, draft.chance
    count = chance.whole(wanted.scenarios)
    if not count:
        return
    kept = draft.timers[0]  # something is released, whatever the scenario
    for callback in draft.callbacks:
        if callback is not kept and chance.happens(SELDOM):
            callback["active"] = chance.happens()
    scenarios = [_scenario(draft, number + 1, kept) for number in range(count)]
    draft.document["scenarios"] = scenarios
    names = [one["name"] for one in scenarios]
    if chance.happens():
        draft.document["default_scenario"] = chance.pick(names)
    latest = LATEST * max(one["period"] for one in draft.timers)
    draft.document["switches"] = [
        {"at": draft.time(chance.real((0, latest))), "scenario": chance.pick(names)}
        for _ in range(chance.whole(wanted.switches))
    ]


def _scenario(draft: Draft, number: int, kept: Entry) -> Entry:
    chance = draft.chance
    scenario: Entry = {"name": f"scenario{number}"}
    policy = draft.policy
    if chance.happens(SELDOM):
        policy = scenario["policy"] = chance.pick(_policies(draft))
    tasks = [
        {"task": one["name"], **_change(draft, one, policy, kept)}
        for one in draft.callbacks
        if chance.happens()
    ]
    return scenario | {"tasks": tasks}


def _policies(draft: Draft) -> list[str]:
    """Those under which no callback lacks anything."""
    suspends = any("suspension" in one for one in draft.callbacks)
    messages = len(draft.timers) < len(draft.callbacks)
    late = any(one["deadline"] > draft.period(one) for one in draft.callbacks if "deadline" in one)
    no_deadline = any("deadline" not in one for one in draft.callbacks)
    refused = {
        *(set(POLICIES) - set(SUSPENDING) if suspends else ()),
        *(("rm", "dm", *IDLING) if messages else ()),
        *(CONSTRAINED if late else ()),
        *(("edf", "np-edf") if no_deadline else ()),
    }
    return [one for one in POLICIES if one not in refused]


def _change(draft: Draft, callback: Entry, policy: str, kept: Entry) -> Entry:
    """Of one callback; it computes for no longer than its deadline allows."""
    chance, wanted = draft.chance, draft.wanted
    change: Entry = {}
    period, worst = draft.period(callback), draft.worst(callback)
    if "trigger" not in callback and chance.happens(SELDOM):
        # Precautious-RM wants a timer to have the shortest period.
        choices = [one["period"] for one in draft.timers if one["period"] <= period]
        every = [one["period"] for one in draft.timers]
        new = chance.pick(choices if policy in IDLING else every)
        worst = draft.time(worst * min(new / period, LONGER))
        change["period"] = period = new
        change["expected_execution"] = worst
    elif "period" in callback and "trigger" in callback and chance.happens(SELDOM):
        change["period"] = draft.time(callback["period"] * chance.real((1, LONGER)))
    elif chance.happens(SELDOM):
        worst = min(period, draft.time(worst * chance.real((0.5, LONGER))))
        change["expected_execution"] = worst
    if "trigger" not in callback and wanted.offsets[-1] > 0 and chance.happens(SELDOM):
        change["offset"] = draft.time(chance.real(wanted.offsets) * period)
    _change_deadline(draft, callback, change, policy, (period, worst))
    if chance.happens(SELDOM):
        change["priority"] = chance.whole((1, 98))
    if wanted.budgets[-1] > 0 and chance.happens(SELDOM):
        change["budget"] = draft.time(chance.real(wanted.budgets) * worst)
    if wanted.overruns and chance.happens(SELDOM):
        change["overrun"] = chance.pick(wanted.overruns)
    if callback is not kept and chance.happens(SELDOM):
        change["active"] = chance.happens()
    _change_data(draft, callback, change)
    return change


def _change_deadline(
    draft: Draft, callback: Entry, change: Entry, policy: str, times: tuple[int, int]
) -> None:
    """Drawn, or as it must be: from the execution time on, for some policies within the period."""
    period, worst = times
    before = callback.get("deadline")
    if before is None:
        return
    deadline = before
    if draft.chance.happens(SELDOM):
        deadline = draft.time(draft.chance.real(draft.wanted.deadlines_range) * period)
    if policy in CONSTRAINED and "period" in {*callback, *change}:
        deadline = min(deadline, change.get("period", callback.get("period")))
    deadline = max(deadline, worst)
    if deadline != before:
        change["deadline"] = deadline


def _change_data(draft: Draft, callback: Entry, change: Entry) -> None:
    """In addition to what it reads and writes; an input that it has gets a maximum age."""
    chance, ages = draft.chance, draft.wanted.max_age[-1] > 0
    names = [one["name"] for one in draft.topics]
    known = {*draft.inputs(callback), *callback["writes"]}
    if draft.wanted.readings[-1] > 1 and chance.happens(RARELY):
        others = [{"topic": topic} for topic in names if topic not in known]
        change["reads"] = chance.some(others, 1)
    elif ages and callback["reads"] and chance.happens(RARELY):
        change["reads"] = [{"topic": chance.pick(callback["reads"])["topic"]}]
    for read in change.get("reads", []):
        if ages and chance.happens():
            read["max_age"] = age_limit(draft, read["topic"])
    # Only timers: messages could release each other in a circle.
    if draft.wanted.writers[-1] > 1 and "trigger" not in callback and chance.happens(RARELY):
        change["writes"] = chance.some([topic for topic in names if topic not in known], 1)
