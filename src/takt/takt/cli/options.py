# SPDX-License-Identifier: Apache-2.0
"""Options that several commands have: each declared once, with one meaning."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document on standard output.")]
PlanOnly = Annotated[
    bool, typer.Option("--dry-run", help="Show the plan and its time; measure nothing.")
]
Against = Annotated[
    Optional[Path],  # noqa: UP045 - typer reads it on Python 3.10
    typer.Option(
        "--against",
        metavar="APP.yaml",
        help="Hold it to this file, such as one of takt model, not to what the trace carries.",
    ),
]
