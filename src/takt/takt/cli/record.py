# SPDX-License-Identifier: Apache-2.0
"""``takt record``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from takt.cli.options import AsJson


def record(
    command: Annotated[
        Optional[list[str]],  # noqa: UP045 - typer reads it on Python 3.10
        typer.Argument(metavar="COMMAND…", help="Program to record, with its arguments, after --."),
    ] = None,
    out: Annotated[
        Optional[Path],  # noqa: UP045
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
    ring: Annotated[
        bool, typer.Option("--ring", help="Keep the newest events when the space is full.")
    ] = False,
    paused: Annotated[
        bool, typer.Option("--paused", help="Record nothing until takt record --attach.")
    ] = False,
    attach: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(
            metavar="FOLDER",
            help="Record the running processes of this folder, until Ctrl-C, instead of a COMMAND.",
        ),
    ] = None,
    length: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            "--for",
            metavar="TIME",
            help="Record so long, then end the command as Ctrl-C does. With --attach it continues.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Record a ROS 2 program and its children, unchanged: no rebuild, no LTTng, no root.

    Preloads a recorder into each process that the command starts. Records nodes, topics, timers,
    publications, takes, and the begin, end, CPU time, thread and core of every callback of rclcpp.
    The recording of a process survives its crash. Ctrl-C is for the command.

    With --for it gets SIGINT when the time is over, what remains SIGTERM 15 s later, and SIGKILL
    3 s after that.

    Names are recorded from the start. So the recording itself begins and ends at any time: start
    the command with --paused, then record with --attach FOLDER as often as you like.

    Exit code: that of the command, 128 + N where signal N ended it, 0 where --for did; 1 where
    nothing was recorded; 2 wrong use, or a program that cannot be recorded.

    Example: takt record -- ros2 launch my_robot bringup.launch.py
    """
    from datetime import datetime, timezone

    from takt.cli.output import print_json, stderr, stdout
    from takt.documents.units import parse_duration, parse_size
    from takt.schedule.record import run
    from takt.schedule.record.show import show
    from takt.schedule.record.summary import summary

    try:
        space = parse_size(size)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--size") from None
    try:
        seconds = parse_duration(length) / 1e9 if length else None
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--for") from None
    if attach is None:
        if not command:
            raise typer.BadParameter("name a COMMAND to record, or --attach FOLDER")
        stamp = datetime.now(timezone.utc).strftime("%Y%m%dT%H%M%SZ")
        folder = out or Path("recordings") / f"{Path(command[0]).name}-{stamp}"
        how = run.How(size=space, ring=ring, paused=paused, seconds=seconds, aside=as_json)
        ended = run.run(command, folder, how)
    else:
        if command or out or ring or paused:
            raise typer.BadParameter(
                "the recording has its command and folder", param_hint="--attach"
            )
        folder, ended = attach, run.Ended(0)
        run.attach(folder, seconds, lambda: stderr().print("recording; Ctrl-C ends it"))
    document = summary(folder, command or [], ended.code)
    document.notes += ended.notes
    if attach is None and not document.processes:
        run.discard(folder)  # or the repaired command could not record into it
    if as_json:
        print_json(document.model_dump(mode="json"))
    else:
        show(stdout(), document)
    for note in document.notes:
        stderr().print(f"note: {note}", markup=False, soft_wrap=True)
    if ended.code or not document.processes:
        raise typer.Exit(ended.code or 1)
