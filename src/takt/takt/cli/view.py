# SPDX-License-Identifier: Apache-2.0
"""``takt view``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from takt.cli.options import Against, AsJson


def view(
    trace: Annotated[
        Path,
        typer.Argument(
            metavar="TRACE",
            help="Trace of an execution or a simulation, or a folder of takt execute or "
            "takt record.",
        ),
    ],
    out: Annotated[
        Optional[Path],  # noqa: UP045 - typer reads it on Python 3.10
        typer.Option(
            "-o",
            "--out",
            metavar="FILE",
            help="Page to write. (default: NAME.html here)",
            show_default=False,
        ),
    ] = None,
    application: Against = None,
    as_json: AsJson = False,
) -> None:
    """Write one page that shows a trace: timeline, graph of nodes and topics, chains.

    The timeline has cores, threads and callbacks, preemptions, messages as arrows and missed
    deadlines; it zooms, and finds callbacks by name. The graph has rates and latencies. The page
    needs no network and can be sent by mail.

    Exit code: 0 written, even with misses, 2 wrong use, or a file that is no trace.

    Example: takt view bringup -o bringup.html
    """
    from takt.cli.output import bars, print_json, stderr, stdout
    from takt.errors import TaktError
    from takt.schedule.trace.file import is_trace
    from takt.schedule.trace.show import remarks, show
    from takt.schedule.view.page import write_view

    page = out or Path(f"{trace.name.removesuffix('.takttrace') or 'trace'}.html")
    if page.is_dir() or is_trace(page):
        raise TaktError(
            "a trace or a folder is in the way; takt does not overwrite it",
            where=str(page),
            fix="choose another name: -o page.html",
        )
    with bars() as bar:
        job = bar.add_task("reading", total=None)
        summary = write_view(trace, page, application, lambda done: bar.update(job, completed=done))
    summary = summary.model_copy(update={"written": [str(page)]})
    if as_json:
        print_json(summary.model_dump(mode="json"))
        return
    show(stdout(), summary)
    for line in remarks(summary):
        stderr().print(line, markup=False, soft_wrap=True)
    stdout().print(f"{page}: open it in a browser", markup=False, soft_wrap=True)
