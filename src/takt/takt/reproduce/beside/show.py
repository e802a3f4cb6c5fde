# SPDX-License-Identifier: Apache-2.0
"""Several reproductions for people, on the terminal."""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape

from takt.pages.row_table import of_cells
from takt.reproduce.beside.model import Beside
from takt.reproduce.beside.page import PAGE
from takt.reproduce.page import verdict


def show(console: Console, comparison: Beside) -> None:
    """Prints what takes several runs, then each finding's verdict in each of them."""
    names = [one.name for one in comparison.sides]
    console.print(f"[bold]{escape(comparison.title)}[/]: {escape('; '.join(names))}")
    for one in comparison.findings:
        console.print(f"{verdict(one)}: {one.id}: {one.claim}", markup=False)
        if one.needs:
            console.print(f"    needs {one.needs}", markup=False)
    rows = [
        [
            ("differs: " if one.apart else "") + f"{one.id}, {one.stack}",
            *(one.verdicts[name] for name in names),
            ", ".join(one.differing),
        ]
        for one in comparison.compared
    ]
    console.print(
        of_cells(("finding", *names, "figures that differ"), rows, title=comparison.paper)
    )
    place = f"results, {PAGE} among them: {comparison.results}"
    console.print(place, soft_wrap=True, markup=False)
