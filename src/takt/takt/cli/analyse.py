# SPDX-License-Identifier: Apache-2.0
"""``takt analyse``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def analyse(
    file: Annotated[Path, typer.Argument(metavar="APP.yaml", help="The application.")],
    overheads: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="What takt bench overheads --json printed; counted in every job."
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON document instead.")
    ] = False,
) -> None:
    """Prove that every deadline is met, before anything runs.

    Bounds the response time of each callback in each scenario, the latency of chains and the age of
    data, and says how much longer the callbacks may compute. Each bound names its paper.
    Exit code: 0 where everything is guaranteed, 1 where something is not.

    Example: takt analyse examples/docking.app.yaml
    """
    from takt.cli.output import print_json, stdout
    from takt.schedule.analysis.ask import analyse as ask
    from takt.schedule.analysis.ask import read_overheads
    from takt.schedule.analysis.show import show
    from takt.schedule.application.file import located, read_application
    from takt.schedule.application.flat import flat

    application = read_application(file)
    document = flat(application)
    if overheads:
        document["overheads"] = read_overheads(overheads)
    with located(application):
        analysis = ask(document, str(file))
    if as_json:
        print_json(analysis.model_dump(mode="json"))
    else:
        show(stdout(), analysis)
    if analysis.verdict != "meets":
        raise typer.Exit(1)
