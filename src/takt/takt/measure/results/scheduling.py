# SPDX-License-Identifier: Apache-2.0
"""Under which policy and priority a cell was measured: what its probes read back.

A cell's key names what was requested, so that runs are compared and resumed by it. Its *name*
names what was granted, so that the two are not mistaken for each other.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from takt.measure.results.model import Cell


class Scheduling(NamedTuple):
    """What the kernel does with a thread."""

    policy: str  # other, fifo, rr
    priority: int  # 0: none

    def __str__(self) -> str:
        """As experiments write it: ``fifo 80``."""
        return f"{self.policy} {self.priority}" if self.priority else self.policy

    @property
    def word(self) -> str:
        """As keys write it: ``fifo80``."""
        return f"{self.policy}{self.priority or ''}"


def requested(cell: Cell) -> Scheduling:
    """What was requested."""
    return Scheduling(cell.scheduling, cell.priority)


def granted(cell: Cell) -> list[Scheduling]:
    """What its processes were granted, each once; none where no process has reported it."""
    found = []
    for probe in cell.probes:
        policy = probe.granted.get("policy")
        if policy is not None:
            same = cell.priority if policy == cell.scheduling else 0
            found.append(Scheduling(str(policy), int(probe.granted.get("priority", same) or 0)))
    return list(dict.fromkeys(found))


def measured(cell: Cell) -> list[Scheduling]:
    """What it was measured under, as far as that is known: else what was requested."""
    return granted(cell) or [requested(cell)]


def refused(cell: Cell) -> bool:
    """Whether some process of it was granted something else than was requested."""
    return measured(cell) != [requested(cell)]


def real_time(cell: Cell) -> bool:
    """Whether all its processes had a real-time policy."""
    return all(one.policy != "other" for one in measured(cell))


def name(cell: Cell) -> str:
    """Its key, by what was granted: ``raw-wakeup-nanosleep-other-1kHz (requested: fifo80)``."""
    if not refused(cell):
        return cell.key
    wanted, got = requested(cell).word, "+".join(one.word for one in measured(cell))
    parts = cell.key.split("-")
    if wanted in parts:
        parts[parts.index(wanted)] = got
    return f"{'-'.join(parts)} (requested: {wanted})"


def granted_in_words(cells: Iterable[Cell]) -> str:
    """What these cells were granted: ``fifo 80``, ``fifo 80 in 2 of 3, other in 1``."""
    counts: dict[str, int] = {}
    for cell in cells:
        if cell.probes or cell.count:
            words = " and ".join(map(str, measured(cell)))
            counts[words] = counts.get(words, 0) + 1
    if len(counts) < 2:
        return next(iter(counts), "")
    of = sum(counts.values())
    return ", ".join(f"{words} in {number} of {of}" for words, number in counts.items())
