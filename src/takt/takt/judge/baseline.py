# SPDX-License-Identifier: Apache-2.0
"""A baseline: what a comparison needs of recorded repetitions, in a small file to commit.

A line for each series: of each repetition its number of values, p50 and p99 with their standard
errors, and how many were late. That is all that the statistics of ``takt compare`` use.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from takt.documents import yaml_file
from takt.documents.writing import write_text
from takt.documents.yaml_file import Form
from takt.judge.model import Quantity
from takt.judge.repetition import Key, Repetition, Side
from takt.judge.wrong import wrong
from takt.statistics.ratios import QUANTILES, Level
from takt.statistics.shares import Counted

SCHEMA_VERSION = 1
DIGITS = 12  # below a nanosecond


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


class Percentile(_Part):
    """A percentile of each repetition; null: too few values."""

    us: list[float | None]
    error: list[float | None]  # standard error of its logarithm


class SeriesOf(_Part):
    """One quantity of a subject; the lists have a value for each repetition."""

    subject: str  # callback, chain, reader ← topic, or cell
    quantity: Quantity
    limit_us: float | None  # later than that is late; null: without a limit
    count: list[int]  # values
    max_us: list[float | None]  # for the reader; not compared
    p50: Percentile
    p99: Percentile
    late: list[int]  # values above the limit; events, where a share is all that is known
    of: list[int]  # how many could be late
    correlation: list[float]  # integrated autocorrelation time of late values, in values


class Baseline(_Part):
    """A baseline; written by ``takt gate --write-baseline``."""

    schema_version: int = SCHEMA_VERSION
    source: str  # executor, simulator or run: only like is compared with like
    repetitions: int
    series: list[SeriesOf]


FORM = Form(
    "a baseline",
    Baseline,
    keys="source and series",
    example="docs/how-to/gate-a-robot-in-ci.md",
    reference="docs/reference/documents/baseline.md",
)


def write(path: Path, side: Side) -> None:
    """Writes the repetitions as a baseline: one line a series, which diffs and merges show."""
    series = [_series(key, found) for key, found in sorted(side.series.items())]
    baseline = Baseline(source=side.source, repetitions=side.repetitions, series=series)
    head = baseline.model_dump(mode="json", exclude={"series"})
    lines = [f" {json.dumps(key)}: {json.dumps(value)}," for key, value in head.items()]
    rows = [f"  {json.dumps(one.model_dump(mode='json'), ensure_ascii=False)}" for one in series]
    text = "\n".join(["{", *lines, ' "series": [', ",\n".join(rows), " ]", "}"])
    write_text(path, text + "\n")


def read(path: Path) -> Side:
    """Reads a baseline; raises TaktError with its errors."""
    if not path.exists():
        raise wrong("no such baseline", path, f"write it: takt gate TRACE… --write-baseline {path}")
    found, _ = yaml_file.read(path, FORM)
    if found.schema_version != SCHEMA_VERSION:
        raise wrong(
            f"this baseline has version {found.schema_version}, not {SCHEMA_VERSION}",
            path,
            "write it again: takt gate TRACE --write-baseline FILE",
        )
    series: dict[Key, list[Repetition]] = {}
    for one in found.series:
        columns: list[Sequence[Any]] = [
            *(one.count, one.max_us, one.late, one.of, one.correlation),
            *(column for each in (one.p50, one.p99) for column in (each.us, each.error)),
        ]
        if {len(column) for column in columns} != {len(one.count)}:
            raise wrong(
                f"{one.subject}, {one.quantity.value}: the lists differ in length",
                path,
                "the file was edited: write it again with --write-baseline",
            )
        series[one.subject, one.quantity] = [
            _repetition(one, place) for place in range(len(one.count))
        ]
    return Side(source=found.source, repetitions=found.repetitions, series=series)


def _series(key: Key, found: Sequence[Repetition]) -> SeriesOf:
    by_name = {
        name: Percentile(
            us=[_rounded(one.levels[name].value / 1000) if name in one.levels else None
                for one in found],
            error=[_rounded(one.levels[name].error) if name in one.levels else None
                   for one in found],
        )
        for name in QUANTILES
    }  # fmt: skip
    return SeriesOf(
        subject=key[0],
        quantity=key[1],
        limit_us=found[0].limit_us,
        count=[one.count for one in found],
        max_us=[None if one.max_us is None else _rounded(one.max_us) for one in found],
        late=[one.late.hits for one in found],
        of=[one.late.count for one in found],
        correlation=[_rounded(one.late.correlation) for one in found],
        **by_name,
    )


def _repetition(one: SeriesOf, place: int) -> Repetition:
    levels = {}
    for name, percentile in (("p50", one.p50), ("p99", one.p99)):
        us, error = percentile.us[place], percentile.error[place]
        if us is not None and error is not None and us > 0:
            levels[name] = Level(round(us * 1000, 3), error)
    return Repetition(
        count=one.count[place],
        max_us=one.max_us[place],
        levels=levels,
        late=Counted(one.late[place], one.of[place], one.correlation[place]),
        limit_us=one.limit_us,
    )


def _rounded(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")
