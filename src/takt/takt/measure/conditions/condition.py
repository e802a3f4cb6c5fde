# SPDX-License-Identifier: Apache-2.0
"""The conditions of a cell: programs around it, and the proof that they did what they are for."""

from __future__ import annotations

from collections.abc import Sequence

from takt.measure.results.model import Cell, Conditions, Note
from takt.processes.supervision import Program


class Condition:
    """One thing that is to be the case while a cell is measured."""

    programs: Sequence[Program] = ()  # in the order in which they start, before the probes

    def begin(self) -> None:
        """All conditions are there; the probes start next."""

    def end(self) -> None:
        """The measuring is over; what surrounds it still runs."""

    def record(self, into: Conditions) -> None:
        """Puts what was found between the two into the cell."""

    def fault(self, cell: Cell) -> Note | None:
        """Why the condition was not met in this cell, whose samples are counted; None: it was."""
        return None

    def missing(self) -> Note:
        """What is said where one of its programs was not there in time."""
        raise NotImplementedError
