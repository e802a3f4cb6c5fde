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
        typer.Argument(
            metavar="TRACE…",
            help="Traces of executions or simulations, folders of such traces, folders of takt "
            "record, or folders or bundles of runs.",
        ),
    ],
    limits: Annotated[
        File,
        typer.Option(
            metavar="FILE",
            help="Limits file. (default: the deadlines, ages and latencies of the application)",
        ),
    ] = None,
    application: Against = None,
    write_baseline: Annotated[
        File,
        typer.Option(
            metavar="FILE",
            help="Write all traces as the repetitions of a baseline, for not_worse_than.",
        ),
    ] = None,
    junit: Annotated[
        File, typer.Option(metavar="FILE", help="Write the verdict as JUnit XML.")
    ] = None,
    markdown: Annotated[
        File, typer.Option(metavar="FILE", help="Write the verdict as Markdown.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Judge traces or measured runs against limits and a baseline: meets, fails or undecided.

    Absent jobs, chains without data and lost events count. Where stolen CPU time or other
    programs decide, the limit stays undecided. On GitHub, failures become annotations.

    A baseline is a small file of percentiles and counts. The traces of a folder are the
    repetitions of one application, which a comparison of executions needs: at least 3.

    Exit code: 0 every limit is met, 1 a limit fails, 2 wrong use, 3 undecided.

    Example: takt gate docking.takttrace --junit gate.xml
    """
    import os

    from takt.cli.output import print_json, stderr, stdout
    from takt.documents.writing import write_text
    from takt.judge import baseline, ci
    from takt.judge.gate import examine
    from takt.judge.limits import read_limits
    from takt.judge.model import GateDocument
    from takt.judge.repetition import merged
    from takt.judge.show import show
    from takt.measure.results import bundle
    from takt.statistics.judgement import Outcome, overall

    wanted = read_limits(limits)
    if write_baseline:  # the former one, which this may replace, is no judge
        wanted = wanted.model_copy(update={"not_worse_than": None})
    verdicts, recorded = [], []
    for path in traces:
        with stderr().status(f"{path.name}"), bundle.opened(path) as place:
            examined = examine(place, wanted, application)
            verdicts.append(examined.verdict().model_copy(update={"trace": str(path)}))
            recorded += [examined.side()] if write_baseline else []
        if not as_json:
            show(stdout(), verdicts[-1])
    if write_baseline:
        baseline.write(write_baseline, merged(recorded))
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
