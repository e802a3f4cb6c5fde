# SPDX-License-Identifier: Apache-2.0
"""``takt spin``."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated, Optional

import typer

from takt.cli.options import AsJson


class Executor(str, Enum):
    """What may spin the nodes."""

    TAKT = "takt"


def spin(
    command: Annotated[
        list[str],
        typer.Argument(metavar="COMMAND…", help="Program to run, with its arguments, after --."),
    ],
    executor: Annotated[
        Optional[Executor],  # noqa: UP045 - typer reads it on Python 3.10
        typer.Option(
            help="Spin the nodes under Takt's executor. (default: rclcpp's own)",
            show_default=False,
        ),
    ] = None,
    timing: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(
            metavar="FILE",
            help="Timing file: priorities and deadlines of callbacks, priorities and cores of "
            "threads.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Run compiled ROS 2 programs, unchanged, under Takt's executor or with priorities for threads.

    With --executor takt, rclcpp's SingleThreaded, MultiThreaded, Events and EventsCBG executors
    spin their nodes under Takt's executor in each process that the command starts; every process
    prints what it replaced. Without it, rclcpp's executors stay: each of their threads gets the
    highest priority that the timing file has for a callback of its nodes. Both set the threads that
    the file names, such as those of the middleware. Ctrl-C is for the command.

    Exit code: that of the command, 128 + N where signal N ended it; 1 where nothing was replaced or
    set; 2 wrong use, or a program into which nothing can be preloaded.

    Example: takt spin --executor takt --timing robot.timing.yaml -- ros2 launch my_robot all.py
    """
    from takt.cli.output import print_json, stderr
    from takt.schedule.spin.run import run
    from takt.schedule.spin.show import show

    document = run(command, executor.value if executor else None, timing, aside=as_json)
    if as_json:
        print_json(document.model_dump(mode="json"))
    else:
        show(stderr(), document)
    for note in document.notes:
        stderr().print(f"note: {note}", markup=False, soft_wrap=True)
    done = document.executors if executor else document.threads
    if document.exit_code or not done:
        raise typer.Exit(document.exit_code or 1)
