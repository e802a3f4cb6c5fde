# SPDX-License-Identifier: Apache-2.0
"""What keeps the machine busy while a cell is measured: normal processes of our own.

They are started before the probes and ended after them.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from takt.measure.results.model import Cell
from takt.processes.supervision import Program

# Arithmetic on one CPU until the end.
_COMPUTE = """
import os, sys
os.sched_setaffinity(0, {int(sys.argv[1])})
x = 1.0
while True:
    x = (x * 1.000001) % 1e6
"""


def processes(cell: Cell, folder: Path) -> list[Program]:
    """The processes that load the machine as the cell asks; none for ``none``."""
    if cell.load == "none":
        return []
    return [
        Program(
            role=f"load on CPU {cpu}",
            command=[sys.executable, "-IS", "-c", _COMPUTE, str(cpu)],
            result=folder / f"{cell.id}.load{cpu}.json",
            stderr=folder / f"{cell.id}.load{cpu}.stderr",
            background=True,
        )
        for cpu in sorted(os.sched_getaffinity(0))
    ]
