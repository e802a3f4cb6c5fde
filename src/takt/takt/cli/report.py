# SPDX-License-Identifier: Apache-2.0
"""``takt report``: the HTML report of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def report(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="Folder or bundle of a run or of a reproduction.")
    ],
    out: Annotated[
        Path | None,
        typer.Option(help="HTML file to write. (default: DIR/report.html, of a bundle FILE.html)"),
    ] = None,
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
    """Write the HTML report of a run or a reproduction: a single file that works offline.

    Exit code: 0 written, 1 it could not be written, 2 there is no run.

    Example: takt report results/check-20260302T093000Z --open
    """
    from takt import plugins
    from takt.cli.output import stdout
    from takt.documents.writing import is_full
    from takt.errors import TaktError
    from takt.measure.report.html import write_report
    from takt.measure.results import bundle as bundles
    from takt.measure.results import store

    of_bundle = bundles.is_bundle(folder)
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
        if is_full(error):
            raise
        raise TaktError(
            f"cannot write the report: {error.strerror or error}",
            where=str(out or place),
            fix="choose another place: takt report DIR --out FILE",
        ) from None
    stdout().print(str(file), soft_wrap=True, markup=False)
    if open_:
        typer.launch(file.resolve().as_uri())
