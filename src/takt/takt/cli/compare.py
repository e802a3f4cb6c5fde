# SPDX-License-Identifier: Apache-2.0
"""``takt compare``: the gate that turns red when latency, losses or refused settings grew."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from takt.cli.options import AsJson

File = Optional[Path]  # noqa: UP045 - typer reads it on Python 3.10


def compare(
    a: Annotated[Path, typer.Argument(metavar="A", help="Folder or bundle of the baseline run.")],
    b: Annotated[
        Path, typer.Argument(metavar="B", help="Folder or bundle of the run to compare with it.")
    ],
    threshold: Annotated[
        str, typer.Option(help="Tolerated growth: 10% or 0.1.", metavar="SHARE")
    ] = "10%",
    confidence: Annotated[
        float,
        typer.Option(
            help="Confidence level in percent, for all cells together.", metavar="PERCENT"
        ),
    ] = 95.0,
    undecided_fails: Annotated[
        bool,
        typer.Option(
            "--undecided-fails", help="Exit with 3 if no cell regressed and some are undecided."
        ),
    ] = False,
    junit: Annotated[
        File, typer.Option(metavar="FILE", help="Write the comparison as JUnit XML.")
    ] = None,
    markdown: Annotated[
        File, typer.Option(metavar="FILE", help="Write the comparison as Markdown.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Compare two runs: find cells that are slower, later, lossier or without their settings in B.

    A cell regressed if the whole confidence interval of a ratio B / A (p50 or p99 of the latency)
    lies above 1 + threshold, if the share of responses after the deadline or of lost messages
    grew, if B was refused a setting that A was granted, or if B has no samples of it. The
    intervals hold simultaneously: for two equal runs, the probability of any false alarm is at
    most 5 % (at 95 %). On GitHub, regressions become annotations.

    Exit code: 0 no regression, 1 at least one, 2 the runs cannot be compared, 3 undecided cells
    with --undecided-fails.

    Example: takt compare results/before results/after --threshold 10%
    """
    import contextlib

    from takt.cli.compared import conclusion, remarks, show, suite
    from takt.cli.output import print_json, stderr
    from takt.documents.writing import write_text
    from takt.errors import TaktError
    from takt.judge import ci
    from takt.measure.results import bundle, store
    from takt.measure.statistics.compare import compare_runs
    from takt.measure.statistics.compare_document import document
    from takt.measure.statistics.compare_model import Outcome

    tolerated = _share(threshold)
    sure = _confidence(confidence)
    with contextlib.ExitStack() as stack:
        before, after = (stack.enter_context(bundle.opened(run)) for run in (a, b))
        runs = (store.read(before), store.read(after))
        folders = tuple(one.parent if one.is_file() else one for one in (before, after))
        result = compare_runs(runs, (folders[0], folders[1]), tolerated, sure)
    if not result.cells:
        raise TaktError(
            "the runs have no cell in common",
            where=f"{a}, {b}",
            fix="compare runs of the same experiment",
        )
    if not result.regressed and not any(cell.changes for cell in result.cells):
        for line in remarks(result):
            stderr().print(line, markup=False, soft_wrap=True)
        raise TaktError(
            "no cell of the two runs could be compared",
            where=f"{a}, {b}",
            fix="compare complete runs with samples; p50 needs 20 samples in each repetition",
        )
    last = conclusion(result, tolerated, confidence)
    suites = [suite(result, f"{a} → {b}", last)]
    if junit:
        write_text(junit, ci.junit(suites))
    if markdown:
        write_text(markdown, ci.markdown(suites))
    if as_json:
        print_json(document(result, tolerated, sure).model_dump(mode="json"))
    else:
        show(result, suites, last)
    if result.regressed:
        raise typer.Exit(1)
    if undecided_fails and result.outcome is Outcome.undecided:
        raise typer.Exit(3)


def _share(text: str) -> float:
    """Read ``10%`` or ``0.1``."""
    from takt.errors import TaktError

    number, percent = text.strip().removesuffix("%"), text.strip().endswith("%")
    try:
        share = float(number) / (100 if percent else 1)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 10:
        raise TaktError(
            f"invalid share {text!r}",
            where="--threshold",
            fix="write 10% or 0.1; 5 means 500 %, and the maximum is 1000 %",
        )
    return share


def _confidence(percent: float) -> float:
    from takt.errors import TaktError

    if not 50 <= percent < 100:
        raise TaktError(
            f"invalid confidence {percent:g}",
            where="--confidence",
            fix="give a percentage of at least 50 and below 100: --confidence 95",
        )
    return percent / 100
