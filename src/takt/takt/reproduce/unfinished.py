# SPDX-License-Identifier: Apache-2.0
"""What of a reproduction is not complete, point by point: as data, and as a short list."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from takt.measure.results.model import Cell, Run
from takt.measure.results.unfinished import Unfinished as Why
from takt.measure.results.unfinished import losses, reason, unfinished
from takt.pages import text
from takt.reproduce.model import Unfinished, size_in_words

SHOWN = 10  # points of a list
HEADS = {
    "waiting": "Not measured yet; the same command with --out continues",
    "failed": "Failed; the same command with --out tries again",
    "lost": "Measured, but messages are missing; the same command with --out retries",
}


@dataclass(frozen=True)
class Part:
    """The points of one state: the first ones, and how many more there are."""

    head: str
    state: str
    points: list[Unfinished]
    more: int


def points_left(run: Run) -> list[Unfinished]:
    """The points of a run that are not complete, in the order of the plan; alike runs as one."""
    found: dict[tuple[str, Why, str], list[Cell]] = {}
    for cell in run.cells:
        if (why := unfinished(cell)) is not None:
            words = "" if why is Why.lost else reason(cell)  # losses are added up
            found.setdefault((cell.key, why, words), []).append(cell)
    runs: dict[str, int] = {}
    for cell in run.cells:
        runs[cell.key] = runs.get(cell.key, 0) + 1
    return [
        Unfinished(
            point=_in_words(cells[0]),
            key=key,
            state=why.value,
            runs=len(cells),
            of=runs[key],
            sent=sum(one.sent * one.subscribers for one in cells),
            came=sum(one.count for one in cells),
            why="; ".join([words or losses(cells), *_notes(cells, why)]),
            fix=_fix(cells),
        )
        for (key, why, words), cells in found.items()
    ]


def parts(every: list[Unfinished]) -> Iterator[Part]:
    """The lists that people read, by state."""
    for state, head in HEADS.items():
        alike = [one for one in every if one.state == state]
        if alike:
            yield Part(head, state, alike[:SHOWN], len(alike) - SHOWN)


def _in_words(cell: Cell) -> str:
    """``RustDDS, pubsub of 16 MB by UDP (sizes)``."""
    size = f" of {size_in_words(cell.payload_bytes)}" if cell.payload_bytes else ""
    rate = "" if size else f" each {text.duration(cell.period_us)}"
    way = text.TRANSPORTS.get(cell.transport, cell.transport)
    label = f" ({cell.label})" if cell.label else ""
    return f"{text.stack(cell.stack)}, {cell.kind}{size}{rate}, {way}{label}"


def _notes(cells: list[Cell], why: Why) -> list[str]:
    if why is not Why.lost:
        return []
    return list(dict.fromkeys(note.why for cell in cells for note in cell.notes if note.fix))


def _fix(cells: list[Cell]) -> str:
    errors = [cell.error for cell in cells if cell.error]
    notes = [*errors, *(note for cell in cells for note in cell.notes)]
    return next((one.fix for one in notes if one.fix), "")
