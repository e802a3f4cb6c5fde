# SPDX-License-Identifier: Apache-2.0
"""The way of the messages: over the link between two hosts, or the cell's name is wrong."""

from __future__ import annotations

from takt.measure.conditions.condition import Condition
from takt.measure.results.model import Cell, Conditions, Note
from takt.network import shaping
from takt.network.namespace import Link

XDP = "xdp"  # a transport whose frames the kernel's IPv4 does not count


class Way(Condition):
    """The way of one cell's messages, by the counters of the interfaces."""

    def __init__(self, cell: Cell, link: Link) -> None:
        self._own = cell.queue == shaping.OWN
        self._bypasses = cell.transport == XDP
        self._first = (0, 0)  # bytes through a class of its own
        self._link = link
        self._before = self._after = link.carried()

    def end(self) -> None:
        """Up to here it counts."""
        self._after = self._link.carried()
        if self._own:
            self._first = self._link.sent_first()

    def record(self, into: Conditions) -> None:
        """What came over the interfaces."""
        into.link_there_bytes = self._after.there - self._before.there
        into.link_back_bytes = self._after.back - self._before.back
        into.messages_there_bytes, into.messages_back_bytes = self._messages()
        if self._own:
            into.first_there_bytes, into.first_back_bytes = self._first

    def fault(self, cell: Cell) -> Note | None:
        """Where fewer bytes came over the link than the samples of the cell hold."""
        there, back = self._messages()
        held = cell.count * max(cell.payload_bytes, 1)
        least = (held, held if cell.kind == "pingpong" else 1)
        if cell.host.startswith("namespace"):
            least = (least[1], least[0])
        if there < least[0] or back < least[1]:
            why = (
                f"{there} bytes of messages reached the second host and {back} the first; "
                f"the samples hold {least[0]} and {least[1]}"
            )
            fix = "check whether the stack uses another path, such as shared memory"
            return Note(what="the messages were not carried by the link", why=why, fix=fix)
        if self._own and (self._first[0] < least[0] or self._first[1] < least[1]):
            why = f"{self._first[0]} bytes left through it, and {self._first[1]} on the way back"
            fix = (
                "check that the kernel has htb and u32 (tc -s class show), and that the "
                f"probes marked their sockets with the DSCP {shaping.DSCP} (the cell's "
                "notes)"
            )
            return Note(what="the messages had no dedicated queue", why=why, fix=fix)
        return None

    def _messages(self) -> tuple[int, int]:
        """Bytes of messages that came there and back; what bypasses IPv4 is all but the traffic."""
        new, old = self._after, self._before
        if self._bypasses:
            there = new.there - old.there - (new.traffic_there - old.traffic_there)
            return there, new.back - old.back - (new.traffic_back - old.traffic_back)
        return new.messages_there - old.messages_there, new.messages_back - old.messages_back
