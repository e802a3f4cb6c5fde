# SPDX-License-Identifier: Apache-2.0
"""What ``takt run`` and ``takt measure`` share: showing a plan, measuring, showing the result."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from takt.cli.output import bars, print_json, stderr, stdout

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from takt.documents.own import Refused
    from takt.measure.experiment.plan import Plan
    from takt.measure.results.model import Cell, Run, Verdict
    from takt.measure.results.supply import CoreSupply
    from takt.measure.run.session import Session
    from takt.measure.statistics.pooled import Row
    from takt.network.workers import Workers
    from takt.pages.row_table import RowTable


@contextlib.contextmanager
def workers(scheduler: str | None) -> Iterator[Workers | None]:
    """The workers of a scheduler, while this is open; None: no other hosts."""
    if scheduler is None:
        yield None
        return
    from takt.network.workers import Workers, connected

    with connected(scheduler) as client:
        yield Workers(client)


def show_plan(plan: Plan, *, as_json: bool) -> None:
    """Shows what would be measured, without measuring."""
    from takt.measure.experiment.plan import estimate
    from takt.measure.results.model import SCHEMA_VERSION
    from takt.measure.run.again import most_s
    from takt.pages.row_table import of_cells

    if as_json:
        print_json(
            {
                "schema_version": SCHEMA_VERSION,
                "seed": plan.seed,
                "seconds": plan.seconds,
                "repeats_seconds": round(most_s(plan.cells), 3),
                "cells": [cell.id for cell in plan.cells],
                "skipped": [note.model_dump() for note in plan.skipped],
            }
        )
        return
    rows = [
        (f"{cell.order + 1} {cell.id}", cell.samples_requested, _time(estimate(cell)))
        for cell in plan.cells
    ]
    title = f"{len(plan.cells)} cells in this order (seed {plan.seed})"
    stdout().print(of_cells(("cell", "samples", "about"), rows, title=title))
    for note in plan.skipped:
        stderr().print(f"skipped: {note.why}", style="yellow", markup=False)
    more = most_s(plan.cells)
    besides = f", up to {_time(more)} more if other programs disturb it" if more else ""
    stdout().print(f"Total: about {_time(plan.seconds)}{besides}.")


def run_and_show(
    session: Session,
    *,
    as_json: bool,
    judged_by: Callable[[Run], Verdict] | None = None,
    plot: bool = False,
) -> None:
    """Measures a session, shows the result, and ends the process with 1 if it is not whole."""
    from takt.measure.results.model import Status
    from takt.measure.run import session as sessions

    show_dead_runs(session.folder)
    if not sys.stderr.isatty():
        stderr().print(f"results: {session.folder}", soft_wrap=True, markup=False)
    with Progress(session.run) as progress:
        run = sessions.finish(session, progress, judged_by=judged_by)
    supplies = _supplies(run, session.folder)
    if plot:
        _draw(run, session.folder)
    if as_json:
        supply = {"supply": [one.model_dump(mode="json") for one in supplies]} if supplies else {}
        print_json(document(run, session.folder) | supply)
    else:
        _show(run, session.folder, supplies)
    if run.status is not Status.complete:
        hint = f"Continue with: takt run --resume {session.folder}"
        stderr().print(hint, style="yellow", soft_wrap=True, markup=False)
        raise typer.Exit(1)


def _supplies(run: Run, folder: Path) -> list[CoreSupply]:
    """What the cores provided that were watched; written for takt analyse."""
    from takt.measure.results.point import SUPPLY

    if not any(cell.kind == SUPPLY for cell in run.cells):
        return []
    from takt.measure.statistics import core_supply

    found = core_supply.supplies(run, folder)
    core_supply.write(found, folder)
    return found


def _draw(run: Run, folder: Path) -> None:
    """Draws the histogram of each cell beside it."""
    from takt.measure.results import histogram
    from takt.pages import pictures

    for cell in run.cells:
        if cell.histogram:
            file = folder / cell.histogram
            counts = pictures.Counts(cell.id, *histogram.read(file))
            axis = "jitter (µs)" if cell.by_jitter else "latency (µs)"
            target = file.with_name(file.name.removesuffix(".histogram.txt"))
            for drawn in pictures.histogram(target, cell.id, [counts], axis):
                stderr().print(str(drawn), style="dim", soft_wrap=True, markup=False)


def show_dead_runs(folder: Path) -> None:
    """Cleans up after killed runs and says how to go on with them."""
    from takt.documents.own import reported
    from takt.network.sweeper import SWEEPER
    from takt.processes.leftovers import sweep_dead_runs

    refused: list[Refused] = []
    without_run: list[Path] = []
    lines: list[str] = []
    for dead in sweep_dead_runs(SWEEPER, refused=refused):
        if dead.lent or dead.run_folder == folder.resolve():
            continue
        if dead.resumes:
            lines.append(f"A run was killed. To continue it: takt run --resume {dead.run_folder}")
        else:
            without_run.append(dead.folder)
    for line in [*lines, *abandoned(without_run), *reported(refused)]:
        stderr().print(line, style="yellow", soft_wrap=True, markup=False)


def abandoned(folders: list[Path]) -> list[str]:
    """One line, however many: each command would repeat them until they are deleted."""
    first, last = min(folders, default=None), max(folders, default=None)
    if first is None or last is None:
        return []
    if first == last:
        run = "A run was killed and its results folder no longer exists; its recordings"
        return [f"{run} are in {first}"]
    runs = f"{len(folders)} runs were killed and their results folders no longer exist"
    return [f"{runs}; their recordings are in {first} to {last.name}"]


class Progress:
    """The bars on standard error: the whole run, with the time left, and the cell of now."""

    def __init__(self, run: Run) -> None:
        from rich.progress import BarColumn, TextColumn, TimeRemainingColumn

        from takt.measure.experiment.plan import estimate
        from takt.measure.results.model import Status

        self._estimate = estimate
        self._bars = bars(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.percentage:>3.0f} %"),
            TimeRemainingColumn(),
            refresh_per_second=2,  # the display shares the CPUs with what is measured
        )
        self._console = self._bars.console
        left = sum(estimate(cell) for cell in run.cells if cell.status is not Status.complete)
        self._all = self._bars.add_task("run", total=left)
        self._more = left
        self._done = 0.0

    def __enter__(self) -> Progress:  # noqa: PYI034 - Self is new in Python 3.11
        self._bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bars.stop()

    def begin(self, cell: Cell, done: int, of: int) -> None:
        """Names the cell."""
        again = ""
        if cell.repeated:
            again = ", again: other programs disturbed it"
            self._more += self._estimate(cell)
            self._bars.update(self._all, total=self._more)
        self._bars.update(self._all, description=f"{done + 1}/{of} {cell.id}{again}")

    def advance(self, cell: Cell, recorded: int) -> None:
        """Counts what the cell has recorded."""
        share = min(1.0, recorded / cell.samples_requested)
        self._bars.update(self._all, completed=self._done + share * self._estimate(cell))

    def finish(self, cell: Cell) -> None:
        """Prints the cell's line; its id says what was asked for."""
        from takt.measure.results import scheduling

        self._done += self._estimate(cell)
        self._bars.update(self._all, completed=self._done)
        if cell.error:
            words = f"{cell.error.what}: {cell.error.why}"
            words += f" → {cell.error.fix}" if cell.error.fix else ""
            line = f"failed {cell.id}: {words}"
            self._console.print(line, style="red", markup=False, soft_wrap=True)
        else:
            found = cell.statistics
            text = f" p50 {found.response.p50_us:.1f} µs" if found else ""
            got = " and ".join(map(str, scheduling.measured(cell)))
            differs = f" measured under {got}," if scheduling.refused(cell) else ""
            text += ", disturbed by other programs" if cell.disturbed else ""
            line = f"{cell.status.value} {cell.id}{differs}{text}"
            self._console.print(line, style="dim", soft_wrap=True)

    def stopping(self) -> None:
        """Says what a first and a second Ctrl-C do."""
        text = "Stopping; finished cells are kept. Press Ctrl-C again to exit immediately."
        self._console.print(text, style="yellow")


def document(run: Run, folder: Path) -> dict[str, Any]:
    """What ``--json`` prints of a run."""
    from takt.measure.results.model import SCHEMA_VERSION
    from takt.measure.statistics.pooled import rows

    return {
        "schema_version": SCHEMA_VERSION,
        "status": run.status.value,
        "verdict": run.verdict.model_dump(mode="json") if run.verdict else None,
        "rows": [_document_of(row) for row in rows(folder, run.cells)],
        "cells": [brief(cell) for cell in run.cells],
        "doctor": [finding.model_dump(mode="json") for finding in run.doctor],
        "results": str(folder),
    }


def _document_of(row: Row) -> dict[str, Any]:
    """A row of the table, as ``--json`` tells it."""
    response = row.statistics.response if row.statistics else None
    percentiles = ("p50_us", "p99_us", "p999_us", "max_us")
    return {
        "name": row.name,
        "key": row.cells[0].key,
        "cells": [cell.id for cell in row.cells],
        "deadline_us": row.deadline_us,
        "count": row.count,
        "absent": row.absent,
        "disturbed": row.disturbed,
        "late": row.late,
        "response": {name: getattr(response, name, None) for name in percentiles},
        "outcome": row.outcome.outcome.value,
        "judged": row.outcome.model_dump(mode="json"),
    }


def brief(cell: Cell) -> dict[str, Any]:
    """A cell as ``--json`` shows it: named after what was granted; its latency, for itself."""
    from takt.measure.results import scheduling
    from takt.measure.results.outcome import judge

    got = scheduling.measured(cell)
    names = [
        "id",
        "key",
        "repetition",
        "stack",
        "kind",
        "transport",
        "payload_bytes",
        "cpu",
        "count",
        "lost",
        "p50_us",
        "p99_us",
        "p999_us",
        "max_us",
        "steal_seconds",
        "others_seconds",
        "disturbed",
        "repeated",
    ]
    error = cell.error.model_dump() if cell.error else None
    return {name: getattr(cell, name) for name in names} | {
        "name": scheduling.name(cell),
        "policy": "+".join(dict.fromkeys(one.policy for one in got)),
        "priority": min(one.priority for one in got),
        "requested": scheduling.requested(cell)._asdict(),
        "status": cell.status.value,
        "outcome": judge([cell]).outcome.value,
        "error": error,
    }


def _show(run: Run, folder: Path, supplies: Sequence[CoreSupply]) -> None:
    from takt.cli.blocks import blocks, supply_block
    from takt.measure.results.disturbed import sentence
    from takt.measure.statistics.pooled import rows
    from takt.statistics.judgement import Outcome

    console = stdout()
    found = rows(folder, run.cells)
    console.print(_table(run, found))
    console.print(_caption(found), style="dim", markup=False)
    for row in found:
        if row.outcome.outcome is not Outcome.meets:
            text = f"{row.name}: {row.outcome.outcome.value}: {'; '.join(row.outcome.reasons)}"
            console.print(text, soft_wrap=True, markup=False, highlight=False)
    for cell in run.cells:
        if cell.conditions and cell.conditions.clock_bound_us:
            bound = _microseconds(cell.conditions.clock_bound_us)
            text = f"{cell.id}: every latency is ± {bound} µs, by {cell.conditions.clock}"
            console.print(text, soft_wrap=True, markup=False, highlight=False)
    for text in [*blocks(run), *map(supply_block, supplies)]:
        console.print(text, soft_wrap=True, markup=False)
    if any(one.rate is not None for one in supplies):
        text = f"takt analyse APP.yaml --supply {folder}/supply.yaml counts with it: an assumption"
        console.print(text, soft_wrap=True, markup=False)
    if disturbed := sentence(run.cells):
        console.print(disturbed, style="yellow", markup=False)
    for what, why, fix in sorted(
        {(note.what, note.why, note.fix or "") for cell in run.cells for note in cell.notes}
    ):
        text = f"note: {what}: {why}" + (f" → {fix}" if fix else "")
        console.print(text, style="yellow", markup=False)
    if run.verdict:
        colour = {"good": "green", "fair": "yellow", "bad": "red", "unknown": "yellow"}
        console.print(run.verdict.headline, style=colour[run.verdict.level])
    console.print(f"results: {folder}", soft_wrap=True, markup=False)


def _caption(found: Sequence[Row]) -> str:
    """What the columns mean, where there is anything in them."""
    judged = any(row.deadline_us is not None for row in found)
    late = "Late: after the deadline. " if judged else ""
    return (
        f"Each row: all repetitions together, from the planned start. {late}Absent: not received."
    )


def _table(run: Run, found: Sequence[Row]) -> RowTable[Any]:
    from takt.measure.results.model import Status
    from takt.pages.row_table import of_cells

    whole = run.status is Status.complete
    disturbed = any(cell.disturbed for cell in run.cells)
    judged = any(row.deadline_us is not None for row in found)
    cells = []
    for row in found:
        response = row.statistics.response if row.statistics else None
        complete = sum(cell.status is Status.complete for cell in row.cells)
        cells.append(
            (
                row.name,
                row.count,
                row.absent,
                *(
                    _microseconds(getattr(response, name, None))
                    for name in ("p50_us", "p99_us", "p999_us", "max_us")
                ),
                *(("" if row.late is None else row.late,) if judged else ()),
                *(() if whole else (f"{complete} of {len(row.cells)}",)),
                *((f"{row.disturbed} of {len(row.cells)}",) if disturbed else ()),
                row.outcome.outcome.value,
            )
        )
    headings = ["measurement", "count", "absent", "p50", "p99", "p99.9", "max"]
    headings += ["late"] if judged else []
    title = f"{run.name}: response in µs"
    headings += [*([] if whole else ["complete"]), *(["disturbed"] if disturbed else []), "outcome"]
    return of_cells(headings, cells, title=title)


def _microseconds(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:.1f}" if value < 1000 else f"{value:.0f}"


def _time(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.1f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
