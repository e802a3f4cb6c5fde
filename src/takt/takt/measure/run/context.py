# SPDX-License-Identifier: Apache-2.0
"""What the cells of a run share."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from takt.measure.results.model import Cell
from takt.network.workers import Workers
from takt.processes.leftovers import Journal
from takt.processes.scratch import Scratch
from takt.processes.supervision import Limits, Stop


@dataclass
class Context:
    """What the cells of a run share."""

    scratch: Scratch
    folder: Path
    domain: int
    journal: Journal
    stop: Stop
    limits: Limits
    surroundings: dict[str, dict[str, str]] = field(default_factory=dict)  # environment by stack
    workers: Workers | None = None  # as hosts; None: no scheduler was given

    def domain_of(self, cell: Cell) -> int:
        """The ROS domain of a cell: that of the system it is measured within, or the run's own."""
        return self.domain if cell.within is None else cell.within
