# SPDX-License-Identifier: Apache-2.0
"""Of each chain, process and callback: what is proved, simulated and measured, side by side."""

from __future__ import annotations

from dataclasses import dataclass

from takt.schedule.analysis.model import (
    CallbackBound,
    ChainBound,
    CoreBound,
    LatencyTerm,
    ScenarioBounds,
)
from takt.schedule.application.kernel_scheduling import flat_scheduling, scheduling_text
from takt.schedule.application.model import Application
from takt.schedule.application.threads import Thread
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
class Quantity:
    """The latency, reaction or age of a chain; times in µs."""

    kind: str
    bound: float | None
    limit: float | None
    simulated: Series | None  # None: no data reached its end
    measured: Series | None  # None, too, where nothing was measured

    @property
    def above(self) -> bool:
        """Whether one was longer than the bound."""
        return _above(self.bound, self.simulated, self.measured)

    @property
    def longest(self) -> float:
        """The end of what is drawn of it."""
        ends = [self.bound, self.limit]
        ends += [one.most for one in (self.simulated, self.measured) if one]
        return max((end for end in ends if end is not None), default=0)


@dataclass(frozen=True)
class Chain:
    """A chain; times in µs."""

    bound: ChainBound
    quantities: list[Quantity]  # its latency, and what else is known
    violations: int  # latencies above the limit, simulated and measured

    @property
    def latency(self) -> Quantity:
        """That of the first use of each datum."""
        return self.quantities[0]

    @property
    def above(self) -> bool:
        """Whether anything of it was longer than its bound."""
        return any(one.above for one in self.quantities)


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
    """A process or thread with what it runs; of an application of one process, that of a core."""

    kind: str
    name: str
    executor: str  # with its policy
    scheduling: str | None  # None: that of its callbacks
    nodes: list[str]
    colour: str  # its class in the page
    utilization: float | None  # of its core, as the analysis counts it
    callbacks: list[Callback]


@dataclass(frozen=True)
class Figures:
    """The whole robot."""

    cores: dict[str, list[Part]]  # by core of a host; in the order in which the kernel prefers them
    chains: list[Chain]  # the longest first; those without a bound before

    @property
    def parts(self) -> list[Part]:
        """The processes, core by core."""
        return [part for parts in self.cores.values() for part in parts]

    @property
    def processes(self) -> list[Part]:
        """Those that execute nodes."""
        return [part for part in self.parts if part.kind == "process"]

    @property
    def drivers(self) -> list[Part]:
        """The threads that publish by themselves."""
        return [part for part in self.parts if part.kind == "thread" and part.nodes]

    @property
    def callbacks(self) -> list[Callback]:
        """Those of all processes."""
        return [callback for part in self.parts for callback in part.callbacks]

    @property
    def longest(self) -> float:
        """The end of the scale that all chains share, in µs."""
        return max((one.longest for chain in self.chains for one in chain.quantities), default=0)

    def colour(self, term: LatencyTerm) -> str:
        """The class of a term of a latency."""
        if term.kind not in ("process", "thread"):
            return term.kind
        return next(part.colour for part in self.parts if part.name == term.name)


def figures(
    application: Application,
    scenario: ScenarioBounds,
    simulation: SimulationResult,
    metrics: Metrics | None,
) -> Figures:
    """Puts together what belongs to one callback or chain, in one scenario."""
    return Figures(
        _cores(application, scenario, _callbacks(scenario.callbacks, simulation, metrics)),
        _chains(scenario.chains, simulation, metrics),
    )


def _callbacks(
    bounds: list[CallbackBound], simulation: SimulationResult, metrics: Metrics | None
) -> list[Callback]:
    played = {one.callback: one for one in simulation.callbacks}
    observed = {one.callback: one for one in metrics.callbacks} if metrics else {}
    found = []
    for bound in bounds:
        one, other = played[bound.name], observed.get(bound.name)
        misses = _misses(other, one.misses)
        found.append(Callback(bound, of_times(one.response), _response(other), misses))
    return found


def _cores(
    application: Application, scenario: ScenarioBounds, callbacks: list[Callback]
) -> dict[str, list[Part]]:
    cores: dict[tuple[str, int], list[Part]] = {}
    for number, core in enumerate(scenario.cores):
        thread = application.threads.get(core.process or "")
        colour = f"c{number % _PROCESSES}"
        if thread is None:
            part = _process(application, core, callbacks, colour)
        else:
            part = _thread(core, thread, callbacks, colour)
        cores.setdefault((core.host or "", core.cpu), []).append(part)
    for parts in cores.values():
        parts.sort(key=lambda part: _rank(application, part))
    return {
        f"{cpu} of {host}" if host else f"{cpu}": cores[host, cpu] for host, cpu in sorted(cores)
    }


def _rank(application: Application, part: Part) -> tuple[int, int]:
    """Reservations first, then priorities, then nice values."""
    one = application.threads.get(part.name) or application.processes.get(
        part.name.partition(".")[0]
    )
    if one is None or getattr(one, "reservation", None) is not None:
        return 0, 0
    return (2, 0) if one.priority is None else (1, -one.priority)


def _process(
    application: Application, core: CoreBound, callbacks: list[Callback], colour: str
) -> Part:
    whole = not application.processes
    process = application.processes.get(core.process or "")
    own = [
        one
        for one in callbacks
        if one.bound.cpu == core.cpu
        and (process is None or _node(one) in process.nodes)
        and not any(_runs(name, one) for name in application.threads)
    ]
    decides = process or application
    executor = decides.executor or "takt"
    policy = f" ({decides.policy or 'fp'})" if executor == "takt" else ""
    one_of_cores = process is not None and len(process.cpus or ()) > 1
    of_core = f".core{core.cpu}" if one_of_cores else ""  # as the terms of chains have it
    return Part(
        kind="process",
        name=(application.name or "application") if whole else f"{core.process}{of_core}",
        executor=executor + policy,
        scheduling=None if process is None else scheduling_text(flat_scheduling(process)),
        nodes=list(dict.fromkeys(map(_node, own))) if process is None or of_core else process.nodes,
        colour=colour,
        utilization=core.utilization,
        callbacks=own,
    )


def _thread(core: CoreBound, thread: Thread, callbacks: list[Callback], colour: str) -> Part:
    name = core.process or ""
    return Part(
        kind="thread",
        name=name,
        executor="driver" if thread.timer is not None else "receives messages",
        scheduling=f"priority {thread.priority}",
        nodes=[name] if thread.timer is not None else [],
        colour=colour,
        utilization=core.utilization,
        callbacks=[one for one in callbacks if _runs(name, one)],
    )


def _runs(thread: str, callback: Callback) -> bool:
    """Whether it is what a thread does: all of a driver, or one of the topics that it receives."""
    return f"{callback.bound.name}.".startswith(f"{thread}.")


def _node(callback: Callback) -> str:
    return callback.bound.name.partition(".")[0]


def _chains(
    bounds: list[ChainBound], simulation: SimulationResult, metrics: Metrics | None
) -> list[Chain]:
    played = {one.chain: one for one in simulation.chains}
    observed = {one.chain: one for one in metrics.chains} if metrics else {}
    chains = []
    for bound in bounds:
        one, other = played[bound.name], observed.get(bound.name)
        latency = Quantity(
            "latency",
            bound.latency_us,
            bound.max_latency_us,
            of_times(one.latency),
            of_spread(other.latency_us) if other else None,
        )
        more = [
            Quantity(
                "reaction",
                bound.reaction_us,
                None,
                of_times(one.reaction),
                of_spread(other.reaction_us) if other else None,
            ),
            Quantity(
                "age",
                bound.age_us,
                None,
                of_times(one.age),
                of_spread(other.age_us) if other else None,
            ),
        ]
        known = [latency, *(each for each in more if each.longest)]
        chains.append(Chain(bound, known, one.violations + (other.violations if other else 0)))
    return sorted(chains, key=lambda one: (one.bound.latency_us is not None, -one.latency.longest))


def _response(metrics: CallbackMetrics | None) -> Series | None:
    return None if metrics is None else of_spread(metrics.response_us)


def _misses(metrics: CallbackMetrics | None, simulated: int) -> int:
    return simulated + (0 if metrics is None else metrics.misses + metrics.overdue)


def of_times(times: Times | None) -> Series | None:
    """Simulated ones."""
    return None if times is None else Series(times.count, times.p50_us, times.p99_us, times.max_us)


def of_spread(spread: Spread | None) -> Series | None:
    """Measured ones."""
    return None if spread is None else Series(spread.count, spread.median, spread.p99, spread.max)


def _above(bound: float | None, *series: Series | None) -> bool:
    return bound is not None and any(one and one.most > bound + ROUNDING for one in series)
