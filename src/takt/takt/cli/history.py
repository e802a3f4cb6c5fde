# SPDX-License-Identifier: Apache-2.0
"""``takt history``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Optional

import typer

from takt.cli.options import AsJson

if TYPE_CHECKING:
    from takt.measure.results.model import Run
    from takt.measure.results.outcome import CellOutcome

SHOWN = 20  # configurations, unless --key names some


def history(
    runs: Annotated[
        Optional[list[Path]],  # noqa: UP045 - typer reads it on Python 3.10
        typer.Argument(
            metavar="RUNS…",
            help="Run folders or bundles to add, or folders that contain run folders. (default: "
            "results)",
        ),
    ] = None,
    store: Annotated[
        Path, typer.Option(help="SQLite file of the history.", show_default=True)
    ] = Path("results/history.sqlite"),
    key: Annotated[
        str,
        typer.Option(
            help="Show only configurations whose name contains this text.", show_default=False
        ),
    ] = "",
    deadline: Annotated[
        str, typer.Option(help="Deadline, such as 400us. (default: that of the latest run)")
    ] = "",
    plot: Annotated[bool, typer.Option("--plot", help="Write each plot as PNG and SVG.")] = False,
    as_json: AsJson = False,
) -> None:
    """Add runs to the history, and summarise all runs of each configuration.

    Adds each run once and keeps it after its folder is deleted. Writes the long-term plots to
    history.html next to the store.

    Exit code: 0 done, 1 the store could not be written, 2 wrong use.

    Example: takt history --key timer-oneshot --deadline 400us
    """
    from takt.cli.output import print_json, stderr, stdout
    from takt.documents.units import parse_duration
    from takt.errors import TaktError, together
    from takt.measure.history.accumulate import accumulate
    from takt.measure.history.page import write_history
    from takt.measure.history.show import show
    from takt.measure.history.store import History, find, says
    from takt.measure.results import bundle
    from takt.measure.results import store as results
    from takt.measure.results.outcome import judge

    try:
        deadline_us = parse_duration(deadline) / 1000 if deadline else None
    except ValueError as error:
        raise TaktError(str(error), where="--deadline") from None
    folders = find(runs or [results.RESULTS])
    if runs and not folders:
        raise TaktError(
            "no runs found", where=str(runs[0]), fix="give folders that contain a run.json"
        )
    added = 0
    faults: list[TaktError] = []
    silent: dict[str, CellOutcome] = {}
    words: list[str] = []
    with History(store) as opened:
        for folder in folders:
            try:
                with bundle.opened(folder) as place:
                    run = results.read(place)
                    added += opened.add(run, place, folder)
                found = {cell.id: judge([cell]) for cell in run.cells if not says(cell)}
                silent |= found
                words += _left_out(folder, run, found)
            except TaktError as error:  # another version's run is no reason to stop
                faults.append(error)
        if runs and len(faults) == len(folders):
            raise together(faults)
        for fault in faults:
            stderr().print(f"skipped: {fault}", style="yellow", markup=False, soft_wrap=True)
        there = [one for one in opened.configurations() if key in one.key]
        names = {one.key for one in (there if key else there[:SHOWN])}
        shown = [one for one in there if one.key in names]  # on every machine
        accumulated = [accumulate(one, opened.entries(one), deadline_us) for one in shown]
    page = write_history(store.with_suffix(".html"), accumulated, left_out=len(there) - len(shown))
    pictures = _draw(store.with_suffix(""), accumulated) if plot else []
    for line in words:
        stderr().print(f"skipped: {line}", style="yellow", soft_wrap=True, markup=False)
    if as_json:
        document: dict[str, Any] = {
            "schema_version": 1,
            "store": str(store),
            "added": added,
            "skipped": {cell: found.model_dump(mode="json") for cell, found in silent.items()},
            "configurations": [one.document() for one in accumulated],
            "page": str(page),
            "pictures": [str(file) for file in pictures],
        }
        print_json(document)
        return
    show(stdout(), accumulated)
    if len(there) > len(shown):
        stdout().print(f"{len(there) - len(shown)} more with fewer samples; --key TEXT shows them")
    stdout().print(f"{added} added; {page}", soft_wrap=True, markup=False)
    for file in pictures:
        stdout().print(str(file), soft_wrap=True, markup=False)


def _left_out(folder: Path, run: Run, silent: Mapping[str, CellOutcome]) -> list[str]:
    """Each measurement that says nothing, but those that a stopped run still has to make as one."""
    from takt.measure.results.model import Status

    missing = [one.id for one in run.cells if one.status in (Status.pending, Status.partial)]
    each = {cell: found for cell, found in silent.items() if cell not in missing}
    found = [f"{cell}: {one.outcome.value}: {'; '.join(one.reasons)}" for cell, one in each.items()]
    if missing:
        of = len(run.cells)
        found.append(f"{folder}: {len(missing)} of {of} cells are not measured to the end")
    return found


def _draw(folder: Path, accumulated: list[Any]) -> list[Path]:
    from takt.measure.results.point import BY_JITTER
    from takt.pages import pictures
    from takt.pages.text import number_of

    files = []
    keys = [one.configuration.key for one in accumulated]
    places: set[str] = set()
    for one in accumulated:
        name = where = one.configuration.key
        if keys.count(name) > 1:  # the same on several machines
            where = f"{name}, {one.configuration.machine}"
            name = f"{name}-{_slug(one.configuration.machine)}"
        number = 1
        while (file := name if number == 1 else f"{name}-{number}") in places:
            number += 1
        places.add(file)
        jitter = one.kind in BY_JITTER
        runs, samples = number_of(len(one.runs), "run"), number_of(one.count, "measurement")
        title = f"{where}: {runs}, {samples}"
        axis = "jitter (µs)" if jitter else "latency (µs)"
        files += pictures.long_term(folder / file, title, one.runs, axis)
    return files


def _slug(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9]+", "-", text).strip("-").lower()
