# SPDX-License-Identifier: Apache-2.0
"""A running ROS system whose domain the measured processes join.

Its processes are known before the probes start. What they use of the CPUs is part of the condition
and no disturbance by others; where all of them end before the measuring does, the cell was not
measured within a system.
"""

from __future__ import annotations

import time

from takt.measure.conditions.condition import Condition
from takt.measure.results.model import Cell, Conditions, Note, SystemProcess
from takt.network import ros_system
from takt.processes.usage import Spent


class Within(Condition):
    """Watches the processes of a domain from before the start of the probes to their end."""

    def __init__(self, domain: int) -> None:
        self._domain = domain
        self._names = ros_system.processes(domain)
        self._spent = Spent(lambda: self._names)
        self._begin = self._end = self._look()
        self._left: set[int] = set(self._names)

    def spent(self) -> float:
        """Seconds of CPU time of the system up to now; never less than before."""
        return self._spent.look()

    def begin(self) -> None:
        """From here on it counts."""
        self._begin = self._look()

    def end(self) -> None:
        """Up to here it counts."""
        self._end = self._look()
        self._left = set(self._names).intersection(ros_system.processes(self._domain))

    def record(self, into: Conditions) -> None:
        """Who it was, and the share of one CPU that each of them used."""
        (began, before), (ended, after) = self._begin, self._end
        elapsed = ended - began
        into.system = sorted(
            (
                SystemProcess(
                    pid=pid,
                    name=name,
                    cpu=round((after[pid] - before[pid]) / elapsed, 4) if elapsed > 0 else None,
                    ended=pid not in self._left,
                )
                for pid, name in self._names.items()
            ),
            key=lambda one: (one.name, one.pid),
        )

    def fault(self, _cell: Cell) -> Note | None:
        """That nothing of the system was left."""
        return None if self._left else self.missing()

    def missing(self) -> Note:
        """What is said where there was none."""
        gone = ", ".join(sorted(set(self._names.values())))
        why = f"{gone} ended during the measurement" if gone else "no process uses this domain"
        return Note(
            what=f"the system of ROS domain {self._domain} did not run",
            why=why,
            fix="start it again, then continue the run",
        )

    def _look(self) -> tuple[float, dict[int, float]]:
        self._spent.look()
        return time.monotonic(), dict(self._spent.each)


def lacking(domain: int) -> tuple[str, str] | None:
    """What is missing before the start; None: a system runs."""
    if ros_system.processes(domain):
        return None
    return (
        f"no process that this user can see uses ROS domain {domain}",
        f"start the system first, with ROS_DOMAIN_ID={domain}; root sees those of all users",
    )
