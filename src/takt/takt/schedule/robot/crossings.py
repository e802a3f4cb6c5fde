# SPDX-License-Identifier: Apache-2.0
"""What happens around switches: simulated with all of them, and measured around them."""

from __future__ import annotations

from dataclasses import dataclass

from takt.schedule.analysis.model import Analysis
from takt.schedule.robot.figures import Series, of_spread, of_times
from takt.schedule.robot.stays import Measured
from takt.schedule.simulation.model import SimulationResult


@dataclass(frozen=True)
class Crossing:
    """A callback or chain; times in µs."""

    name: str
    bound: float | None  # around switches; None: there is none
    simulated: Series | None  # of the whole run
    measured: Series | None  # what a switch touches


def crossings(
    analysis: Analysis, simulation: SimulationResult, measured: Measured | None
) -> list[Crossing]:
    """First responses of callbacks, then latencies of chains."""
    bounds: dict[str, float | None] = {}
    for scenario in analysis.scenarios:
        bounds |= dict.fromkeys(one.name for one in scenario.callbacks)
    for scenario in analysis.scenarios:
        bounds |= dict.fromkeys(one.name for one in scenario.chains)
    if analysis.switches is not None:
        bounds |= analysis.switches.responses_us | analysis.switches.latencies_us
    played = {one.callback: of_times(one.response) for one in simulation.callbacks}
    played |= {one.chain: of_times(one.latency) for one in simulation.chains}
    touched: dict[str, Series | None] = {}
    if measured is not None:
        touched = {one.callback: of_spread(one.response_us) for one in measured.around.callbacks}
        touched |= {one.chain: of_spread(one.latency_us) for one in measured.around.chains}
    return [
        Crossing(name, bound, played.get(name), touched.get(name)) for name, bound in bounds.items()
    ]
