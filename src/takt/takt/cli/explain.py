# SPDX-License-Identifier: Apache-2.0
"""``takt explain``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer


def explain(
    trace: Annotated[Path, typer.Argument(help="The trace of an execution or a simulation.")],
    html: Annotated[
        Optional[Path],  # noqa: UP045 - typer reads it on Python 3.10
        typer.Option(metavar="FILE", help="Write a report with charts of the latest misses."),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON document instead.")
    ] = False,
) -> None:
    """Explain every deadline miss in a trace: who ran instead, and for how long.

    The shares of a response add up to it: its own execution, longer than declared or not; others
    that preempted or blocked it; the kernel's late wake-up; CPU time that the hypervisor stole.

    Example: takt explain docking.takttrace --html misses.html
    """
    from takt.cli.output import print_json, stderr, stdout
    from takt.errors import Failure
    from takt.explain import explain as explained
    from takt.explain.html import write_html
    from takt.explain.show import show

    with stderr().status(trace.name):
        found = explained(trace)
    if html:
        try:
            write_html(found, html)
        except OSError as error:
            raise Failure(f"it cannot be written: {error.strerror}", where=str(html)) from None
    if as_json:
        print_json(found.model_dump(mode="json"))
    else:
        show(stdout(), found)
        for line in found.remarks:
            stderr().print(line, markup=False, soft_wrap=True)
        if html:
            stdout().print(str(html), markup=False, soft_wrap=True)
