# SPDX-License-Identifier: Apache-2.0
"""The figures of the thesis that are bars: which point each bar is of, and how high it is here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from takt.documents.units import format_size
from takt.reproduce.krukiewicz2021.evidence import Evidence
from takt.reproduce.krukiewicz2021.points import (
    APPROACHES,
    FRESHNESS_SIZES,
    HARMONIC,
    MISSES_CORES,
    MISSES_SIZES,
    NODES,
    OTHER,
    UTILIZATIONS,
    Point,
)
from takt.reproduce.scatter import Missing

Value = TypeVar("Value")
Bars = dict[str, dict[str, float]]  # by series, then by place on the axis: shares
NAMES = {"baseline1": "baseline1", "takt": "Takt"}


@dataclass(frozen=True)
class BarFigure:
    """One figure; a bar for each size of the messages at each utilization."""

    number: str
    title: str
    points: Mapping[str, Mapping[float, Point]]  # by series, then by utilization
    of: Callable[[Evidence, Point], float]

    def bars(self, evidence: Evidence) -> Bars:
        """The heights of those that were measured."""
        return {
            series: known(
                {place(load): point for load, point in points.items()},
                lambda point: self.of(evidence, point),
            )
            for series, points in self.points.items()
        }


def bar_figures() -> list[BarFigure]:
    """Figures 5.2 to 5.10."""
    pairs = [(nodes, approach) for nodes in NODES for approach in APPROACHES]
    misses = [
        BarFigure(
            f"5.{number}",
            f"{NAMES[approach]}: deadline misses, {nodes} nodes",
            {
                format_size(size) if size else "no messages": {
                    load: Point("misses", approach, nodes, load, size, (10, 20), MISSES_CORES)
                    for load in UTILIZATIONS
                }
                for size in MISSES_SIZES
            },
            Evidence.miss_ratio,
        )
        for number, (nodes, approach) in enumerate(pairs, 2)
    ]
    old_data = [
        BarFigure(
            f"5.{number}",
            f"baseline1: executions on old data, {nodes} nodes",
            {
                f"{format_size(size)}, periods {name}": {
                    load: Point("freshness", "baseline1", nodes, load, size, periods)
                    for load in UTILIZATIONS
                }
                for periods, name in ((HARMONIC, "harmonic"), (OTHER, "not harmonic"))
                for size in FRESHNESS_SIZES
            },
            Evidence.old_data,
        )
        for number, nodes in enumerate(NODES, 8)
    ]
    return [*misses, *old_data]


def known(points: Mapping[str, Point], value: Callable[[Point], Value]) -> dict[str, Value]:
    """The values of what was executed of it."""
    found = {}
    for name, point in points.items():
        try:
            found[name] = value(point)
        except Missing:
            continue
    return found


def places_of(bars: Bars) -> list[str]:
    """In the order of the axis: a series may lack a place that another one has."""
    every = [place(load) for load in UTILIZATIONS]
    return [name for name in every if any(name in values for values in bars.values())]


def place(load: float) -> str:
    """On the axis."""
    return f"utilization {load:g}"
