# SPDX-License-Identifier: Apache-2.0
"""Single operations of the executor: a switch of scenario, one trace event."""

from __future__ import annotations

from collections.abc import Callable

from takt.bench import programs
from takt.bench.model import Bar, Bench, median

SWITCH_LIMIT_US = 10.0
EVENT_LIMIT_NS = 100.0
_FIGURES = ("p50_ns", "p99_ns", "max_ns")


def switch(rounds: int, cpu: int, progress: Callable[[str], None]) -> Bench:
    """A switch among 50 tasks costs its caller under 10 µs (p99), whoever calls."""
    bars = [
        Bar(
            name=f"switch of scenario, {what}, p99",
            value=median(rows, "p99_ns") / 1000,
            limit=SWITCH_LIMIT_US,
            unit="µs",
            detail=_detail(rows),
        )
        for what, rows in _measure("switch", rounds, cpu, progress).items()
    ]
    return Bench(bench="switch", rounds=rounds, bars=bars)


def trace(rounds: int, cpu: int, progress: Callable[[str], None]) -> Bench:
    """One event costs under 100 ns (p99 over batches), and next to nothing while off."""
    measured = _measure("trace", rounds, cpu, progress)
    name, rows = next(iter(measured.items()))
    detail = _detail(rows)
    detail |= {what: _detail(others) for what, others in measured.items() if what != name}
    bar = Bar(
        name=f"{name}, p99",
        value=median(rows, "p99_ns"),
        limit=EVENT_LIMIT_NS,
        unit="ns",
        detail=detail,
    )
    return Bench(bench="trace", rounds=rounds, bars=[bar])


def _measure(
    mode: str, rounds: int, cpu: int, progress: Callable[[str], None]
) -> dict[str, list[dict[str, float]]]:
    """Each operation's rows, one a round."""
    measured: dict[str, list[dict[str, float]]] = {}
    for number in range(rounds):
        progress(f"round {number + 1} of {rounds}")
        answer = programs.figures("bench_executor", mode, rounds=1, cpu=cpu)
        for row in answer["rows"]:
            measured.setdefault(row["what"], []).append(row)
    return measured


def _detail(rows: list[dict[str, float]]) -> dict[str, object]:
    return {figure: median(rows, figure) for figure in _FIGURES}
