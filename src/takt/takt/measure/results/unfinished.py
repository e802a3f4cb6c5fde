# SPDX-License-Identifier: Apache-2.0
"""What it means that a cell is not complete: measured later, or answered by what went wrong."""

from __future__ import annotations

from enum import Enum

from takt.measure.results.model import Cell, Status


class Unfinished(str, Enum):
    """Why a cell is not complete; going on with its run measures it again in each case."""

    waiting = "waiting"  # not measured, or stopped on the way
    lost = "lost"  # all was sent, but the last message never came to each subscriber
    failed = "failed"


def unfinished(cell: Cell) -> Unfinished | None:
    """Why it is not complete; None: it is."""
    if cell.status is Status.complete:
        return None
    if cell.status is Status.failed:
        return Unfinished.failed
    # A subscriber that waits in vain for the last message is stopped; its publisher has ended.
    sent_all = any(one.role == "publisher" and one.status == "complete" for one in cell.probes)
    if cell.status is Status.partial and sent_all and cell.lost:
        return Unfinished.lost
    return Unfinished.waiting


def reason(cell: Cell) -> str:
    """Why it is not complete, in words; empty where it is."""
    match unfinished(cell):
        case Unfinished.waiting if cell.status is Status.pending:
            return "not measured yet"
        case Unfinished.waiting:
            return f"stopped after {cell.count} of {cell.samples_requested} samples"
        case Unfinished.lost:
            return losses([cell])
        case Unfinished.failed:
            if cell.error is None:
                return "failed"
            return f"{cell.error.what}: {cell.error.why}" if cell.error.why else cell.error.what
    return ""


def losses(cells: list[Cell]) -> str:
    """How many messages of these cells never came."""
    sent = sum(one.sent * one.subscribers for one in cells)
    lost = sum(one.lost for one in cells)
    if lost == sent:
        return f"none of {sent} messages arrived"
    return f"{lost} of {sent} messages are missing, including the last one"
