# SPDX-License-Identifier: Apache-2.0
"""From an experiment to a finished run: the one way that all commands measure."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

from takt.errors import TaktError
from takt.measure.conditions import declared
from takt.measure.experiment.file import Source
from takt.measure.experiment.model import Experiment
from takt.measure.experiment.plan import Plan, plan, this_machine
from takt.measure.results import outcome, reservations, store
from takt.measure.results.model import Level, Run, Status, Verdict
from takt.measure.results.point import SUPPLY
from takt.measure.results.unfinished import Unfinished, reason, unfinished
from takt.measure.run import runner
from takt.network import stacks
from takt.network.hosts import other_hosts
from takt.network.workers import Workers
from takt.processes.supervision import Limits

MET = "every deadline met"


@dataclass(frozen=True)
class Session:
    """A run in its folder, ready to be measured."""

    run: Run
    folder: Path
    stacks: stacks.Stacks
    workers: Workers | None = None


def make_plan(
    experiment: Experiment,
    source: Source,
    seed: int | None = None,
    workers: Workers | None = None,
) -> Plan:
    """Plans for this machine, its workers and what is installed; without a seed, one is drawn."""
    if seed is None:
        seed = experiment.seed
    if seed is None:
        seed = secrets.randbelow(2**31)
    return plan(experiment, source, stacks.find(), this_machine(workers), seed)


def start(
    experiment: Experiment,
    planned: Plan,
    out: Path | None = None,
    workers: Workers | None = None,
) -> Session:
    """Makes the folder of a new run and looks at the machine."""
    from takt import doctor

    started = datetime.now(timezone.utc)
    machine = runner.Diagnosis(doctor.fingerprint(), doctor.findings())
    folder = store.create(out) if out else store.create_default(experiment.name, started)
    run = runner.new_run(experiment, planned, machine, started)
    if workers:
        names = {name for cell in run.cells for name in other_hosts(cell.host)}
        run.hosts = {name: workers.call(name, doctor.fingerprint) for name in sorted(names)}
    return Session(run, folder, stacks.find(), workers)


def resume(
    folder: Path,
    experiment: Experiment | None = None,
    seed: int | None = None,
    workers: Workers | None = None,
) -> Session:
    """Opens an earlier run again, to measure what is not complete.

    Raises TaktError where a host of it is missing, or has another Takt, and for a run of virtual
    machines, which boots them.
    """
    session = Session(runner.reopen(folder, experiment, seed), folder, stacks.find(), workers)
    if "time" in session.run.machine:
        fix = "to go on: the same takt lab command, with this folder as --out"
        raise TaktError("this run is of virtual machines", where=str(folder), fix=fix)
    for cell in remaining(session).cells:
        for _, what, fix in declared.lacking(cell, workers) if other_hosts(cell.host) else ():
            raise TaktError(what, where=str(folder), fix=fix)
    return session


def remaining(session: Session) -> Plan:
    """What a resumed run has still to measure."""
    cells = [cell for cell in session.run.cells if cell.status is not Status.complete]
    return Plan(session.run.seed, cells, [])


def finish(
    session: Session,
    watcher: runner.Watcher,
    limits: Limits | None = None,
    judged_by: Callable[[Run], Verdict] | None = None,
    *,
    resumable: bool = True,
) -> Run:
    """Measures what is not complete; Ctrl-C ends it early with what was measured.

    ``resumable``: whether what a killed one has recorded is of use to anybody.
    """
    return runner.measure_cells(
        session.run,
        session.folder,
        session.stacks,
        watcher,
        limits=limits,
        judge=judged_by or judge,
        workers=session.workers,
        resumable=resumable,
    )


def judge(run: Run) -> Verdict:
    """Whether the run itself worked; what its numbers are good for is for ``takt check``.

    What did not arrive, was not judged or was measured under another policy never reads as success.
    """
    of = len(run.cells)
    failed = [cell for cell in run.cells if cell.status is Status.failed]
    complete = [cell for cell in run.cells if cell.status is Status.complete]
    refused = reservations.refused(run.cells)
    if failed:
        reasons = [f"{cell.id}: {cell.error.what}" for cell in failed if cell.error]
        headline = f"{len(failed)} of {of} cells failed"
        return _verdict(run, "bad", headline, refused, reasons)
    if len(complete) < of:
        headline = f"stopped with {len(complete)} of {of} cells measured"
        lost = [cell for cell in run.cells if unfinished(cell) is Unfinished.lost]
        if len(lost) + len(complete) == of:
            headline = f"in {len(lost)} of {of} cells the last message is missing"
        reasons = [f"{one.id}: {reason(one)}" for one in lost]
        return _verdict(run, "unknown", headline, refused, reasons)
    if not of:
        return _verdict(run, "unknown", "nothing was measured", [], [])
    headline = "the cell is measured" if of == 1 else f"all {of} cells are measured"
    found = reservations.of(complete)
    if found:
        headline += f": {'; '.join(found)}"
    elif any(cell.kind != SUPPLY for cell in complete):
        headline += f", {MET}"
    reasons = [f"{cell.id}: {one}" for cell in complete for one in reservations.of([cell])]
    return _verdict(run, "fair" if found or refused else "good", headline, refused, reasons)


def _verdict(
    run: Run, level: Level, headline: str, refused: list[str], reasons: list[str]
) -> Verdict:
    """The last words are of what was refused."""
    if refused:
        headline += (", but " if headline.endswith(MET) else "; ") + "; ".join(refused)
    return Verdict(
        level=level,
        outcome=outcome.of_run(run.cells),
        headline=headline,
        reasons=reasons + refused,
    )
