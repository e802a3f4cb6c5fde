# SPDX-License-Identifier: Apache-2.0
"""The thesis's statements on the age of data (section 5.5), as checks on this machine."""

from __future__ import annotations

from typing import Literal

from takt.reproduce.judgement import Check, Quantity
from takt.reproduce.krukiewicz2021.evidence import Evidence
from takt.reproduce.krukiewicz2021.points import (
    HARMONIC,
    KB,
    MAX_AGE_MS,
    NODES,
    WITH_CONSTRAINT,
    Point,
)

PAIR = 2  # nodes besides the generated ones: the producer and the listener


def _age(approach: str, nodes: int, figure: Literal["max", "mean"]) -> Quantity[Evidence]:
    point = Point("age", approach, nodes, 0.75, 512 * KB, HARMONIC)
    words = {"max": "oldest data that the listener used, all runs", "mean": "mean age of its data"}
    return Quantity(
        f"{words[figure]}, in ms: {approach}, {nodes + PAIR} nodes",
        lambda evidence: float(getattr(evidence.age(point), figure)) / 1000,
    )


def _all(approach: str, figure: Literal["max", "mean"]) -> dict[str, Quantity[Evidence]]:
    return {f"{figure}_{nodes + PAIR}_ms": _age(approach, nodes, figure) for nodes in NODES}


def _each(comparison: str) -> str:
    return " and ".join(f"max_{nodes + PAIR}_ms {comparison} {MAX_AGE_MS}" for nodes in NODES)


def _lower(approach: str, nodes: int, differs: str = "") -> Check[Evidence]:
    return Check(
        "takt_ms <= baseline1_ms * (1 - published_reduction / 2)",
        {
            "takt_ms": _age(approach, nodes, "mean"),
            "baseline1_ms": _age("baseline1", nodes, "mean"),
        },
        differs=differs,
    )


def _grows(approach: str) -> Check[Evidence]:
    return Check(
        "mean_6_ms < mean_22_ms < mean_52_ms and "
        "mean_52_ms - mean_6_ms >= (published_mean_52_ms - published_mean_6_ms) / 2",
        _all(approach, "mean"),
    )


CHECKS: dict[str, Check[Evidence]] = {
    "age-constraint-kept": Check(_each("<="), _all(WITH_CONSTRAINT, "max")),
    "age-baseline1-exceeds": Check(_each(">"), _all("baseline1", "max")),
    "age-proposed-exceeds": Check(_each(">"), _all("takt", "max")),
    "age-grows-with-nodes": _grows("baseline1"),
    "age-proposed-grows-with-nodes": _grows("takt"),
    "age-proposed-lower": _lower("takt", 4),
    "age-mean-lower": _lower(WITH_CONSTRAINT, 50),
}
