# SPDX-License-Identifier: Apache-2.0
"""What makes the cells behind a finding doubtful: other programs, and runs that are not complete.

A cell without a load is drawn as idle. It was idle only if other programs left the CPUs alone.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

from takt.measure.results.disturbed import sentence
from takt.measure.results.model import Cell, Status
from takt.pages import text
from takt.reproduce.evidence import Evidence, Measured
from takt.reproduce.model import Finding
from takt.reproduce.published import Published
from takt.reproduce.quantity import Check, values_of
from takt.reproduce.scatter import Missing
from takt.reproduce.undisturbed import judge


def finding(
    published: Published,
    name: str,
    check: Check[Evidence],
    measured: Measured,
    stack: str,
    most_draws: int,
) -> Finding:
    """The finding of a stack, judged, with the doubts about the cells behind it."""
    evidence = Evidence(measured, stack)
    answer = judge(check, published.findings[name].values, evidence, most_draws)
    found = published.finding(name, stack, answer)
    behind = [] if answer.not_asked else cells_behind(check, evidence)
    return found.model_copy(update={"doubts": doubts(behind)})


def cells_behind(check: Check[Evidence], evidence: Evidence) -> list[Cell]:
    """All runs of the points of which a check asks something, those without samples included."""
    own = evidence.drawn(None)
    with contextlib.suppress(Missing):  # what was asked before that counts
        values_of(check.quantities, own)
    return [cell for cell in evidence.measured.run.cells if cell.key in own.asked]


def doubts(cells: Sequence[Cell]) -> list[str]:
    """Of these cells; none: all are complete and undisturbed."""
    found = []
    if left := sum(cell.status is not Status.complete for cell in cells):
        found.append(f"{left} of {text.number_of(len(cells), 'run')} incomplete")
    if disturbed := sentence(cells):
        found.append(disturbed)
    return found
