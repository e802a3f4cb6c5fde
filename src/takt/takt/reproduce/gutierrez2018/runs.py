# SPDX-License-Identifier: Apache-2.0
"""What one run of round trips amounts to, besides what one of any paper does.

A deadline is missed by the latency, T2 - T1, as in the paper (III.A): not by the response.
"""

from __future__ import annotations

from pathlib import Path

from takt.measure.results.model import Cell
from takt.reproduce.rare import Counts
from takt.reproduce.runs import beyond, p50, p99, statistics

__all__ = [
    "above_average", "average", "far_above", "highest", "left_out", "lost", "missed", "p50", "p99",
    "sent",
]  # fmt: skip


def average(cell: Cell, _: Path) -> float:
    """Mean latency in µs."""
    return statistics(cell).latency.mean_us


def highest(cell: Cell, _: Path) -> float:
    """The highest latency in µs."""
    return statistics(cell).latency.max_us


def above_average(cell: Cell, _: Path) -> float:
    """How far above the average the highest latency lies, in µs."""
    found = statistics(cell).latency
    return found.max_us - found.mean_us


def sent(cell: Cell, _: Path) -> float:
    """Messages that were sent."""
    return float(cell.sent)


def far_above(cell: Cell, folder: Path, times: float) -> Counts:
    """Latencies of more than so many times the average, of all that came."""
    return beyond(cell, folder, times * average(cell, folder))


def missed(cell: Cell, folder: Path) -> Counts:
    """Replies after the deadline, of all messages; the first one left out."""
    return beyond(cell, folder, cell.deadline_us)[0], cell.sent


def lost(cell: Cell, _: Path) -> Counts:
    """Messages without a reply in time, of all messages."""
    return cell.lost, cell.sent


def left_out(cell: Cell, _: Path) -> Counts:
    """Cycles without a message, because the one before was awaited; of all cycles."""
    return max(0, cell.samples_requested - cell.sent), cell.samples_requested
