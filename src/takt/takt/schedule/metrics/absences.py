# SPDX-License-Identifier: Apache-2.0
"""What is missing in a trace: callbacks, chains and readers of its application."""

from __future__ import annotations

from collections.abc import Iterator

import takt_core

from takt.pages.text import number_of
from takt.schedule.absence.model import Absence, unfed, unpassed, unreleased
from takt.schedule.metrics.model import CallbackMetrics, Metrics


def absences(metrics: Metrics, declared: takt_core.Declared | None) -> Iterator[Absence]:
    """All of them; ``metrics`` need not have them yet."""
    active = {one.name for one in declared.callbacks if one.active} if declared else set()
    yield from (unreleased(name, None, known=False) for name in metrics.absent)
    for one in metrics.callbacks:
        if one.callback in active and (never := without_release(one)):
            yield never
    for number, chain in enumerate(declared.chains if declared else []):
        limited = bool(chain.max_latency)
        if metrics.chains[number].latency_us is None and (limited or active >= {*chain.callbacks}):
            yield without_arrival(metrics, chain, limited=limited)
    limits = {
        (one.name, topic)
        for one in (declared.callbacks if declared else [])
        if one.active
        for topic, age in one.reads.items()
        if age
    }
    fed = {(one.callback, one.topic) for one in metrics.data_age if one.age_us or one.unknown}
    without = {(one.callback, one.topic) for one in metrics.data_age if one.without_data}
    for callback, topic in sorted((limits | without) - fed):
        yield without_data(metrics, callback, topic, limited=(callback, topic) in limits)


def without_release(one: CallbackMetrics) -> Absence | None:
    """Of an active callback; None: it had one, or needed none."""
    if one.executions + one.unfinished + one.skipped or one.expected == 0:
        return None
    return unreleased(one.callback, one.expected)


def without_arrival(metrics: Metrics, chain: takt_core.DeclaredChain, *, limited: bool) -> Absence:
    """Of a chain that has none in the trace."""
    first, last = chain.callbacks[0], chain.callbacks[-1]
    doubt = _doubt(metrics) if _jobs(metrics, last) else _loss(metrics)
    return unpassed(chain.name, _jobs(metrics, first), limited=limited, doubt=doubt)


def without_data(metrics: Metrics, callback: str, topic: str, *, limited: bool = True) -> Absence:
    """Of a reader that never had any in the trace."""
    jobs = _jobs(metrics, callback)
    doubt = _doubt(metrics) if jobs else _loss(metrics)
    return unfed(callback, topic, jobs, limited=limited, doubt=doubt)


def _jobs(metrics: Metrics, callback: str) -> int:
    return sum(one.executions for one in metrics.callbacks if one.callback == callback)


def _doubt(metrics: Metrics) -> str:
    """Why data may have arrived all the same; empty: it has not."""
    if metrics.freshness is None:
        return "the trace does not record which messages were used"
    return _loss(metrics)


def _loss(metrics: Metrics) -> str:
    return f"the trace lost {number_of(metrics.lost, 'event')}" if metrics.lost else ""
