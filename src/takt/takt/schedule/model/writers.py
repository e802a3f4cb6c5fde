# SPDX-License-Identifier: Apache-2.0
"""Who writes a topic that has several writers, what each contributes, and what readers get of all.

The arrival curve of the readers is the sum of those of the writers: in any time t at most
Σ (t / period + burst) messages, however the writers stand to each other. The analysis counts their
messages alike (docs/reference/analysis.md, eq. 9).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from takt.schedule.model import arrivals
from takt.schedule.model.document import ModelledTopic, ModelledWriter
from takt.schedule.model.observed import Observed, ObservedCallback, Times

OUTSIDE = "outside"  # all writers that are no callback of the model


def of_topics(callbacks: Iterable[ObservedCallback], observed: Observed) -> list[ModelledTopic]:
    """The topics that were written by several, each writer with its messages."""
    times: dict[str, list[tuple[ObservedCallback | None, Times]]] = {}
    for one in callbacks:
        for topic, moments in one.publishing.items():
            if len(moments):
                times.setdefault(topic, []).append((one, moments))
    for topic, moments in observed.outside.items():
        if len(moments):
            times.setdefault(topic, []).append((None, moments))
    return [
        _topic(topic, writers, observed.resumed)
        for topic, writers in times.items()
        if len(writers) > 1
    ]


def notes(topic: ModelledTopic) -> list[str]:
    """One on each writer, and one on what readers get."""
    found = [f"written by {len(topic.writers)}, observed:"]
    found += [f"{one.writer}: {_contribution(one)}" for one in topic.writers]
    if topic.period_us is None:
        return [*found, "together: unknown, for one of them showed no distance"]
    return [
        *found,
        f"together, as readers get them: {_curve(topic.period_us, topic.burst)}; the sum of all",
    ]


def _topic(
    name: str, times: Sequence[tuple[ObservedCallback | None, Times]], resumed: Times
) -> ModelledTopic:
    writers = [_writer(name, one, moments, resumed) for one, moments in times]
    periods = [one.period_us for one in writers if one.period_us is not None]
    known = len(periods) == len(writers)
    return ModelledTopic(
        topic=name,
        writers=writers,
        period_us=math.floor(1e3 / sum(1 / one for one in periods)) / 1e3 if known else None,
        burst=sum(one.burst for one in writers),
    )


def _writer(
    topic: str, one: ObservedCallback | None, moments: Times, resumed: Times
) -> ModelledWriter:
    curve = arrivals.curve(np.sort(moments), resumed)
    found = ModelledWriter(
        writer=one.name if one else OUTSIDE,
        messages=len(moments),
        period_us=curve.period / 1000 if curve else None,
        burst=curve.burst if curve else len(moments),
    )
    if one is not None:
        found.jobs = one.writes.get(topic, 0)
        found.least, found.most = one.messages.get(topic, (1, 1))
    return found


def _contribution(one: ModelledWriter) -> str:
    text = f"{one.messages} messages"
    if one.jobs is not None:
        several = f"{one.least} to {one.most}" if one.least != one.most else f"{one.most}"
        text += f" of {one.jobs} jobs, {several} each"
    if one.period_us is None:
        return f"{text}, too few for a period"
    return f"{text}; {_curve(one.period_us, one.burst)}"


def _curve(period_us: float, burst: int) -> str:
    text = f"one in {period_us / 1000:.6g} ms"
    return f"{text}, up to {burst} at once" if burst > 1 else text
