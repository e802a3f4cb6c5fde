# SPDX-License-Identifier: Apache-2.0
"""A reproduction for people: the findings, then the numbers side by side."""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape
from rich.padding import Padding

from takt.pages.row_table import of_cells
from takt.pages.text import full_stop
from takt.reproduce.model import Figures, Finding, Outcome
from takt.reproduce.page import PAGE, cell, verdict
from takt.reproduce.unfinished import parts

_MARKS = {
    "holds": "[green]holds[/]    ",
    "smaller": "[yellow]smaller[/]  ",
    "not here": "[yellow]not here[/] ",
    "undecided": "[dim]undecided[/]",
    "not asked": "[dim]not asked[/]",
}


def show(console: Console, outcome: Outcome) -> None:
    """Prints findings and tables; figures are files, so only their folder is named."""
    console.print(f"[bold]{outcome.title}[/] ({outcome.paper}, scale {outcome.scale:g})")
    for stack in dict.fromkeys(one.stack for one in outcome.findings):
        found = [one for one in outcome.findings if one.stack == stack]
        verdicts = [verdict(one) for one in found]
        held = verdicts.count("holds")
        others = {name: verdicts.count(name) for name in ("smaller", "undecided", "not asked")}
        words = "".join(f", {count} {name}" for name, count in others.items() if count)
        console.print(f"\n[bold]{stack}[/]: {held} of {len(found)} findings hold here{words}")
        for one in found:
            _show_finding(console, one)
    console.print()
    _show_tables(console, outcome)
    if outcome.undecidable:
        names = ", ".join(outcome.undecidable)
        words = f"scale too small for rare events: {names}"
        console.print(words, style="yellow", markup=False)
    _show_unfinished(console, outcome)
    for reason in outcome.skipped:
        console.print(f"skipped: {reason}", style="yellow", markup=False)
    if outcome.figures:
        files = len(outcome.figures)
        console.print(f"{files} pictures of {len({one.figure for one in outcome.figures})} figures")
    place = f"results, {PAGE} among them: {outcome.results}"
    console.print(place, soft_wrap=True, markup=False)


def _show_unfinished(console: Console, outcome: Outcome) -> None:
    for part in parts(outcome.unfinished):
        console.print(f"{part.head}:", style="yellow", markup=False)
        for one in part.points:
            words = f"{one.point}, {one.runs} of {one.of} runs: {one.why}"
            console.print(Padding(escape(words), (0, 0, 0, 2), expand=False))
            if one.fix:
                console.print(
                    Padding(f"[dim]try:[/] {escape(one.fix)}", (0, 0, 0, 4), expand=False)
                )
        if part.more > 0:
            console.print(f"  and {part.more} more", markup=False)


def _show_finding(console: Console, one: Finding) -> None:
    console.print(f"{_MARKS[verdict(one)]} [bold]{one.id}[/] [dim]({one.at})[/]")
    console.print(Padding(f"{one.claim}.", (0, 0, 0, 10), expand=False))
    lines = {
        "published": _words(one.published),
        "here": _with_intervals(one),
        "holds if": one.criterion,
        "effect": f"{one.effect} than published" if one.effect else "",
        "differs": one.differs,
        "undecided": one.needs,
        "not asked": one.not_asked,
        "doubtful": " ".join(map(full_stop, one.doubts)),
    }
    for name, text in lines.items():
        if text:
            console.print(Padding(f"[dim]{name}:[/] {text}", (0, 0, 0, 10), expand=False))


def _show_tables(console: Console, outcome: Outcome) -> None:
    for name in dict.fromkeys(row.table for row in outcome.tables):
        rows = [row for row in outcome.tables if row.table == name]
        columns = list(
            dict.fromkeys(key for row in rows for key in (*row.published, *row.measured))
        )
        cells: list[list[str]] = []
        before: tuple[str, Figures] | None = None
        for row in rows:
            if row.published and (row.row, row.published) != before:
                there = "paper" if row.paper == "paper" else f"paper, {row.paper}"
                cells.append([f"{row.row}, {there}", *_cells(row.published, columns)])
            before = (row.row, row.published)
            words = f"{row.row}, {row.vendor}" + f": {row.why}" * bool(row.why)
            cells.append([words, *_cells(row.measured, columns)])
        console.print(of_cells(("", *columns), cells, title=name))
        console.print()


def _cells(figures: Figures, columns: list[str]) -> list[str]:
    return [_number(figures.get(column)) for column in columns]


def _words(figures: Figures) -> str:
    return ", ".join(
        f"{name} {_number(value)}" for name, value in figures.items() if value is not None
    )


def _with_intervals(one: Finding) -> str:
    return ", ".join(
        f"{name} {_number(value)}"
        + (
            f" [{_number(one.intervals[name][0])} to {_number(one.intervals[name][1])}]"
            if name in one.intervals
            else ""
        )
        for name, value in one.measured.items()
        if value is not None
    )


def _number(value: float | str | None) -> str:
    return "" if value is None else cell(value)
