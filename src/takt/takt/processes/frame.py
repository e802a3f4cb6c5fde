# SPDX-License-Identifier: Apache-2.0
"""The frame around programs that are measured: started, watched, ended, and swept up after.

It says afterwards how long that took, and what else happened to the machine meanwhile.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Collection, Sequence
from datetime import datetime, timezone

from takt.processes import supervision
from takt.processes.disturbances import Disturbances
from takt.processes.leftovers import Journal, present, sweep_since
from takt.processes.others import USUAL, Limit, Ours
from takt.processes.stolen import steal_seconds
from takt.processes.supervision import End, Limits, Program, Until


class Frame:
    """One group of programs, from before their start until nothing of them is left."""

    def __init__(
        self,
        journal: Journal,
        until: Until,
        allowed: Limit = USUAL,
        ours: Ours | None = None,
    ) -> None:
        self.journal, self.until = journal, until
        self.disturbances = Disturbances(allowed, ours)
        self.started, self.seconds, self.steal_seconds = datetime.now(timezone.utc), 0.0, 0.0
        self.until_met = contextlib.ExitStack()  # closed as soon as the programs know each other
        self._began, self._stolen, self._before = time.monotonic(), steal_seconds(), present()

    def run(
        self,
        programs: Sequence[Program],
        environment: dict[str, str],
        limit_s: float,
        limits: Limits,
        tick: Callable[[list[int], float], None],
        *,
        measured: Callable[[], None] = lambda: None,
        ended: Callable[[], None] = lambda: None,
        cpus: Collection[int] = (),
    ) -> tuple[End, Program | None]:
        """Runs the programs as :func:`supervise` does; the last one has timed out if ``until`` is.

        ``tick`` is called with the ids of the processes and the seconds since the start,
        ``measured`` when the last program has ended, ``ended`` when no program is left. What held
        ``cpus`` meanwhile is a disturbance; without them, what held any CPU.
        """

        def look(pids: list[int]) -> None:
            tick(pids, time.monotonic() - self._began)
            self.disturbances.look(pids)

        def last_ended() -> None:
            self.disturbances.measured()
            measured()

        try:
            with self.until_met:
                end, who = supervision.supervise(
                    programs, environment, limit_s, self.until, limits, look, last_ended
                )
            ended()
            self.seconds = round(time.monotonic() - self._began, 3)
            self.steal_seconds = round(steal_seconds() - self._stolen, 3)
        finally:
            self.journal.sweep()
            sweep_since(self._before)
        self.disturbances.end(cpus)
        return (End.timeout, programs[-1]) if self.until.is_over else (end, who)
