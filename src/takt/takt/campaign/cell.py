# SPDX-License-Identifier: Apache-2.0
"""Analyses and simulates the applications of one cell; runs on the workers.

The core decides everything: whether a set is accepted, its bounds, its simulated responses. Here
they are put side by side.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pyarrow as pa
import takt_core

from takt.campaign.model import SETS, Cell
from takt.generate.blocks import BLOCK, Generated, block
from takt.generate.parameters import Space

Bounds = dict[str, int | None]  # by callback, in ns; None: there is no bound


def applications(
    space: Space, seed: int, cell: Cell, overheads: dict[str, int] | None = None
) -> list[Generated]:
    """The applications of a cell."""
    found: list[Generated] = []
    for first in range(cell.first, cell.first + cell.size, BLOCK):
        size = min(BLOCK, cell.first + cell.size - first)
        found += block(space, seed, cell.combination, first // BLOCK, size)
    if overheads is None:
        return found
    return [
        replace(one, text=json.dumps({**json.loads(one.text), "overheads": overheads}))
        for one in found
    ]


def evaluate(
    space: Space,
    seed: int,
    cell: Cell,
    do: tuple[str, ...],
    overheads: dict[str, int] | None = None,
) -> pa.Table:
    """One row for each application; what failed says so in its row."""
    generated = applications(space, seed, cell, overheads)
    rows = [_row(one) for one in generated]
    texts = [one.text for one in generated]
    bounds: list[Bounds] = [{} for _ in texts]
    if "analyse" in do:
        bounds = [_bound(text, row) for text, row in zip(texts, rows, strict=True)]
    if "simulate" in do:
        results = takt_core.simulate_many(texts)
        if any(one.parameters.best_case != [1.0] for one in generated):
            drawn = takt_core.simulate_many(texts, execution="drawn")
            results = [_both(*pair) for pair in zip(results, drawn, strict=True)]
        for row, bound, simulated in zip(rows, bounds, results, strict=True):
            _compare(row, bound, simulated)
    return pa.Table.from_pylist(rows, schema=SETS)


def failed(space: Space, seed: int, cell: Cell, error: str) -> pa.Table:
    """The rows of a cell that could not be evaluated."""
    rows = [_row(one) | {"error": error} for one in applications(space, seed, cell)]
    return pa.Table.from_pylist(rows, schema=SETS)


def _row(one: Generated) -> dict[str, Any]:
    return {
        "name": one.name,
        "combination": one.combination,
        "repetition": one.repetition,
        "nodes": one.parameters.nodes,
        "utilization_asked": one.parameters.utilization,
        "utilization": one.utilization,
        "policy": one.parameters.policy,
        "parameters": json.dumps(one.parameters.document()),
    }


def _bound(text: str, row: dict[str, Any]) -> Bounds:
    try:
        return analysed(text, row)
    except ValueError as error:
        row["error"] = f"analyse: {error}"
        return {}


def analysed(text: str, row: dict[str, Any]) -> Bounds:
    """Notes whether a set is accepted; returns its bounds. Raises ValueError."""
    report = takt_core.analyse(text, sensitivity=False, proposals=False)
    (scenario,) = report["scenarios"]
    row["accepted"] = scenario["schedulable"]
    return {
        callback["name"]: None
        if callback["response_us"] is None
        else round(callback["response_us"] * 1000)
        for callback in scenario["callbacks"]
    }


def _both(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    """Two simulations of one application as one: their jobs, and the longer responses."""
    if "error" in first:
        return first
    callbacks = [
        one | {"worst_response_ns": max(one["worst_response_ns"], other["worst_response_ns"])}
        for one, other in zip(first["callbacks"], second["callbacks"], strict=True)
    ]
    counts = {key: first[key] + second[key] for key in ("jobs", "misses")}
    return first | counts | {"callbacks": callbacks}


def _compare(row: dict[str, Any], bounds: Bounds, simulated: dict[str, Any]) -> None:
    if "error" in simulated:
        row["error"] = f"simulate: {simulated['error']}"
        return
    row["jobs"], row["misses"] = simulated["jobs"], simulated["misses"]
    if not bounds:
        return
    tightness, violations, unbounded = 0.0, [], 0
    for callback in simulated["callbacks"]:
        name, response = callback["callback"], callback["worst_response_ns"]
        bound = bounds[name]
        if bound is None:
            unbounded += 1
            continue
        tightness = max(tightness, response / bound)
        if response > bound:
            violations.append(f"{name}: {response} ns is above {bound} ns")
    row |= {
        "unbounded": unbounded,
        "bound_violations": len(violations),
        "tightness": tightness,
        "violations": violations,
    }
