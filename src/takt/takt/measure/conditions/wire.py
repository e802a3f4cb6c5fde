# SPDX-License-Identifier: Apache-2.0
"""What the network between two machines has carried, by the counters of their interfaces."""

from __future__ import annotations

import contextlib

from takt.errors import Failure
from takt.measure.conditions.condition import Condition
from takt.measure.results.model import Cell, Conditions, Note
from takt.network import second_path
from takt.network.hosts import Hosts


class Wire(Condition):
    """Bytes that have arrived at the interface of each machine; others may use it, too."""

    def __init__(self, hosts: Hosts) -> None:
        self._sides = (hosts.passive, hosts.active)
        self._before = self._after = self._look()

    def end(self) -> None:
        """Up to here it counts."""
        with contextlib.suppress(Failure, LookupError):
            self._after = self._look()

    def record(self, into: Conditions) -> None:
        """To pong or subscribers, and back."""
        there, back = self._arrived()
        into.link_there_bytes, into.messages_there_bytes = there
        into.link_back_bytes, into.messages_back_bytes = back

    def fault(self, cell: Cell) -> Note | None:
        """Where fewer bytes came over the interfaces than the samples hold."""
        (_, there), (_, back) = self._arrived()
        held = cell.count * max(cell.payload_bytes, 1)
        if there >= held and back >= (held if cell.kind == "pingpong" else 0):
            return None
        passive, active = (one.address for one in self._sides)
        why = (
            f"{there} bytes that may be messages arrived at the interface with {passive}, and "
            f"{back} at the one with {active}; the samples hold {held}"
        )
        fix = "check whether the stack uses another path; it should use these addresses"
        return Note(what="the messages were not carried by the network", why=why, fix=fix)

    def _look(self) -> list[tuple[int, int]]:
        return [one.call(second_path.arrived, one.address) for one in self._sides]

    def _arrived(self) -> list[tuple[int, int]]:
        """There and back: of everything, and of what may be messages."""
        looked = zip(self._before, self._after, strict=True)
        return [(new[0] - old[0], new[1] - old[1]) for old, new in looked]
