# SPDX-License-Identifier: Apache-2.0
"""What was wrong with the data of a job: old, too old, or not there."""

from __future__ import annotations

import numpy as np

from takt.schedule.explain.jobs import Job
from takt.schedule.ros2.topics import plain
from takt.schedule.trace.file import Names, Step, Type, chosen

_Faults = dict[tuple[int, int], list[tuple[int, str]]]  # by task and job: when, what


class Inputs:
    """Remembers the faults of the jobs that are not yet told."""

    def __init__(self, names: Names) -> None:
        self._names = names
        self._kept: list[tuple[int, _Faults]] = []  # and until when

    def add(self, step: Step) -> None:
        """The next stretch."""
        faults: _Faults = {}
        events, uses = step.events, step.uses
        violations = chosen(events, events["type"] == Type.age_violation)
        columns = (violations[name].tolist() for name in ("task", "job", "time", "topic", "value"))
        for task, job, time, topic, age in zip(*columns, strict=True):
            what = "no data yet" if age < 0 else f"{age / 1e6:.1f} ms old"
            text = f"{self._topic(topic)}: {what}, above its age limit"
            faults.setdefault((task, job), []).append((time, text))
        old = chosen(uses, (uses["sequence"] < 0) | (uses["newest"] > uses["sequence"]))
        names = ("task", "job", "time", "topic", "sequence", "newest")
        columns = (old[name].tolist() for name in names)
        for task, job, time, topic, sequence, newest in zip(*columns, strict=True):
            text = f"{self._topic(topic)}: no message yet"
            if sequence >= 0:
                text = (
                    f"{self._topic(topic)}: used message {sequence}, although message "
                    f"{newest} was published before its start"
                )
            faults.setdefault((task, job), []).append((time, text))
        if faults:
            self._kept.append((int(np.max(events["time"])), faults))

    def of(self, job: Job) -> list[str]:
        """The faults of a job, by time."""
        found = [one for _, faults in self._kept for one in faults.get((job.task, job.job), [])]
        return [text for _, text in sorted(found, key=lambda one: one[0])]

    def forget(self, needed: int) -> None:
        """Nobody asks any more for what is older."""
        self._kept = [one for one in self._kept if one[0] >= needed]

    def _topic(self, number: int) -> str:
        return plain(self._names.topic(number))
