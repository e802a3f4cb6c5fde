# SPDX-License-Identifier: Apache-2.0
"""A benchmark's answer for people."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from takt.bench.model import Bench
from takt.bench.model import Table as Compared
from takt.bench.overheads import Document, Overheads


def show(console: Console, bench: Bench) -> None:
    """Prints the bars, one line each, with the figures behind them."""
    table = Table(title=f"{bench.bench}: {bench.rounds} rounds", title_justify="left")
    table.add_column("bar")
    table.add_column("value", justify="right")
    table.add_column("limit", justify="right")
    table.add_column("holds")
    for bar in bench.bars:
        unit = "" if bar.unit in ("ratio", "count") else f" {bar.unit}"
        table.add_row(
            bar.name,
            f"{bar.value:.3g}{unit}",
            f"{bar.limit:g}{unit}",
            "yes" if bar.holds else "[bold red]no[/]",
        )
    console.print(table)
    for bar in bench.bars:
        if bar.detail:
            console.print(f"  {bar.name}: {_words(bar.detail)}", soft_wrap=True)
    for compared in bench.tables:
        console.print(_table(compared))
    for note in bench.notes:
        console.print(f"  {note}", soft_wrap=True)


def show_overheads(console: Console, document: Document) -> None:
    """Prints what the executor and its messages cost."""
    table = Table(title=f"overheads: {document.rounds} rounds", title_justify="left")
    table.add_column("ns of CPU time")
    table.add_column("p50", justify="right")
    table.add_column("highest p99", justify="right")
    for name in Overheads.model_fields:
        figures = (getattr(document.overheads, name), getattr(document.upper, name))
        table.add_row(name.replace("_", " "), *map(str, figures))
    console.print(table)


def _table(compared: Compared) -> Table:
    table = Table(
        title=f"Table {compared.table}: {compared.title} ({compared.unit})", title_justify="left"
    )
    table.add_column("executor")
    columns = list(next(iter(compared.measured.values())))
    for column in columns:
        table.add_column(column, justify="right")
    for how, rows in (("published", compared.published), ("measured", compared.measured)):
        for name, figures in rows.items():
            table.add_row(f"{name}, {how}", *(f"{figures[column]:.4g}" for column in columns))
        table.add_section()
    return table


def _words(detail: dict[str, object]) -> str:
    words = []
    for key, value in detail.items():
        if isinstance(value, dict):
            words.append(f"{key} ({_words(value)})")
        else:
            words.append(f"{key} {value:.4g}" if isinstance(value, float) else f"{key} {value}")
    return ", ".join(words)
