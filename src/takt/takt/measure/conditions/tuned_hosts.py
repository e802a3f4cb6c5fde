# SPDX-License-Identifier: Apache-2.0
"""The settings of a cell on each of its machines; those of workers are changed by their agents.

Two hosts that are one machine, as two namespaces are, have one kernel: it is tuned once.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from takt.errors import Failure
from takt.measure.conditions.tuned import NONE, Tuned, cores_of, tuned
from takt.measure.results.model import Cell, Conditions, Note
from takt.network import clocks
from takt.network.hosts import Hosts
from takt.network.workers import Remote


class TunedHosts:
    """What became of the settings of one cell, by host; of this machine alone: without a name."""

    def __init__(self) -> None:
        self.each: dict[str, Tuned] = {}

    @property
    def fault(self) -> Note | None:
        """Why the cell is not what its name says."""
        for host, one in self.each.items():
            if one.fault:
                on = f" on the host {host}" if host else ""
                return one.fault.model_copy(update={"what": f"{one.fault.what}{on}"})
        return None

    @property
    def group(self) -> str:
        """The control group of the measured processes."""
        return "".join(one.group for one in self.each.values())

    @property
    def notes(self) -> list[Note]:
        """Of all of them, those of the end, too."""
        return [note for one in self.each.values() for note in one.notes]

    def record(self, cell: Cell) -> None:
        """Puts the places that were changed into the cell."""
        for host, one in self.each.items():
            if one.changed:
                cell.conditions = cell.conditions or Conditions()
                into = cell.conditions.of(host)
                into.tuned_places, into.tuned = one.changed, one.places


@contextlib.contextmanager
def tuned_hosts(cell: Cell, hosts: Hosts, scratch: Path) -> Iterator[TunedHosts]:
    """Changes what the cell asks for on each machine, and puts all back."""
    found = TunedHosts()
    with contextlib.ExitStack() as around:
        if not hosts.remotes:
            found.each[""] = around.enter_context(tuned(cell.tuned, cores_of(cell), scratch))
            yield found
            return
        known: set[str] = set()
        sides = zip(cell.hosts, (hosts.active, hosts.passive), strict=True)
        for name, side in sides if cell.tuned != NONE else ():
            machine = side.call(clocks.identity)
            if machine in known:
                continue
            known.add(machine)
            if side.remote:
                around.enter_context(_there(side.remote, cell.tuned, found))
            else:
                found.each[name] = around.enter_context(tuned(cell.tuned, (), scratch))
            if found.fault:
                break
        yield found


@contextlib.contextmanager
def _there(remote: Remote, choice: str, found: TunedHosts) -> Iterator[None]:
    """By the agent; if nobody asks it any more, or it is killed, the settings go back, too."""
    found.each[remote.name] = remote.ask("enter", opens=tuned, arguments=(choice, ()))
    try:
        yield
    finally:
        with contextlib.suppress(Failure):  # a lost host puts them back without us
            found.each[remote.name] = remote.ask("leave")
