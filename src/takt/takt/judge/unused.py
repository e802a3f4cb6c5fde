# SPDX-License-Identifier: Apache-2.0
"""Why a reader never used messages: lost, overwritten in its queue, or followed by a newer one.

Takt's executors and the simulator record each delivery to a reader, with the number of messages,
and a release, or a skipped one, for each message that arrived for its callback. What was published
and did not arrive was lost on its way or overwritten in a full queue. The queue overflowed where
more messages were published between two starts of the reader than it holds; the rest was lost.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from takt.judge.recorded import MANY
from takt.judge.trial import Trial
from takt.pages.text import count as grouped
from takt.schedule.ros2.topics import plain
from takt.schedule.trace.file import description
from takt.statistics import Int64


def reasons(trial: Trial, task: int, topic: str, times: Int64, unused: int) -> list[str]:
    """Of so many messages unused among those published at these times; empty: not recorded."""
    settings = _settings(trial, task)
    if not unused or trial.metrics.lost or not settings:
        return []
    starts = trial.recorded.jobs[task].last_starts
    until = starts[-1] if len(starts) > 1 else np.iinfo(np.int64).max
    if plain(settings.get("trigger", "")) == topic:
        return _released(trial, task, until, len(times), unused)
    return _read(trial, task, topic, until, times, unused)


def _released(trial: Trial, task: int, until: int, published: int, unused: int) -> list[str]:
    """Of a callback that each message releases."""
    jobs = trial.recorded.jobs[task]
    skips = jobs.skips.until(until)
    lost = min(unused, max(0, published - jobs.releases.until(until) - skips))
    skipped = min(unused - lost, skips)
    return _said(
        (lost, "lost on their way"),
        (skipped, "skipped by the overrun policy"),
        (unused - lost - skipped, "overwritten in its queue"),
    )


def _read(trial: Trial, task: int, topic: str, until: int, times: Int64, unused: int) -> list[str]:
    """Of a callback that reads the newest one at its start."""
    got = [
        one
        for (of, number), one in trial.recorded.delivered.items()
        if of == task and plain(trial.names.topic(number)) == topic
    ]
    if any((one.counts.all() >= MANY).any() for one in got):
        return []
    arrived = sum(one.until(until) for one in got)
    followed = min(unused, max(0, arrived - (len(times) - unused)))
    missing = unused - followed
    depth = _depth(trial, topic)
    overwritten = min(missing, _overflow(trial, task, times, depth)) if depth else 0
    way = "lost on their way" if depth else "lost on their way or overwritten in its queue"
    return _said(
        (missing - overwritten, way),
        (overwritten, f"overwritten in its queue (depth {depth})"),
        (followed, "delivered together with a newer one"),
    )


def _said(*words: tuple[int, str]) -> list[str]:
    return [f"{grouped(count)} {what}" for count, what in words if count]


def _overflow(trial: Trial, task: int, times: Int64, depth: int) -> int:
    """Messages beyond what the queue holds, between two starts of the reader."""
    starts = np.sort(trial.recorded.jobs[task].starts.all())
    waiting = np.bincount(np.searchsorted(starts, times))  # before the same start
    return int(np.maximum(waiting - depth, 0).sum())


def _settings(trial: Trial, task: int) -> dict[str, Any]:
    """As the executor had it; empty: an executor that records no arrivals."""
    found: dict[str, Any] = {}
    for text in trial.names.values("task"):
        one = json.loads(text)
        if one.get("name") == trial.names.tasks.get(task):
            found = one  # the last one holds
    return found


def _depth(trial: Trial, topic: str) -> int | None:
    """Of the queues of a topic; None: it is not declared."""
    flat = description(trial.names)
    for one in json.loads(flat).get("topics", []) if flat else []:
        if plain(one["name"]) == topic:
            return int(one.get("depth", 1))
    return None
