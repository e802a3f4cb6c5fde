# SPDX-License-Identifier: Apache-2.0
"""Imported applications for people."""

from __future__ import annotations

from rich.console import Console

from takt.pages.row_table import of_cells
from takt.pages.text import count
from takt.schedule.importing.document import ImportDocument

MOST_ROWS = 20


def show(console: Console, document: ImportDocument) -> None:
    """Prints a row for each application, and what comes next."""
    every = document.applications
    rows = [
        (one.application, count(one.callbacks), count(one.chains), f"{one.utilization:.3f}")
        for one in every[:MOST_ROWS]
    ]
    console.print(of_cells(("application", "callbacks", "chains", "utilization"), rows))
    if len(every) > MOST_ROWS:
        console.print(f"… and {count(len(every) - MOST_ROWS)} more", soft_wrap=True)
    text = f"{document.format}: next, takt analyse {every[0].application}"
    console.print(text, markup=False, soft_wrap=True)
