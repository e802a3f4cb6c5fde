# SPDX-License-Identifier: Apache-2.0
"""``takt record``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from takt.cli.options import AsJson


def record(
    command: Annotated[
        list[str],
        typer.Argument(metavar="COMMAND…", help="Program to record, with its arguments, after --."),
    ],
    out: Annotated[
        Optional[Path],  # noqa: UP045 - typer reads it on Python 3.10
        typer.Option(
            "-o",
            "--out",
            metavar="FOLDER",
            help="New folder for the recordings. (default: recordings/PROGRAM-TIME)",
            show_default=False,
        ),
    ] = None,
    size: Annotated[
        str,
        typer.Option(
            metavar="SIZE",
            help="Space of each process's recording. 64MiB hold about a million events.",
        ),
    ] = "64MiB",
    as_json: AsJson = False,
) -> None:
    """Record a ROS 2 program and its children, unchanged: no rebuild, no LTTng, no root.

    Preloads a recorder into each process that the command starts. Records nodes, topics, timers,
    publications, takes, and the begin, end, CPU time, thread and core of every callback of rclcpp.
    The recording of a process survives its crash. Ctrl-C is for the command.

    Exit code: that of the command, 128 + N where signal N ended it; 1 where nothing was recorded;
    2 wrong use, or a program that cannot be recorded.

    Example: takt record -- ros2 launch my_robot bringup.launch.py
    """
    from datetime import datetime, timezone

    from takt.cli.output import print_json, stderr, stdout
    from takt.documents.units import parse_size
    from takt.schedule.record.run import run
    from takt.schedule.record.show import show
    from takt.schedule.record.summary import summary

    try:
        space = parse_size(size)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--size") from None
    stamp = datetime.now(timezone.utc).strftime("%Y%m%dT%H%M%SZ")
    folder = out or Path("recordings") / f"{Path(command[0]).name}-{stamp}"
    code = run(command, folder, space)
    document = summary(folder, command, code)
    if as_json:
        print_json(document.model_dump(mode="json"))
    else:
        show(stdout(), document)
    for note in document.notes:
        stderr().print(f"note: {note}", markup=False, soft_wrap=True)
    if code or not document.processes:
        raise typer.Exit(code or 1)
