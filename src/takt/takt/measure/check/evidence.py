# SPDX-License-Identifier: Apache-2.0
"""What the samples of a run can prove: misses counted, bounds on how often they happen.

A layer is one way of communication under one scheduling setting, as it was granted; its
repetitions are pooled. What did not arrive is a response that never came: it misses every limit.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from takt.measure.results import outcome, reservations, scheduling
from takt.measure.results.model import Cell, Note, Statistics, Status
from takt.measure.results.outcome import Late
from takt.measure.statistics.pooled import by_name, together
from takt.pages import text

_TITLES = {
    ("raw", "wakeup", "nanosleep"): "Timer wake-up",
    ("raw", "pingpong", "futex"): "Hand-over by futex",
    ("raw", "pingpong", "udp"): "UDP loopback",
    ("rcl", "pingpong", "shm"): "ROS 2 between processes",
    ("rcl", "pingpong", "udp"): "ROS 2 over UDP",
    ("rcl", "pingpong", "process"): "ROS 2 within one process",
}


def title(cell: Cell) -> str:
    """Name what was measured in a few words, whatever its scheduling."""
    name = way(cell)
    return f"{name}, {text.bytes_(cell.payload_bytes)}" if cell.payload_bytes else name


def way(cell: Cell) -> str:
    """Name the way of communication."""
    known = _TITLES.get((cell.stack, cell.kind, cell.transport))
    return known or f"{cell.stack} {cell.kind}, {cell.transport}"


def is_realtime(cell: Cell) -> bool:
    """Tell whether real-time scheduling was asked for."""
    return cell.scheduling != "other"


@dataclass(frozen=True)
class Layer:
    """The repetitions of one key that were granted the same."""

    cells: Sequence[Cell]
    statistics: Statistics | None = None  # of all of them together, where the samples were read

    @property
    def first(self) -> Cell:
        """Any of the cells: what was requested and what was granted is the same in all."""
        return next((cell for cell in self.cells if scheduling.granted(cell)), self.cells[0])

    @property
    def refused(self) -> bool:
        """Whether it was measured under another policy or priority than asked for."""
        return scheduling.refused(self.first)

    @property
    def title(self) -> str:
        """What was measured, in words."""
        return title(self.first)

    @property
    def count(self) -> int:
        """Responses that were judged, those that never came included."""
        return sum(map(outcome.judged, self.cells))

    @property
    def absent(self) -> int:
        """Responses that never came."""
        return sum(map(reservations.absent, self.cells))

    @property
    def steal_us(self) -> float:
        """CPU time that the hypervisor took meanwhile, all CPUs together."""
        return sum(cell.steal_seconds for cell in self.cells) * 1e6

    @property
    def failed(self) -> list[Cell]:
        """Cells that ended in an error."""
        return [cell for cell in self.cells if cell.status is Status.failed]

    @property
    def unfinished(self) -> list[Cell]:
        """Cells that were stopped or never begun."""
        return [cell for cell in self.cells if cell.status in (Status.partial, Status.pending)]

    def late(self, limit_us: float) -> Late:
        """The responses later than a limit, absent ones included."""
        return outcome.late(self.cells, limit_us)

    @property
    def not_granted(self) -> list[Note]:
        """Real-time settings that were asked for and not given, each once."""
        notes: dict[str, Note] = {}
        for cell in self.cells:
            for probe in cell.probes:
                for note in probe.notes:
                    notes.setdefault(note.what, note)
            if scheduling.refused(cell) and not any(probe.notes for probe in cell.probes):
                granted = scheduling.granted_in_words([cell])
                what = f"requested {scheduling.requested(cell)}, granted {granted}"
                notes.setdefault(what, Note(what=what, why="the kernel gave no reason"))
        return list(notes.values())


def layers(cells: Iterable[Cell], folder: Path | None = None) -> list[Layer]:
    """Group cells by what was measured: from the bare machine up, normal before real-time.

    Cells run in random order, so their own order says nothing. With the run's ``folder`` each has
    the statistics of its repetitions together.
    """
    groups = by_name(cells).values()
    return sorted(
        (Layer(each, together(folder, each) if folder else None) for each in groups), key=_place
    )


def _place(layer: Layer) -> tuple[int, str, bool, bool, str]:
    cell = layer.first
    known = list(_TITLES)
    way_of = (cell.stack, cell.kind, cell.transport)
    place = known.index(way_of) if way_of in known else len(known)
    return place, layer.title, is_realtime(cell), not layer.refused, cell.key
