# SPDX-License-Identifier: Apache-2.0
"""The series of traces that a baseline holds: responses, execution times, latencies and ages."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from takt.judge.limits import CallbackLimits
from takt.judge.model import Quantity
from takt.judge.recorded import JobsOf
from takt.judge.repetition import SIMULATOR, Key, Repetition, Side, events, repetition
from takt.judge.trial import Trial
from takt.schedule.absence.model import reader
from takt.schedule.ros2.topics import plain
from takt.statistics import Int64


def side(trials: Sequence[Trial]) -> Side:
    """The traces of one application as repetitions."""
    series: dict[Key, list[Repetition]] = defaultdict(list)
    for trial in trials:
        for key, one in _series(trial).items():
            series[key].append(one)
    return Side(
        source=trials[0].metrics.source,
        repetitions=len(trials),
        series=dict(series),
        whole=all(one.metrics.closed_in_order and not one.metrics.lost for one in trials),
    )


def _series(trial: Trial) -> dict[Key, Repetition]:
    found: dict[Key, Repetition] = {}
    numbers = {name: number for number, name in trial.names.tasks.items()}
    for one in trial.metrics.callbacks:
        name = one.callback
        jobs = trial.recorded.jobs.get(numbers.get(name, -1), JobsOf())
        limits = trial.limits.callbacks.get(name, CallbackLimits())
        cores = jobs.cores
        deadline = limits.response or trial.deadlines.get(name)
        found[name, Quantity.response] = _of(
            trial, jobs.responses.all(), deadline, cores, lacking=jobs.lacking.all()
        )
        executions = jobs.executions.all()
        if len(executions):
            found[name, Quantity.execution] = _of(trial, executions, limits.budget, cores)
        if every := one.executions + one.unfinished + one.skipped:
            stolen = sum(sum(trial.recorded.stolen[core]) for core in trial.recorded.stolen)
            excused = one.skipped if stolen else 0
            found[name, Quantity.skipped] = events(one.skipped, every, excused)
    declared = trial.declared.chains if trial.declared else []
    for chain, path in zip(declared, trial.recorded.chains, strict=True):
        latency = chain.max_latency or None
        found[chain.name, Quantity.latency] = _of(trial, path.latency.all(), latency, set())
        found[chain.name, Quantity.age] = _of(trial, path.age.all(), None, set())
    for (task, topic), uses in trial.recorded.uses.items():
        subject = reader(trial.names.task(task), plain(trial.names.topic(topic)))
        found[subject, Quantity.age] = _of(trial, uses.all(), None, set())
    return found


def _of(
    trial: Trial,
    values: Int64,
    limit: int | None,
    cores: set[int],
    lacking: Int64 | None = None,
) -> Repetition:
    """Stolen time may have made as many values long as it can put above the median.

    ``lacking``: of each value, the time that a disturbance took.
    """
    excused = 0
    if len(values):
        excused = min(len(values), trial.recorded.excused(cores, int(np.median(values))))
    exact = trial.metrics.source == SIMULATOR
    calm = None if lacking is None or not lacking.any() else values - lacking
    return repetition(values, limit, exact=exact, excused=excused, calm=calm)
