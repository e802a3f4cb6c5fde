# SPDX-License-Identifier: Apache-2.0
"""What is missing, in the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from takt.pages.row_table import RowTable
from takt.schedule.absence.model import Absence
from takt.statistics.judgement import Outcome

_STYLES = {Outcome.fails: "red", Outcome.undecided: "yellow"}


def show(console: Console, absences: Sequence[Absence]) -> None:
    """One row each; nothing where everything arrived."""
    if absences:
        console.print(
            RowTable(
                heading="absent",
                rows=absences,
                name=lambda one: one.subject,
                always={
                    "arrived": _arrived,
                    "outcome": lambda one: one.outcome.value,
                    "reason": lambda one: one.reason,
                },
                words=frozenset({"outcome", "reason"}),
                style=lambda one: _STYLES.get(one.outcome, ""),
            )
        )


def _arrived(one: Absence) -> str:
    return f"{one.arrived}" if one.expected is None else f"{one.arrived} of {one.expected}"
