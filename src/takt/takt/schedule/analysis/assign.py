# SPDX-License-Identifier: Apache-2.0
"""Priorities, deadlines and cores for an application, chosen and proved by the core.

Nothing is decided here but in which order the core is asked: the policies assign priorities (rate-
and deadline-monotonic), its proposals are Audsley's assignment and a packing of cores by the test
of the policy, and what is returned passed a whole analysis.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from takt.errors import TaktError
from takt.schedule.analysis.ask import analyse
from takt.schedule.analysis.model import Analysis, ScenarioBounds
from takt.schedule.application.kernel_scheduling import scheduling_text

Part = dict[str, Any]

_ORDER = ("dm", "rm", "edf")  # where the policy of the description proves nothing
_TAKES_PROPOSALS = {"fp", "rm", "dm"}  # their proposal of priorities is one for fp
_ROUNDS = 3  # priorities need other cores, and cores other priorities


@dataclass(frozen=True)
class Assigned:
    """What was chosen."""

    flat: Part  # the application with it
    analysis: Analysis  # of that
    how: str  # in words


def assign(flat: Part, where: str) -> Assigned:
    """The first assignment that guarantees everything, else the one that is nearest to it.

    First what the description says, then deadline-monotonic priorities, rate-monotonic ones and
    EDF, each with the cores and priorities that the core proposes. Raises TaktError where the core
    refuses all of them, as for the description itself.
    """
    if flat.get("processes"):
        return _of_robot(flat, where)
    best: Assigned | None = None
    refusal: TaktError | None = None
    for candidate, how in _candidates(flat):
        try:
            found = _completed(candidate, how, where)
        except TaktError as error:
            refusal = refusal or error
            continue
        if found.analysis.verdict == "meets":
            return found
        if best is None or _limits_kept(found.analysis) > _limits_kept(best.analysis):
            best = found
    if best is None:
        assert refusal is not None  # noqa: S101 - there is a candidate, so there is one or the other
        raise refusal
    return best


def _of_robot(flat: Part, where: str) -> Assigned:
    """What the core proposes: priorities of callbacks within processes, else other processes.

    Where everything is guaranteed, smaller reservations.
    """
    analysis = analyse(flat, where)
    described = Assigned(flat, analysis, "processes as described")
    if analysis.verdict == "meets":
        smaller = _placed(described, where)
        return smaller if smaller and smaller.analysis.verdict == "meets" else described
    found = [described]
    for start in (described, _placed(described, where)):
        if start is not None:
            found += [start, *_prioritised(start, where)]
            if found[-1].analysis.verdict == "meets":
                break

    def kept(one: Assigned) -> tuple[bool, tuple[int, int]]:
        return one.analysis.verdict == "meets", _limits_kept(one.analysis)

    best = max(found, key=kept)
    if best is described:
        return replace(described, how="processes as described, nothing better found")
    return best


def _prioritised(one: Assigned, where: str) -> list[Assigned]:
    """With the priorities that the core proposes for callbacks of each process by itself."""
    proposed = one.analysis.scenarios[0].proposals.priorities
    if not proposed:
        return []
    homes = {part["process"] for part in one.flat["callbacks"] if part["name"] in proposed}
    processes = [
        part | {"policy": "fp"} if part["name"] in homes and "policy" in part else part
        for part in one.flat["processes"]
    ]
    changed = {**_with(one.flat, "priority", proposed), "processes": processes}
    how = f"{', '.join(sorted(homes))}: priorities of callbacks after Audsley"
    if not one.how.startswith("processes as"):
        how = f"{one.how}; {how}"
    return [Assigned(changed, analyse(changed, where), how)]


def _placed(one: Assigned, where: str) -> Assigned | None:
    """With the cores, priorities and policies that the core proposes for the processes."""
    proposed = one.analysis.scenarios[0].proposals.processes
    if not proposed:
        return None
    processes, changes = [], []
    for part in one.flat["processes"]:
        found = proposed[part["name"]]
        before = {"policy": part.get("policy", "fp"), "cpu": part.get("cpu", 0)}
        if "cpus" in part:
            del before["cpu"]  # it stays on all of them
        if "priority" in part:
            before["priority"] = part["priority"]
        if part.get("executor", "takt") != "takt":
            del before["policy"]  # it stays what it is
        new: Part = {key: value for key in before if (value := getattr(found, key)) != before[key]}
        what = [f"{key} {before[key]} -> {value}" for key, value in new.items()]
        reserved = found.reservation.model_dump() if found.reservation else None
        if reserved and reserved != part.get("reservation"):
            new["reservation"] = reserved
            what.append(f"{scheduling_text(part)} -> {scheduling_text(new)}")
        processes.append(part | new)
        if new:
            changes.append(f"{part['name']}: {', '.join(what)}")
    changed = {**one.flat, "processes": processes}
    return Assigned(changed, analyse(changed, where), "; ".join(changes))


def _candidates(flat: Part) -> list[tuple[Part, str]]:
    """The description, and the same without what it leaves to be chosen."""
    policy = flat.get("policy", "fp")
    found = [(flat, f"policy {policy}, as described")]
    if flat.get("scenarios"):
        return found  # each scenario has its own; what is chosen must hold in all of them
    free = {
        **flat,
        "callbacks": [
            {key: value for key, value in one.items() if key not in {"priority", "cpu"}}
            for one in flat["callbacks"]
        ],
    }
    return found + [({**free, "policy": other}, f"policy {other}") for other in _ORDER]


def _completed(flat: Part, how: str, where: str) -> Assigned:
    """With the core's proposals, as long as they change something."""
    analysis = analyse(flat, where)
    for _ in range(_ROUNDS):
        if analysis.verdict == "meets" or len(analysis.scenarios) > 1:
            break
        proposals = analysis.scenarios[0].proposals
        if proposals.priorities and flat.get("policy", "fp") in _TAKES_PROPOSALS:
            flat = _with(flat, "priority", proposals.priorities) | {"policy": "fp"}
            how += ", priorities after Audsley"
        elif proposals.cpus:
            flat = _with(flat, "cpu", proposals.cpus)
            how += ", cores packed by its test"
        else:
            break
        analysis = analyse(flat, where)
    if len(analysis.scenarios) > 1:
        return Assigned(flat, analysis, how)
    # A deadline that nobody asked for must not be what cannot be guaranteed.
    for with_deadlines in (True, False):
        explicit = _explicit(flat, analysis.scenarios[0], with_deadlines=with_deadlines)
        proved = analyse(explicit, where)
        if proved.verdict == analysis.verdict:
            return Assigned(explicit, proved, how)
    return Assigned(flat, analysis, how)


def _with(flat: Part, key: str, values: dict[str, int]) -> Part:
    return {
        **flat,
        "callbacks": [
            one | ({key: values[one["name"]]} if one["name"] in values else {})
            for one in flat["callbacks"]
        ],
    }


def _explicit(flat: Part, scenario: ScenarioBounds, *, with_deadlines: bool) -> Part:
    """Written out: the core, the priority and the deadline that each callback has by default.

    What is released by messages has no deadline by default: with deadlines it gets the distance of
    its messages.
    """
    known = {one.name: one for one in scenario.callbacks}
    policy = flat.get("policy", "fp")
    callbacks = []
    for one in flat["callbacks"]:
        bound = known.get(one["name"])
        more: Part = {}
        if bound is not None:
            more["cpu"] = bound.cpu
            if bound.priority and policy in _TAKES_PROPOSALS:
                more["priority"] = bound.priority
            deadline = bound.deadline_us or (bound.period_us if with_deadlines else None)
            if deadline:
                more["deadline"] = round(deadline * 1000)
        callbacks.append(one | more)
    chosen = {"policy": "fp"} if policy in _TAKES_PROPOSALS else {}
    return {**flat, "callbacks": callbacks} | chosen


def _limits_kept(analysis: Analysis) -> tuple[int, int]:
    """How many limits are guaranteed: deadlines first, then chains and ages."""
    scenarios = analysis.scenarios
    deadlines = sum(one.meets for scenario in scenarios for one in scenario.callbacks)
    chains = sum(one.meets for scenario in scenarios for one in scenario.chains)
    ages = sum(one.meets for scenario in scenarios for one in scenario.ages)
    return deadlines, chains + ages
