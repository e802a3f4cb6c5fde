# SPDX-License-Identifier: Apache-2.0
"""The bounds that the core gives on response times, by callback, and on chains."""

from __future__ import annotations

import json
from typing import Any

import takt_core

#: By callback, or ``of_chain``, in ns; None: there is none.
Bound = dict[str, int | None]
KINDS = ("latency", "reaction", "age")  # of a chain

_LOST = "takt.lost"  # a callback that stands for time in which the core did something else
_SELDOM = 3_600_000_000_000  # ns: once in any busy period
_HIGHEST = 98  # priority; a process that has it leaves no room above it
_STEPS = 8  # in which lost time doubles: so many analyses at most, each of which takes a while
# Policies that give the priorities themselves, and the one that takes them.
_OF_PRIORITIES = {"rm": "fp", "dm": "fp"}
# Of policies that may idle the same order without idling: of what is proved by it, time that is
# lost makes no difference (docs/reference/analysis.md, eq. 35).
_WITHOUT_IDLING = {"p-rm": "np-fp", "cw-edf": "np-edf"}
_NEVER_IDLE = "never idle on purpose"  # in what a bound is by


def of_chain(name: str, kind: str) -> str:
    """The key of a chain's bound; no callback is called so."""
    return f"{kind} of {name}"


class Bounds:
    """Of an application in its flat form, in each case the largest of all scenarios."""

    def __init__(self, flat: dict[str, Any]) -> None:
        """Asks the core; raises takt_core.Error where it cannot analyse the application."""
        report = _report(flat)
        self.of = _largest(report)
        self.blocking = _longest_blocking(report)  # by callback, in ns
        #: Callbacks whose bound says that their policy never leaves the core idle on purpose.
        self.never_idle = _never_idle(report)
        self._fixed = _fixed(flat, report)
        self._lost: dict[tuple[int, int], Bound] = {}

    def with_lost(self, callback: str, core: int, ns: int) -> int | None:
        """The bound of a callback where its core is once taken away for so long, in ns.

        The core analyses it with one more callback, before all others, that is released once. The
        time is rounded up, by less than an eighth. None: there is no bound.
        """
        if ns <= 0:
            return self.of.get(callback)
        rounded = _rounded_up(ns)
        if (core, rounded) not in self._lost:
            self._lost[core, rounded] = self._analysed(core, rounded)
        return self._lost[core, rounded].get(callback)

    def explains(self, callback: str, core: int, ns: int, took: int) -> bool:
        """Whether a bound allows so long a response, where its core is taken away for ``ns``.

        With more lost time than an analysis can bound, nothing is guaranteed any more, such as
        data of a timer that comes again before its job has ended. That explains it, too.
        """
        bound = self.with_lost(callback, core, ns)
        if bound is not None:
            return took <= bound
        return self.with_lost(callback, core, 1) is not None and bool(
            self._lost[core, _rounded_up(ns)]
        )

    def _analysed(self, core: int, ns: int) -> Bound:
        lost: dict[str, Any] = {
            "name": _LOST,
            "period": _SELDOM,
            "deadline": ns,
            "priority": _HIGHEST,
            "cpu": core,
            "execution": {"worst": ns},
        }
        flat = self._fixed
        if processes := flat.get("processes"):  # in one above the others
            above = {"name": _LOST, "cpu": lost.pop("cpu"), "priority": _HIGHEST}
            flat = {**flat, "processes": [*processes, above]}
            lost["process"] = _LOST
        try:
            return _largest(_report({**flat, "callbacks": [*flat["callbacks"], lost]}))
        except takt_core.Error:
            return {}


def _report(flat: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = takt_core.analyse(json.dumps(flat), sensitivity=False, proposals=False)
    return found


def _largest(report: dict[str, Any]) -> Bound:
    found: Bound = {}
    for scenario in report["scenarios"]:
        every = [(one["name"], one["response_us"]) for one in scenario["callbacks"]]
        every += [
            (of_chain(one["name"], kind), one[f"{kind}_us"])
            for one in scenario["chains"]
            for kind in KINDS
        ]
        for name, us in every:
            bound = None if us is None else round(us * 1000)
            known = found.get(name, bound)
            found[name] = None if bound is None or known is None else max(bound, known)
    return found


def _longest_blocking(report: dict[str, Any]) -> dict[str, int]:
    found: dict[str, int] = {}
    for scenario in report["scenarios"]:
        for one in scenario["callbacks"]:
            blocking = round((one["blocking_us"] or 0) * 1000)
            found[one["name"]] = max(found.get(one["name"], 0), blocking)
    return found


def _never_idle(report: dict[str, Any]) -> set[str]:
    return {
        one["name"]
        for scenario in report["scenarios"]
        for one in scenario["callbacks"]
        if _NEVER_IDLE in one["bound_by"]
    }


def _fixed(flat: dict[str, Any], report: dict[str, Any]) -> dict[str, Any]:
    """The same with the cores and the priorities that the core chose, whoever else comes."""
    (first, *others) = report["scenarios"]
    chosen = {one["name"]: one for one in first["callbacks"]}
    never_idle = _never_idle(report)
    if processes := flat.get("processes"):  # their cores are given
        fixed = [
            _fixed_policy(one, _names(flat, one["name"]), chosen, never_idle) for one in processes
        ]
        callbacks = flat["callbacks"]
        for before, after in zip(processes, fixed, strict=True):
            if before.get("policy") != after.get("policy"):
                ranked = _names(flat, after["name"])
                callbacks = [_ranked(one, chosen, ranked) for one in callbacks]
        return {**flat, "processes": fixed, "callbacks": callbacks}
    names = _names(flat)
    fixed_flat = flat if others else _fixed_policy(flat, names, chosen, never_idle)
    callbacks = [
        {**one, "cpu": chosen[one["name"]]["cpu"]} if one["name"] in chosen else one
        for one in flat["callbacks"]
    ]
    if fixed_flat.get("policy") != flat.get("policy"):
        callbacks = [_ranked(one, chosen, names) for one in callbacks]
    return {**fixed_flat, "callbacks": callbacks}


def _names(flat: dict[str, Any], process: str | None = None) -> set[str]:
    return {one["name"] for one in flat["callbacks"] if process in (None, one.get("process"))}


def _fixed_policy(
    part: dict[str, Any], names: set[str], chosen: dict[str, Any], never_idle: set[str]
) -> dict[str, Any]:
    """An application or a process, with the policy of the same order that needs nothing else."""
    policy = part.get("policy", "")
    found = _OF_PRIORITIES.get(policy)
    bounded = {name for name in names & chosen.keys() if chosen[name]["response_us"] is not None}
    if found is None and bounded and bounded <= never_idle:
        found = _WITHOUT_IDLING.get(policy)
    return part if found is None else {**part, "policy": found}


def _ranked(one: dict[str, Any], chosen: dict[str, Any], names: set[str]) -> dict[str, Any]:
    """With the priority that its policy gave it; 0: its policy goes by deadlines."""
    found = chosen.get(one["name"]) if one["name"] in names else None
    return {**one, "priority": found["priority"]} if found and found["priority"] else one


def _rounded_up(ns: int) -> int:
    step = max(1, (1 << (ns.bit_length() - 1)) // _STEPS)
    return -(-ns // step) * step
