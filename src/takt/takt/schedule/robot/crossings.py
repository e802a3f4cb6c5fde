# SPDX-License-Identifier: Apache-2.0
"""What happens around switches: simulated with all of them, and measured around them."""

from __future__ import annotations

from dataclasses import dataclass

from takt.schedule.robot.figures import Figures, Series, of_spread, of_times
from takt.schedule.robot.stays import Measured
from takt.schedule.simulation.model import SimulationResult


@dataclass(frozen=True)
class Crossing:
    """A callback or chain; times in µs."""

    name: str
    bound: float | None  # the largest of all scenarios, each by itself; None: one has none
    simulated: Series | None  # of the whole run
    measured: Series | None  # what a switch touches


def crossings(
    scenarios: list[Figures], simulation: SimulationResult, measured: Measured | None
) -> list[Crossing]:
    """First responses of callbacks, then latencies of chains."""
    bounds: dict[str, list[float | None]] = {}
    for scenario in scenarios:
        for callback in scenario.callbacks:
            bounds.setdefault(callback.bound.name, []).append(callback.bound.response_us)
    for scenario in scenarios:
        for chain in scenario.chains:
            bounds.setdefault(chain.bound.name, []).append(chain.bound.latency_us)
    played = {one.callback: of_times(one.response) for one in simulation.callbacks}
    played |= {one.chain: of_times(one.latency) for one in simulation.chains}
    touched: dict[str, Series | None] = {}
    if measured is not None:
        touched = {one.callback: of_spread(one.response_us) for one in measured.around.callbacks}
        touched |= {one.chain: of_spread(one.latency_us) for one in measured.around.chains}
    return [
        Crossing(name, _largest(each), played.get(name), touched.get(name))
        for name, each in bounds.items()
    ]


def _largest(bounds: list[float | None]) -> float | None:
    known = [bound for bound in bounds if bound is not None]
    return max(known) if len(known) == len(bounds) else None
