# SPDX-License-Identifier: Apache-2.0
"""A verdict in the terminal."""

from __future__ import annotations

from rich.console import Console

from takt.judge import words
from takt.judge.model import Judgement, Verdict
from takt.pages.row_table import RowTable
from takt.statistics.judgement import Outcome

STYLES = {Outcome.meets: "green", Outcome.fails: "red", Outcome.undecided: "yellow"}


def show(console: Console, verdict: Verdict) -> None:
    """One line a limit, then the reasons of those that are not met."""
    console.print(words.summary(verdict), markup=False, soft_wrap=True)
    console.print(
        RowTable(
            heading="of",
            rows=verdict.judgements,
            name=lambda one: one.subject,
            always={
                "quantity": words.quantity,
                "limit": words.limit,
                "worst": words.worst,
                "exceed": lambda one: None if one.growth else one.exceeded,
                "judged": lambda one: one.count,
                "outcome": lambda one: one.outcome.value,
            },
            words=frozenset({"quantity", "limit", "outcome"}),
            style=lambda one: STYLES[one.outcome],
        )
    )
    for one in _open(verdict):
        text = f"{one.subject}, {words.quantity(one)}: {one.outcome.value}: {words.details(one)}"
        console.print(text, markup=False, soft_wrap=True)
    for remark in verdict.remarks:
        console.print(f"note: {remark}", markup=False, soft_wrap=True)


def _open(verdict: Verdict) -> list[Judgement]:
    return [*verdict.of(Outcome.fails), *verdict.of(Outcome.undecided)]
