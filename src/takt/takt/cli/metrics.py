# SPDX-License-Identifier: Apache-2.0
"""``takt metrics``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from takt.cli.options import Against, AsJson


def metrics(
    traces: Annotated[
        list[Path],
        typer.Argument(
            metavar="TRACE…",
            help="Traces of executions or simulations, folders of takt execute or takt record, or "
            "logs with lines of made and used data.",
        ),
    ],
    application: Against = None,
    as_json: AsJson = False,
) -> None:
    """Measure a trace: deadline misses, data freshness, data age, responses, chains, overhead.

    The definitions are those of Krukiewicz-Gacek 2021 (docs/reference/metrics.md). They are the
    same for Takt's executor, other executors and a simulation.

    Exit code: 0 measured, even with misses, 1 a limit fails because nothing arrived, 2 wrong use,
    or a file that is no trace.

    Example: takt metrics docking.takt.takttrace docking.baseline1.takttrace
    """
    from takt.cli.output import print_json, stderr, stdout
    from takt.schedule.absence.model import fails
    from takt.schedule.metrics import measure
    from takt.schedule.metrics.model import MetricsDocument
    from takt.schedule.metrics.show import remarks, show

    found = []
    for path in traces:
        with stderr().status(f"{path.name}"):
            found.append(measure(path, application=application))
        if not as_json:
            show(stdout(), found[-1])
            for line in remarks(found[-1]):
                stderr().print(line, markup=False, soft_wrap=True)
    if as_json:
        print_json(MetricsDocument(traces=found).model_dump(mode="json"))
    if any(fails(one.absences) for one in found):
        raise typer.Exit(1)
