# SPDX-License-Identifier: Apache-2.0
"""Other programs on the machines of workers: what they take there disturbs a cell as it does here.

Each worker watches its own machine. The machine of the command watches itself, also for workers
that are on it.
"""

from __future__ import annotations

import contextlib

from takt.errors import Failure
from takt.measure.conditions import load
from takt.measure.conditions.condition import Condition
from takt.measure.results.model import Cell, Conditions
from takt.network import clocks
from takt.network.hosts import Hosts
from takt.network.workers import Remote
from takt.processes.others import Taken


class WatchedHosts(Condition):
    """From before the start of the probes to their end."""

    def __init__(self, cell: Cell, hosts: Hosts) -> None:
        self._watching: list[Remote] = []
        self.taken: dict[str, Taken] = {}  # by host; none of one that does not answer
        machines = {clocks.identity()}
        for remote in hosts.remotes:
            asked = cell.loads.get(remote.name, load.NONE)
            machine = remote.ask(
                "watch",
                known=sorted(machines),
                idle=asked == load.IDLE,
                kernel=load.by_kernel_too(asked),
            )
            if machine not in machines:
                machines.add(machine)
                self._watching.append(remote)

    @property
    def machines(self) -> list[str]:
        """The hosts that are watched by their own workers."""
        return [remote.name for remote in self._watching]

    def end(self) -> None:
        """Up to here it counts."""
        for remote in self._watching:
            with contextlib.suppress(Failure):  # of a lost host: its programs say so
                self.taken[remote.name] = Taken(*remote.ask("taken"))

    def record(self, into: Conditions) -> None:
        """Each machine's own."""
        for name, taken in self.taken.items():
            into.of(name).others_seconds = taken.seconds
