# SPDX-License-Identifier: Apache-2.0
"""The way of the messages: over the link between two hosts, or the cell's name is wrong."""

from __future__ import annotations

from takt.measure.results.model import Cell, Conditions, Note
from takt.processes.namespace import Link
from takt.processes.supervision import Program


class Way:
    """The way of one cell's messages, by the counters of the interfaces."""

    def __init__(self, link: Link) -> None:
        self.programs: list[Program] = []
        self._link = link
        self._before = self._after = link.carried()

    def begin(self) -> None:
        """The first message has gone: what was before belongs to it, too."""

    def end(self) -> None:
        """Up to here it counts."""
        self._after = self._link.carried()

    def record(self, into: Conditions) -> None:
        """What came over the interfaces."""
        into.link_there_bytes = self._after.there - self._before.there
        into.link_back_bytes = self._after.back - self._before.back
        into.messages_there_bytes = self._after.messages_there - self._before.messages_there
        into.messages_back_bytes = self._after.messages_back - self._before.messages_back

    def fault(self, cell: Cell) -> Note | None:
        """Where fewer bytes came over the link than the samples of the cell hold."""
        there = self._after.messages_there - self._before.messages_there
        back = self._after.messages_back - self._before.messages_back
        held = cell.count * max(cell.payload_bytes, 1)
        least = (held, held if cell.kind == "pingpong" else 1)
        if cell.host.startswith("namespace"):
            least = (least[1], least[0])
        if there >= least[0] and back >= least[1]:
            return None
        why = (
            f"{there} bytes of messages came to the second host and {back} came back; the samples "
            f"hold {least[0]} and {least[1]}"
        )
        fix = "look whether the stack has found another way, such as shared memory"
        return Note(what="the messages were not carried by the link", why=why, fix=fix)

    def missing(self) -> Note:
        """It starts nothing that could be missing."""
        return Note(what="the link did not start", why="nothing was started for it")
