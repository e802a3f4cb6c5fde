# SPDX-License-Identifier: Apache-2.0
"""A simulation's result for people."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from takt.pages import text
from takt.pages.row_table import Columns, RowTable, count, of_cells
from takt.pages.text import listed, number_of
from takt.schedule.absence.show import show as show_absences
from takt.schedule.simulation.model import CallbackResult, CoreResult, SimulationResult, Times

_ALWAYS: Columns[CallbackResult] = {
    "jobs": lambda one: one.jobs,
    "misses": lambda one: count(one.misses),
    "response\nmean": lambda one: _us(one.response, "mean_us"),
    "µs\np99": lambda one: _us(one.response, "p99_us"),
    "\nmax": lambda one: _us(one.response, "max_us"),
    "pre-\nempted": lambda one: one.preemptions,
}
_WHERE_ANY: Columns[CallbackResult] = {
    "releases\nskipped": lambda one: one.skipped,
    "arrivals\nlost": lambda one: one.lost_arrivals,
    "un-\nfinished": lambda one: one.unfinished,
    "data age\nmax µs": lambda one: one.data_age and _us(one.data_age, "max_us"),
    "data\ntoo old": lambda one: one.age_violations - one.without_data,
    "no data\nyet": lambda one: one.without_data,
    "on old\ndata": lambda one: one.old_data,
    "early\nreleases": lambda one: one.early_releases,
    "over\nbudget": lambda one: one.budget_overruns,
}


def show(console: Console, result: SimulationResult) -> None:
    """Prints what was simulated, and one line a callback, core and chain."""
    console.print(_head(result), soft_wrap=True)
    cpu: Columns[CallbackResult] = {"cpu": _place} if len(result.cores) > 1 else {}
    console.print(
        RowTable(
            heading="callback",
            rows=result.callbacks,
            name=lambda one: one.callback,
            always={**cpu, **_ALWAYS},
            where_any=_WHERE_ANY,
        )
    )
    _show_chains(console, result)
    show_absences(console, result.absences)
    for core in result.cores:
        console.print(
            f"cpu {_place(core)}: {core.utilization:.1%} busy, {number_of(core.jobs, 'job')}, "
            f"{core.preemptions} preemptions"
        )


def _place(one: CallbackResult | CoreResult) -> str:
    return f"{one.cpu}" if one.host is None else f"{one.cpu} of {one.host}"


def _head(result: SimulationResult) -> str:
    taken = {
        "worst": "every job takes its worst case",
        "drawn": f"execution times drawn with seed {result.seed}",
    }[result.execution]
    why = {"given": "", "60 s": " (default limit)"}.get(
        result.duration_from, f" ({result.duration_from})"
    )
    overheads = "with overheads" if result.overheads else "without overheads of the executor"
    early = ", interrupted" if result.interrupted else ""
    return (
        f"{result.application}: {result.duration_ms / 1000:.9g} s simulated{why}{early}, {taken}, "
        f"{overheads}: {number_of(result.jobs, 'job')}, {_verdict(result)}"
    )


def _verdict(result: SimulationResult) -> str:
    """What is told first; of what never came nothing was kept, and what gave way is counted."""
    callbacks = result.callbacks
    none = "no deadline missed" if result.jobs else "no job ended"
    parts = [f"{number_of(result.misses, 'deadline')} missed" if result.misses else none]
    if result.too_old:
        parts.append(f"{result.too_old} starts on data above its age limit")
    if result.too_late:
        parts.append(f"{result.too_late} chains above their latency limit")
    if idle := [one.callback for one in callbacks if _never_ran(one)]:
        parts.append(f"{listed(idle)} never ran")
    if unfed := [one.callback for one in callbacks if one.without_data and not one.data_age]:
        parts.append(f"{listed(unfed)} never received data")
    if result.empty:
        chains = listed([one.chain for one in result.empty])
        parts.append(f"no data arrived through {chains}")
    if skipped := sum(one.skipped for one in callbacks):
        parts.append(f"{number_of(skipped, 'release')} skipped")
    if lost := sum(one.lost_arrivals for one in callbacks):
        parts.append(f"{number_of(lost, 'message')} lost")
    if over := sum(one.budget_overruns for one in callbacks):
        parts.append(f"{number_of(over, 'job')} above their budget")
    return ", ".join(parts)


def _never_ran(one: CallbackResult) -> bool:
    return not one.jobs and not one.unfinished


def _show_chains(console: Console, result: SimulationResult) -> None:
    if not result.chains:
        return
    rows = []
    for chain in result.chains:
        worst = Text(_us(chain.latency, "max_us"))
        if chain.violations:
            worst.stylize("bold red")
        allowed = text.fixed(chain.max_latency_us, 1)
        mean, age = _us(chain.latency, "mean_us"), _us(chain.age, "max_us")
        rows.append((chain.chain, mean, worst, allowed, age, _us(chain.reaction, "max_us")))
    headings = ("latency\nmean", "µs\nmax", "\nallowed", "data age\nmax µs", "reaction\nmax µs")
    console.print(of_cells(("chain", *headings), rows))


def _us(times: Times | None, key: str) -> str:
    return text.fixed(None if times is None else getattr(times, key), 1)
