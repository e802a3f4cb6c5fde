# SPDX-License-Identifier: Apache-2.0
"""The thesis's output blocks and figures as rows of numbers, next to the same points here."""

from __future__ import annotations

from statistics import median

from takt.measure.results.model import Cell, Percentiles
from takt.reproduce.judgement import Missing
from takt.reproduce.model import Figures, Row
from takt.reproduce.published import Published, PublishedRow
from takt.reproduce.sticha2014.evidence import Evidence

COLUMNS = ("min_us", "mean_us", "max_us", "p50_us", "p99_us", "first_us")
TALKERS = "other talkers"  # not in the thesis, which leaves the question open


def rows(published: Published, evidences: list[Evidence]) -> list[Row]:
    """Every published row for every stack that was measured, then the open question's."""
    made = []
    for one in published.tables:
        for evidence in evidences:
            asked = dict(one.point)
            try:
                cells = evidence.cells(asked.pop("kind"), load="none", **asked)
            except Missing:
                continue
            measured = _figures(cells, one)
            if measured:
                made.append(
                    Row(
                        table=one.table,
                        row=one.row,
                        vendor=evidence.stack,
                        published=one.published,
                        measured=measured,
                    )
                )
    return made + [row for evidence in evidences for row in _talkers(evidence)]


def _figures(cells: list[Cell], row: PublishedRow) -> Figures:
    """Medians over the points, of the published columns and a few more."""
    found = [one for one in (_series(cell, row.series) for cell in cells) if one]
    if not found:
        return {}
    figures: Figures = {
        name: round(median(getattr(one, name) for one in found), 3)
        for name in COLUMNS
        if name != "first_us"
    }
    firsts = [
        cell.statistics.first_us
        for cell in cells
        if cell.statistics and cell.statistics.first_us is not None
    ]
    if "first_us" in row.published and firsts:
        figures["first_us"] = round(median(firsts), 3)
    return figures


def _series(cell: Cell, name: str | None) -> Percentiles | None:
    if cell.statistics is None:
        return None
    if name is None:
        return cell.statistics.latency
    if name == "jitter":
        return cell.statistics.cyclic.jitter if cell.statistics.cyclic else None
    own = cell.statistics.one_shot
    return getattr(own, name) if own else None


def _talkers(evidence: Evidence) -> list[Row]:
    """The same point with and without other nodes that talk at the same time."""
    made = []
    for cell in evidence.measured:
        if not cell.talkers or not cell.statistics:
            continue
        row = f"{cell.talkers} other pairs at {1e6 / cell.talker_period_us:g} Hz"
        alone = evidence.cells(
            cell.kind,
            period_us=cell.period_us,
            policy=cell.policy,
            load=cell.load,
            subscribers=cell.subscribers,
        )
        for name, cells in (("no other pairs", alone), (row, [cell])):
            figures = _figures(cells, PublishedRow(table=TALKERS, row=name, published={}))
            made.append(
                Row(
                    table=TALKERS,
                    row=f"publish/subscribe, 1 kHz, {name}",
                    vendor=evidence.stack,
                    published={},
                    measured=figures,
                )
            )
    return made
