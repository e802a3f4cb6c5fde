# SPDX-License-Identifier: Apache-2.0
"""``takt lab runs``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from takt.cli.options import AsJson


def runs(
    stick: Annotated[
        Path, typer.Argument(help="USB stick (whole device, /dev/sdX) or image file.")
    ],
    out: Annotated[
        Path, typer.Option("-o", "--out", help="Copy run folders to this folder.")
    ] = Path("results"),
    as_json: AsJson = False,
) -> None:
    """Copy the runs from a stick of takt lab image to this machine.

    Copies only new run folders. Reads the stick without mounting it and does not write to it.

    Exit code: 0 at least one run is here, 1 there is none, or it cannot be read, 2 wrong use.

    Example: takt lab runs /dev/sdb
    """
    from takt.cli.output import print_json, stdout
    from takt.lab.image import runs as stored
    from takt.lab.model import SCHEMA_VERSION

    found = stored.bring(stick, out)
    said = "" if found.new or found.known else stored.said(stick)
    if as_json:
        print_json(
            {
                "schema_version": SCHEMA_VERSION,
                "new": [str(one) for one in found.new],
                "known": [str(one) for one in found.known],
                "said": said,
            }
        )
    else:
        say = stdout()
        for one in found.new:
            say.print(f"new: {one}; takt report {one}", markup=False, soft_wrap=True)
        for one in found.known:
            say.print(f"already copied: {one}", markup=False, soft_wrap=True)
        if not found.new and not found.known:
            last = f"log of its last boot:\n{said}" if said else "it has not measured anything yet"
            say.print(f"No run on {stick}; {last}", markup=False, soft_wrap=True)
    if not found.new and not found.known:
        raise typer.Exit(1)
