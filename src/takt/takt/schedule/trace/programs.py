# SPDX-License-Identifier: Apache-2.0
"""What a trace records of other programs and interrupts: the stretches in which they had its cores.

``takt execute`` appends them to the events, as attributes that docs/reference/trace.md describes.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from takt.documents.own import printable
from takt.processes.switches import INTERRUPT, KERNEL, Held
from takt.schedule.trace.beside import INTERRUPTS_LOST, INTERRUPTS_REFUSED, LOST, REFUSED
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
        self._no_interrupts = next(iter(names.values(INTERRUPTS_REFUSED)), None)
        lost = names.values(INTERRUPTS_LOST)
        self._interrupts_lost = sum(int(one) for one in lost if one.isdecimal())
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
        lines = []
        if self._no_interrupts and missed:
            lines.append(f"interrupts were not recorded: {printable(self._no_interrupts)}")
        if self._interrupts_lost:
            what = f"{self._interrupts_lost} interrupts were not recorded"
            lines.append(f"{what}: they may have had the cores for longer")
        if self.refused and missed:
            what = f"programs on these cores were not recorded: {printable(self.refused)}"
            how = "execute or record as root, or with CAP_PERFMON and ulimit -l 1100 per core"
            return [f"{what}; {how}" if self.refused.startswith(KERNEL) else what, *lines]
        if self.lost:
            what = f"{self.lost} context switches were not recorded"
            lines.append(f"{what}: programs may have had the cores for longer")
        return lines

    def within(self, core: int, begin: int, end: int) -> list[Program]:
        """Those that had a core between two times, longest first."""
        sums = self._sums(core, begin, end)
        ordered = sorted(sums.items(), key=lambda one: (-one[1], one[0]))
        return [
            Program(name, process, ns) for (name, process), ns in ordered if process != INTERRUPT
        ]

    def interrupts(self, core: int, begin: int, end: int) -> Counter[str]:
        """For how long which of them had a core between two times, in ns by name."""
        sums = self._sums(core, begin, end)
        return Counter({name: ns for (name, of), ns in sums.items() if of == INTERRUPT})

    def _sums(self, core: int, begin: int, end: int) -> dict[tuple[str, int], int]:
        """By name and process."""
        found = self.by_core.get(core, [])
        sums: dict[tuple[str, int], int] = defaultdict(int)
        if not found:
            return sums
        # Stretches of one core do not overlap, so the ends are in order, too.
        for place in range(int(np.searchsorted(self._begins[core], end)) - 1, -1, -1):
            one = found[place]
            if one.end <= begin:
                break
            sums[one.name, one.process] += min(one.end, end) - max(one.begin, begin)
        return sums


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
