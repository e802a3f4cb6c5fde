# SPDX-License-Identifier: Apache-2.0
"""What is missing in a simulation."""

from __future__ import annotations

from collections.abc import Iterator

import takt_core

from takt.schedule.absence.model import Absence, unfed, unpassed, unreleased
from takt.schedule.simulation.model import CallbackResult, SimulationResult


def absences(result: SimulationResult, declared: takt_core.Declared) -> Iterator[Absence]:
    """Callbacks without a release, chains without an arrival, readers without data."""
    active = {one.name: one for one in declared.callbacks if one.active}
    found = {one.callback: one for one in result.callbacks}
    for name, callback in active.items():
        if not found[name].releases and not callback.timer:  # a timer is released when it is due
            yield unreleased(name, None)
    for number, chain in enumerate(declared.chains):
        limited = bool(chain.max_latency)
        if result.chains[number].latency is None and (limited or {*active} >= {*chain.callbacks}):
            yield unpassed(chain.name, found[chain.callbacks[0]].jobs, limited=limited)
    for name, callback in active.items():
        limits = [topic for topic, age in callback.reads.items() if age]
        if _never_fed(found[name], len(limits)):
            yield from (unfed(name, topic, found[name].jobs) for topic in limits)


def _never_fed(one: CallbackResult, limits: int) -> bool:
    """Whether none of its limited topics ever had data: each start counts each of them."""
    if not limits:
        return False
    return one.data_age is None or one.without_data >= limits * (one.jobs + one.unfinished)
