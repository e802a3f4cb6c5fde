# SPDX-License-Identifier: Apache-2.0
"""When jobs waited for locks, and which callbacks held them.

While a job waits, the holder runs in its place. The trace of an execution shows the core as that
of the job that waits; a simulated one shows it as that of the holder.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from takt.schedule.explain.jobs import Job
from takt.schedule.trace.file import Step, Type


@dataclass
class LockWait:
    """One stretch of waiting; times in ns."""

    lock: int  # its number in the application
    holder: int  # the task
    begin: int
    end: int | None = None  # None: it still waits

    def overlap(self, begin: int, end: int) -> int:
        """How much of it is within that time."""
        until = end if self.end is None else min(self.end, end)
        return max(0, until - max(self.begin, begin))


class LockWaits:
    """Forgets what is older than anybody asks for."""

    def __init__(self) -> None:
        self._of: dict[tuple[int, int], list[LockWait]] = {}  # by task and job

    def add(self, step: Step) -> None:
        """The next step."""
        types = step.events["type"]
        rows = np.flatnonzero((types == Type.lock_wait) | (types == Type.lock))
        names = ("type", "task", "job", "topic", "value", "time")
        columns = (step.events[name][rows].tolist() for name in names)
        for kind, task, job, lock, holder, time in zip(*columns, strict=True):
            if kind == Type.lock_wait:
                self._of.setdefault((task, job), []).append(LockWait(lock, holder, time))
            elif (waits := self._of.get((task, job))) and waits[-1].end is None:
                waits[-1].end = time

    def of(self, job: Job) -> Sequence[LockWait]:
        """Those of a job, in their order."""
        return self._of.get((job.task, job.job), ())

    def forget(self, needed: int) -> None:
        """Nobody asks any more for jobs whose waiting ended before that time."""
        for key, waits in list(self._of.items()):
            if waits[-1].end is not None and waits[-1].end < needed:
                del self._of[key]
