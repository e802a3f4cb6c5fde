# SPDX-License-Identifier: Apache-2.0
"""The one way to draw a table: names give way, numbers never, in a terminal of any width.

A terminal cuts off what does not fit, and with it a count of misses. So names are folded, and the
columns that are too many for one table go into another one below it. Where the output is no
terminal it has all the room that it needs (cli/output.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Generic, TypeVar

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions
from rich.segment import Segment
from rich.style import Style
from rich.table import Table
from rich.text import Text

Row = TypeVar("Row")
Columns = Mapping[str, Callable[[Row], object]]  # heading of one or two lines: cell; None: a dash
_NAME = 12  # columns for names, the longer of which are folded
_GAP = 2


@dataclass(frozen=True)
class RowTable(Generic[Row]):
    """Rows and their columns; ``where_any``: only where any row has something to say in them."""

    heading: str  # of the names
    rows: Sequence[Row]
    name: Callable[[Row], str]
    always: Columns[Row]
    where_any: Columns[Row] = field(default_factory=dict)
    words: frozenset[str] = frozenset()  # columns of them; what they say starts at the left
    style: Callable[[Row], str] = lambda _: ""
    title: str = ""

    def __rich_console__(
        self, console: Console, options: ConsoleOptions
    ) -> Iterator[Text | Segment | Table]:
        """As few tables as fit."""
        if self.title:
            yield Text(self.title, style="italic")
        stated = {
            name: value
            for name, value in self.where_any.items()
            if any(value(row) for row in self.rows)
        }
        columns = [
            _Column(name, [_cell(value(row)) for row in self.rows], name in self.words)
            for name, value in {**self.always, **stated}.items()
        ]
        names = [self.name(row) for row in self.rows]
        longest = max(map(cell_len, [*names, self.heading]), default=0)
        least = max(min(longest, _NAME), min(longest, options.max_width // 3))
        fitting: list[_Column] = []
        for column in columns:
            taken = least + sum(_GAP + one.width for one in [*fitting, column])
            if fitting and taken > options.max_width:
                yield from self._drawn(fitting, names, least, console, options)
                fitting = []
            fitting.append(column)
        yield from self._drawn(fitting, names, least, console, options)

    def _drawn(
        self,
        columns: Sequence[_Column],
        names: Sequence[str],
        least: int,
        console: Console,
        options: ConsoleOptions,
    ) -> Iterator[Segment | Table]:
        """Line by line; by rich only where words are folded, for it takes ten times as long."""
        width = options.max_width
        left = width - sum(_GAP + one.width for one in columns)
        if left < max(1, least):
            yield self._table(columns, names, least, width)
            return
        room = min(left, max(map(cell_len, [*names, self.heading]), default=0))
        widths = [room, *(one.width for one in columns)]
        starts = [True, *(one.words for one in columns)]  # at the left of their columns

        def line(cells: Sequence[Text], style: Style) -> Iterator[Segment]:
            for place, (cell, wide, start) in enumerate(zip(cells, widths, starts, strict=True)):
                lacking = " " * (wide - cell.cell_len)
                yield Segment(("  " if place else "") + ("" if start else lacking), style)
                base = style + console.get_style(cell.style)
                for text, own, _ in cell.render(console):
                    yield Segment(text, base + own if own else base)
                if start and place + 1 < len(widths):  # no blanks at the end of a line
                    yield Segment(lacking, style)
            yield Segment.line()

        lines = "\n" if any("\n" in one for one in (*self.always, *self.where_any)) else ""
        headings = [f"{lines}{self.heading}"] + [
            one.heading if "\n" in one.heading else f"{lines}{one.heading}" for one in columns
        ]
        for cells in zip(*(one.split("\n") for one in headings), strict=True):
            yield from line([*map(_unended, cells)], console.get_style("table.header"))
        empty = [Text("", end="")] * len(columns)
        for number, row in enumerate(self.rows):
            style = console.get_style(self.style(row))
            name, *rest = _folded(names[number], room, console)
            yield from line([name, *(one.cells[number] for one in columns)], style)
            for more in rest:
                yield from line([more, *empty], style)

    def _table(
        self, columns: Sequence[_Column], names: Sequence[str], least: int, width: int
    ) -> Table:
        table = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0))
        lines = "\n" if any("\n" in one for one in (*self.always, *self.where_any)) else ""
        # Of a column as wide as the terminal, and of no other, something is left to the names.
        left = width - sum(_GAP + one.width for one in columns if not one.words)
        table.add_column(
            Text(f"{lines}{self.heading}"), overflow="fold", min_width=max(1, min(least, left))
        )
        for one in columns:
            heading = Text(one.heading if "\n" in one.heading else f"{lines}{one.heading}")
            if one.words and least + _GAP + one.width > width:  # the only ones that may be folded
                table.add_column(heading, overflow="fold")
            elif one.words:
                table.add_column(heading, no_wrap=True, min_width=one.width)
            else:
                table.add_column(heading, justify="right", no_wrap=True, min_width=one.width)
        for number, row in enumerate(self.rows):
            cells = (one.cells[number] for one in columns)
            table.add_row(Text(names[number]), *cells, style=self.style(row))
        return table


def of_cells(
    headings: Sequence[str],
    rows: Sequence[Sequence[object]],
    *,
    words: Sequence[str] = (),
    title: str = "",
) -> RowTable[Sequence[object]]:
    """A table of cells, the first of which are the names; the headings differ from each other."""
    return RowTable(
        heading=headings[0],
        rows=rows,
        name=lambda row: str(row[0]),
        always={name: itemgetter(at) for at, name in enumerate(headings[1:], 1)},
        words=frozenset(words),
        title=title,
    )


@dataclass(frozen=True)
class _Column:
    heading: str
    cells: Sequence[Text]
    words: bool

    @property
    def width(self) -> int:
        """Of its longest line, whole."""
        return max(one.cell_len for one in (*map(Text, self.heading.split("\n")), *self.cells))


def count(number: int) -> Text:
    """A count that should be zero."""
    return Text(str(number), style="bold red" if number else "")


def _cell(value: object) -> Text:
    if isinstance(value, Text):
        return _unended(value)
    return _unended("–" if value is None else str(value))


def _unended(value: str | Text) -> Text:
    text = Text(value) if isinstance(value, str) else value.copy()
    text.end = ""
    return text


def _folded(name: str, width: int, console: Console) -> Sequence[Text]:
    text = _unended(name)
    if text.cell_len <= width:
        return [text]
    return [_unended(line) for line in text.wrap(console, width, overflow="fold")]
