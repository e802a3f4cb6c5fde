# SPDX-License-Identifier: Apache-2.0
"""What makes the cells behind a finding doubtful: other programs, and runs that are not complete.

A cell without a load is drawn as idle. It was idle only if other programs left the CPUs alone.
"""

from __future__ import annotations

from collections.abc import Sequence

from takt.measure.results.disturbed import sentence
from takt.measure.results.model import Cell, Run, Status
from takt.pages import text
from takt.reproduce.model import Finding


def doubted(findings: Sequence[Finding], run: Run) -> list[Finding]:
    """The findings with the doubts about the cells of their stack, or of all where it is none's."""
    stacks = {cell.stack for cell in run.cells}

    def behind(one: Finding) -> list[Cell]:
        everything = one.stack not in stacks
        return [cell for cell in run.cells if everything or cell.stack == one.stack]

    return [one.model_copy(update={"doubts": doubts(behind(one))}) for one in findings]


def doubts(cells: Sequence[Cell]) -> list[str]:
    """Of these cells; none: all are complete and undisturbed."""
    found = []
    if left := sum(cell.status is not Status.complete for cell in cells):
        found.append(f"{left} of {text.number_of(len(cells), 'run')} incomplete")
    if disturbed := sentence(cells):
        found.append(disturbed)
    return found
