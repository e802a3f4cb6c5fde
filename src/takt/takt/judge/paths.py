# SPDX-License-Identifier: Apache-2.0
"""Judges data: latency and age of chains, and the age of what a callback reads."""

from __future__ import annotations

import numpy as np

from takt.judge.limits import ChainLimits, ReadLimits
from takt.judge.model import Judgement, Quantity
from takt.judge.trial import Trial, never
from takt.schedule.absence.model import reader
from takt.schedule.metrics.absences import without_arrival, without_data
from takt.schedule.metrics.model import DataAge
from takt.schedule.ros2.topics import plain

Pair = tuple[str, str]  # callback and topic


def chains(trial: Trial) -> list[Judgement]:
    """Every chain of the application that has a limit."""
    judgements: list[Judgement] = []
    declared = trial.declared.chains if trial.declared else []
    for chain, path in zip(declared, trial.recorded.chains, strict=True):
        limits = trial.limits.chains.get(chain.name, ChainLimits())
        wanted = {
            Quantity.latency: (limits.latency or chain.max_latency, path.latency.all()),
            Quantity.age: (limits.age, path.age.all()),
        }
        for quantity, (limit, values) in wanted.items():
            if limit:
                excuses = trial.excuses(limit)
                found = trial.judge(chain.name, quantity, values, limit, limits.late, excuses)
                if not found.count:
                    absence = without_arrival(trial.metrics, chain, limited=True)
                    found = never(found, absence)
                judgements.append(found)
    return judgements


def reads(trial: Trial) -> list[Judgement]:
    """Every topic with a limit on the age of its data.

    A declared ``max_age`` counts from the sampling of the data, as the executor judged it; an age
    of the limits file counts from the publication of the message.
    """
    judgements: list[Judgement] = []
    found = {(one.callback, one.topic): one for one in trial.metrics.data_age}
    asked = {
        (name, topic): limits
        for name, topics in trial.limits.reads.items()
        for topic, limits in topics.items()
    }
    for pair, max_age in _declared(trial).items():
        if asked.get(pair, ReadLimits()).age is None:
            judgements.append(_as_executed(trial, pair, found.get(pair), max_age, asked.get(pair)))
    for pair, limits in asked.items():
        if limits.age is not None:
            judgements.append(_as_recorded(trial, pair, limits.age, limits.late))
    return judgements


def _declared(trial: Trial) -> dict[Pair, int]:
    """The ages that the application declares, in ns."""
    return {
        (callback.name, topic): age
        for callback in (trial.declared.callbacks if trial.declared else [])
        if callback.active
        for topic, age in callback.reads.items()
        if age
    }


def _as_executed(
    trial: Trial, pair: Pair, found: DataAge | None, max_age: int, limits: ReadLimits | None
) -> Judgement:
    ages = found.age_us if found else None
    judged = trial.counted(
        reader(*pair),
        Quantity.age,
        found.violations if found else 0,
        ages.count if ages else 0,
        limits.late if limits else 0,
        trial.excuses(max_age),
        limit_us=max_age / 1000,
        worst_us=_oldest(trial, pair),  # ages in metrics count from the publication
    )
    return _fed(trial, judged, pair)


def _oldest(trial: Trial, pair: Pair) -> float | None:
    """Since the sampling, in µs; of data that was not too old, only the executor knew."""
    names = trial.names
    for (task, topic), age in trial.recorded.too_old.items():
        if age and (names.task(task), plain(names.topic(topic))) == pair:
            return age / 1000
    return None


def _as_recorded(trial: Trial, pair: Pair, limit: int, late: int) -> Judgement:
    names = trial.names
    values = next(
        (
            uses.all()
            for (task, topic), uses in trial.recorded.uses.items()
            if (names.task(task), plain(names.topic(topic))) == pair
        ),
        np.empty(0, np.int64),
    )
    excuses = trial.excuses(limit)
    judged = trial.judge(reader(*pair), Quantity.age, values, limit, late, excuses)
    return _fed(trial, judged, pair)


def _fed(trial: Trial, judged: Judgement, pair: Pair) -> Judgement:
    """Without a single value: it never had data, or data whose publication is not recorded."""
    unknown = any(
        one.unknown for one in trial.metrics.data_age if (one.callback, one.topic) == pair
    )
    if judged.count or unknown:
        return judged
    return never(judged, without_data(trial.metrics, *pair))
