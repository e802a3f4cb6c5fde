# SPDX-License-Identifier: Apache-2.0
"""Holds traces and runs to limits: those of a file, and those that they declare.

What did not happen is judged like what happened late: a callback without its jobs, a chain that
never completes and a reader without data fail, or stay undecided where the trace cannot tell.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Protocol

from takt.judge import baseline, cells, growth
from takt.judge.callbacks import callbacks
from takt.judge.cells import Measured
from takt.judge.disturbances import disturbances
from takt.judge.limits import ALL, Limits
from takt.judge.messages import messages
from takt.judge.model import Judgement, Quantity, Verdict
from takt.judge.opening import open_trial
from takt.judge.paths import chains, reads
from takt.judge.pool import pooled
from takt.judge.repetition import Side
from takt.judge.series import side
from takt.judge.trial import Trial
from takt.judge.wrong import wrong
from takt.measure.results import store
from takt.measure.results.disturbed import sentence
from takt.measure.results.model import Run
from takt.processes.scratch import DOCUMENT
from takt.schedule.ros2.recordings import is_recorded
from takt.schedule.trace.file import NOT_WHOLE
from takt.statistics.judgement import Outcome, overall

ENDING = ".takttrace"


def judge(path: Path, limits: Limits, application: Path | None = None) -> Verdict:
    """Judges a trace, the traces of a folder together, or a run; raises TaktError.

    ``application``: the file that declares deadlines, ages and chains, instead of the trace's own.
    """
    return examine(path, limits, application).verdict()


class Examined(Protocol):
    """What was recorded, before its limits."""

    def verdict(self) -> Verdict:
        """The outcome of all limits; raises TaktError for a baseline of another kind."""

    def side(self) -> Side:
        """Its repetitions, as a baseline has them."""


def examine(path: Path, limits: Limits, application: Path | None = None) -> Examined:
    """Reads a trace, a folder of traces, or a run."""
    if path.name == DOCUMENT or (path / DOCUMENT).exists():
        if application is not None:
            raise wrong("a measured run has no application", path, "leave out --against")
        return ExaminedRun(path, limits)
    files = traces(path)
    trials = [open_trial(one, limits, application) for one in files]
    _check_alike(files, trials)
    return ExaminedTraces(path, trials)


def traces(path: Path) -> list[Path]:
    """The trace itself, or those of a folder: repetitions of one application."""
    if not path.is_dir() or is_recorded(path):
        return [path]
    if found := sorted(path.glob(f"*{ENDING}")):
        return found
    raise wrong(
        f"this folder has no trace (*{ENDING}) and no run.json",
        path,
        "give a folder of traces of takt execute, or one of takt run",
    )


def _check_alike(files: Sequence[Path], trials: Sequence[Trial]) -> None:
    """What one repetition has and another one lacks would be judged by half of them."""
    first = trials[0].callbacks()
    for file, trial in zip(files, trials, strict=True):
        if differing := sorted(first ^ trial.callbacks()):
            has, lacks = (files[0], file) if differing[0] in first else (file, files[0])
            raise wrong(
                f"not repetitions of one application: {has.name} has callback {differing[0]!r}, "
                f"{lacks.name} does not",
                file.parent,
                "keep a folder for each application, or give the traces one by one",
            )


@dataclass(frozen=True)
class ExaminedTraces:
    """One or more repetitions of an application."""

    path: Path
    trials: Sequence[Trial]

    def side(self) -> Side:
        """All series of all traces."""
        return side(self.trials)

    def verdict(self) -> Verdict:
        """Their limits together."""
        by_trial = [
            [_record(trial), *callbacks(trial), *chains(trial), *reads(trial), *messages(trial)]
            for trial in self.trials
        ]
        limits, confidence = self.trials[0].limits, self.trials[0].confidence
        remarks = [line for trial in self.trials for line in trial.metrics.not_granted]
        if limits.cells:
            remarks.append("limits of cells are for run folders: not judged here")
        found = _with_baseline(self, limits, pooled(by_trial, confidence), remarks)
        remarks += disturbances(self.trials)
        return _verdict(self.path, found, remarks, confidence, len(self.trials))


@dataclass(frozen=True)
class ExaminedRun:
    """A measured run."""

    path: Path
    limits: Limits

    @cached_property
    def _run(self) -> Run:
        return store.read(self.path)

    @cached_property
    def _cells(self) -> dict[str, list[Measured]]:
        return cells.read(self._run, self.path.parent if self.path.is_file() else self.path)

    def side(self) -> Side:
        """All series of all cells."""
        return cells.side(self._cells, self.limits)

    def verdict(self) -> Verdict:
        """Cell by cell."""
        limits = self.limits
        judged = cells.judge(self._cells, limits, self.path)
        remarks = []
        if disturbed := sentence(self._run.cells):
            remarks.append(disturbed)
        if limits.callbacks or limits.chains or limits.reads or limits.topics:
            remarks.append(
                "limits of callbacks, chains, reads, topics are for traces: not judged here"
            )
        found = _with_baseline(self, limits, judged, remarks)
        repetitions = max((len(one) for one in self._cells.values()), default=1)
        return _verdict(self.path, found, remarks, limits.confidence / ALL, repetitions)


def _with_baseline(
    examined: Examined, limits: Limits, judged: list[Judgement], remarks: list[str]
) -> list[Judgement]:
    if (wanted := limits.not_worse_than) is None:
        return judged
    file = Path(wanted.baseline)
    before, after = baseline.read(file), examined.side()
    remarks += growth.differences(before, after)
    confidence = limits.confidence / ALL
    return [*judged, *growth.judge(before, after, wanted.by / ALL, confidence, str(file))]


def _verdict(
    path: Path, judged: list[Judgement], remarks: list[str], confidence: float, repetitions: int
) -> Verdict:
    limited = any(one.quantity is not Quantity.record for one in judged)
    outcomes = [one.outcome for one in judged]
    if not limited:
        remarks.append("nothing has a limit: declare deadlines, or give a limits file")
        outcomes.append(Outcome.undecided)
    return Verdict(
        trace=str(path),
        outcome=overall(outcomes),
        repetitions=repetitions,
        confidence=confidence,
        judgements=judged,
        remarks=list(dict.fromkeys(remarks)),
    )


def _record(trial: Trial) -> Judgement:
    """A trace with lost events proves nothing that rests on their absence."""
    metrics = trial.metrics
    if metrics.lost:
        reason = f"{metrics.lost} events are lost"
    elif not metrics.closed_in_order:
        reason = NOT_WHOLE
    else:
        reason = "no event is lost"
    whole = not metrics.lost and metrics.closed_in_order
    return Judgement(
        subject="trace",
        quantity=Quantity.record,
        limit_us=None,
        allowed=0,
        exceeded=metrics.lost,
        count=metrics.lost + metrics.executions,
        outcome=Outcome.meets if whole else Outcome.undecided,
        reason=reason,
    )
