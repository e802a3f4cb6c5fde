# SPDX-License-Identifier: Apache-2.0
"""What the application of a trace declares of a job, in the scenario that it was released in."""

from __future__ import annotations

from takt_core import Declared, DeclaredCallback

from takt.schedule.explain.jobs import Job
from takt.schedule.explain.recent import Recent
from takt.schedule.trace.file import Names


class Declarations:
    """Of an application, None where the trace does not carry it."""

    def __init__(self, application: Declared | None, names: Names, recent: Recent) -> None:
        self._callbacks = {one.name: one for one in application.callbacks} if application else {}
        self._first = application.scenario if application else ""
        self._names = names
        self._recent = recent

    def of(self, job: Job) -> DeclaredCallback | None:
        """Its callback; None: nothing is declared."""
        return self._callbacks.get(self._names.task(job.task))

    def worst(self, job: Job) -> int | None:
        """CPU time that it may take, in ns, with what overheads are declared; None: unknown."""
        callback = self.of(job)
        if callback is None or not callback.worst:
            return None
        if not callback.worst_in:
            return callback.worst
        core = -1 if job.core is None else job.core
        number = self._recent.scenario_at(core, job.release or 0)
        scenario = self._first if number is None else self._names.scenario(number)
        return callback.worst_in.get(scenario, callback.worst)
