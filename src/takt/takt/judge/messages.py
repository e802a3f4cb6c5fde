# SPDX-License-Identifier: Apache-2.0
"""Judges messages that were published and never used, by one reader or by all of a topic.

A message is unused because it was lost on its way, a full queue dropped it, or a newer one came
before the reader's next job. The last messages may still be on their way when the trace ends:
counted are those published before the last but one job of the reader.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from takt.judge.model import Judgement, Quantity
from takt.judge.recorded import JobsOf
from takt.judge.trial import Excuses, Trial, never
from takt.judge.unused import reasons
from takt.pages import text
from takt.schedule.absence.model import reader
from takt.schedule.metrics.absences import without_data
from takt.schedule.ros2.topics import plain
from takt.statistics import Int64


def messages(trial: Trial) -> list[Judgement]:
    """Every reader and every topic with a limit on unused messages."""
    found = []
    for name, topics in trial.limits.reads.items():
        for topic, limits in topics.items():
            if limits.unused is not None:
                found.append(_of_reader(trial, name, topic, limits.unused))
    for topic, own in trial.limits.topics.items():
        every = [task for task, of in trial.recorded.used if _is(trial, of, topic)]
        found.append(_judge(trial, topic, topic, every, own.unused))
    return found


def _of_reader(trial: Trial, name: str, topic: str, allowed: int) -> Judgement:
    tasks = [number for number, task in trial.names.tasks.items() if task == name]
    judged = _judge(trial, reader(name, topic), topic, tasks, allowed)
    used = any(task in tasks and _is(trial, of, topic) for task, of in trial.recorded.used)
    return (
        judged
        if used or judged.exceeded
        else never(judged, without_data(trial.metrics, name, topic))
    )


def _judge(trial: Trial, subject: str, topic: str, tasks: Sequence[int], allowed: int) -> Judgement:
    """Messages of the topic that none of these tasks used."""
    recorded = trial.recorded
    published = [
        publications for of, publications in recorded.published.items() if _is(trial, of, topic)
    ]
    times = np.concatenate([one.times.all() for one in published] or [np.empty(0, np.int64)])
    sequences = np.concatenate(
        [one.sequences.all() for one in published] or [np.empty(0, np.int64)]
    )
    until = max((_last_but_one(recorded.jobs.get(task)) for task in tasks), default=None)
    counted = sequences if until is None or until < 0 else sequences[times <= until]
    used = [
        values.all()
        for (task, of), values in recorded.used.items()
        if task in tasks and _is(trial, of, topic)
    ]
    unused = int(np.count_nonzero(~np.isin(counted, np.concatenate(used or [counted[:0]]))))
    excuses = Excuses(unused) if trial.metrics.lost else _excuses(trial, times)
    found = trial.counted(subject, Quantity.unused, unused, len(counted), allowed, excuses)
    if not len(counted):
        return found.model_copy(update={"reason": "no publication of it is recorded"})
    reason = f"{text.count(unused)} of {text.count(len(counted))} messages unused"
    if len(tasks) == 1:
        # Of those that are judged: what came later may still arrive.
        judged = times if until is None or until < 0 else times[times <= until]
        if ways := reasons(trial, tasks[0], topic, judged, unused):
            reason += f" ({', '.join(ways)})"
    if found.excused:
        reason += f", {text.count(found.excused)} of them disturbed"
    return found.model_copy(update={"reason": reason})


def _excuses(trial: Trial, times: Int64) -> Excuses:
    """A stretch of stolen time hides as many messages as are published meanwhile."""
    interval = int(np.median(np.diff(np.sort(times)))) if len(times) > 1 else 1
    return trial.excuses(max(1, interval))


def _last_but_one(jobs: JobsOf | None) -> int:
    """When that job started, or the only one; -1: it has none."""
    starts = jobs.last_starts if jobs else []
    return starts[0] if starts else -1


def _is(trial: Trial, number: int, topic: str) -> bool:
    return plain(trial.names.topic(number)) == topic
