# SPDX-License-Identifier: Apache-2.0
"""Of each chain, process and callback: what is proved, simulated and measured, side by side."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from takt.schedule.analysis.model import Analysis, CallbackBound, ChainBound, LatencyTerm
from takt.schedule.application.model import Application
from takt.schedule.application.processes import Process
from takt.schedule.metrics.model import CallbackMetrics, Metrics, Spread
from takt.schedule.simulation.model import SimulationResult, Times

ROUNDING = 0.001  # µs; percentiles are computed in floating point
_PROCESSES = 8  # colours of the pages


@dataclass(frozen=True)
class Series:
    """Values in µs, simulated or measured."""

    count: int
    p50: float | None
    p99: float | None
    most: float


@dataclass(frozen=True)
class Chain:
    """A chain; times in µs."""

    bound: ChainBound
    simulated: Series | None  # None: no data reached its end
    measured: Series | None  # None, too, where nothing was measured
    violations: int  # latencies above the limit, simulated and measured

    @property
    def above(self) -> bool:
        """Whether a latency was longer than the bound."""
        return _above(self.bound.latency_us, self.simulated, self.measured)

    @property
    def longest(self) -> float:
        """The end of what is drawn of it."""
        ends = [self.bound.latency_us, self.bound.max_latency_us]
        ends += [one.most for one in (self.simulated, self.measured) if one]
        return max((end for end in ends if end is not None), default=0)


@dataclass(frozen=True)
class Callback:
    """A callback; times in µs."""

    bound: CallbackBound
    simulated: Series | None
    measured: Series | None
    misses: int  # simulated and measured

    @property
    def above(self) -> bool:
        """Whether a response was longer than the bound."""
        return _above(self.bound.response_us, self.simulated, self.measured)


@dataclass(frozen=True)
class Part:
    """A process with what it executes."""

    name: str
    process: Process
    colour: str  # its class in the page
    utilization: float | None  # of its core, as the analysis counts it
    callbacks: list[Callback]


@dataclass(frozen=True)
class Figures:
    """The whole robot."""

    cores: dict[int, list[Part]]  # the process of the highest priority first
    chains: list[Chain]  # the longest first; those without a bound before

    @property
    def parts(self) -> list[Part]:
        """The processes, core by core."""
        return [part for parts in self.cores.values() for part in parts]

    @property
    def callbacks(self) -> list[Callback]:
        """Those of all processes."""
        return [callback for part in self.parts for callback in part.callbacks]

    @property
    def longest(self) -> float:
        """The end of the scale that all chains share, in µs."""
        return max((chain.longest for chain in self.chains), default=0)

    def colour(self, term: LatencyTerm) -> str:
        """The class of a term of a latency."""
        if term.kind != "process":
            return term.kind
        return next(part.colour for part in self.parts if part.name == term.name)


def figures(
    application: Application,
    analysis: Analysis,
    simulation: SimulationResult,
    metrics: Metrics | None,
) -> Figures:
    """Puts together what belongs to one callback or chain."""
    (scenario,) = analysis.scenarios
    return Figures(
        _cores(
            application,
            scenario.callbacks,
            _utilizations(application.processes, analysis),
            simulation,
            metrics,
        ),
        _chains(scenario.chains, simulation, metrics),
    )


def _cores(
    application: Application,
    bounds: list[CallbackBound],
    utilizations: dict[str, float | None],
    simulation: SimulationResult,
    metrics: Metrics | None,
) -> dict[int, list[Part]]:
    played = {one.callback: one for one in simulation.callbacks}
    observed = {one.callback: one for one in metrics.callbacks} if metrics else {}
    cores: dict[int, list[Part]] = {}
    for number, (name, process) in enumerate(application.processes.items()):
        callbacks = []
        for bound in bounds:
            if bound.name.partition(".")[0] in process.nodes:
                one, other = played[bound.name], observed.get(bound.name)
                callbacks.append(
                    Callback(
                        bound, _times(one.response), _response(other), _misses(other, one.misses)
                    )
                )
        part = Part(name, process, f"c{number % _PROCESSES}", utilizations.get(name), callbacks)
        cores.setdefault(process.cpu, []).append(part)
    for parts in cores.values():
        parts.sort(key=lambda part: -part.process.priority)
    return dict(sorted(cores.items()))


def _utilizations(processes: Iterable[str], analysis: Analysis) -> dict[str, float | None]:
    """By process; the analysis of a robot has a line for each, in the order of the description."""
    (scenario,) = analysis.scenarios
    return {name: one.utilization for name, one in zip(processes, scenario.cores, strict=True)}


def _chains(
    bounds: list[ChainBound], simulation: SimulationResult, metrics: Metrics | None
) -> list[Chain]:
    played = {one.chain: one for one in simulation.chains}
    observed = {one.chain: one for one in metrics.chains} if metrics else {}
    chains = []
    for bound in bounds:
        one, other = played[bound.name], observed.get(bound.name)
        violations = one.violations + (other.violations if other else 0)
        measured = _spread(other.latency_us) if other else None
        chains.append(Chain(bound, _times(one.latency), measured, violations))
    return sorted(chains, key=lambda one: (one.bound.latency_us is not None, -one.longest))


def _response(metrics: CallbackMetrics | None) -> Series | None:
    return None if metrics is None else _spread(metrics.response_us)


def _misses(metrics: CallbackMetrics | None, simulated: int) -> int:
    return simulated + (0 if metrics is None else metrics.misses + metrics.overdue)


def _times(times: Times | None) -> Series | None:
    return None if times is None else Series(times.count, times.p50_us, times.p99_us, times.max_us)


def _spread(spread: Spread | None) -> Series | None:
    return None if spread is None else Series(spread.count, spread.median, spread.p99, spread.max)


def _above(bound: float | None, *series: Series | None) -> bool:
    return bound is not None and any(one and one.most > bound + ROUNDING for one in series)
