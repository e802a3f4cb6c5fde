# SPDX-License-Identifier: Apache-2.0
"""``takt explain``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from takt.cli.options import Against, AsJson


def explain(
    trace: Annotated[
        Path,
        typer.Argument(
            help="Trace of an execution or a simulation, or a folder of takt execute or "
            "takt record."
        ),
    ],
    html: Annotated[
        Optional[Path],  # noqa: UP045 - typer reads it on Python 3.10
        typer.Option(metavar="FILE", help="Write an HTML report with charts of the latest jobs."),
    ] = None,
    overheads: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(
            metavar="FILE",
            help="Overheads: a trace of takt execute, or printed by takt bench overheads "
            "--json; replace those in the trace.",
        ),
    ] = None,
    application: Against = None,
    as_json: AsJson = False,
) -> None:
    """Explain every job in a trace that missed its deadline or exceeded its response bound.

    Splits each response into shares: its own execution, and by how much that exceeds the declared
    one; preemption and blocking by other jobs; late wake-up by the kernel; CPU time stolen by the
    hypervisor. Bounds are those of takt analyse. A response above its bound has a share that the
    bound does not count, such as stolen time; it is named.

    Exit code: 0 explained, even with misses, 2 wrong use, or a file that is no trace.

    Example: takt explain docking.takttrace --html late.html
    """
    from takt.cli.output import print_json, stderr, stdout
    from takt.schedule.application.overheads import read_overheads
    from takt.schedule.explain import explain as explained
    from takt.schedule.explain.html import write_html
    from takt.schedule.explain.show import show

    costs = read_overheads(overheads) if overheads else None
    with stderr().status(trace.name):
        found = explained(trace, costs, application=application)
    if html:
        write_html(found, html)
    if as_json:
        print_json(found.model_dump(mode="json"))
    else:
        show(stdout(), found)
        for line in found.remarks:
            stderr().print(line, markup=False, soft_wrap=True)
        if html:
            stdout().print(str(html), markup=False, soft_wrap=True)
