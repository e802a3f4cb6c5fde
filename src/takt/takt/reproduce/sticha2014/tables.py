# SPDX-License-Identifier: Apache-2.0
"""The thesis's output blocks and figures as rows of numbers, next to the same points here."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

from takt.measure.results.model import Cell, Percentiles
from takt.reproduce.evidence import Evidence
from takt.reproduce.model import Figures, Row
from takt.reproduce.published import Published, PublishedRow
from takt.reproduce.scatter import Missing
from takt.reproduce.sticha2014.evidence import NO_LOAD, TRANSPORTS

TALKERS = "other talkers"  # not in the thesis, which leaves the question open
LONG_TERM = ("figure 5.2", "figure 5.3", "figure 5.4")
NAMES = {
    "rcl": "ROS 2",
    "ros1": "ROS 1",
    "cyclictest": "cyclictest, this kernel",
    "raw": "Takt's own loop, this kernel",
}


def rows(published: Published, evidences: list[Evidence]) -> list[Row]:
    """Every published row for every stack that was measured, then the open question's."""
    found_rows = []
    for one in published.tables:
        for evidence in evidences:
            # The bare machine has a timer to compare with, but no long-term runs.
            if evidence.stack not in TRANSPORTS and one.table in LONG_TERM:
                continue
            for name, cells in _alike(evidence, one):
                measured = _figures(cells, one)
                if measured:
                    found_rows.append(_row(one.table, one.row, name, measured, one))
    return found_rows + [row for evidence in evidences for row in _talkers(evidence)]


def _alike(evidence: Evidence, row: PublishedRow) -> Iterator[tuple[str, list[Cell]]]:
    """The runs of a row by what was measured: the bare machine has several timers."""
    asked = {name: tuple(v) if isinstance(v, list) else v for name, v in row.point.items()}
    try:
        cells = evidence.cells(**{"load": NO_LOAD, **asked})
    except Missing:
        return
    ways = list(dict.fromkeys(cell.transport for cell in cells))
    for way in ways:
        name = NAMES[evidence.stack]
        if len(ways) > 1:
            name = f"Takt's own loop, {way}"
        yield name, [cell for cell in cells if cell.transport == way]


def _figures(cells: list[Cell], row: PublishedRow) -> Figures:
    """Lowest and highest of all runs, the mean of all samples, medians of the runs' percentiles."""
    found = [one for one in (_series(cell, row.series) for cell in cells) if one]
    if not found:
        return {}
    count = sum(one.count for one in found)
    figures: Figures = {
        "min_us": min(one.min_us for one in found),
        "mean_us": sum(one.mean_us * one.count for one in found) / count,
        "max_us": max(one.max_us for one in found),
        "p50_us": median(one.p50_us for one in found),
        "p99_us": median(one.p99_us for one in found),
    }
    firsts = [c.statistics.first_us for c in cells if c.statistics and c.statistics.first_us]
    if "first_us" in row.published and firsts:
        figures["first_us"] = max(firsts) if "runs" in row.published else median(firsts)
    figures = {name: round(value, 3) for name, value in figures.items() if isinstance(value, float)}
    figures["stolen_ms"] = round(sum(1e3 * cell.steal_seconds for cell in cells))
    if "runs" in row.published:
        figures["runs"] = sum(cell.subscribers for cell in cells)
    if "measurements" in row.published:
        figures["measurements"] = count
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


def _talkers(evidence: Evidence) -> Iterator[Row]:
    """The same point with and without other nodes that talk at the same time."""
    busy = [cell for cell in evidence.measured.run.cells if cell.talkers and cell.statistics]
    busy = [cell for cell in busy if cell.stack == evidence.stack]
    if not busy:
        return
    one = busy[0]
    try:
        without_pairs = evidence.cells(
            kind=one.kind,
            period_us=one.period_us,
            scheduling=one.scheduling,
            load=NO_LOAD if one.load in NO_LOAD else one.load,
            subscribers=one.subscribers,
        )
    except Missing:
        without_pairs = []
    others = f"{one.talkers} other pairs at {1e6 / one.talker_period_us:g} Hz"
    for name, cells in (("no other pairs", without_pairs), (others, busy)):
        if not cells:
            continue
        row = f"publish/subscribe, 1 kHz, {name}"
        asked = PublishedRow(table=TALKERS, row=row, published={})
        yield _row(TALKERS, row, NAMES[evidence.stack], _figures(cells, asked), asked)


def _row(table: str, row: str, name: str, measured: Figures, of: PublishedRow) -> Row:
    return Row(
        table=table,
        row=row,
        paper=of.paper,
        vendor=name,
        published=of.published,
        measured=measured,
    )
