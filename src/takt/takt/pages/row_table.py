# SPDX-License-Identifier: Apache-2.0
"""A table with a line for each task, in a terminal of any width.

A terminal cuts off what does not fit, and with it a count of misses: the columns that are too many
for one table go into another one below it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from rich.console import Console, ConsoleOptions
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

Row = TypeVar("Row")
Columns = Mapping[str, Callable[[Row], object]]  # heading of one or two lines: cell; None: a dash
_UNLIMITED = 10_000


@dataclass(frozen=True)
class RowTable(Generic[Row]):
    """Rows and their columns; ``where_any``: only where any row has something to say in them."""

    heading: str  # of the names
    rows: Sequence[Row]
    name: Callable[[Row], str]
    always: Columns[Row]
    where_any: Columns[Row]
    style: Callable[[Row], str] = lambda _: ""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Table]:
        """As few tables as fit."""
        told = {
            name: value
            for name, value in self.where_any.items()
            if any(value(row) for row in self.rows)
        }
        unlimited = options.update(max_width=_UNLIMITED)
        fitting: dict[str, Callable[[Row], object]] = {}
        for name, value in {**self.always, **told}.items():
            wider = self._table({**fitting, name: value})
            width = Measurement.get(console, unlimited, wider).minimum
            if fitting and width > options.max_width:
                yield self._table(fitting)
                fitting = {}
            fitting[name] = value
        yield self._table(fitting)

    def _table(self, columns: Columns[Row]) -> Table:
        table = Table(box=None, pad_edge=False)
        table.add_column(f"\n{self.heading}", overflow="fold", min_width=12)
        for name in columns:
            table.add_column(name if "\n" in name else f"\n{name}", justify="right", no_wrap=True)
        for row in self.rows:
            cells = [_cell(value(row)) for value in columns.values()]
            table.add_row(Text(self.name(row)), *cells, style=self.style(row))
        return table


def count(number: int) -> Text:
    """A count that should be zero."""
    return Text(str(number), style="bold red" if number else "")


def _cell(value: object) -> Text:
    return value if isinstance(value, Text) else Text("–" if value is None else str(value))
