# SPDX-License-Identifier: Apache-2.0
"""What became of threads, for people. What became of executors was said when they began."""

from __future__ import annotations

from rich.console import Console

from takt.pages.row_table import of_cells
from takt.schedule.spin.document import SpinDocument, ThreadSettings


def show(console: Console, document: SpinDocument) -> None:
    """Prints a row for each thread that was set."""
    rows = [
        (
            one.name,
            f"{one.program}[{one.process}]",
            ", ".join(one.nodes) or "-",
            _text(one.requested),
            _text(one.granted) + (f" ({one.refused})" if one.refused else ""),
        )
        for one in document.threads
    ]
    if rows:
        headings = ("thread", "process", "nodes", "requested", "granted")
        console.print(of_cells(headings, rows, words=headings[1:]))


def _text(settings: ThreadSettings) -> str:
    priority = f" {settings.priority}" if settings.priority else ""
    return f"{settings.policy}{priority} on {' '.join(map(str, settings.cpus))}"
