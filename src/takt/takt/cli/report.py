# SPDX-License-Identifier: Apache-2.0
"""``takt report``: the HTML report of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from takt.cli.options import Overheads


def report(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="DIR|ROBOT.yaml",
            help="Folder or bundle of a run or of a reproduction, or an application file.",
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--out",
            help="HTML file to write. (default: DIR/report.html, of a bundle or robot FILE.html)",
        ),
    ] = None,
    measured: Annotated[
        Optional[Path],  # noqa: UP045 - typer reads it on Python 3.10
        typer.Option(
            metavar="TRACE",
            help="Trace of an execution of the robot, or folder of takt record; its figures are "
            "shown beside the bounds.",
        ),
    ] = None,
    overheads: Overheads = None,
    bundle: Annotated[
        bool,
        typer.Option(
            "--bundle",
            help="Write one file to share instead: samples, documents and pictures, without "
            "names, paths, addresses and serial numbers. (default: DIR.zip)",
            show_default=False,
        ),
    ] = False,
    open_: Annotated[bool, typer.Option("--open", help="Open the report in the browser.")] = False,
) -> None:
    """Write the HTML report of a run, a reproduction or a robot: a single file that works offline.

    The report of a robot analyses and simulates it. It shows what is proved, simulated and, with
    --measured, measured: of chains on one scale (latency, reaction, age), of processes, nodes and
    topics. An application file without processes is one process.

    Exit code: 0 written, 1 it could not be written, 2 there is no run, or no application.

    Example: takt report results/check-20260302T093000Z --open
    """
    from takt import plugins
    from takt.cli.output import stdout
    from takt.documents.writing import is_of_disk
    from takt.errors import TaktError
    from takt.measure.report.html import write_report
    from takt.measure.results import bundle as bundles
    from takt.measure.results import store

    if folder.suffix in (".yaml", ".yml") and not folder.is_dir():
        _of_robot(folder, out, measured, overheads, bundle, open_)
        return
    for option, value in (("--measured", measured), ("--overheads", overheads)):
        if value is not None:
            raise TaktError(
                f"a run has its measurements in it; {option} is for robots",
                where=str(folder),
                fix=f"remove {option}, or give the application file of the robot",
            )
    of_bundle = bundles.is_bundle(folder)
    if folder.is_file() and not of_bundle and folder.suffix != ".json":
        raise TaktError(
            "this file is no run, no bundle and no application file",
            where=str(folder),
            fix="give the folder of a run, its bundle, or an application file (.yaml); takt view "
            "shows a trace",
        )
    place = folder.parent if folder.is_file() and not of_bundle else folder
    others = plugins.found(plugins.REPORTS)
    try:
        if bundle:
            file, open_ = bundles.write(place, out), False
        else:
            target = out or (folder.with_suffix(".html") if of_bundle else None)
            with bundles.opened(place) as there:
                other = next(filter(lambda name: (there / name).is_file(), others), None)
                if other is not None:
                    file = others[other].load()(there, target)
                else:
                    file = write_report(there, store.read(there), target)
    except OSError as error:
        if is_of_disk(error):
            error.filename = error.filename or str(out or place)
            raise
        raise TaktError(
            f"cannot write the report: {error.strerror or error}",
            where=str(out or place),
            fix="choose another place: takt report DIR --out FILE",
        ) from None
    stdout().print(str(file), soft_wrap=True, markup=False)
    if open_:
        typer.launch(file.resolve().as_uri())


def _of_robot(
    file: Path,
    out: Path | None,
    measured: Path | None,
    overheads: Path | None,
    bundle: bool,
    open_: bool,
) -> None:
    from takt.cli.output import stderr, stdout
    from takt.errors import TaktError
    from takt.schedule.application.overheads import read_overheads
    from takt.schedule.robot.page import write_page

    page = out or file.with_suffix(".html")
    if bundle:
        raise TaktError(
            "a robot has no run to bundle; its report is one file already",
            where=str(file),
            fix="remove --bundle",
        )
    if page.is_dir() or page.resolve() == file.resolve():
        raise TaktError(
            "a folder or the robot itself is in the way; takt does not overwrite it",
            where=str(page),
            fix="choose another name: --out page.html",
        )
    costs = read_overheads(overheads) if overheads else None
    with stderr().status(file.name) as status:
        write_page(file, page, measured, costs, lambda what: status.update(f"{file.name}: {what}"))
    stdout().print(str(page), soft_wrap=True, markup=False)
    if open_:
        typer.launch(page.resolve().as_uri())
