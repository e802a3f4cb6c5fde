# SPDX-License-Identifier: Apache-2.0
"""The thesis's tables, and the bars of its figures as numbers, next to what was measured here."""

from __future__ import annotations

from takt.bench.model import Table
from takt.reproduce.krukiewicz2021.bars import BarFigure, bar_figures, known, place
from takt.reproduce.krukiewicz2021.evidence import Evidence, in_ms
from takt.reproduce.krukiewicz2021.points import HARMONIC, KB, NODES, WITH_CONSTRAINT, Point
from takt.reproduce.model import Figures, Row, rounded
from takt.reproduce.published import Published
from takt.reproduce.scatter import Missing

NAMES = {
    "baseline0": "baseline0",
    "baseline1": "baseline1",
    "takt": "Takt",
    WITH_CONSTRAINT: "Takt, data-age constraint",
}


def rows(published: Published, evidence: Evidence, overhead: list[Table]) -> list[Row]:
    """All of them of which something was measured."""
    return [
        *_overheads(overhead),
        *(row for one in bar_figures() for row in _bars(published, evidence, one)),
        *_ages(published, evidence),
        *_costs(evidence),
    ]


def _overheads(tables: list[Table]) -> list[Row]:
    """Side by side stand different things: a call there, all CPU time between callbacks here."""
    rows = {
        "baseline0": ("baseline0", "baseline0", "one get_next_executable() of baseline0"),
        "scheduling executor": ("thesis", "takt", "one get_next_executable() of the thesis's"),
    }
    return [
        Row(
            table=table.table,
            row=row,
            paper=what,
            vendor=f"CPU time between callbacks of {NAMES[ours]}",
            published={f"{key}_us": value for key, value in table.published[theirs].items()},
            measured={f"{key}_us": value for key, value in table.measured[ours].items()},
        )
        for table in tables
        for row, (theirs, ours, what) in rows.items()
    ]


def _bars(published: Published, evidence: Evidence, figure: BarFigure) -> list[Row]:
    """A row for each size of the messages, a column for each utilization, in percent."""
    stated = published.figures[figure.number].values
    found_rows = []
    for series, points in figure.points.items():
        names = {f"utilization_{load:g}_percent": (load, point) for load, point in points.items()}
        asked = {name: point for name, (_, point) in names.items()}
        measured = known(asked, lambda point: 100 * figure.of(evidence, point))
        if not measured:
            continue
        there = {
            name: round(100 * share, 3)
            for name, (load, _) in names.items()
            if isinstance(share := stated.get(f"{place(load)}, {series}"), int | float)
        }
        # All columns in their order, whatever was told or measured.
        published_row: Figures = {name: there.get(name) for name in names} if there else {}
        measured_row = rounded({name: measured.get(name) for name in names})
        stolen = sum(known(asked, evidence.stolen_ms).values())
        row = Row(
            table=f"figure {figure.number}",
            row=series,
            paper="thesis",
            vendor=figure.title.partition(":")[0],
            published=published_row,
            measured={**measured_row, "stolen_ms": round(stolen, 1)},
        )
        found_rows.append(row)
    return found_rows


def _ages(published: Published, evidence: Evidence) -> list[Row]:
    rows = []
    for one in published.tables:
        point = Point("age", one.point["approach"], one.point["nodes"], 0.75, 512 * KB, HARMONIC)
        try:
            age = evidence.age(point)
        except Missing:
            continue
        rows.append(
            Row(
                table=one.table,
                row=one.row,
                paper=one.paper,
                vendor=NAMES[point.approach],
                published=one.published,
                measured=in_ms(age) | {"stolen_ms": round(evidence.stolen_ms(point), 1)},
            )
        )
    return rows


def _costs(evidence: Evidence) -> list[Row]:
    """Not in the thesis: what the others have of it that the data is kept young."""
    rows = []
    for nodes in NODES:
        for approach in ("takt", WITH_CONSTRAINT):
            try:
                others = evidence.others(Point("age", approach, nodes, 0.75, 512 * KB, HARMONIC))
            except Missing:
                continue
            rows.append(
                Row(
                    table="What the data-age constraint costs the generated callbacks",
                    row=f"{nodes} nodes",
                    vendor=NAMES[approach],
                    published={},
                    measured=others,
                )
            )
    return rows
