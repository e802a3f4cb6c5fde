# SPDX-License-Identifier: Apache-2.0
"""The outcome of what a guest measured, by the one judgement of cells and traces.

Where the times of a mode say nothing about a kernel, late ones count as those of a disturbed cell:
they decide nothing, but what did not run fails.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from takt.judge import gate
from takt.judge.limits import Limits
from takt.lab.model import Latency
from takt.lab.modes import WAYS, Mode
from takt.measure.results import outcome
from takt.measure.results.model import Cell
from takt.measure.results.outcome import Late
from takt.statistics.judgement import Outcome, overall

Judged = tuple[Outcome, list[str]]  # and the reasons


def points(cells: Sequence[Cell], mode: Mode) -> list[Latency]:
    """The ordinary cells, one row a point, also of those that left nothing."""
    return [_point(each, mode) for each in outcome.points(cells)]


def counts(late: int, absent: int, count: int, deadline_us: float, mode: Mode) -> Judged:
    """Of so many that came, those after their deadline, and others that never came."""
    every = count + absent
    excused = 0 if WAYS[mode].publishable else every
    found = outcome.of_counts(
        Late(late + absent, late + absent, excused, every), absent, deadline_us
    )
    return found.outcome, found.reasons


def callbacks(trace: Path, mode: Mode) -> dict[str, Judged]:
    """Each callback of a trace, as ``takt gate`` judges it without a limits file."""
    by_name: dict[str, list[tuple[Outcome, str]]] = {}
    for one in gate.judge(trace, Limits()).judgements:
        excused = one.outcome is Outcome.fails and not WAYS[mode].publishable
        found = Outcome.undecided if excused else one.outcome
        by_name.setdefault(one.subject, []).append((found, one.reason))
    record = by_name.pop("trace", [])  # a trace with lost events decides nothing
    return {name: _together([*record, *found]) for name, found in by_name.items()}


def _together(found: Iterable[tuple[Outcome, str]]) -> Judged:
    every = list(found)
    against = [reason for each, reason in every if each is not Outcome.meets]
    return overall(each for each, _ in every), against or [reason for _, reason in every][-1:]


def _point(cells: Sequence[Cell], mode: Mode) -> Latency:
    first = cells[0]
    if not WAYS[mode].publishable:
        cells = [one.model_copy(update={"disturbed": True}) for one in cells]
    found = outcome.judge(cells)
    # takt lab measures each point once. Between hosts the question is when a message is there: by
    # the response, in which the sending thread's own lateness is.
    between_hosts = len(first.hosts) > 1
    key = first.key.removesuffix(f"-{first.label}")
    row = Latency(
        what=f"{key}, response" if between_hosts else key,
        load=first.label,
        count=sum(one.count for one in cells),
        outcome=found.outcome,
        reasons=found.reasons,
    )
    if first.statistics is None:
        return row
    of = first.statistics.response if between_hosts else first.statistics.latency
    figures = {"min_us": of.min_us, "avg_us": of.mean_us, "p50_us": of.p50_us, "p99_us": of.p99_us}
    return row.model_copy(update=figures | {"max_us": of.max_us})
