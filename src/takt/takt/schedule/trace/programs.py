# SPDX-License-Identifier: Apache-2.0
"""What a trace records of other programs: the stretches in which they had its cores.

``takt execute`` appends them to the events, as attributes that docs/reference/trace.md describes.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from takt.documents.own import printable
from takt.processes.switches import Held
from takt.schedule.trace.beside import LOST, REFUSED
from takt.schedule.trace.file import Names

_LATEST = 1 << 62  # ns; a trace from elsewhere may hold any number


@dataclass(frozen=True)
class Program:
    """A program, and for how long it had a core."""

    name: str
    process: int
    ns: int


class Programs:
    """Those of a trace; what is not as Takt writes it is left out."""

    def __init__(self, names: Names) -> None:
        self.refused = next(iter(names.values(REFUSED)), None)
        self.lost = sum(int(one) for one in names.values(LOST) if one.isdecimal())
        self.by_core: dict[int, list[Held]] = defaultdict(list)
        for text in names.held:
            if (held := _held(text)) is not None:
                self.by_core[held.cpu].append(held)
        self._begins: dict[int, NDArray[np.int64]] = {}
        for core, found in self.by_core.items():
            found.sort()
            self._begins[core] = np.array([one.begin for one in found])

    def remarks(self, *, missed: bool) -> list[str]:
        """What keeps an explanation from naming programs; ``missed``: there is one to give."""
        if self.refused and missed:
            what = f"programs on these cores were not recorded: {printable(self.refused)}"
            how = "execute or record as root, or with CAP_PERFMON and ulimit -l 1100 per core"
            return [f"{what}; {how}"]
        if self.lost:
            what = f"{self.lost} context switches were not recorded"
            return [f"{what}: programs may have had the cores for longer"]
        return []

    def within(self, core: int, begin: int, end: int) -> list[Program]:
        """Those that had a core between two times, longest first."""
        found = self.by_core.get(core, [])
        if not found:
            return []
        sums: dict[tuple[str, int], int] = defaultdict(int)
        # Stretches of one core do not overlap, so the ends are in order, too.
        for place in range(int(np.searchsorted(self._begins[core], end)) - 1, -1, -1):
            one = found[place]
            if one.end <= begin:
                break
            sums[one.name, one.process] += min(one.end, end) - max(one.begin, begin)
        ordered = sorted(sums.items(), key=lambda one: (-one[1], one[0]))
        return [Program(name, process, ns) for (name, process), ns in ordered]


def _held(text: str) -> Held | None:
    """``CORE BEGIN END PROCESS NAME``."""
    fields = text.split(" ", 4)
    try:
        core, begin, end, process = (int(one) for one in fields[:4])
    except ValueError:
        return None
    if len(fields) < 5 or not -_LATEST < begin < end < _LATEST:
        return None
    return Held(begin, end, core, process, printable(fields[4]))
