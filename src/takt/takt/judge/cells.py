# SPDX-License-Identifier: Apache-2.0
"""Judges the cells of a measured run: responses, lost samples, and repetitions that failed.

A cell during which other programs took much CPU time neither convicts nor acquits: what it has late
or lost may be theirs. Stolen time explains as many late samples as the verdict of ``takt check``
allows for.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path

import numpy as np
import pyarrow as pa

from takt.judge.limits import ALL, CellLimits, Limits
from takt.judge.model import Judgement, Quantity
from takt.judge.recorded import above, worst_us
from takt.judge.repetition import NOTHING, Key, Repetition, Side, events, repetition, share
from takt.judge.trial import Excuses, counted, never
from takt.judge.wrong import wrong
from takt.measure.results import outcome, reservations
from takt.measure.results.model import Cell, Run, Status
from takt.measure.statistics.series import Series, joined, read_series
from takt.pages import text
from takt.schedule.absence.model import Absence
from takt.statistics.judgement import Outcome

_WHOLE = "give a complete run folder, with its samples"


@dataclass(frozen=True)
class Measured:
    """One repetition of a cell with its samples."""

    cell: Cell
    series: Series

    def excused(self, limit: int) -> int:
        """The most samples later than that limit in ns that the cell itself did not cause."""
        every = len(self.series) + reservations.absent(self.cell)
        return min(every, outcome.excuses(self.cell, limit / 1000))


def read(run: Run, folder: Path) -> dict[str, list[Measured]]:
    """The repetitions of each key; raises TaktError for samples that cannot be read."""
    found: dict[str, list[Measured]] = defaultdict(list)
    for cell in run.cells:
        try:
            files = [folder / name for name in cell.samples]
            parts = [read_series(one, since_intended=cell.since_intended) for one in files]
        except FileNotFoundError:
            lacking = ", ".join(one.name for one in files if not one.exists())
            what = f"the samples of {cell.id} are missing: {lacking}"
            raise wrong(what, folder, _WHOLE) from None
        except (OSError, pa.ArrowException, KeyError) as error:
            raise wrong(
                f"cannot read the samples of {cell.id}: {error}",
                folder,
                _WHOLE,
            ) from None
        found[cell.key].append(Measured(cell, joined(parts)))
    return dict(found)


def judge(cells: Mapping[str, Sequence[Measured]], limits: Limits, path: Path) -> list[Judgement]:
    """Every cell of the run; raises TaktError for a pattern that matches none."""
    for pattern in limits.cells:
        if not any(fnmatchcase(key, pattern) for key in cells):
            raise wrong(
                f"the limits name cell {pattern!r}, which the run {path} does not have",
                limits.where("cells", pattern) or path,
                f"its cells: {', '.join(sorted(cells))}",
            )
    confidence = limits.confidence / ALL
    found = []
    for key, repetitions in cells.items():
        own = _limits(limits, key)
        found += [_complete(key, repetitions, own, confidence)]
        if not _is_described(repetitions, own):
            found += [_responses(key, repetitions, own, confidence)]
        found += _settings(key, repetitions)
    return found


def side(cells: Mapping[str, Sequence[Measured]], limits: Limits) -> Side:
    """What a baseline has of them: latencies, late responses and absent samples."""
    series: dict[Key, list[Repetition]] = defaultdict(list)
    for key, repetitions in cells.items():
        limit = _limit(_limits(limits, key), repetitions)
        for one in repetitions:
            # Subscribers hear the same messages: side by side, so that a block holds them together.
            order = np.argsort(one.series.intended_ns, kind="stable")
            latency, response = one.series.latency_ns[order], one.series.response_ns[order]
            middle = int(np.median(latency)) if len(latency) else 1
            found = {
                Quantity.latency: repetition(latency, None, excused=one.excused(max(1, middle))),
                Quantity.response: share(response, limit, one.excused(limit)),
                Quantity.completeness: _events(one, limit),
            }
            for quantity, each in found.items():
                disturbed = one.cell.disturbed  # without it, nothing of it is left
                series[key, quantity].append(
                    replace(each, undisturbed=NOTHING) if disturbed else each
                )
    every = [one for repetitions in cells.values() for one in repetitions]
    return Side(
        source="run",
        repetitions=max((len(one) for one in cells.values()), default=0),
        series=dict(series),
        whole=all(one.cell.status is Status.complete for one in every),
    )


def _events(one: Measured, limit: int) -> Repetition:
    absent = reservations.absent(one.cell)
    return events(absent, max(reservations.expected(one.cell), absent), one.excused(limit))


def _limits(limits: Limits, key: str) -> CellLimits:
    matching = (own for pattern, own in limits.cells.items() if fnmatchcase(key, pattern))
    return next(matching, CellLimits())


def _is_described(repetitions: Sequence[Measured], own: CellLimits) -> bool:
    """Whether nothing says how late it may be: a supply has no deadline; a late window is a gap."""
    return own.response is None and outcome.deadline_of(repetitions[0].cell) is None


def _limit(own: CellLimits, repetitions: Sequence[Measured]) -> int:
    return own.response or round(repetitions[0].cell.deadline_us * 1000)


def _responses(
    key: str, repetitions: Sequence[Measured], own: CellLimits, confidence: float
) -> Judgement:
    """Late samples; without a limit of their own, absent ones are late."""
    limit = _limit(own, repetitions)
    absent = [reservations.absent(one.cell) if own.lost is None else 0 for one in repetitions]
    late = [
        above(one.series.response_ns, limit) + never
        for one, never in zip(repetitions, absent, strict=True)
    ]
    every = np.concatenate([one.series.response_ns for one in repetitions])
    return counted(
        confidence,
        key,
        Quantity.response,
        sum(late),
        len(every) + sum(absent),
        own.late,
        Excuses(_excused(late, repetitions, limit)),
        limit_us=limit / 1000,
        worst_us=worst_us(every),
    )


def _excused(events: Sequence[int], repetitions: Sequence[Measured], limit: int) -> int:
    return sum(
        min(number, one.excused(limit)) for number, one in zip(events, repetitions, strict=True)
    )


def _settings(key: str, repetitions: Sequence[Measured]) -> list[Judgement]:
    """What was measured without a requested setting answers another question."""
    without = [one for one in repetitions if outcome.not_granted([one.cell])]
    if not without:
        return []
    return [
        Judgement(
            subject=key,
            quantity=Quantity.settings,
            limit_us=None,
            allowed=0,
            exceeded=len(without),
            count=len(repetitions),
            outcome=Outcome.undecided,
            reason="; ".join(outcome.not_granted([one.cell for one in without])),
        )
    ]


def _complete(
    key: str, repetitions: Sequence[Measured], own: CellLimits, confidence: float
) -> Judgement:
    """Lost samples and those never sent; a repetition that failed has no number of them."""
    absent = [reservations.absent(one.cell) for one in repetitions]
    excused = _excused(absent, repetitions, _limit(own, repetitions))
    allowed = own.late if own.lost is None else own.lost
    if own.lost is None and _is_described(repetitions, own):
        allowed = 0  # its few windows are all there, or it tells less than it was asked for
    expected = sum(reservations.expected(one.cell) for one in repetitions)
    expected = max(expected, sum(absent))
    found = counted(
        confidence, key, Quantity.completeness, sum(absent), expected, allowed, Excuses(excused)
    )
    for status in (Status.failed, Status.partial, Status.pending):
        those = [one.cell for one in repetitions if one.cell.status is status]
        if those and found.outcome is not Outcome.fails:
            return never(found, _ended(key, those, len(repetitions)))
    reason = f"{text.count(sum(absent))} of {text.count(expected)} samples missing"
    if found.excused:
        reason += f", {text.count(found.excused)} of them in a disturbed cell or by stolen time"
    return found.model_copy(update={"reason": reason})


def _ended(key: str, those: Sequence[Cell], every: int) -> Absence:
    why = those[0].error.what if those[0].error else "it was stopped"
    reason = f"{len(those)} of {every} repetitions {those[0].status.value}: {why}"
    failed = those[0].status is Status.failed
    return Absence(
        subject=key,
        arrived=0,
        expected=every,
        outcome=Outcome.fails if failed else Outcome.undecided,
        reason=reason,
    )
