# SPDX-License-Identifier: Apache-2.0
"""Under which policy and priority a cell was measured: what its probes read back.

A cell's key says what was asked for, so that runs are compared and resumed by it. Its *name* says
what was obtained, so that nobody takes the one for the other.
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


def asked(cell: Cell) -> Scheduling:
    """What was asked for."""
    return Scheduling(cell.scheduling, cell.priority)


def obtained(cell: Cell) -> list[Scheduling]:
    """What its processes got, each once; none where no process has said so."""
    found = []
    for probe in cell.probes:
        policy = probe.obtained.get("policy")
        if policy is not None:
            same = cell.priority if policy == cell.scheduling else 0
            found.append(Scheduling(str(policy), int(probe.obtained.get("priority", same) or 0)))
    return list(dict.fromkeys(found))


def measured(cell: Cell) -> list[Scheduling]:
    """What it was measured under, as far as that is known: else what was asked for."""
    return obtained(cell) or [asked(cell)]


def refused(cell: Cell) -> bool:
    """Whether some process of it has not got what was asked for."""
    return measured(cell) != [asked(cell)]


def real_time(cell: Cell) -> bool:
    """Whether all its processes had a real-time policy."""
    return all(one.policy != "other" for one in measured(cell))


def name(cell: Cell) -> str:
    """Its key, by what was obtained: ``raw-wakeup-nanosleep-other-1kHz (asked: fifo80)``."""
    if not refused(cell):
        return cell.key
    wanted, got = asked(cell).word, "+".join(one.word for one in measured(cell))
    parts = cell.key.split("-")
    if wanted in parts:
        parts[parts.index(wanted)] = got
    return f"{'-'.join(parts)} (requested: {wanted})"


def granted(cells: Iterable[Cell]) -> str:
    """What these cells obtained, in words: ``fifo 80``, ``fifo 80 in 2 of 3, other in 1``."""
    counts: dict[str, int] = {}
    for cell in cells:
        if cell.probes or cell.count:
            words = " and ".join(map(str, measured(cell)))
            counts[words] = counts.get(words, 0) + 1
    if len(counts) < 2:
        return next(iter(counts), "")
    of = sum(counts.values())
    return ", ".join(f"{words} in {number} of {of}" for words, number in counts.items())
