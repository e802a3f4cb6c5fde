# SPDX-License-Identifier: Apache-2.0
"""A machine that was declared idle: how much of its CPU time nobody used.

What other programs took is counted for every cell. Beyond the limit for an idle machine a cell is
disturbed and measured again, like others beyond theirs: it does not fail.
"""

from __future__ import annotations

import contextlib

from takt.errors import Failure
from takt.measure.conditions.condition import Condition
from takt.measure.conditions.machine import Machine
from takt.measure.results.model import Conditions


class Idle(Condition):
    """Counts from the start of the probes to their end."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._before = self._after = machine.look([])

    def begin(self) -> None:
        """From here on it counts."""
        with contextlib.suppress(Failure):  # of a lost host: its programs say so
            self._before = self._machine.look([])

    def end(self) -> None:
        """Up to here it counts."""
        with contextlib.suppress(Failure):
            self._after = self._machine.look([])

    def record(self, into: Conditions) -> None:
        """Also the time of the probes themselves is not idle."""
        total = self._after.cpus.total_ns - self._before.cpus.total_ns
        idle = self._after.cpus.idle_ns - self._before.cpus.idle_ns
        into.of(self._machine.name).idle_cpu_share = round(idle / total, 4) if total else None
