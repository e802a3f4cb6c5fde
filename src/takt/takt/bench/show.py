# SPDX-License-Identifier: Apache-2.0
"""A benchmark's answer for people."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from takt.bench.model import Bench
from takt.bench.model import Table as Compared
from takt.bench.overheads import Document, Overheads
from takt.pages import text
from takt.pages.row_table import RowTable, of_cells


def show(console: Console, bench: Bench) -> None:
    """Prints the bars, one line each, with the figures behind them."""
    rows = []
    for bar in bench.bars:
        unit = "" if bar.unit in ("ratio", "count") else f" {bar.unit}"
        holds = Text("yes") if bar.holds else Text("no", style="bold red")
        rows.append((bar.name, f"{bar.value:.3g}{unit}", f"{bar.limit:g}{unit}", holds))
    title = f"{bench.bench}: {text.number_of(bench.rounds, 'round')}"
    headings = ("bar", "value", "limit", "holds")
    console.print(of_cells(headings, rows, words=["holds"], title=title))
    for bar in bench.bars:
        if bar.detail:
            console.print(f"  {bar.name}: {_words(bar.detail)}", soft_wrap=True)
    for compared in bench.tables:
        console.print(_table(compared))
    for note in bench.notes:
        console.print(f"  {note}", soft_wrap=True)


def show_overheads(console: Console, document: Document) -> None:
    """Prints what the executor and its messages cost."""
    rows = [
        (name.replace("_", " "), getattr(document.overheads, name), getattr(document.upper, name))
        for name in Overheads.model_fields
    ]
    title = f"overheads: {text.number_of(document.rounds, 'round')}"
    console.print(of_cells(("ns of CPU time", "p50", "highest p99"), rows, title=title))


def _table(compared: Compared) -> RowTable[Sequence[object]]:
    columns = list(next(iter(compared.measured.values())))
    rows = [
        (f"{name}, {how}", *(f"{figures[column]:.4g}" for column in columns))
        for how, of in (("published", compared.published), ("measured", compared.measured))
        for name, figures in of.items()
    ]
    title = f"Table {compared.table}: {compared.title} ({compared.unit})"
    return of_cells(("executor", *columns), rows, title=title)


def _words(detail: dict[str, object]) -> str:
    words = []
    for key, value in detail.items():
        if isinstance(value, dict):
            words.append(f"{key} ({_words(value)})")
        else:
            words.append(f"{key} {value:.4g}" if isinstance(value, float) else f"{key} {value}")
    return ", ".join(words)
