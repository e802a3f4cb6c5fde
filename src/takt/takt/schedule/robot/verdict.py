# SPDX-License-Identifier: Apache-2.0
"""What a reader sees first: the answer of the core, and what contradicts it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from takt.pages import text
from takt.schedule.absence.model import fails
from takt.schedule.analysis.model import Analysis
from takt.schedule.metrics.model import Metrics
from takt.schedule.robot.figures import Figures
from takt.schedule.simulation.model import SimulationResult


@dataclass(frozen=True)
class Verdict:
    """The head of the page."""

    level: str  # good, fair or bad
    title: str
    points: list[str]


def verdict(
    figures: list[Figures],
    analysis: Analysis,
    simulation: SimulationResult,
    metrics: Metrics | None,
) -> Verdict:
    """``figures``: by scenario; the simulation and the metrics: with all switches.

    Bad where a limit was exceeded; fair where proof or measurement is missing or contradicts.
    """
    points = [_not_proved(figures, analysis)] if analysis.verdict != "meets" else []
    exceeded = []
    if not simulation.holds:
        exceeded.append("simulation")
        late = simulation.misses, simulation.too_late
        points.append(f"In the simulation: {_late(*late)}.")
    if metrics is not None:
        violations = sum(one.violations for one in metrics.chains)
        misses = metrics.misses + sum(one.overdue for one in metrics.callbacks)
        if misses or violations or fails(metrics.absences):
            exceeded.append("measurement")
            points.append(f"Measured: {_late(misses, violations)}.")
    above = _above(figures)
    absent = metrics.absent if metrics is not None else []
    points += above
    if absent:
        of = text.number_of(len(_names(figures, "callbacks")), "callback")
        points.append(f"Not in the trace: {len(absent)} of {of} ({text.listed(absent)}).")
    chains = _names(figures, "chains")
    if unbounded := sum(any(one.bound.latency_us is None for one in of) for of in chains.values()):
        points.append(f"No bound: {unbounded} of {text.number_of(len(chains), 'chain')}.")
    if analysis.verdict == "misses" or exceeded:
        found = " and ".join(exceeded) or "analysis"
        return Verdict("bad", f"A limit is exceeded in {found}", points)
    if analysis.verdict != "meets":
        return Verdict("fair", "Not everything is guaranteed; no limit was exceeded", points)
    if above:
        title = "All limits are guaranteed as described; what was measured is above a bound"
        return Verdict("fair", title, points)
    if absent:
        title = "All limits of callbacks and chains are guaranteed; not everything was measured"
        return Verdict("fair", title, points)
    return Verdict("good", "All limits of callbacks and chains are guaranteed", points)


def _late(misses: int, violations: int) -> str:
    found = [
        f"{text.count(number)} {what if number == 1 else several}"
        for number, what, several in (
            (misses, "missed deadline", "missed deadlines"),
            (violations, "latency above its limit", "latencies above their limits"),
        )
        if number
    ]
    return ", ".join(found) or "data is missing"


def _names(figures: list[Figures], kind: str) -> dict[str, list[Any]]:
    """The callbacks or chains of all scenarios, by name."""
    found: dict[str, list[Any]] = {}
    for scenario in figures:
        for one in getattr(scenario, kind):
            found.setdefault(one.bound.name, []).append(one)
    return found


def _not_proved(figures: list[Figures], analysis: Analysis) -> str:
    found = []
    for kind, noun in (("callbacks", "callback"), ("chains", "chain")):
        every = _names(figures, kind)
        names = [name for name, of in every.items() if not all(one.bound.meets for one in of)]
        if names:
            of = text.number_of(len(every), noun)
            found.append(f"{len(names)} of {of} ({text.listed(names)})")
    ages = {
        f"{one.callback} ← {one.topic}": None
        for scenario in analysis.scenarios
        for one in scenario.ages
        if not one.meets
    }
    if ages:
        found.append(f"{text.number_of(len(ages), 'age')} of data ({text.listed(list(ages))})")
    if analysis.switches is not None and not analysis.switches.meets:
        found.append("what happens around switches of the scenario")
    return f"Not guaranteed: {'; '.join(found) or 'a limit named below'}."


def _above(figures: list[Figures]) -> list[str]:
    points = []
    for kind, noun in (("callbacks", "callback"), ("chains", "chain")):
        every = _names(figures, kind)
        if names := [name for name, of in every.items() if any(one.above for one in of)]:
            points.append(
                f"Above its bound: {text.number_of(len(names), noun)} ({text.listed(names)}). "
                "takt explain names the causes."
            )
    return points
