# SPDX-License-Identifier: Apache-2.0
"""Tables I to XV: a published row and what was measured here beside it, for each middleware."""

from __future__ import annotations

from statistics import median

from takt.measure.results.model import Cell
from takt.reproduce.evidence import Evidence, Measured
from takt.reproduce.gutierrez2018 import runs
from takt.reproduce.gutierrez2018.vendors import Vendor, known, why_not
from takt.reproduce.model import Figures, Row
from takt.reproduce.published import Published, PublishedRow
from takt.reproduce.scatter import Missing


def rows(published: Published, measured: Measured) -> list[Row]:
    """Every published row; of what is not measured, why."""
    vendors = known({cell.stack for cell in measured.run.cells})
    by_name = {one.paper: one for one in vendors}
    reasons = {one.stack: why_not(one) for one in vendors}
    return [_row(one, by_name[one.paper], reasons, measured) for one in published.tables]


def _row(one: PublishedRow, vendor: Vendor, reasons: dict[str, str], measured: Measured) -> Row:
    try:
        found = _figures(Evidence(measured, vendor.stack).cells(**one.point), measured)
    except Missing:
        found = {}
    return Row(
        table=one.table,
        row=one.row,
        vendor=vendor.name,
        published=one.published,
        measured=found,
        why="" if found else reasons[vendor.stack],
    )


def _figures(cells: list[Cell], measured: Measured) -> Figures:
    """Lowest and highest of all runs, the mean of all messages, counts of all of them."""
    latencies = [cell.statistics.latency for cell in cells if cell.statistics]
    if not latencies:
        return {}
    count = sum(one.count for one in latencies)
    return {
        "min_us": round(min(one.min_us for one in latencies), 1),
        "avg_us": round(sum(one.mean_us * one.count for one in latencies) / count, 1),
        "max_us": round(max(one.max_us for one in latencies), 1),
        "missed": sum(runs.missed(cell, measured.folder)[0] for cell in cells),
        "lost": sum(cell.lost for cell in cells),
        "sent": sum(cell.sent for cell in cells),
        "p99_us": round(median(one.p99_us for one in latencies), 1),
        "runs": len(cells),
    }
