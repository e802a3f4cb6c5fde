# SPDX-License-Identifier: Apache-2.0
"""A trace's summary for people."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console

from takt.pages import text
from takt.pages.row_table import Columns, RowTable, count
from takt.schedule.trace.file import NOT_GRANTED, NOT_WHOLE, RECORDING
from takt.schedule.trace.summary import TaskSummary, TraceSummary

_NOT_GRANTED = tuple(f"{key}=" for key in NOT_GRANTED)
_ALWAYS: Columns[TaskSummary] = {
    "releases": lambda task: task.releases,
    "jobs": lambda task: task.jobs,
    "misses": lambda task: count(task.misses),
    "response\np50": lambda task: _us(task.response_p50_us),
    "µs\np99": lambda task: _us(task.response_p99_us),
    "\nmax": lambda task: _us(task.response_max_us),
    "pre-\nempted": lambda task: task.preemptions,
}
_WHERE_ANY: Columns[TaskSummary] = {
    "skipped": lambda task: task.skipped,
    "too old\nor no data": lambda task: task.age_violations,
    "over\nbudget": lambda task: task.budget_overruns,
    "early\nreleases": lambda task: task.early_releases,
    "un-\nfinished": lambda task: task.unfinished,
    "in-\ncomplete": lambda task: task.incomplete,
}


# Attributes for people, and their names.
_FACTS = {
    "approach": "approach",
    "executor": "executor",
    "policy": "policy",
    "cpus": "cores",
    "scenario": "first scenario",
    "execution": "execution times",
    "seed": "seed",
}
_HOW = {"simulator": "simulated", "executor": "executed", RECORDING: "recorded"}


def show(console: Console, summary: TraceSummary) -> None:
    """Prints one line a task; warnings are told apart (``remarks``)."""
    how = _HOW.get(summary.source, f"of {summary.source}")
    head = f"{summary.duration_ms / 1000:.6g} s {how}, {summary.events} events"
    if summary.switches:
        head += f", changes of scenario: {summary.switches}"
    console.print(head)
    if facts := _facts(summary.attributes):
        console.print(", ".join(facts), markup=False, soft_wrap=True)
    console.print(
        RowTable(
            heading="task",
            rows=summary.tasks,
            name=lambda task: task.task,
            always=_ALWAYS,
            where_any=_WHERE_ANY,
        )
    )


def _facts(attributes: Iterable[str]) -> list[str]:
    """How it ran. What only other commands need, such as descriptions as JSON, is left out."""
    pairs = [(key, value) for key, _, value in (one.partition("=") for one in attributes)]
    # Policy and cores are those of its processes, and of each host's.
    robot = any(key.startswith("policy.") and value == "robot" for key, value in pairs)
    found = []
    for key, value in pairs:
        policy, _, scenario = key.partition(".")
        if robot and policy in ("policy", "cpus"):
            continue
        if policy == "policy" and scenario:
            within = "" if scenario == "default" else f" in scenario {scenario}"
            found.append(f"policy {value}{within}")
        elif key in _FACTS:
            found.append(f"{_FACTS[key]} {value}")
    return found


def remarks(summary: TraceSummary) -> list[str]:
    """What a reader must know before trusting the figures."""
    lines = []
    if summary.lost:
        lines.append(
            f"{summary.lost} events were lost; counts are too low and jobs incomplete: "
            "increase Options::trace_capacity"
        )
    if not summary.closed_in_order:
        lines.append(f"{NOT_WHOLE}; this summary covers the events so far")
    if summary.unknown:
        lines.append(
            f"{summary.unknown} records have an unknown type or are damaged; they are ignored"
        )
    lines += [
        f"no evidence of real-time behaviour: {one.partition('=')[2]}"
        for one in summary.attributes
        if one.startswith(_NOT_GRANTED)
    ]
    lines += [one.partition("=")[2] for one in summary.attributes if one.startswith("note=")]
    if summary.not_nested:
        lines.append(
            f"{summary.not_nested} jobs ended before a job that had started later on the "
            "same core: callbacks sleep or have no real-time priority; preemptions are "
            "estimates"
        )
    return lines


def _us(value: float | None) -> str:
    return text.fixed(value, 1)
