# SPDX-License-Identifier: Apache-2.0
"""A run of a paper's experiment that nobody has judged yet, such as one of a stick."""

from __future__ import annotations

from pathlib import Path
from statistics import median
from types import ModuleType

from takt.documents.writing import failure
from takt.errors import TaktError
from takt.measure.experiment.file import read_experiment
from takt.measure.results import store
from takt.measure.results.model import Run
from takt.processes.scratch import DOCUMENT
from takt.reproduce import page
from takt.reproduce.model import Outcome, Request
from takt.reproduce.published import experiment_file


def outcome_of(paper: str, module: ModuleType, place: Path, folder: Path) -> Outcome:
    """What was judged of a run; one that was not is judged, and keeps that.

    Raises TaktError where there is neither.
    """
    if (folder / page.DOCUMENT).is_file():
        return page.read(folder)
    run = store.read(folder) if (folder / DOCUMENT).is_file() else None
    if run is None or run.name != paper or not hasattr(module, "answers"):
        raise TaktError(
            "no reproduction here",
            where=str(place),
            fix=f"give the results folder of takt reproduce {paper}, its bundle, or a run of this "
            "experiment from a stick",
        )
    try:
        outcome: Outcome = module.answers(run, folder, Request(scale=scale_of(paper, run)))
        page.keep(outcome)
    except OSError as error:
        fix = "copy the run to a folder that can be written"
        raise failure(error, fix) from None
    return outcome


def scale_of(paper: str, run: Run) -> float:
    """How long its measurements are, as a share of the paper's: the middle one of all cells."""
    experiment, _ = read_experiment(experiment_file(paper))
    whole = {
        (one.label, str(one.kind), stack): one.samples
        for one in experiment.measurements
        for stack in one.stack
        if one.samples
    }
    shares = [
        cell.samples_requested / asked
        for cell in run.cells
        if (asked := whole.get((cell.label, str(cell.kind), cell.stack)))
    ]
    return min(1.0, median(shares)) if shares else 1.0
