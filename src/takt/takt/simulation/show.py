# SPDX-License-Identifier: Apache-2.0
"""A simulation's result for people."""

from __future__ import annotations

from collections.abc import Callable

from rich.console import Console
from rich.table import Table
from rich.text import Text

from takt.simulation.model import CallbackResult, SimulationResult, Times

# Columns that are shown where any callback has something to say in them.
_ALWAYS: dict[str, Callable[[CallbackResult], object]] = {
    "jobs": lambda one: one.jobs,
    "misses": lambda one: one.misses,
    "response\nmean": lambda one: _us(one.response, "mean_us"),
    "µs\np99": lambda one: _us(one.response, "p99_us"),
    "\nmax": lambda one: _us(one.response, "max_us"),
    "pre-\nempted": lambda one: one.preemptions,
}
_WHERE_ANY: dict[str, Callable[[CallbackResult], object]] = {
    "skipped": lambda one: one.skipped,
    "un-\nfinished": lambda one: one.unfinished,
    "data age\nmax µs": lambda one: one.data_age and _us(one.data_age, "max_us"),
    "data\ntoo old": lambda one: one.age_violations,
    "on old\ndata": lambda one: one.old_data,
    "early\nreleases": lambda one: one.early_releases,
    "over\nbudget": lambda one: one.budget_overruns,
    "arrivals\nlost": lambda one: one.lost_arrivals,
}


def show(console: Console, result: SimulationResult) -> None:
    """Prints what was simulated, and one line a callback, core and chain."""
    console.print(_head(result), soft_wrap=True)
    columns = dict(_ALWAYS)
    columns |= {
        name: value
        for name, value in _WHERE_ANY.items()
        if any(value(callback) for callback in result.callbacks)
    }
    several_cores = len(result.cores) > 1
    table = Table(box=None, pad_edge=False)
    table.add_column("\ncallback", overflow="fold", min_width=12)
    if several_cores:
        table.add_column("\ncpu", justify="right")
    for name in columns:
        table.add_column(name if "\n" in name else f"\n{name}", justify="right", no_wrap=True)
    for callback in result.callbacks:
        cells = [Text(_cell(value(callback))) for value in columns.values()]
        if callback.misses:
            cells[list(columns).index("misses")].stylize("bold red")
        cpu = [Text(str(callback.cpu))] if several_cores else []
        table.add_row(Text(callback.callback), *cpu, *cells)
    console.print(table)
    _show_chains(console, result)
    for core in result.cores:
        console.print(
            f"cpu {core.cpu}: {core.utilisation:.1%} busy, {core.jobs} jobs, "
            f"{core.preemptions} preemptions"
        )


def _head(result: SimulationResult) -> str:
    taken = {
        "worst": "every job takes its worst case",
        "drawn": f"execution times drawn with seed {result.seed}",
    }[result.execution]
    why = {"given": "", "60 s": " (at most that much is simulated unasked)"}.get(
        result.duration_from, f" ({result.duration_from})"
    )
    overheads = "with overheads" if result.overheads else "without overheads of the executor"
    verdict = f"{result.misses} deadlines missed" if result.misses else "no deadline missed"
    early = ", interrupted" if result.interrupted else ""
    return (
        f"{result.application}: {result.duration_ms / 1000:.6g} s simulated{why}{early}, {taken}, "
        f"{overheads}: {result.jobs} jobs, {verdict}"
    )


def _show_chains(console: Console, result: SimulationResult) -> None:
    if not result.chains:
        return
    table = Table(box=None, pad_edge=False)
    table.add_column("\nchain", overflow="fold", min_width=12)
    for name in ("latency\nmean", "µs\nmax", "\nallowed", "data age\nmax µs", "reaction\nmax µs"):
        table.add_column(name, justify="right", no_wrap=True)
    for chain in result.chains:
        worst = Text(_us(chain.latency, "max_us"))
        if chain.violations:
            worst.stylize("bold red")
        allowed = "–" if chain.max_latency_us is None else f"{chain.max_latency_us:,.1f}"
        table.add_row(
            Text(chain.chain),
            _us(chain.latency, "mean_us"),
            worst,
            allowed,
            _us(chain.age, "max_us"),
            _us(chain.reaction, "max_us"),
        )
    console.print(table)


def _cell(value: object) -> str:
    return "–" if value is None else str(value)


def _us(times: Times | None, key: str) -> str:
    value = None if times is None else getattr(times, key)
    return "–" if value is None else f"{value:,.1f}"
