# SPDX-License-Identifier: Apache-2.0
"""What a benchmark answers: bars, each a value with the limit that it should keep."""

from __future__ import annotations

import random
import statistics
from collections.abc import Callable, Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, computed_field

SCHEMA_VERSION = 1


class Bar(BaseModel):
    """One figure and its limit; it holds while ``value <= limit``."""

    model_config = ConfigDict(extra="forbid")

    name: str
    value: float
    limit: float
    unit: str  # "ratio", "ns", "µs", "count"
    detail: dict[str, Any] = {}  # the figures behind the value, medians over the rounds

    @computed_field  # type: ignore[prop-decorator]
    @property
    def holds(self) -> bool:
        """Whether the value keeps the limit."""
        return self.value <= self.limit


class Table(BaseModel):
    """A published table and the same one measured here; figures of a row by column."""

    model_config = ConfigDict(extra="forbid")

    table: str
    title: str
    unit: str
    published: dict[str, dict[str, float]]
    measured: dict[str, dict[str, float]]
    rounds: dict[str, list[dict[str, float]]] = {}  # behind each row that was measured


class Bench(BaseModel):
    """The document of ``./takt bench NAME --json``."""

    model_config = ConfigDict(extra="forbid")

    schema_version: int = SCHEMA_VERSION
    bench: str
    rounds: int
    bars: list[Bar]
    tables: list[Table] = []
    notes: list[str] = []


def interleaved(
    variants: Mapping[str, Callable[[], dict[str, float]]],
    rounds: int,
    seed: int,
    progress: Callable[[str], None] = lambda _: None,
) -> dict[str, list[dict[str, float]]]:
    """Runs every variant once a round, in random order, so that drifts hit all of them alike.

    Returns the figures of each variant, one entry a round, in the order of the rounds.
    """
    order = random.Random(seed)  # noqa: S311
    results: dict[str, list[dict[str, float]]] = {name: [] for name in variants}
    for number in range(rounds):
        names = list(variants)
        order.shuffle(names)
        for name in names:
            progress(f"round {number + 1} of {rounds}: {name}")
            results[name].append(variants[name]())
    return results


def median_ratio(of: list[dict[str, float]], to: list[dict[str, float]], figure: str) -> float:
    """The median over the rounds of ``of`` divided by ``to`` of the same round."""
    return statistics.median(a[figure] / b[figure] for a, b in zip(of, to, strict=True))


def median(of: list[dict[str, float]], figure: str) -> float:
    """The median over the rounds of one figure."""
    return statistics.median(entry[figure] for entry in of)
