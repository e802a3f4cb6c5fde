# SPDX-License-Identifier: Apache-2.0
"""Whether a cell still gets on: it is no use to wait for probes that never get their core.

The time that a cell may take has room for a slow start and for losses. Who never gets to run would
use all of it, and then has nothing to show: a measurement of a second took half a minute.
"""

from __future__ import annotations

from collections.abc import Collection

from takt.measure.results.model import Cell
from takt.processes.rivals import Rivals
from takt.processes.supervision import Stop, Until

PATIENCE_S = 5.0  # without a sample, beyond the time that samples may take
_HELD = 0.9  # of a core, by real-time threads of others: who waits below them does not run
_LOSSES = 2.0  # in a row


class Starving(Until):
    """Over as soon as the probes of a cell have stood still for too long."""

    def __init__(self, asked: Stop, cell: Cell, *, local: bool = True) -> None:
        super().__init__(asked)
        longest_us = cell.period_us + _LOSSES * cell.lost_after_us
        self._patience_s = PATIENCE_S + longest_us / 1e6
        self._cpus: Collection[int] = cell.cpu if local else ()
        self._recorded = 0
        self._since: float | None = None
        self._rivals = Rivals()

    def look(self, recorded: int, pids: Collection[int], now: float) -> None:
        """How much there is by now, and of which processes."""
        if self._since is None or recorded != self._recorded:
            self._since, self._recorded = now, recorded
        elif recorded:
            self.is_over = self.is_over or now - self._since > self._patience_s
        elif self._cpus and now - self._since > PATIENCE_S:
            held = self._rivals.reported(self._cpus, least=_HELD, but=pids)
            self.is_over = self.is_over or bool(held)
            self._since, self._rivals = now, Rivals()
