# SPDX-License-Identifier: Apache-2.0
"""``takt clean``."""

from __future__ import annotations

import typer


def clean(
    dry_run: bool = typer.Option(
        False, "--dry-run", help="List what would be removed; remove nothing."
    ),
) -> None:
    """Remove what killed runs left behind: processes, shared memory, scratch folders, locks.

    Does not touch live runs or anything that belongs to other users. Keeps recordings that --resume
    can still use, in the results folder.

    Exit code: 0.

    Example: takt clean --dry-run
    """
    from takt.cli.output import stderr, stdout
    from takt.network.sweeper import SWEEPER
    from takt.processes import remains

    found = remains.clean(SWEEPER, dry_run=dry_run)
    for line in found.lines:
        stdout().print(
            f"{'would remove' if dry_run else 'removed'} {line}", markup=False, soft_wrap=True
        )
    for line in found.kept:
        stderr().print(f"kept {line}", style="yellow", markup=False, soft_wrap=True)
    for line in found.refused:
        stderr().print(line, style="yellow", markup=False, soft_wrap=True)
    if not found.lines:
        stderr().print("nothing was left behind")
