# SPDX-License-Identifier: Apache-2.0
"""What was measured on several machines: each of them, and each middleware, as one row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from takt.measure.history.accumulate import Accumulated
from takt.pages import text


@dataclass(frozen=True)
class Compared:
    """One point of a matrix, whatever the stack, on all machines that have it."""

    key: str  # without the stack
    rows: list[Accumulated]


def compared(configurations: Sequence[Accumulated]) -> list[Compared]:
    """The points that more than one machine has, in the order in which they come."""
    points: dict[str, list[Accumulated]] = {}
    for one in configurations:
        points.setdefault(_without_stack(one), []).append(one)
    return [
        Compared(key, sorted(rows, key=lambda one: (one.configuration.machine, one.stack)))
        for key, rows in points.items()
        if len({one.configuration.machine for one in rows}) > 1
    ]


HEADINGS = (
    *("machine, kernel, preemption", "stack", "runs", "samples", "p50", "p99.9", "max", "late"),
    "outcome",
)


def cells(one: Accumulated) -> tuple[str, ...]:
    """The row of a machine; times in µs. Late: responses that missed the deadline or are absent."""
    return (
        one.configuration.machine,
        one.stack,
        text.count(len(one.runs)),
        text.count(one.count),
        f"{one.percentiles_us['p50_us']:.0f}",
        f"{one.percentiles_us['p999_us']:.0f}",
        text.microseconds(one.max_us),
        text.count(one.exceedance.exceeded + one.lost),
        one.decision.outcome.value,
    )


def _without_stack(one: Accumulated) -> str:
    return one.configuration.key.removeprefix(one.stack.replace(",", "+") + "-")
