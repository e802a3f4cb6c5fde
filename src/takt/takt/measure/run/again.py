# SPDX-License-Identifier: Apache-2.0
"""Measures cells again that other programs disturbed: at the end of the run, and not for ever.

What was measured before is kept: its files get names of their own, and the cell lists it. Of two
measurements the less disturbed one counts, whatever its latencies are.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from takt.measure.experiment.plan import estimate
from takt.measure.results import store
from takt.measure.results.model import Attempt, Cell, Run, Status
from takt.measure.results.point import SUPPLY
from takt.measure.run.measured import FOLDER

MOST = 2  # times that a cell is measured again
#: Of a shorter measurement, the CPU time of others is mostly that of its start.
LEAST_S = 1.0
SHARE = 0.5  # of the time of the plan, for all that is measured again
LEAST_ROOM_S = 60.0  # that may take so long in any case
UNREADABLE = "cannot read the recordings of a killed attempt"  # what a note says
HISTOGRAM = ".histogram.txt"
KEPT = ("repeated", "set_aside")  # of a cell, through all of its measurements


def room_s(cells: list[Cell]) -> float:
    """How many seconds all repeats of these cells may still take, as estimated."""
    planned = sum(map(estimate, cells))
    spent = sum(cell.repeated * estimate(cell) for cell in cells)
    return max(LEAST_ROOM_S, SHARE * planned) - spent


def most_s(cells: list[Cell]) -> float:
    """How many seconds the repeats of a run of these cells take at most, as estimated."""
    return min(room_s(cells), MOST * sum(estimate(cell) for cell in cells if _repeats(cell)))


def due(run: Run) -> Iterator[int]:
    """The places of cells to measure again, one at a time: each once before any of them twice."""
    for times in range(1, MOST + 1):
        for place in range(len(run.cells)):
            cell = run.cells[place]
            wanted = cell.disturbed and cell.status is Status.complete and _repeats(cell)
            if wanted and cell.repeated < times and estimate(cell) <= room_s(run.cells):
                yield place


def begin(run: Run, place: int, folder: Path) -> Cell:
    """Sets aside what was measured of a cell; returns it with nothing measured.

    ``run.json`` counts the repeat before it begins: a run that is killed again and again ends.
    """
    cell = run.cells[place]
    former = _keep_apart(cell, folder)
    cell.repeated += 1
    store.write(run, folder)
    for path in former:
        path.unlink()
    return _blank(cell)


def _blank(cell: Cell) -> Cell:
    """The cell as it was asked for, with nothing measured."""
    names = list(Cell.model_fields)
    of = ["error", *names[names.index("count") :]]
    fresh = {
        name: Cell.model_fields[name].get_default(call_default_factory=True)
        for name in of
        if name not in KEPT
    }
    return cell.model_copy(update=fresh | {"status": Status.pending})


def _repeats(cell: Cell) -> bool:
    """Whether it is long enough; what others take of a supply is what it is about."""
    return cell.kind != SUPPLY and cell.samples_requested * cell.period_us >= LEAST_S * 1e6


def counting(before: Cell, now: Cell) -> Cell:
    """The measurement that counts, with the other one set aside.

    One that was stopped or could not begin is none; one that failed is not hidden behind an earlier
    success.
    """
    stopped = now.status in (Status.partial, Status.pending) or not now.probes
    more = now.status is Status.complete and _taken(now) > _taken(before)
    counts, other = (before, now) if stopped or more else (now, before)
    set_aside = list(before.set_aside)
    if other.samples:
        set_aside.append(_attempt(other))
    return counts.model_copy(update={"repeated": before.repeated, "set_aside": set_aside})


def _taken(cell: Cell) -> float:
    """The share of its time that others took, in CPUs."""
    return (cell.others_seconds or 0.0) / max(cell.seconds, 1e-3)


def _attempt(cell: Cell) -> Attempt:
    late = cell.statistics.exceedance.exceeded if cell.statistics else 0
    return Attempt(
        samples=cell.samples,
        started=cell.started,
        seconds=cell.seconds,
        others_seconds=cell.others_seconds,
        disturbed=cell.disturbed,
        count=cell.count,
        lost=cell.lost,
        late=late,
    )


def _keep_apart(cell: Cell, folder: Path) -> list[Path]:
    """Gives what is stored of it further names; returns the former ones, to be removed.

    At each moment, ``run.json`` names files that are there.
    """
    known = [folder / name for name in cell.samples]
    for path in stored(folder / FOLDER, cell, ".parquet"):
        if ".attempt" not in path.name and path not in known:  # of a repeat that was killed
            path.rename(free_name(path))
    former: list[Path] = []

    def apart(name: str) -> str:
        path = folder / name
        if ".attempt" in path.name or not path.exists():
            return name
        free = free_name(path)
        try:
            os.link(path, free)
        except OSError:  # a stick's file system has no links
            shutil.copyfile(path, free)
        former.append(path)
        return f"{FOLDER}/{free.name}"

    cell.samples = [apart(name) for name in cell.samples]
    cell.histogram = apart(cell.histogram) if cell.histogram else None
    return former


def set_aside(cell: Cell, folder: Path) -> None:
    """Makes room for a new attempt: what an earlier one stored gets a name of its own.

    Its numbers go: a cell that has no samples yet must not look as if it had been measured.
    """
    place = folder / FOLDER
    for path in stored(place, cell, ".parquet"):
        if ".attempt" not in path.name:
            path.rename(free_name(path))
    attempts = stored(place, cell, ".attempt*.parquet")
    names = list(Cell.model_fields)
    for name in ["error", *names[names.index("count") :]]:
        if name not in ("notes", *KEPT):
            setattr(cell, name, Cell.model_fields[name].get_default(call_default_factory=True))
    cell.notes = [note for note in cell.notes if note.what == UNREADABLE]
    cell.earlier_attempts = sorted(f"{FOLDER}/{path.name}" for path in attempts)
    cell.status = Status.pending


def stored(place: Path, cell: Cell, ending: str) -> list[Path]:
    """What its recorders stored: one alone, or one for each of its subscribers or threads."""
    return [*place.glob(f"{cell.id}{ending}"), *place.glob(f"{cell.id}-[st]*{ending}")]


def free_name(path: Path) -> Path:
    """``x.attempt1.parquet`` for ``x.parquet``, the first number that is free."""
    ending = HISTOGRAM if path.name.endswith(HISTOGRAM) else path.suffix
    stem, number = path.name.removesuffix(ending), 1
    while (free := path.with_name(f"{stem}.attempt{number}{ending}")).exists():
        number += 1
    return free
