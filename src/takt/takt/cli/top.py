# SPDX-License-Identifier: Apache-2.0
"""``takt top``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from takt.schedule.top.source import Source

PATIENCE_S = 2.0  # before it says what is missing
ONCE_LIMIT_S = 10.0


def top(
    once: Annotated[
        bool, typer.Option("--once", help="Print the first report and exit; wait at most 10 s.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON document; requires --once.")
    ] = False,
) -> None:
    """Show the tasks of all running executors, live.

    An executor with takt::Diagnostics in its program reports once a second; ROS_DOMAIN_ID selects
    the domain. Ctrl-C ends the display. Exit code with --once: 1 without any report.

    Example: takt top
    """
    from contextlib import closing

    from takt.errors import TaktError
    from takt.schedule.top.source import Source

    if as_json and not once:
        raise TaktError("live reports cannot be one JSON document", fix="add --once")
    with closing(Source()) as source:
        if once:
            _once(source, as_json)
            return
        try:
            _live(source)
        except KeyboardInterrupt:
            return


def _once(source: Source, as_json: bool) -> None:
    import time

    from takt.cli.output import print_json, stdout
    from takt.errors import Failure
    from takt.processes.rivals import Rivals
    from takt.schedule.top.model import SCHEMA_VERSION
    from takt.schedule.top.show import Board

    end, rivals = time.monotonic() + ONCE_LIMIT_S, Rivals()
    while time.monotonic() < end:
        reports = source.next(0.2)
        if not reports:
            continue
        if as_json:
            executors = [one.model_dump(mode="json") for one in reports]
            print_json({"schema_version": SCHEMA_VERSION, "executors": executors})
        else:
            board = Board()
            board.take(reports)
            stdout().print(board.draw())
        return
    held = rivals.reported()
    what = "; disturbance: ".join([_missing(source), *held])
    raise Failure(what, fix="stop the process that occupies the core" if held else _REMEDY)


def _live(source: Source) -> None:
    import time

    from rich.live import Live
    from rich.text import Text

    from takt.cli.output import stdout
    from takt.schedule.top.show import Board

    board = Board()
    began = time.monotonic()
    with Live(Text("waiting for reports …"), console=stdout(), auto_refresh=False) as live:
        while True:
            reports = source.next(0.5)
            board.take(reports)
            if not board.empty:
                live.update(board.draw(), refresh=True)
            elif time.monotonic() - began > PATIENCE_S:
                words = f"{_missing(source)}.\n{_REMEDY}.\nStill waiting; press Ctrl-C to exit."
                live.update(Text(words), refresh=True)


_REMEDY = (
    "in the program, after executor.start(): const takt::Diagnostics diagnostics{node, "
    "executor}; use the same ROS_DOMAIN_ID for both"
)


def _missing(source: Source) -> str:
    import os

    domain = os.environ.get("ROS_DOMAIN_ID", "0")
    if source.publishers:
        return (
            f"/diagnostics has {source.publishers} publishers in domain {domain}, "
            "but no executor of Takt has reported"
        )
    return f"/diagnostics has no publisher in domain {domain}"
