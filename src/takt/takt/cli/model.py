# SPDX-License-Identifier: Apache-2.0
"""``takt model``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from takt.cli.options import AsJson


def model(
    trace: Annotated[
        Path,
        typer.Argument(
            metavar="TRACE",
            help="Trace of an application under Takt's executor, or a folder of takt execute or "
            "takt record.",
        ),
    ],
    out: Annotated[
        Optional[Path],  # noqa: UP045 - typer reads it on Python 3.10
        typer.Option(
            "-o",
            "--out",
            metavar="FILE",
            help="Application file to write. (default: NAME.app.yaml here)",
            show_default=False,
        ),
    ] = None,
    margin: Annotated[
        float,
        typer.Option(
            min=0.0,
            max=10.0,
            help="Safety margin on the longest observed execution time: 0.2 adds 20 %.",
        ),
    ] = 0.0,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
    as_json: AsJson = False,
) -> None:
    """Write the app.yaml of a running application, from its trace.

    Writes nodes, callbacks, periods, triggers, readers and writers, chains, groups, cores and
    priorities. Execution times are observed, with an estimate of their tail; they are no worst-case
    bound. Comments give the source of each number and list what the trace does not contain.

    Exit code: 0 written, 2 wrong use, or a file that is no trace.

    Example: takt model robot.takttrace -o robot.app.yaml
    """
    from takt.cli.output import print_json, stderr, stdout
    from takt.errors import TaktError
    from takt.schedule.model.model import default_out
    from takt.schedule.model.model import model as write
    from takt.schedule.model.show import show

    target = out or default_out(trace)
    if target.exists() and not force:
        raise TaktError(
            "this file exists",
            where=str(target),
            fix="choose another file with -o, or overwrite it with --force",
        )
    with stderr().status(trace.name) as status:
        modelled = write(trace, target, margin, lambda name: status.update(f"{trace.name}: {name}"))
    if as_json:
        print_json(modelled.model_dump(mode="json"))
    else:
        show(stdout(), modelled)
        for note in modelled.notes:
            stderr().print(f"note: {note}", markup=False, soft_wrap=True)
