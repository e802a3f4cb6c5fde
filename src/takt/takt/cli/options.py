# SPDX-License-Identifier: Apache-2.0
"""Options that several commands have: each declared once, with one meaning."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document on standard output.")]
PlanOnly = Annotated[
    bool, typer.Option("--dry-run", help="Show the plan and its duration; measure nothing.")
]
Against = Annotated[
    Optional[Path],  # noqa: UP045 - typer reads it on Python 3.10
    typer.Option(
        "--against",
        metavar="APP.yaml",
        help="Compare with this application file, such as one that takt model wrote, not with the "
        "description inside the trace.",
    ),
]
Overheads = Annotated[
    Optional[Path],  # noqa: UP045
    typer.Option(
        "--overheads",
        metavar="FILE",
        help="Overheads: a trace of takt execute, or printed by takt bench overheads --json; "
        "replace those in the file.",
    ),
]
Supply = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option(
        "--supply",
        metavar="FILE|PID",
        help="Supply of the cores: a file of takt measure supply, or the number of a process, "
        "whose SCHED_DEADLINE reservation or cpu.max counts.",
    ),
]
AllowRoot = Annotated[
    bool,
    typer.Option(
        "--allow-root",
        help="Allow running as root; every invited user then controls the whole machine.",
    ),
]


def refuse_root(allowed: bool) -> None:
    """Raises TaktError for root who did not say so."""
    import os

    from takt.errors import TaktError

    if os.geteuid() == 0 and not allowed:
        raise TaktError(
            "running as root: code from other machines would run as root",
            fix="start it as an ordinary user with real-time priorities (see takt doctor); if "
            "only root can run your measurement, add --allow-root",
        )
