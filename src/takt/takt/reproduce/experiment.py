# SPDX-License-Identifier: Apache-2.0
"""For papers whose experiments are an experiment file: scaled, run or gone on with."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from takt.measure.experiment.file import read_experiment
from takt.measure.experiment.model import Experiment, Measurement
from takt.measure.results.model import Cell, Note, Run
from takt.measure.run import session as sessions
from takt.processes import scratch
from takt.reproduce.model import Request
from takt.reproduce.published import experiments

SHORTEST_NS = 500_000_000
LEAST_SAMPLES = 50  # of a point, however small the scale


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
        self.request.say("stopping; what was measured is kept")


@dataclass(frozen=True)
class Measured:
    """A run that is there, and what had to be left out of it."""

    run: Run
    folder: Path
    skipped: list[Note]


def measure(paper: str, request: Request) -> Measured:
    """Runs the experiment of a paper at a scale; a folder with a run is gone on with."""
    experiment, source = read_experiment(experiments() / f"{paper}.yaml")
    experiment = scaled(experiment, request.scale)
    planned = sessions.make_plan(experiment, source)
    if request.out is not None and (request.out / scratch.DOCUMENT).exists():
        session = sessions.resume(request.out, experiment)
    else:
        session = sessions.start(experiment, planned, request.out)
    run = sessions.measure(session, Watcher(request))
    return Measured(run, session.folder, planned.skipped)


def scaled(experiment: Experiment, scale: float) -> Experiment:
    """The experiment with all durations scaled, none below what an answer needs."""
    return experiment.model_copy(
        update={
            "measurements": [
                block.model_copy(update={"duration": _duration(block, experiment, scale)})
                for block in experiment.measurements
            ]
        }
    )


def _duration(block: Measurement, experiment: Experiment, scale: float) -> int:
    asked = block.duration or experiment.duration
    least = min(asked, max(SHORTEST_NS, LEAST_SAMPLES * max(block.periods_ns)))
    return max(least, round(asked * scale))
