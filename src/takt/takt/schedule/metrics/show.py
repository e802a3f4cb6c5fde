# SPDX-License-Identifier: Apache-2.0
"""Metrics for people."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from takt.schedule.metrics.model import CallbackMetrics, Metrics, Spread

_SPREAD = ("min", "q1", "median", "q3", "p99", "max", "mean", "sd")


def show(console: Console, metrics: Metrics) -> None:
    """Prints the tables of one trace."""
    head = f"{metrics.trace}: {metrics.duration_ms / 1000:.6g} s of {metrics.source}"
    if metrics.approach:
        head += f", {metrics.approach}"
    if metrics.policy:
        head += f", policy {', '.join(dict.fromkeys(metrics.policy))}"
    console.print(head, markup=False, soft_wrap=True)
    console.print(_sums(metrics), markup=False, soft_wrap=True)
    _callbacks(console, metrics)
    rows = [(f"{one.callback} ← {one.topic}", one.age_us) for one in metrics.data_age]
    _spreads(console, "data age, ms", rows, 1000)
    paths = [(f"{one.chain}, latency", one.latency_us) for one in metrics.chains]
    paths += [(f"{one.chain}, age", one.age_us) for one in metrics.chains]
    paths += [(f"{one.chain}, reaction", one.reaction_us) for one in metrics.chains]
    _spreads(console, "chains, ms", paths, 1000)
    overhead = [
        ("CPU time between callbacks", metrics.overhead.cpu_us),
        ("end to next start", metrics.overhead.handover_us),
    ]
    _spreads(console, "executor, µs", overhead, 1)


def remarks(metrics: Metrics) -> list[str]:
    """What a reader must know before trusting the figures."""
    lines = [f"no evidence of real-time behaviour: {one}" for one in metrics.shortfalls]
    if metrics.lost:
        lines.append(f"{metrics.lost} events are lost, so counts are too low")
    if not metrics.closed_in_order:
        lines.append("the trace was not closed in order: its process was killed, or it still runs")
    if metrics.freshness is None:
        lines.append(
            "the trace does not tell which messages were used: no data freshness, age or chains"
        )
    elif not metrics.declared:
        lines.append(
            "the trace does not carry its application: freshness is of the callbacks that read"
        )
    stolen = sum(metrics.stolen_ms.values())
    if stolen:
        lines.append(f"the hypervisor stole {stolen:.0f} ms of CPU time from this machine")
    return lines


def _sums(metrics: Metrics) -> str:
    parts = [f"{metrics.executions} executions, {metrics.misses} missed their deadline"]
    if skipped := sum(one.skipped for one in metrics.callbacks):
        parts.append(f"{skipped} releases skipped")
    if metrics.mean_miss_ratio is not None:
        parts.append(f"mean of the callbacks {metrics.mean_miss_ratio:.3%}")
    if metrics.freshness is not None:
        parts.append(
            f"on old data {metrics.freshness.on_old_data}, "
            f"mean of the nodes {metrics.freshness.mean_ratio:.2%}"
        )
    return "; ".join(parts)


def _callbacks(console: Console, metrics: Metrics) -> None:
    table = Table(box=None, pad_edge=False)
    table.add_column("\ncallback", overflow="fold", min_width=12)
    skips = any(one.skipped for one in metrics.callbacks)
    names = ("ex-\npected", "exe-\ncuted", *(["skip-\nped"] if skips else []))
    for name in (
        *names,
        "\nmisses",
        "old\ndata",
        "response\nmedian",
        "ms\np99",
        "\nmax",
        "CPU ms\nmax",
    ):
        table.add_column(name, justify="right", no_wrap=True)
    for one in metrics.callbacks:
        response = one.response_us
        table.add_row(
            Text(one.callback),
            "–" if one.expected is None else str(one.expected),
            Text(str(one.executions), style="bold red" if _starves(one) else ""),
            *([Text(str(one.skipped), style="bold red" if one.skipped else "")] if skips else []),
            Text(str(one.misses), style="bold red" if one.misses else ""),
            str(one.on_old_data),
            *(_number(response, name, 1000, 3) for name in ("median", "p99", "max")),
            _number(one.cpu_us, "max", 1000, 3),
        )
    console.print(table)


def _spreads(
    console: Console, title: str, rows: Sequence[tuple[str, Spread | None]], unit: float
) -> None:
    if not any(found for _, found in rows):
        return
    table = Table(box=None, pad_edge=False)
    table.add_column(title, overflow="fold", min_width=12)
    for name in _SPREAD:
        table.add_column(name, justify="right", no_wrap=True)
    for label, found in rows:
        if found:
            table.add_row(Text(label), *(_number(found, name, unit) for name in _SPREAD))
    console.print(table)


def _starves(one: CallbackMetrics) -> bool:
    """Whether it ran clearly less often than it should have; the last release may be open."""
    return one.expected is not None and one.executions < one.expected - 1


def _number(found: Spread | None, name: str, unit: float, digits: int = 2) -> str:
    return "–" if found is None else f"{getattr(found, name) / unit:,.{digits}f}"
