# SPDX-License-Identifier: Apache-2.0
"""The thesis's statements on executions on old data (section 5.4.3), as checks on this machine."""

from __future__ import annotations

from collections.abc import Callable
from statistics import fmean

from takt.reproduce.criterion import ALIKE, around
from takt.reproduce.krukiewicz2021.evidence import Evidence
from takt.reproduce.krukiewicz2021.extreme import extreme_share
from takt.reproduce.krukiewicz2021.points import (
    FRESHNESS_SIZES,
    HARMONIC,
    KB,
    MB,
    NODES,
    OTHER,
    UTILIZATIONS,
    Point,
)
from takt.reproduce.quantity import Check, Observed, Quantity, share

MATTERS = 0.01


def _points(
    approach: str, periods: tuple[int, ...], wanted: Callable[[Point], bool] = lambda _: True
) -> list[Point]:
    every = [
        Point("freshness", approach, nodes, utilization, size, periods)
        for nodes in NODES
        for utilization in UTILIZATIONS
        for size in FRESHNESS_SIZES
    ]
    return [point for point in every if wanted(point)]


def _over(choose: str, points: list[Point], of: str) -> Quantity[Evidence]:
    words = f"{choose} share of executions on old data over {len(points)} applications: {of}"
    if choose == "mean":
        return Quantity(
            words,
            lambda evidence: fmean([evidence.old_data(point) for point in points]),
            most=1,
        )
    return extreme_share(choose, words, lambda evidence: [evidence.old(one) for one in points])


def _share(nodes: int, utilization: float, size: int) -> Check[Evidence]:
    point = Point("freshness", "baseline1", nodes, utilization, size, OTHER)
    return Check(
        around("old_data", "published_old_data"),
        {
            "old_data": Quantity(
                "executions on old data / all, on average over nodes and runs",
                lambda evidence: evidence.old_data(point),
            )
        },
    )


_TAKT = [*_points("takt", HARMONIC), *_points("takt", OTHER)]
_MANY = [p for p in _points("baseline1", OTHER) if p.nodes > 4 and p.utilization < 1]
_FEW = [p for p in _points("baseline1", OTHER) if p.nodes == 4 and p.utilization < 1]
_FULL = [p for p in _points("baseline1", OTHER) if p.nodes == 4 and p.utilization == 1]

CHECKS: dict[str, Check[Evidence]] = {
    # None, and enough executions to know that it is not just seldom.
    "freshness-never-old": Check(
        f"on_old_data <= 0 and share < {MATTERS}",
        {
            "on_old_data": Observed(
                f"executions of Takt on old data, in all runs of {len(_TAKT)} applications",
                lambda evidence: float(sum(evidence.on_old_data(point) for point in _TAKT)),
            ),
            "share": share(
                "the same of all executions",
                lambda evidence: [
                    counts for point in _TAKT for counts in evidence.on_old_data_of(point)
                ],
            ),
        },
    ),
    "freshness-harmonic-half": Check(
        f"published_old_data / {ALIKE} <= lowest and highest <= {ALIKE} * published_old_data",
        {
            name: _over(name, _points("baseline1", HARMONIC), "harmonic periods")
            for name in ("lowest", "highest")
        },
        shown={"mean": _over("mean", _points("baseline1", HARMONIC), "harmonic periods")},
    ),
    "freshness-baseline1-full-4": Check(
        f"highest_below < {MATTERS} and highest_full >= {MATTERS}",
        {
            "highest_below": _over("highest", _FEW, "4 nodes, utilization 0.5 and 0.75"),
            "highest_full": _over("highest", _FULL, "4 nodes, utilization 1.0"),
        },
    ),
    "freshness-baseline1-more-nodes": Check(
        f"many >= few + {MATTERS}",
        {
            "many": _over("mean", _MANY, "20 and 50 nodes, utilization 0.5 and 0.75"),
            "few": _over("mean", _FEW, "4 nodes, utilization 0.5 and 0.75"),
        },
    ),
    "freshness-baseline1-20-nodes": _share(20, 0.5, 512 * KB),
    "freshness-baseline1-50-nodes": _share(50, 1.0, 8 * MB),
}
