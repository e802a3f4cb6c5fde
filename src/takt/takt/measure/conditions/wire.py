# SPDX-License-Identifier: Apache-2.0
"""What the network between two machines has carried, by the counters of an interface there."""

from __future__ import annotations

import contextlib

from takt.errors import Failure
from takt.measure.results.model import Cell, Conditions, Note
from takt.network.hosts import Hosts
from takt.processes.supervision import Program


class Wire:
    """Bytes of the interface by which a worker's machine is reached; others may use it, too."""

    def __init__(self, hosts: Hosts) -> None:
        self.programs: list[Program] = []
        # Of the host of pong or subscribers where that is a worker, else of the other one.
        side = hosts.passive if hosts.passive.remote else hosts.active
        self._turned = side is not hosts.passive
        self._remote, self._address = side.remote, side.address
        self._before = self._after = self._look()  # received and sent, all and messages

    def begin(self) -> None:
        """It was looked at before the first program started."""

    def end(self) -> None:
        """Up to here it counts."""
        with contextlib.suppress(Failure, LookupError):
            self._after = self._look()

    def record(self, into: Conditions) -> None:
        """To pong or subscribers, and back."""
        into.link_there_bytes, into.link_back_bytes = self._carried()[0]
        into.messages_there_bytes, into.messages_back_bytes = self._carried()[1]

    def fault(self, cell: Cell) -> Note | None:
        """Where fewer bytes came over the interface than the samples hold."""
        there, back = self._carried()[1]
        held = cell.count * max(cell.payload_bytes, 1)
        if there >= held and back >= (held if cell.kind == "pingpong" else 0):
            return None
        why = (
            f"the interface with {self._address} carried {there} bytes out and {back} "
            f"back that may be messages; the samples hold {held}"
        )
        fix = "check whether the stack uses another path; it should use the worker's address"
        return Note(what="the messages were not carried by the network", why=why, fix=fix)

    def missing(self) -> Note:
        """It starts nothing that could be missing."""
        return Note(what="the network was not checked", why="not started")

    def _look(self) -> list[int]:
        if self._remote is None:
            return [0] * 4
        return list(self._remote.ask("carried", address=self._address))

    def _carried(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """There and back: of everything, and of what may be messages."""
        more = [new - old for old, new in zip(self._before, self._after, strict=True)]
        everything, messages = (more[0], more[1]), (more[2], more[3])
        if self._turned:
            everything, messages = everything[::-1], messages[::-1]
        return everything, messages
