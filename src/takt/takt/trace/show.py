# SPDX-License-Identifier: Apache-2.0
"""A trace's summary for people."""

from __future__ import annotations

from collections.abc import Callable

from rich.console import Console
from rich.table import Table
from rich.text import Text

from takt.trace.summary import TaskSummary, TraceSummary

# Columns that are shown where any task has something to say in them.
_ALWAYS: dict[str, Callable[[TaskSummary], object]] = {
    "releases": lambda task: task.releases,
    "jobs": lambda task: task.jobs,
    "misses": lambda task: task.misses,
    "response\np50": lambda task: _us(task.response_p50_us),
    "µs\np99": lambda task: _us(task.response_p99_us),
    "\nmax": lambda task: _us(task.response_max_us),
    "pre-\nempted": lambda task: task.preemptions,
}
_WHERE_ANY: dict[str, Callable[[TaskSummary], object]] = {
    "skipped": lambda task: task.skipped,
    "data\ntoo old": lambda task: task.age_violations,
    "over\nbudget": lambda task: task.budget_overruns,
    "early\nreleases": lambda task: task.early_releases,
    "un-\nfinished": lambda task: task.unfinished,
    "in-\ncomplete": lambda task: task.incomplete,
}


def show(console: Console, summary: TraceSummary) -> None:
    """Prints one line a task; warnings are told apart (``remarks``)."""
    head = f"{summary.duration_ms / 1000:.6g} s of {summary.source}, {summary.events} events"
    if summary.switches:
        head += f", changes of scenario: {summary.switches}"
    console.print(head)
    told_elsewhere = ("shortfall=", "application=")  # the description would fill the screen
    facts = [one for one in summary.attributes if not one.startswith(told_elsewhere)]
    if facts:
        console.print(", ".join(one.replace("=", " ", 1) for one in facts), markup=False)
    columns = dict(_ALWAYS)
    columns |= {
        name: value
        for name, value in _WHERE_ANY.items()
        if any(value(task) for task in summary.tasks)
    }
    table = Table(box=None, pad_edge=False)
    table.add_column("\ntask", overflow="fold", min_width=12)
    for name in columns:
        table.add_column(name if "\n" in name else f"\n{name}", justify="right", no_wrap=True)
    for task in summary.tasks:
        cells = [Text(str(value(task))) for value in columns.values()]
        if task.misses:
            cells[list(columns).index("misses")].stylize("bold red")
        table.add_row(Text(task.task), *cells)
    console.print(table)


def remarks(summary: TraceSummary) -> list[str]:
    """What a reader must know before trusting the figures."""
    lines = []
    if summary.lost:
        lines.append(
            f"{summary.lost} events are lost, so counts are too low and jobs incomplete: "
            "raise Options::trace_capacity"
        )
    if not summary.closed_in_order:
        lines.append(
            "the trace was not closed in order: its process was killed, or it still runs; "
            "what was written until then is here"
        )
    if summary.unknown:
        lines.append(
            f"{summary.unknown} records are of a type that this version does not know, or damaged; "
            "they are left out"
        )
    lines += [
        f"no evidence of real-time behaviour: {one.partition('=')[2]}"
        for one in summary.attributes
        if one.startswith("shortfall=")
    ]
    if summary.not_nested:
        lines.append(
            f"{summary.not_nested} jobs ended while one that had started later on their core still "
            "ran: callbacks sleep or have no real-time priority, and preemptions are a guess"
        )
    return lines


def _us(value: float | None) -> str:
    return "–" if value is None else f"{value:,.1f}"
