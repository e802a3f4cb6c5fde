# SPDX-License-Identifier: Apache-2.0
"""``takt gate``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from takt.cli.options import Against, AsJson

File = Optional[Path]  # noqa: UP045 - typer reads it on Python 3.10


def gate(
    traces: Annotated[
        list[Path],
        typer.Argument(metavar="TRACE…", help="Traces of executions or simulations."),
    ],
    limits: Annotated[
        File,
        typer.Option(
            metavar="FILE",
            help="Limits file. (default: the deadlines, ages and latencies of the application)",
        ),
    ] = None,
    application: Against = None,
    junit: Annotated[
        File, typer.Option(metavar="FILE", help="Write the verdict as JUnit XML.")
    ] = None,
    markdown: Annotated[
        File, typer.Option(metavar="FILE", help="Write the verdict as Markdown.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Judge traces against limits: meets, fails or undecided.

    Absent jobs, chains without data and lost events count. Where stolen CPU time or other
    programs decide, the limit stays undecided. On GitHub, failures become annotations.

    Exit code: 0 every limit is met, 1 a limit fails, 2 wrong use, 3 undecided.

    Example: takt gate docking.takttrace --junit gate.xml
    """
    import os

    from takt.cli.output import print_json, stderr, stdout
    from takt.documents.writing import write_text
    from takt.judge import ci
    from takt.judge.gate import judge
    from takt.judge.limits import read_limits
    from takt.judge.model import GateDocument, overall
    from takt.judge.show import show
    from takt.schedule.absence.model import Outcome

    wanted = read_limits(limits)
    verdicts = []
    for path in traces:
        with stderr().status(f"{path.name}"):
            verdicts.append(judge(path, wanted, application))
        if not as_json:
            show(stdout(), verdicts[-1])
    suites = [ci.suite(verdict) for verdict in verdicts]
    if junit:
        write_text(junit, ci.junit(suites))
    if markdown:
        write_text(markdown, ci.markdown(suites))
    outcome = overall(verdict.outcome for verdict in verdicts)
    if as_json:
        document = GateDocument(outcome=outcome, verdicts=verdicts)
        print_json(document.model_dump(mode="json"))
    elif os.environ.get("GITHUB_ACTIONS") == "true":
        for line in ci.workflow_commands(suites):
            typer.echo(line)
    if outcome is not Outcome.meets:
        raise typer.Exit(1 if outcome is Outcome.fails else 3)
