# SPDX-License-Identifier: Apache-2.0
"""Analyses and simulates the applications of one batch; runs on the workers.

The core decides everything: whether a set is accepted, its bounds, its simulated responses. Here
they are put side by side.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import groupby
from typing import Any

import pyarrow as pa
import takt_core

from takt.schedule.application.cores import Core
from takt.schedule.application.supply import add_cores
from takt.schedule.campaign.judge import Document, Play, plays, tightness, violations
from takt.schedule.campaign.model import SETS, Batch
from takt.schedule.generate.blocks import BLOCK, Generated, block
from takt.schedule.generate.space import Space


def applications(
    space: Space,
    seed: int,
    batch: Batch,
    overheads: dict[str, int] | None = None,
    cores: dict[int, Core] | None = None,
) -> list[Generated]:
    """The applications of a batch; raises TaktError where one has a core that ``cores`` lacks."""
    found: list[Generated] = []
    for first in range(batch.first, batch.first + batch.size, BLOCK):
        size = min(BLOCK, batch.first + batch.size - first)
        found += block(space, seed, batch.combination, first // BLOCK, size)
    return [with_given(one, overheads, cores) for one in found]


def with_given(
    one: Generated, overheads: dict[str, int] | None, cores: dict[int, Core] | None
) -> Generated:
    """The application with these overheads and cores instead of its own; None: with its own."""
    if overheads is not None:
        one = replace(one, document=one.document | {"overheads": overheads})
    if cores is not None:
        document = dict(one.document)
        add_cores(document, cores, "--supply")
        one = replace(one, document=document)
    return one


def evaluate(
    space: Space,
    seed: int,
    batch: Batch,
    do: tuple[str, ...],
    overheads: dict[str, int] | None = None,
    cores: dict[int, Core] | None = None,
) -> pa.Table:
    """One row for each application; what failed says so in its row."""
    generated = applications(space, seed, batch, overheads, cores)
    rows = [_row(one) for one in generated]
    reports: list[Document | None] = [None] * len(rows)
    if "analyse" in do:
        reports = [analysed(one, row) for one, row in zip(generated, rows, strict=True)]
    if "simulate" in do:
        for number, play, simulated in _simulated(generated, seed):
            _compare(rows[number], reports[number], play, simulated)
    return pa.Table.from_pylist(rows, schema=SETS)


def failed(space: Space, seed: int, batch: Batch, error: str) -> pa.Table:
    """The rows of a batch that could not be evaluated."""
    rows = [_row(one) | {"error": error} for one in applications(space, seed, batch)]
    return pa.Table.from_pylist(rows, schema=SETS)


def _row(one: Generated) -> dict[str, Any]:
    return {
        "name": one.name,
        "combination": one.combination,
        "repetition": one.repetition,
        "nodes": one.parameters.nodes,
        "utilization_asked": one.parameters.utilization,
        "utilization": one.utilization,
        "policy": one.policy,
        "parameters": json.dumps(one.parameters.document()),
    }


def analysed(one: Generated, row: dict[str, Any]) -> Document | None:
    """What the analysis says; notes whether the set is accepted, or why there is no answer."""
    try:
        report: Document = takt_core.analyse(one.text, sensitivity=False, proposals=False)
    except ValueError as error:
        row["error"] = f"analyse: {error}"
        return None
    row["accepted"] = all(scenario["schedulable"] for scenario in report["scenarios"])
    return report


def _simulated(generated: Iterable[Generated], seed: int) -> Iterator[tuple[int, Play, Document]]:
    """All plays of all applications, in as few calls of the core as there are ways to execute."""
    asked = [
        (number, play, one.text if play.document is one.flat else json.dumps(play.document))
        for number, one in enumerate(generated)
        for play in plays(one.flat, seed)
    ]
    asked.sort(key=lambda one: one[1].execution, reverse=True)
    for execution, those in groupby(asked, key=lambda one: one[1].execution):
        numbers, alike, texts = zip(*those, strict=True)
        results = takt_core.simulate_many(texts, seed=seed, execution=execution)
        yield from zip(numbers, alike, results, strict=True)


def _compare(row: dict[str, Any], report: Document | None, play: Play, simulated: Document) -> None:
    """Adds a play to what is known of its application."""
    if "error" in simulated:
        row["error"] = f"simulate: {simulated['error']}"
        return
    for key in ("jobs", "misses"):
        row[key] = row.get(key, 0) + simulated[key]
    if report is None:
        return
    found = list(violations(report, play, simulated))
    row["violations"] = row.get("violations", []) + [one.text for one in found]
    row["kinds"] = row.get("kinds", []) + [one.kind for one in found]
    row["bound_violations"] = len(row["violations"])
    row["tightness"] = max(row.get("tightness", 0.0), tightness(report, play, simulated))
    row["unbounded"] = sum(
        one["response_us"] is None for scenario in report["scenarios"]
        for one in scenario["callbacks"]
    )  # fmt: skip
    missed = simulated["misses"] if _promised(report, play) else 0
    row["misses_in_accepted"] = row.get("misses_in_accepted", 0) + missed


def _promised(report: Document, play: Play) -> bool:
    """Whether every deadline is guaranteed in this play."""
    if play.scenario is None:
        return bool(report["verdict"] == "meets")
    return any(one["schedulable"] for one in report["scenarios"] if one["name"] == play.scenario)
