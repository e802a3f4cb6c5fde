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
_BY_PRIORITY = ("rm", "dm")  # policies that give the priorities themselves


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


def _fixed(flat: dict[str, Any], report: dict[str, Any]) -> dict[str, Any]:
    """The same with the cores and the priorities that the core chose, whoever else comes."""
    if flat.get("processes"):
        return flat  # they have both
    (first, *others) = report["scenarios"]
    chosen = {one["name"]: one for one in first["callbacks"]}
    by_priority = flat.get("policy", "fp") in _BY_PRIORITY and not others
    callbacks = []
    for callback in flat["callbacks"]:
        more: dict[str, Any] = {}
        if found := chosen.get(callback["name"]):
            more["cpu"] = found["cpu"]
            if by_priority:
                more["priority"] = found["priority"]
        callbacks.append({**callback, **more})
    return {**flat, "callbacks": callbacks} | ({"policy": "fp"} if by_priority else {})


def _rounded_up(ns: int) -> int:
    step = max(1, (1 << (ns.bit_length() - 1)) // _STEPS)
    return -(-ns // step) * step
