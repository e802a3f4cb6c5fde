# SPDX-License-Identifier: Apache-2.0
"""``takt check``: the main job."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from takt.cli.options import AsJson

if TYPE_CHECKING:
    from takt.measure.results.model import Run


def check(
    out: Annotated[
        Optional[Path],  # noqa: UP045 - typer reads it on Python 3.10
        typer.Option(
            "-o",
            "--out",
            help="Write results to this folder. (default: results/check-TIME)",
            show_default=False,
        ),
    ] = None,
    tuned: Annotated[
        bool,
        typer.Option(
            "--tuned",
            help="Measure the gain of each setting of takt tune instead: with and without it, "
            "interleaved, restored after each cell. Needs root and some minutes.",
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Check in two minutes whether this machine meets the deadlines of a 1 kHz loop.

    Examines the machine, then measures timer, futex, UDP and ROS 2, each at normal and at real-time
    priority, and writes a report. Without privileges all measurements still run; the report marks
    them. Ctrl-C keeps the finished measurements and still writes the report.

    Exit code: 0 done, 1 the verdict is bad or a measurement failed or was stopped, 2 wrong use.

    Example: takt check --out results/before
    """
    from takt.cli import session as shared
    from takt.cli.output import print_json, stderr, stdout
    from takt.doctor import System
    from takt.errors import Failure
    from takt.measure.check.plan import choose_core, experiment
    from takt.measure.check.show import show
    from takt.measure.check.verdict import judge
    from takt.measure.experiment.file import Source
    from takt.measure.results.model import Status
    from takt.measure.run import session as sessions
    from takt.measure.run.again import most_s
    from takt.network.stacks import HOW_TO_GET

    if tuned:
        _tuned(out, as_json=as_json)
        return
    core = choose_core(System())
    asked = experiment(core)
    plan = sessions.make_plan(asked, Source())
    if not plan.cells:
        raise Failure("no communication stack is installed", fix=HOW_TO_GET)
    session = sessions.start(asked, plan, out)
    shared.show_dead_runs(session.folder)
    stderr().print(
        f"Measuring {len(plan.cells)} cells, about {plan.seconds:.0f} s. Please do not use "
        "the machine meanwhile: disturbed cells are measured again, which takes up to "
        f"{most_s(plan.cells):.0f} s more. Ctrl-C stops and reports the finished cells.",
    )
    with shared.Progress(session.run) as progress:
        run = sessions.finish(session, progress, judged_by=judge)
    files = [session.folder, *_report(session.folder, run)]
    if as_json:
        print_json(shared.document(run, session.folder))
    else:
        show(stdout(), run, session.folder, f"{core.cpu} ({core.reason})", files)
    if run.status is not Status.complete or (run.verdict and run.verdict.level == "bad"):
        raise typer.Exit(1)


def _tuned(out: Path | None, *, as_json: bool) -> None:
    """What each setting is worth."""
    from takt.cli import session as shared
    from takt.cli.output import print_json, stderr, stdout
    from takt.doctor import System
    from takt.errors import Failure
    from takt.measure.check import tuned
    from takt.measure.check.plan import choose_core
    from takt.measure.conditions import tuned as settings
    from takt.measure.experiment.file import Source
    from takt.measure.results.model import Status
    from takt.measure.run import session as sessions

    settings.refuse_if_lacking(settings.ALL)
    names = settings.worth_measuring(settings.machine())
    if not names:
        stderr().print(
            "Nothing to tune on this machine now; see takt tune for the value of each setting."
        )
        return
    asked = tuned.experiment(choose_core(System()), names)
    plan = sessions.make_plan(asked, Source())
    session = sessions.start(asked, plan, out)
    shared.show_dead_runs(session.folder)
    stderr().print(
        f"Measuring {len(plan.cells)} cells, about {plan.seconds:.0f} s: without, with "
        f"each of {', '.join(names)}, and with all. Ctrl-C stops and restores the "
        "settings; after a kill, run: takt tune --revert",
    )
    with shared.Progress(session.run) as progress:
        run = sessions.finish(session, progress)
    found = tuned.worth(run, session.folder)
    files = [session.folder, *_report(session.folder, run)]
    if as_json:
        print_json(shared.document(run, session.folder) | {"worth": tuned.documents(found)})
    else:
        tuned.show(stdout(), run, found)
        for file in files:
            stdout().print(str(file), markup=False, soft_wrap=True)
    if run.status is not Status.complete:
        raise Failure(
            "not all cells were measured", fix="see the messages above, and takt report FOLDER"
        )


def _report(folder: Path, run: Run) -> list[Path]:
    """Write the report; where that fails, say so and go on: the verdict matters more."""
    from takt.cli.output import stderr
    from takt.measure.report.html import write_report

    try:
        return [write_report(folder, run)]
    except OSError as error:
        reason = error.strerror or error
        stderr().print(
            f"cannot write the report: {reason}; try again later: takt report {folder}",
            soft_wrap=True,
        )
        return []
