# SPDX-License-Identifier: Apache-2.0
"""The document of ``./takt compare --json``; pairs hold the value of A, then that of B."""

from __future__ import annotations

from math import isfinite

from takt.measure.results.model import Model
from takt.measure.statistics.compare_model import Comparison, KeyComparison, Outcome, Share, Shift
from takt.statistics.judgement import Outcome as Meets

SCHEMA_VERSION = 1
Interval = list[float | None]  # null: an end that is infinite


class Quantity(Model):
    """One judged quantity of a cell."""

    quantity: str  # p50, p99, late, lost, settings, completion, samples
    outcome: Outcome
    reason: str  # with the figures
    repetitions_needed: int | None  # in each run, to decide; null: decided, or no number is known


class ShareDocument(Model):
    """How often an event happened: a response after the deadline, or a lost sample."""

    counts: list[list[int]]  # events and samples, in A and in B
    shares: list[float]  # in A and in B
    growth: float | None  # share in B - share in A
    interval: list[float] | None  # of the growth
    limit: float  # a growth whose whole interval is above it is a regression
    resolved: float  # a growth whose interval ends below it is none


class CellDocument(Model):
    """One cell that both runs have."""

    key: str
    ratio_p50: float | None  # B / A, of the latency
    ratio_p99: float | None
    interval: dict[str, Interval | None]  # of the ratios p50 and p99; null: an infinite end
    lost: list[int]  # samples, in A and in B
    absent: list[int]  # lost or never sent, in A and in B
    shares: dict[str, ShareDocument]  # late, lost
    repetitions: list[int]  # with samples, in A and in B
    repetitions_needed: int | None  # in each run, to decide all quantities
    judged: list[Quantity]
    notes: list[str]
    regressed: bool
    outcome: Outcome  # of the comparison
    sides: list[Meets]  # each run by itself, against the deadline: A, B


class CompareDocument(Model):
    """``./takt compare --json``."""

    schema_version: int = SCHEMA_VERSION
    threshold: float  # tolerated growth of a latency: 0.1 is 10 %
    confidence: float  # of all intervals together, 0 to 1
    cells: list[CellDocument]
    only_a: list[str]  # keys
    only_b: list[str]  # keys
    gone: list[str]  # keys of only_a that A measured: regressions
    notes: list[str]
    regressed: bool
    undecided: list[str]  # keys
    outcome: Outcome  # of all cells


def document(result: Comparison, threshold: float, confidence: float) -> CompareDocument:
    """The comparison as a document."""
    return CompareDocument(
        threshold=threshold,
        confidence=confidence,
        cells=[_cell(cell) for cell in result.cells],
        only_a=result.only_a,
        only_b=result.only_b,
        gone=result.gone,
        notes=result.notes,
        regressed=result.regressed,
        undecided=[cell.key for cell in result.undecided],
        outcome=result.outcome,
    )


def _cell(cell: KeyComparison) -> CellDocument:
    p50, p99 = (cell.changes.get(name) for name in ("p50", "p99"))
    return CellDocument(
        key=cell.key,
        ratio_p50=p50.ratio if p50 else None,
        ratio_p99=p99.ratio if p99 else None,
        interval={"p50": _interval(p50), "p99": _interval(p99)},
        lost=list(cell.lost),
        absent=list(cell.absent),
        shares={name: _share(one) for name, one in cell.shares.items()},
        repetitions=list(cell.repetitions),
        repetitions_needed=cell.needed,
        judged=[
            Quantity(
                quantity=one.quantity,
                outcome=one.outcome,
                reason=one.reason,
                repetitions_needed=one.needed,
            )
            for one in cell.judged
        ],
        notes=cell.notes,
        regressed=cell.regressed,
        outcome=cell.outcome,
        sides=list(cell.sides),
    )


def _interval(change: Shift | None) -> Interval | None:
    """JSON has no infinity."""
    return [_finite(change.low), _finite(change.high)] if change else None


def _finite(end: float) -> float | None:
    return end if isfinite(end) else None


def _share(one: Share) -> ShareDocument:
    found = one.difference
    return ShareDocument(
        counts=[list(side) for side in one.counts],
        shares=list(one.shares),
        growth=found.value if found else None,
        interval=[found.low, found.high] if found else None,
        limit=one.limit,
        resolved=one.resolved,
    )
