# SPDX-License-Identifier: Apache-2.0
"""The bounds on response times that the core gives, by callback."""

from __future__ import annotations

import json
from typing import Any

import takt_core

Bound = dict[str, int | None]  # by callback, in ns; None: there is none

_LOST = "takt.lost"  # a callback that stands for time in which the core did something else
_SELDOM = 3_600_000_000_000  # ns: once in any busy period
_STEPS = 8  # in which lost time doubles: so many analyses at most, each of which takes a while
_BY_PRIORITY = ("rm", "dm")  # policies that give the priorities themselves


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
        lost = {
            "name": _LOST,
            "period": _SELDOM,
            "deadline": ns,
            "priority": 98,
            "cpu": core,
            "execution": {"worst": ns},
        }
        try:
            return _largest(
                _report({**self._fixed, "callbacks": [*self._fixed["callbacks"], lost]})
            )
        except takt_core.Error:
            return {}


def _report(flat: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = takt_core.analyse(json.dumps(flat), sensitivity=False, proposals=False)
    return found


def _largest(report: dict[str, Any]) -> Bound:
    found: Bound = {}
    for scenario in report["scenarios"]:
        for one in scenario["callbacks"]:
            name, response = one["name"], one["response_us"]
            bound = None if response is None else round(response * 1000)
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
