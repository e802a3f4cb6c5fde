# SPDX-License-Identifier: Apache-2.0
"""Runs a plan cell by cell, so that whatever happens, what was measured is kept.

After every cell: its Parquet files first, then ``run.json``, then the raw recordings go. A kill
between any two of these steps leaves at least one whole copy of every sample.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timezone
from functools import partial
from pathlib import Path
from typing import Protocol

from takt import __version__
from takt.doctor.finding import Finding
from takt.documents import writing
from takt.errors import Failure, TaktError
from takt.measure.experiment.model import Experiment, normalised
from takt.measure.experiment.plan import Plan
from takt.measure.results import store
from takt.measure.results.model import Cell, Note, Run, Status, Verdict
from takt.measure.run import again, middleware, samples
from takt.measure.run import cell as one_cell
from takt.measure.run.context import Context
from takt.measure.run.measured import FOLDER, keep
from takt.network import ros1
from takt.network.domain import own_domain
from takt.network.hosts import other_hosts
from takt.network.stacks import Stacks
from takt.network.workers import Workers
from takt.processes import recording, scratch
from takt.processes.leftovers import Journal
from takt.processes.scratch import Scratch
from takt.processes.signals import stopping
from takt.processes.supervision import Limits, Stop


class Watcher(Protocol):
    """What a display of the progress is told."""

    def begin(self, cell: Cell, done: int, of: int) -> None:
        """A cell starts."""

    def advance(self, cell: Cell, recorded: int) -> None:
        """A cell has recorded so many samples."""

    def finish(self, cell: Cell) -> None:
        """A cell has ended."""

    def stopping(self) -> None:
        """A signal has asked the run to stop."""


@dataclass
class Diagnosis:
    """What is known of the machine before the run; given in, so that tests can do without."""

    fingerprint: dict[str, object] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)


def new_run(
    experiment: Experiment, plan: Plan, machine: Diagnosis, started: datetime | None = None
) -> Run:
    """The run of a plan, nothing measured yet."""
    return Run(
        name=experiment.name,
        status=Status.pending,
        started=started or datetime.now(timezone.utc),
        seed=plan.seed,
        experiment=normalised(experiment),
        machine=machine.fingerprint,
        versions={"takt": __version__},
        doctor=machine.findings,
        cells=plan.cells,
    )


def measure_cells(
    run: Run,
    folder: Path,
    stacks: Stacks,
    watcher: Watcher,
    *,
    stop: Stop | None = None,
    limits: Limits | None = None,
    judge: Callable[[Run], Verdict] | None = None,
    memory: Path = scratch.MEMORY,
    workers: Workers | None = None,
    resumable: bool = True,
) -> Run:
    """Measures every cell that is not complete; returns the run as it stands in ``run.json``.

    Of one that is not ``resumable`` a killed tool leaves nothing. Raises Failure where there is no
    space left; what was measured stays, and can be resumed.
    """
    stop = stop or Stop()
    try:
        lock = scratch.open_for(folder, memory, resumable=resumable)
    except OSError as error:
        raise _cannot_write(error, folder) from error
    try:
        with (
            own_domain(avoid=_used_elsewhere(run, workers)) as domain,
            _surroundings(run, lock.folder) as surroundings,
            stopping(stop, watcher.stopping),
        ):
            context = Context(
                lock,
                folder,
                domain,
                Journal(lock.folder, memory),
                stop,
                limits or Limits(),
                surroundings,
                workers,
            )
            _prepare(run, folder, lock)
            _measure_all(run, stacks, context, watcher)
            if resumable:  # else nobody reads what was set aside
                _measure_again(run, stacks, context, watcher)
            run.status = _status(run)
            run.ended = datetime.now(timezone.utc)
            if judge is not None and run.status is not Status.pending:
                run.verdict = judge(run)
            store.write(run, folder)
    except OSError as error:
        raise _cannot_write(error, folder) from error
    finally:
        lock.release(keep=resumable and bool(_recordings(lock)))
    return run


def reopen(folder: Path, experiment: Experiment | None, seed: int | None) -> Run:
    """The run to resume; raises TaktError where something else is asked for than it holds."""
    run = store.read(folder)
    store.refuse_foreign(folder)
    fix = "resume with the original experiment and seed, or start a new run"
    if experiment is not None and normalised(experiment) != run.experiment:
        asked = normalised(experiment)
        differing = sorted(
            key
            for key in asked.keys() | run.experiment.keys()
            if asked.get(key) != run.experiment.get(key)
        )
        text = f"the experiment differs from that of this run: {', '.join(differing)}"
        raise TaktError(text, where=str(folder), fix=fix)
    if seed is not None and seed != run.seed:
        text = f"the seed of this run is {run.seed}, not {seed}"
        raise TaktError(text, where=str(folder), fix=fix)
    return run


def _measure_all(run: Run, stacks: Stacks, context: Context, watcher: Watcher) -> None:
    for index, cell in enumerate(run.cells):
        if cell.status is Status.complete:
            continue
        if context.stop.requested:
            return
        _measure_one(run, index, cell, stacks, context, watcher)


def _measure_again(run: Run, stacks: Stacks, context: Context, watcher: Watcher) -> None:
    """Repeats what other programs disturbed, as long as there is room for it."""
    for place in again.due(run):
        if context.stop.requested:
            return
        before = run.cells[place]
        if before.stack in stacks:
            fresh = again.begin(run, place, context.folder)
            _measure_one(
                run,
                place,
                fresh,
                stacks,
                context,
                watcher,
                partial(again.counting, before),
            )


def _measure_one(
    run: Run,
    place: int,
    cell: Cell,
    stacks: Stacks,
    context: Context,
    watcher: Watcher,
    counting: Callable[[Cell], Cell] = lambda now: now,
) -> None:
    """Measures a cell; ``counting`` says what stands in the run afterwards."""
    watcher.begin(cell, place, len(run.cells))
    if cell.stack not in stacks:
        raise stacks.missing(cell.stack, str(context.folder))
    measured, recorded = one_cell.measure_cell(
        cell, stacks[cell.stack], context, lambda recorded: watcher.advance(cell, recorded)
    )
    run.cells[place] = counting(measured)
    run.versions.update(middleware.versions(measured, stacks[cell.stack]))
    store.write(run, context.folder)
    if not context.stop.at_once:
        for path in recorded:
            path.unlink(missing_ok=True)
    watcher.finish(measured)


def _used_elsewhere(run: Run, workers: Workers | None) -> set[int]:
    """The ROS domains in use on the workers that take a role."""
    names = {name for cell in run.cells for name in other_hosts(cell.host)}
    return {used for name in names if workers for used in workers.about(name, [])["domains"]}


@contextlib.contextmanager
def _surroundings(run: Run, folder: Path) -> Iterator[dict[str, dict[str, str]]]:
    """What the stacks of a run need around them, as environment by stack; ended with the run."""
    stacks = {
        cell.stack for cell in run.cells if cell.disturbed or cell.status is not Status.complete
    }
    if ros1.STACK not in stacks:
        yield {}
        return
    with ros1.master(folder) as environment:
        yield {ros1.STACK: environment}


def _prepare(run: Run, folder: Path, lock: Scratch) -> None:
    """Takes over what earlier attempts left, and puts the run on record before the first cell.

    No ``samples/<recording>.parquet`` is left of a cell that will be measured, so one that is
    found later is always the stored form of the recording of that name.
    """
    for name in (FOLDER, scratch.ON_DISK):
        _refuse_link(folder / name)
    recordings = _recordings(lock)
    read = [path for path in recordings if _recover(path, run, folder)]
    for cell in run.cells:
        if cell.status is not Status.complete:
            again.set_aside(cell, folder)
    run.status = Status.partial
    run.ended = None
    store.write(run, folder)
    for path in recordings:
        if path in read:
            path.unlink()
        else:  # the new attempt records to a file of this name
            place = folder / FOLDER
            place.mkdir(exist_ok=True)
            shutil.move(path, again.free_name(place / path.name))


def _refuse_link(path: Path) -> None:
    """A folder that was handed over may point elsewhere; raises TaktError."""
    if path.is_symlink():
        raise TaktError(
            "expected a folder of the run, found a link",
            where=str(path),
            fix="replace it with the folder itself",
        )


def _recover(path: Path, run: Run, folder: Path) -> bool:
    """Stores the recording of a killed attempt, unless that was done before the kill.

    Returns whether it could be read; if not, its cell says so.
    """
    stem = path.name.removesuffix(recording.SUFFIX)
    if (folder / FOLDER / f"{stem}.parquet").exists():
        return True
    try:
        keep(samples.read(path), path, folder)
    except samples.BadRecording as error:
        why = f"{error}; it is kept in {FOLDER}"
        for cell in run.cells:
            if stem == cell.id or stem.startswith((f"{cell.id}-s", f"{cell.id}-t")):
                cell.notes.append(Note(what=again.UNREADABLE, why=why))
        return False
    return True


def _recordings(lock: Scratch) -> list[Path]:
    return scratch.recordings(lock.folder) + scratch.recordings(lock.run_folder / scratch.ON_DISK)


def _status(run: Run) -> Status:
    states = {cell.status for cell in run.cells}
    if states & {Status.pending, Status.partial}:
        return Status.partial
    return Status.failed if Status.failed in states else Status.complete


def _cannot_write(error: OSError, folder: Path) -> TaktError:
    error.filename = file = error.filename or str(folder)
    why = writing.failure(error).what
    doing = "no space left while writing" if writing.is_full(error) else "cannot continue the run:"
    what = f"{doing} {file}: {why}"
    fix = f"fix this, then continue with: takt run --resume {folder}"
    return Failure(what, where=str(folder), fix=fix)
