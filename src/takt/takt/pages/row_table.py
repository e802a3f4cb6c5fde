# SPDX-License-Identifier: Apache-2.0
"""A table with a line for each task, in a terminal of any width.

A terminal cuts off what does not fit, and with it a count of misses: the columns that are too many
for one table go into another one below it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

Row = TypeVar("Row")
Columns = Mapping[str, Callable[[Row], object]]  # heading of one or two lines: cell; None: a dash
_UNLIMITED = 10_000
_NAME = 12  # columns for names, the longer of which are folded


@dataclass(frozen=True)
class RowTable(Generic[Row]):
    """Rows and their columns; ``where_any``: only where any row has something to say in them."""

    heading: str  # of the names
    rows: Sequence[Row]
    name: Callable[[Row], str]
    always: Columns[Row]
    where_any: Columns[Row]
    words: frozenset[str] = frozenset()  # columns of them; what they say starts at the left
    style: Callable[[Row], str] = lambda _: ""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Table]:
        """As few tables as fit."""
        told = {
            name: value
            for name, value in self.where_any.items()
            if any(value(row) for row in self.rows)
        }
        longest = max((cell_len(self.name(row)) for row in self.rows), default=0)
        names = max(_NAME, min(longest, options.max_width // 3))
        unlimited = options.update(max_width=_UNLIMITED)
        fitting: dict[str, Callable[[Row], object]] = {}
        for name, value in {**self.always, **told}.items():
            wider = self._table({**fitting, name: value}, names)
            width = Measurement.get(console, unlimited, wider).minimum
            if fitting and width > options.max_width:
                yield self._table(fitting, names)
                fitting = {}
            fitting[name] = value
        yield self._table(fitting, names)

    @property
    def _names(self) -> list[str]:
        return [*self.always, *self.where_any]

    def _table(self, columns: Columns[Row], names: int) -> Table:
        table = Table(box=None, pad_edge=False)
        lines = "\n" if any("\n" in name for name in self._names) else ""
        table.add_column(f"{lines}{self.heading}", overflow="fold", min_width=names)
        cells = [[_cell(value(row)) for row in self.rows] for value in columns.values()]
        for name, column in zip(columns, cells, strict=True):
            heading = name if "\n" in name else f"{lines}{name}"
            side: Literal["left", "right"] = "left" if name in self.words else "right"
            # Rich takes a cell of two words for one that may be as narrow as the longer of them.
            width = max(one.cell_len for one in (*map(Text, heading.split("\n")), *column))
            table.add_column(heading, justify=side, no_wrap=True, min_width=width)
        for row, *of_row in zip(self.rows, *cells, strict=True):
            table.add_row(Text(self.name(row)), *of_row, style=self.style(row))
        return table


def count(number: int) -> Text:
    """A count that should be zero."""
    return Text(str(number), style="bold red" if number else "")


def _cell(value: object) -> Text:
    return value if isinstance(value, Text) else Text("–" if value is None else str(value))
