# SPDX-License-Identifier: Apache-2.0
"""For papers whose experiments are an experiment file: scaled, run or gone on with."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from takt.errors import TaktError
from takt.measure.conditions import within
from takt.measure.experiment.file import read_experiment
from takt.measure.experiment.model import Experiment, Measurement
from takt.measure.results.model import Cell, Note, Run, Status
from takt.measure.run import session as sessions
from takt.processes import scratch
from takt.reproduce.model import Request, announced
from takt.reproduce.published import experiment_file

LEAST_SAMPLES = 200  # of a run, however small the scale
LEAST_RUNS = 2  # how far runs differ is what decides
Extent = tuple[int, int]  # samples and runs of a point
FULL_RUN = 1000  # samples of a run; with more of them rather another run


@dataclass
class Watcher:
    """Says on one line which point is measured."""

    request: Request

    def begin(self, cell: Cell, done: int, of: int) -> None:
        """A cell starts."""
        self.request.say(f"{done + 1} of {of}: {cell.id}")

    def advance(self, cell: Cell, recorded: int) -> None:
        """A cell has recorded so many samples."""

    def finish(self, cell: Cell) -> None:
        """A cell has ended."""

    def stopping(self) -> None:
        """A signal has asked the run to stop."""
        self.request.say("stopping; finished measurements are kept")


@dataclass(frozen=True)
class Measured:
    """A run that is there, and what had to be left out of it."""

    run: Run
    folder: Path
    skipped: list[Note]


def measure(
    paper: str,
    request: Request,
    beyond_scale: Callable[[Run], list[str]],
    fitted: Callable[[Experiment, float], Experiment] | None = None,
) -> Measured:
    """Runs the experiment of a paper at a scale; a folder with a run is gone on with.

    ``fitted``: what is run of it at a scale, where that is not :func:`scaled`.
    """
    if request.within is not None and (lacks := within.lacking(request.within)):
        raise TaktError(lacks[0], where=f"--within {request.within}", fix=lacks[1])
    experiment, source = read_experiment(experiment_file(paper))
    experiment = (fitted or scaled)(experiment, request.scale)
    if request.within is not None:
        experiment = _within(experiment, request.within)
    planned = sessions.make_plan(experiment, source, workers=request.workers)
    if request.out is not None and (request.out / scratch.DOCUMENT).exists():
        session = sessions.resume(request.out, experiment, workers=request.workers)
    else:
        session = sessions.start(experiment, planned, request.out, request.workers)
    left = [cell for cell in session.run.cells if cell.status is not Status.complete]
    seconds = sessions.remaining(session).seconds
    request.announce(announced(len(left), seconds, session.folder, beyond_scale(session.run)))
    run = sessions.finish(session, Watcher(request))
    return Measured(run, session.folder, planned.skipped)


def _within(experiment: Experiment, domain: int) -> Experiment:
    """The same, measured in the ROS domain of a running system."""
    blocks = (block.model_copy(update={"within": [domain]}) for block in experiment.measurements)
    return measuring(experiment, blocks)


def measuring(experiment: Experiment, blocks: Iterable[Measurement]) -> Experiment:
    """The experiment with these measurements."""
    return experiment.model_copy(update={"measurements": list(blocks)})


def scaled(
    experiment: Experiment, scale: float, extent: Callable[[int, int, float], Extent] | None = None
) -> Experiment:
    """The experiment with so much of its samples: first shorter runs, then fewer of them.

    ``extent``: another rule for the samples and runs of a point at a scale.
    """
    blocks = []
    for block in experiment.measurements:
        if block.samples is None:
            raise ValueError(f"{experiment.name}: a paper's measurements have samples")
        runs = block.repetitions or experiment.repetitions
        samples, runs = (extent or _extent)(block.samples, runs, scale)
        blocks.append(block.model_copy(update={"samples": samples, "repetitions": runs}))
    return measuring(experiment, blocks)


def _extent(samples: int, runs: int, scale: float) -> Extent:
    """The number of samples in all is what is scaled."""
    total = runs * samples * scale
    runs = max(LEAST_RUNS, min(runs, int(total / FULL_RUN)))
    return max(min(LEAST_SAMPLES, samples), min(samples, round(total / runs))), runs
