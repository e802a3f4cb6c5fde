# SPDX-License-Identifier: Apache-2.0
"""Judges callbacks: responses, skipped releases and missing jobs."""

from __future__ import annotations

import numpy as np

from takt.judge.limits import CallbackLimits
from takt.judge.model import DecidingJob, Judgement, Quantity
from takt.judge.recorded import JobsOf
from takt.judge.trial import Excuses, Trial, never
from takt.pages import text
from takt.schedule.absence.model import unreleased
from takt.schedule.explain.model import DISTURBANCES, Late
from takt.schedule.metrics.model import CallbackMetrics
from takt.statistics import Int64

MOST_JOBS = 5  # that decide a limit, the latest first


def callbacks(trial: Trial) -> list[Judgement]:
    """Every callback that has a limit, and every one that is absent."""
    numbers = {name: number for number, name in trial.names.tasks.items()}
    judgements: list[Judgement] = [_absent(trial, name) for name in trial.metrics.absent]
    for one in trial.metrics.callbacks:
        limits = trial.limits.callbacks.get(one.callback, CallbackLimits())
        jobs = trial.recorded.jobs.get(numbers.get(one.callback, -1), JobsOf())
        judgements += _complete(trial, one)
        judgements += _responses(trial, one, jobs, limits)
        if limits.budget is not None:
            judgements.append(_budget(trial, one, jobs, limits.budget, limits.late))
        if limits.skipped is not None:
            every = one.executions + one.unfinished + one.skipped
            judgements.append(
                trial.counted(one.callback, Quantity.skipped, one.skipped, every, limits.skipped)
            )
    return judgements


def _absent(trial: Trial, name: str) -> Judgement:
    found = trial.counted(name, Quantity.completeness, 1, 1, trial.limits.absent)
    return never(found, unreleased(name, None, known=False))


def _complete(trial: Trial, one: CallbackMetrics) -> list[Judgement]:
    """Jobs and skipped releases, of those that the period asks for.

    Where no period says how many, as for messages, a callback without a job stays undecided.
    """
    if one.expected is None and not one.executions + one.unfinished + one.skipped:
        none = trial.counted(one.callback, Quantity.completeness, 0, 0, trial.limits.absent)
        inactive = one.callback in trial.inactive
        return [] if inactive else [never(none, unreleased(one.callback, None))]
    if not one.expected:
        return []
    came = min(one.executions + one.unfinished + one.skipped, one.expected)
    absent = one.expected - came
    found = trial.counted(
        one.callback, Quantity.completeness, absent, one.expected, trial.limits.absent
    )
    reason = f"{text.count(came)} of {text.count(one.expected)} expected releases"
    return [found.model_copy(update={"reason": reason})]


def _responses(
    trial: Trial, one: CallbackMetrics, jobs: JobsOf, limits: CallbackLimits
) -> list[Judgement]:
    responses = jobs.responses.all()
    if limits.response is not None:
        values = np.concatenate([responses, _never(jobs, limits.response)])
        excuses = _explained(trial, one)
        return [
            trial.judge(
                one.callback, Quantity.response, values, limits.response, limits.late, excuses
            )
        ]
    if one.miss_ratio is None and not jobs.missed:
        return []  # no deadline
    deadline = trial.deadlines.get(one.callback)
    found = trial.counted(
        one.callback,
        Quantity.response,
        jobs.missed,
        len(responses) + one.overdue,
        limits.late,
        _explained(trial, one),
        limit_us=None if deadline is None else deadline / 1000,
        worst_us=float(responses.max()) / 1000 if len(responses) else None,
    )
    return [found]


def _budget(trial: Trial, one: CallbackMetrics, jobs: JobsOf, budget: int, late: int) -> Judgement:
    """Execution times as recorded; some kernels count stolen time as execution."""
    values = jobs.executions.all()
    excuses = Excuses(trial.recorded.excused(jobs.cores, budget))
    found = trial.judge(one.callback, Quantity.execution, values, budget, late, excuses)
    if len(values) or not one.executions:
        return found
    reason = "the trace does not record execution times"
    return found.model_copy(update={"reason": reason})


def _never(jobs: JobsOf, limit: int) -> Int64:
    """How long jobs that did not complete have been pending, where that is above the limit."""
    pending = jobs.pending.all()
    return pending[pending > limit]


def _explained(trial: Trial, one: CallbackMetrics) -> Excuses:
    """Misses that would have been none without disturbances, and the latest of the others."""
    found = trial.explanation
    disturbed = sum(late.disturbed for late in found.callbacks if late.callback == one.callback)
    guilty = [
        late
        for late in found.details
        if late.callback == one.callback and late.missed and late.late_us > _disturbed_us(late)
    ]
    jobs = sorted(guilty, key=lambda late: -late.late_us)[:MOST_JOBS]
    return Excuses(disturbed, tuple(map(_deciding, jobs)))


def _disturbed_us(late: Late) -> float:
    return sum(share.us for share in late.shares if share.kind in DISTURBANCES)


def _deciding(late: Late) -> DecidingJob:
    own = [share for share in late.shares if share.kind not in DISTURBANCES]
    largest = max(own, key=lambda share: share.us, default=None)
    cause = "unknown" if largest is None else largest.kind.value
    if largest is not None and largest.by:
        cause += f" {largest.by}"
    return DecidingJob(
        job=late.job,
        release_ns=late.release_ns,
        response_us=late.end_us,
        over_us=late.late_us,
        cause=cause,
    )
