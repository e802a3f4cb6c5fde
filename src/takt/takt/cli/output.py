# SPDX-License-Identifier: Apache-2.0
"""Where words go: results to standard output; progress, hints and errors to standard error."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

    from takt.errors import TaktError


def stdout() -> Console:
    """Return the console for what a person asked for (tables, verdicts)."""
    from rich.console import Console

    return Console(highlight=False)


def stderr() -> Console:
    """Return the console for progress and hints."""
    from rich.console import Console

    return Console(stderr=True, highlight=False)


def print_json(document: dict[str, Any]) -> None:
    """Print the one document of ``--json``; NaN and infinity, which JSON lacks, are errors here."""
    sys.stdout.write(json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n")
    sys.stdout.flush()


def print_error(error: TaktError) -> None:
    """Tell the user what is wrong, where, and what to do."""
    sys.stderr.write(f"takt: {error}\n")
