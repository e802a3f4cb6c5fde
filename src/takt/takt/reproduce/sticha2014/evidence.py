# SPDX-License-Identifier: Apache-2.0
"""Which points of a run stand for those of the thesis."""

from __future__ import annotations

from typing import Any

from takt.measure.results.model import Cell
from takt.reproduce import evidence

MS_1, MS_10, US_800 = 1000.0, 10_000.0, 800.0  # timeouts and periods in µs
REALTIME = ("rr", "fifo")
NO_LOAD = ("idle", "none")  # none: of runs that did not declare the machine idle
# The timers and the transport of each stack that stand for those of the thesis.
TRANSPORTS = {
    "rcl": {"timer-oneshot": "rcl_timer", "timer-cyclic": "rcl_timer", "pubsub": "shm"},
    "ros1": {"timer-oneshot": "ros_timer", "timer-cyclic": "ros_timer", "pubsub": "tcpros"},
}
NOT_ASKED = {"talkers": 0, "cpu": (), "label": ""}  # unless a point is about them


class Measured(evidence.Measured):
    """A run of the suites, or the plan of one."""

    def stands(self, cell: Cell) -> bool:
        """Only one timer and one transport of each stack is the thesis's."""
        ways = TRANSPORTS.get(cell.stack, {})
        return cell.transport == ways.get(cell.kind, cell.transport)

    def unless_asked(self) -> dict[str, Any]:
        """Alone, and on any CPU."""
        return NOT_ASKED
