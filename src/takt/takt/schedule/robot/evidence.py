# SPDX-License-Identifier: Apache-2.0
"""What the figures rest on: proof, simulation, measurement, and what is assumed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from takt.pages import text
from takt.schedule.analysis.model import Analysis
from takt.schedule.analysis.show import factor_text
from takt.schedule.application.model import Application
from takt.schedule.application.overhead_words import overhead_words
from takt.schedule.metrics.model import Metrics
from takt.schedule.metrics.show import remarks
from takt.schedule.simulation.model import SimulationResult
from takt.statistics.judgement import CONFIDENCE, upper


@dataclass(frozen=True)
class Evidence:
    """One kind, with its sentences."""

    kind: str
    lines: list[str]


def evidence(
    application: Application,
    analysis: Analysis,
    simulation: SimulationResult,
    metrics: Metrics | None,
) -> list[Evidence]:
    """In the order of their weight."""
    several = len(analysis.scenarios) > 1
    found: dict[str, list[str]] = {}
    for scenario in analysis.scenarios:
        for line in scenario.remarks:
            found.setdefault(text.full_stop(line), []).append(scenario.name)
    notes = [
        f"Scenario {text.listed(names)}: {line}" if several else line
        for line, names in found.items()
    ]
    return [
        Evidence("Proof", _proof(analysis)),
        Evidence("Assumption", _assumed(application, analysis)),
        Evidence("Simulation", [_simulated(simulation)]),
        Evidence("Measurement", _measured(metrics)),
        *([Evidence("Notes of the analysis", notes)] if notes else []),
    ]


def _proof(analysis: Analysis) -> list[str]:
    lines = []
    for scenario in analysis.scenarios:
        of = f"Scenario {scenario.name}: " if len(analysis.scenarios) > 1 else ""
        bounded = [one for one in scenario.callbacks if one.response_us is not None]
        share = f"{len(bounded)} of {len(scenario.callbacks)}"
        lines.append(f"{of}Responses bounded under the assumptions: {share}")
        lines += sorted({one.bound_by for one in bounded})
        if scenario.sensitivity and scenario.sensitivity.factor is not None:
            factor = factor_text(scenario.sensitivity.factor)
            lines.append(f"{of}Guaranteed up to {factor} times the execution times.")
    if analysis.switches is not None:
        proved = "proved" if analysis.switches.meets else "not proved"
        lines.append(f"Limits around switches: {proved}; {analysis.switches.bound_by}")
    return [text.full_stop(line) for line in dict.fromkeys(lines)]


def _assumed(application: Application, analysis: Analysis) -> list[str]:
    times = [one.recorded is not None for one in application.callbacks.values()]
    lines = []
    if sum(times):
        lines.append(
            f"execution times of {text.number_of(sum(times), 'callback')} come from a recording: "
            "a longer run, other input or another machine may show longer ones"
        )
    if not all(times):
        lines.append(
            f"execution times of {text.number_of(len(times) - sum(times), 'callback')} are "
            "declared, not measured"
        )
    if application.processes:
        lines.append(
            "each process has its core and executor, and its thread is scheduled as described"
        )
        if application.threads:
            lines.append("so have its threads, and messages from other processes pass them")
    else:
        lines.append("its threads have their cores and real-time priorities (SCHED_FIFO)")
    costs = {name.removesuffix("_us"): us * 1000 for name, us in (analysis.overheads or {}).items()}
    lines.append(overhead_words(costs))
    remarks = analysis.remarks[0 if analysis.overheads else 1 :]  # the first one says the same
    return [text.full_stop(line) for line in (*lines, *remarks)]


def _simulated(simulation: SimulationResult) -> str:
    times = "its worst case" if simulation.execution == "worst" else "a drawn time"
    return (
        f"{text.seconds(simulation.duration_ms / 1000)} of virtual time "
        f"({simulation.duration_from}), every job takes {times}: "
        f"{text.number_of(simulation.jobs, 'job')}. One run, not every one: its longest latency "
        "is no bound."
    )


def _measured(metrics: Metrics | None) -> list[str]:
    if metrics is None:
        return ["None. Add one: takt report ROBOT.yaml --measured TRACE."]
    length = text.seconds(metrics.duration_ms / 1000)
    jobs = text.number_of(metrics.executions, "job")
    lines = [
        f"{Path(metrics.trace).name} ({metrics.source}): {length}, {jobs}",
    ]
    least = min((one.response_us.count for one in metrics.callbacks if one.response_us), default=0)
    if least:
        lines.append(
            f"of the callback with the fewest jobs there are {text.count(least)}: if jobs are "
            f"independent, at most {text.probability(upper(0, least))} of later ones are above "
            f"the longest measured (confidence {CONFIDENCE:.0%})"
        )
    return [text.full_stop(line) for line in (*lines, *remarks(metrics))]
