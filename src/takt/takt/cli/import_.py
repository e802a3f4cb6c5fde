# SPDX-License-Identifier: Apache-2.0
"""``takt import``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from takt.cli.options import AsJson


def import_(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="Task set, job set, chain set or topology of another tool."
        ),
    ],
    out: Annotated[
        Optional[Path],  # noqa: UP045 - typer reads it on Python 3.10
        typer.Option(
            "-o",
            "--out",
            metavar="PATH",
            help="Application file to write; a new folder where FILE holds several sets. (default: "
            "NAME.app.yaml here, or applications/NAME)",
            show_default=False,
        ),
    ] = None,
    unit: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            metavar="TIME",
            help="Unit of the numbers in FILE, such as 1us. (default: 1ms for PiCAS, else 1us)",
            show_default=False,
        ),
    ] = None,
    wcet: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            metavar="TIME",
            help="Execution time of every callback, for topologies: they have none.",
            show_default=False,
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
    as_json: AsJson = False,
) -> None:
    """Write the app.yaml of a task set of another tool.

    Reads job sets of np-schedulability-analysis (CSV), task sets of SchedCAT (XML), chain sets of
    PiCAS (text) and topologies of ros2-performance (JSON). Comments say what the format leaves
    open. What Takt cannot describe, such as locks and precedence of jobs, is refused.

    Exit code: 0 written, 2 wrong use, or a file that cannot be imported.

    Example: takt import fig1a.csv -o fig1a.app.yaml
    """
    from takt.cli.output import print_json, stderr, stdout
    from takt.schedule.importing.files import import_file
    from takt.schedule.importing.imported import Given
    from takt.schedule.importing.show import show

    given = Given(unit=_above_zero("--unit", unit), wcet=_above_zero("--wcet", wcet))
    with stderr().status(file.name) as status:
        document = import_file(
            file,
            out,
            given,
            force=force,
            progress=lambda place: status.update(f"{file.name}: {place}"),
        )
    if as_json:
        print_json(document.model_dump(mode="json"))
    else:
        show(stdout(), document)
        for note in document.notes:
            stderr().print(f"note: {note}", markup=False, soft_wrap=True)


def _above_zero(option: str, text: str | None) -> int | None:
    from takt.documents.units import parse_duration

    if text is None:
        return None
    try:
        if duration := parse_duration(text):
            return duration
        problem = "must be greater than 0"
    except ValueError as error:
        problem = str(error)
    raise typer.BadParameter(problem, param_hint=option)
