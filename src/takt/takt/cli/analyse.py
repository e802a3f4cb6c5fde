# SPDX-License-Identifier: Apache-2.0
"""``takt analyse``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Optional

import typer

from takt.cli.options import AsJson, Overheads, Supply

if TYPE_CHECKING:
    from takt.schedule.analysis.model import Analysis
    from takt.schedule.application.model import Application


def analyse(
    file: Annotated[Path, typer.Argument(metavar="APP.yaml", help="Application file.")],
    overheads: Overheads = None,
    supply: Supply = None,
    assign: Annotated[
        Optional[list[Path]],  # noqa: UP045 - typer reads it on Python 3.10
        typer.Option(
            metavar="OUT",
            help="Find priorities, deadlines and cores that guarantee all deadlines and write them "
            "to an app.yaml or, for an executor, a .timing.yaml; may be repeated.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Prove that an application meets all deadlines, before it runs.

    Bounds the response time of each callback in each scenario, the latency of chains and the age of
    data, and computes how much longer the callbacks may run. Each bound cites its paper. With
    --assign, tries the described priorities, then dm, rm and edf, and takes the first guaranteed
    assignment. Of a robot with several processes: cores, priorities and policies of the processes;
    nodes stay in theirs. The file that --assign writes has the overheads of --overheads.

    Exit code: 0 where everything is guaranteed, 1 where something is not.

    Example: takt analyse examples/docking.app.yaml
    """
    from takt.cli.output import print_json, stderr, stdout
    from takt.schedule.analysis.ask import analyse as ask
    from takt.schedule.analysis.show import show
    from takt.schedule.application.file import located, read_application
    from takt.schedule.application.flat import flat
    from takt.schedule.application.overheads import read_overheads
    from takt.schedule.application.supply import add_supply

    application = read_application(file)
    document = flat(application)
    if overheads:
        document["overheads"] = read_overheads(overheads)
    if supply:
        add_supply(document, supply)
    with located(application):
        if assign:
            analysis = _assign(application, document, file, assign)
        else:
            with stderr().status(file.name) as status:
                analysis = ask(
                    document,
                    str(file),
                    lambda done, of: status.update(
                        f"{file.name}: slack of execution times, {done} of {of}"
                    ),
                )
    if as_json:
        print_json(analysis.model_dump(mode="json"))
    else:
        show(stdout(), analysis, document)
    if analysis.verdict != "meets":
        raise typer.Exit(1)


def _assign(
    application: Application, document: dict[str, Any], file: Path, targets: list[Path]
) -> Analysis:
    from takt.cli.output import stderr
    from takt.errors import TaktError
    from takt.schedule.analysis.assign import assign
    from takt.schedule.analysis.write import write
    from takt.schedule.timing.file import is_timing_file

    if document.get("executor", "takt") != "takt":
        raise TaktError(
            f"executor '{application.executor}' has no priorities, deadlines and cores to assign",
            where=str(file),
            fix="remove executor; takt compare-executors shows what each executor guarantees",
        )
    for out in targets:
        if application.processes and is_timing_file(out):
            raise TaktError(
                "a timing file is of one process, and this application has "
                f"{len(application.processes)}",
                where=str(file),
                fix="write an app.yaml",
            )
        if application.scenarios and is_timing_file(out):
            raise TaktError(
                "a timing file has no scenarios, and this application has some",
                where=str(file),
                fix="write an app.yaml, or leave out scenarios, default_scenario and switches",
            )
        if out.exists() and not _is_written_here(out):
            raise TaktError(
                "this file exists and was not written by --assign",
                where=str(out),
                fix="choose another file name, or delete the file",
            )
    with stderr().status(file.name):
        assigned = assign(document, str(file))
    for out in targets:
        write(assigned, application, file, out)
        stderr().print(f"{out}: {assigned.how}", markup=False, soft_wrap=True)
    if application.processes and assigned.analysis.verdict != "meets":
        stderr().print(
            "not searched: other processes for nodes, other executors (takt compare-executors)",
            markup=False,
            soft_wrap=True,
        )
    return assigned.analysis


def _is_written_here(path: Path) -> bool:
    from takt.documents.reading import read_text

    first = read_text(path).partition("\n")[0]
    return first.startswith("# takt analyse ") and " --assign: " in first
