# SPDX-License-Identifier: Apache-2.0
"""Tables 5.6 to 5.8 of the thesis whose executor Takt grew from, measured next to its values."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from takt.bench import programs
from takt.bench.model import Table, interleaved, median

PUBLISHED = Path(__file__).with_name("published.yaml")
DURATION_MS = 1000
EXECUTORS = ("baseline0", "takt")


class Application(BaseModel):
    """The parameters of its generator."""

    model_config = ConfigDict(extra="forbid")

    nodes: int
    periods_ms: list[int]
    publishers: float  # share of the nodes
    subscribers: float


Measure = Callable[[Application, str, int], dict[str, float]]


class Published(BaseModel):
    """One table; figures in µs, in the order of the columns."""

    model_config = ConfigDict(extra="forbid")

    table: str
    title: str
    application: Application
    baseline0: list[float]
    proposed: list[float]


def published() -> tuple[list[str], list[Published]]:
    """The columns and the tables."""
    from ruamel.yaml import YAML

    document = YAML(typ="safe").load(PUBLISHED)
    return document["columns"], [Published.model_validate(one) for one in document["tables"]]


def on_rcl(application: Application, executor: str, cpu: int) -> dict[str, float]:
    """The CPU time between two callbacks of a thread, in µs, by column."""
    answer = programs.figures(
        "bench_rcl_executor",
        "overhead",
        executor=executor,
        **application.model_dump(),
        duration_ms=DURATION_MS,
        cpu=cpu,
    )
    return {column: float(answer[f"{column}_us"]) for column in published()[0]}


def tables(
    rounds: int, cpu: int, progress: Callable[[str], None], measure: Measure = on_rcl
) -> list[Table]:
    """Measures all three for both executors; but for min and max, medians over the rounds.

    ``measure``: the columns of one run of an application by an executor on a core.
    """
    columns, known = published()
    measured = interleaved(
        {
            f"table {one.table}, {executor}": partial(measure, one.application, executor, cpu)
            for one in known
            for executor in EXECUTORS
        },
        rounds,
        seed=2,
        progress=progress,
    )
    return [
        Table(
            table=one.table,
            title=f"executor overhead, {one.title}",
            unit="µs",
            published={
                "baseline0": dict(zip(columns, one.baseline0, strict=True)),
                "thesis": dict(zip(columns, one.proposed, strict=True)),
            },
            measured={
                executor: {column: _of(measured[name], column) for column in columns}
                for executor, name in _names(one.table)
            },
            rounds={executor: measured[name] for executor, name in _names(one.table)},
        )
        for one in known
    ]


def _names(table: str) -> list[tuple[str, str]]:
    return [(executor, f"table {table}, {executor}") for executor in EXECUTORS]


def _of(rounds: list[dict[str, float]], column: str) -> float:
    """The lowest and the highest of all rounds, as in the thesis; of the others the median."""
    extreme = {"min": min, "max": max}.get(column)
    return extreme(one[column] for one in rounds) if extreme else median(rounds, column)
