# SPDX-License-Identifier: Apache-2.0
"""The oldest data that readers may use, which the core refuses where no data can be so young."""

from __future__ import annotations

from takt.schedule.generate.draft import Draft, Entry


def add_ages(draft: Draft) -> None:
    """Of some readers all inputs are limited, of others a few."""
    wanted, chance = draft.wanted, draft.chance
    if wanted.max_age[-1] <= 0:
        return
    for callback in draft.callbacks:
        if not chance.happens():
            continue
        every = chance.happens()
        for read in callback["reads"]:
            if every or chance.happens():
                read["max_age"] = age_limit(draft, read["topic"])


def age_limit(draft: Draft, topic: str) -> int:
    """A share of the period at which the data is sampled; raise_ages() follows."""
    source = min((one["period"] for one in draft.roots(topic)), default=0)
    outside = next(one for one in draft.topics if one["name"] == topic)
    period = source or outside.get("external_period", 0) or draft.timers[0]["period"]
    return draft.time(draft.chance.real(draft.wanted.max_age) * int(period))


def raise_ages(draft: Draft) -> None:
    """To what the data takes at least, in whatever scenario the limit holds."""
    grain = max(1, draft.wanted.grain)
    for scenario in [{"tasks": []}, *draft.document.get("scenarios", [])]:
        changes: dict[str, Entry] = {one["task"]: one for one in scenario["tasks"]}
        for callback in draft.callbacks:
            changed = changes.get(callback["name"], {}).get("reads", [])
            for read in (*callback["reads"], *changed):
                if "max_age" in read:
                    least = youngest(draft, read["topic"], changes) or 0
                    read["max_age"] = max(read["max_age"], -(-least // grain) * grain)


def youngest(draft: Draft, topic: str, changes: dict[str, Entry]) -> int | None:
    """The least age of its data with these changes of callbacks; None: no timer samples it."""
    ages = []
    for writer in draft.callbacks:
        change = changes.get(writer["name"], {})
        if topic not in (*writer["writes"], *change.get("writes", [])):
            continue
        before = youngest(draft, writer["trigger"], changes) if "trigger" in writer else 0
        if before is not None:
            ages.append(before + int(change.get("expected_execution", draft.worst(writer))))
    return min(ages, default=None)
