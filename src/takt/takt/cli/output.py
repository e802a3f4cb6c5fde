# SPDX-License-Identifier: Apache-2.0
"""Where words go: results to standard output; progress, hints and errors to standard error."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Iterator
from typing import IO, TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, ProgressColumn

    from takt.errors import TaktError


STANDARD_OUTPUT = "standard output"
ENDLESS = 100_000  # columns


def stdout() -> Console:
    """Return the console for what a person asked for (tables, verdicts).

    Into a file or a pipe, a line is as long as what it says, unless COLUMNS sets its length.
    """
    from rich.console import Console

    limited = sys.stdout.isatty() or "COLUMNS" in os.environ
    width = None if limited else ENDLESS
    return Console(file=cast("IO[str]", _Named()), highlight=False, width=width)


def stderr() -> Console:
    """Return the console for progress and hints."""
    from rich.console import Console

    return Console(stderr=True, highlight=False)


def bars(*columns: str | ProgressColumn, refresh_per_second: float = 10) -> Progress:
    """Bars on standard error while something lasts; none, and no empty line, where that is a file.

    The columns are those of rich where none are given.
    """
    from rich.progress import Progress

    console = stderr()
    return Progress(
        *columns,
        console=console,
        transient=True,
        refresh_per_second=refresh_per_second,
        speed_estimate_period=600,
        disable=not console.is_terminal,
    )


def print_json(document: dict[str, Any]) -> None:
    """Print the one document of ``--json``; NaN and infinity, which JSON lacks, are errors here."""
    output = _Named()
    output.write(json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n")
    output.flush()


def print_error(error: TaktError) -> None:
    """Tell the user what is wrong, where, and what to do."""
    sys.stderr.write(f"takt: {error}\n")


class _Named:
    """Standard output, whose errors say that it is meant."""

    def __init__(self) -> None:
        self._stream = sys.stdout

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """As the stream's own."""
        with naming_standard_output():
            return self._stream.write(text)

    def flush(self) -> None:
        """As the stream's own."""
        with naming_standard_output():
            self._stream.flush()


@contextlib.contextmanager
def naming_standard_output() -> Iterator[None]:
    """An OSError in it is one of standard output."""
    try:
        yield
    except OSError as error:
        error.filename = STANDARD_OUTPUT
        raise
