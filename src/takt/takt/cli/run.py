# SPDX-License-Identifier: Apache-2.0
"""``takt run``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from takt.cli.options import AsJson, PlanOnly


def run(
    experiment: Annotated[
        Optional[Path],  # noqa: UP045 - typer reads it on Python 3.10
        typer.Argument(help="Experiment file; not needed with --resume."),
    ] = None,
    out: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(
            "-o",
            "--out",
            help="Write results to this folder. (default: results/NAME-TIME)",
            show_default=False,
        ),
    ] = None,
    resume: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(help="Continue the run in this folder: measure all incomplete cells."),
    ] = None,
    seed: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option(min=0, help="Random seed of the order. (default: the file's, or drawn)"),
    ] = None,
    scheduler: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            help="Address of a Dask scheduler whose workers are hosts of the experiment: "
            "tls://HOST:8786."
        ),
    ] = None,
    dry_run: PlanOnly = False,
    as_json: AsJson = False,
) -> None:
    """Measure all points of an experiment, repeated, in random order.

    Ctrl-C keeps the finished cells; --resume continues a stopped or killed run.

    Exit code: 0 all measured, whatever the outcomes, 1 one failed or was stopped, 2 wrong use.

    Example: takt run experiments/quick.yaml
    """
    from takt.cli import session as shared
    from takt.errors import TaktError
    from takt.measure.check import verdict as check_verdict
    from takt.measure.check.plan import NAME as CHECK
    from takt.measure.experiment.file import Source, read_experiment
    from takt.measure.run import session as sessions

    loaded, source = read_experiment(experiment) if experiment else (None, Source())
    if resume and out:
        raise TaktError("a resumed run already has its folder; omit --out", where="--out")
    if not resume and loaded is None:
        raise TaktError(
            "no experiment given",
            fix="give an experiment file (experiments/quick.yaml is a small one) or --resume",
        )
    with shared.workers(scheduler) as workers:
        if resume:
            session = sessions.resume(resume, loaded, seed, workers)
            if dry_run:
                shared.show_plan(sessions.remaining(session), as_json=as_json)
                return
        elif loaded is not None:
            plan = sessions.make_plan(loaded, source, seed, workers)
            if dry_run:
                shared.show_plan(plan, as_json=as_json)
                return
            session = sessions.start(loaded, plan, out, workers)
        # A check that was cut short is judged as a check when it is whole.
        judge = check_verdict.judge if session.run.name == CHECK else None
        shared.run_and_show(session, as_json=as_json, judged_by=judge)
