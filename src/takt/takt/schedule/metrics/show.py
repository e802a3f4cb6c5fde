# SPDX-License-Identifier: Apache-2.0
"""Metrics for people."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from rich.console import Console
from rich.text import Text

from takt.pages import text
from takt.pages.row_table import Columns, RowTable, count
from takt.pages.text import listed, number_of
from takt.schedule.absence.show import show as show_absences
from takt.schedule.metrics import data_log, receivers
from takt.schedule.metrics.model import CallbackMetrics, Metrics, Spread
from takt.schedule.trace.file import NOT_WHOLE

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
    if metrics.source != data_log.SOURCE:
        _callbacks(console, metrics)
    show_absences(console, metrics.absences)
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
    lines = [f"no evidence of real-time behaviour: {one}" for one in metrics.not_granted]
    lines += metrics.notes
    if metrics.lost:
        lines.append(f"{metrics.lost} events were lost; counts are too low")
    if not metrics.closed_in_order:
        lines.append(NOT_WHOLE)
    if metrics.freshness is None:
        lines.append(
            "the trace does not record which messages were used: no data freshness, age or chains"
        )
    elif not metrics.declared and metrics.source != data_log.SOURCE:
        lines.append(
            "the trace does not contain its application: freshness covers all callbacks "
            "that read data"
        )
    lines += receivers.remarks(metrics.received)
    stolen = sum(metrics.stolen_ms.values())
    if stolen:
        lines.append(f"the hypervisor stole {stolen:.0f} ms of CPU time from this machine")
    return lines


def _sums(metrics: Metrics) -> str:
    parts = [] if metrics.source == data_log.SOURCE else ["no execution ended"]
    if metrics.executions:
        parts = [f"{metrics.executions} executions, {metrics.misses} missed their deadline"]
    parts += [*_never(metrics), *_broken(metrics)]
    if skipped := sum(one.skipped for one in metrics.callbacks):
        parts.append(f"{number_of(skipped, 'release')} skipped")
    if metrics.mean_miss_ratio is not None:
        parts.append(f"mean of the callbacks {metrics.mean_miss_ratio:.3%}")
    if metrics.freshness is not None:
        parts.append(
            f"on old data {metrics.freshness.on_old_data}, "
            f"mean of the nodes {metrics.freshness.mean_ratio:.2%}"
        )
    return "; ".join(parts)


def _never(metrics: Metrics) -> Iterator[str]:
    """What did not end, run or arrive: no miss by the definition, and no success either."""
    if line := never_ended(sum(one.overdue for one in metrics.callbacks)):
        yield line
    if metrics.absent:
        yield f"{listed(metrics.absent)} never ran"
    starving = [
        f"{one.callback} ({one.executions} of {one.expected})"
        for one in metrics.callbacks
        if _starves(one)
    ]
    if starving:
        yield f"less often than their period: {listed(starving)}"
    if without := [one for one in metrics.data_age if one.without_data and one.age_us is None]:
        yield listed([f"{one.callback} never received {one.topic}" for one in without])
    empty = [one.chain for one in metrics.chains if one.latency_us is None]
    if empty and metrics.freshness is not None:
        yield f"no data arrived through {listed(empty)}"


def never_ended(number: int) -> str:
    """Of jobs that are past their deadline; empty: of none."""
    if not number:
        return ""
    return f"{number} never ended and {'is past its' if number == 1 else 'are past their'} deadline"


def _broken(metrics: Metrics) -> Iterator[str]:
    if old := sum(one.violations for one in metrics.data_age):
        yield f"{number_of(old, 'start')} on data above its age limit"
    if late := sum(one.violations for one in metrics.chains):
        yield f"{late} {'latency' if late == 1 else 'latencies'} of a chain above its limit"


def _callbacks(console: Console, metrics: Metrics) -> None:
    def response(name: str) -> Callable[[CallbackMetrics], str]:
        return lambda one: _number(one.response_us, name, 1000, 3)

    console.print(
        RowTable(
            heading="callback",
            rows=metrics.callbacks,
            name=lambda one: one.callback,
            always={
                "ex-\npected": lambda one: one.expected,
                "exe-\ncuted": _executions,
                **(_SKIPPED if any(one.skipped for one in metrics.callbacks) else {}),
                "\nmisses": lambda one: count(one.misses),
                "old\ndata": lambda one: one.on_old_data,
                "response\nmedian": response("median"),
                "response\np99": response("p99"),
                "response\nmax, ms": response("max"),
                "CPU\nmax, ms": lambda one: _number(one.cpu_us, "max", 1000, 3),
            },
            where_any={},
        )
    )


_SKIPPED: Columns[CallbackMetrics] = {"skip-\nped": lambda one: count(one.skipped)}


def _executions(one: CallbackMetrics) -> Text:
    return Text(str(one.executions), style="bold red" if _starves(one) else "")


def _spreads(
    console: Console, title: str, rows: Sequence[tuple[str, Spread | None]], unit: float
) -> None:
    def column(name: str) -> Callable[[tuple[str, Spread | None]], str]:
        return lambda row: _number(row[1], name, unit)

    found = [row for row in rows if row[1]]
    if found:
        console.print(
            RowTable(
                heading=title,
                rows=found,
                name=lambda row: row[0],
                always={name: column(name) for name in _SPREAD},
                where_any={},
            )
        )


def _starves(one: CallbackMetrics) -> bool:
    """Whether it ran clearly less often than it should have; the last release may be open."""
    return one.expected is not None and one.executions < one.expected - 1


def _number(found: Spread | None, name: str, unit: float, digits: int = 2) -> str:
    return text.fixed(None if found is None else getattr(found, name) / unit, digits)
