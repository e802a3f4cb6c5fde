# SPDX-License-Identifier: Apache-2.0
"""What keeps measured cells from being a success, in words: late, absent, not as asked for.

What is absent was not in time, and what was measured under another policy answers another question.
"""

from __future__ import annotations

from collections.abc import Sequence

from takt.measure.results import scheduling
from takt.measure.results.model import Cell, Status
from takt.measure.results.point import SUPPLY
from takt.pages import text


def expected(cell: Cell) -> int:
    """How many samples were to come, of all subscribers or threads together."""
    if cell.threads > 1:
        return sum(samples for _, samples in cell.series)
    return cell.samples_requested * (cell.subscribers if cell.kind == "pubsub" else 1)


def absent(cell: Cell) -> int:
    """How many of them did not arrive: lost, or never sent by a cell that came to its end."""
    if cell.status is not Status.complete:  # what it did not come to was not due yet
        return cell.lost
    sent = cell.sent * cell.subscribers if cell.kind == "pubsub" else cell.sent
    never_sent = max(0, expected(cell) - sent)
    return max(cell.lost + never_sent, expected(cell) - cell.count)


def of(cells: Sequence[Cell]) -> list[str]:
    """What these complete cells fall short of, all of them together; nothing: all was in time."""
    return [
        words
        for words in (_late(cells), gone(cells), _gaps(cells), _counters(cells), _idle(cells))
        if words
    ]


def _late(cells: Sequence[Cell]) -> str:
    judged = [cell for cell in cells if cell.kind != SUPPLY]  # there, a late wake-up is a gap
    found = [cell.statistics.exceedance for cell in judged if cell.statistics]
    late = sum(one.exceeded for one in found)
    if not late:
        return ""
    limits = {one.deadline_us for one in found}
    limit = text.duration(limits.pop()) if len(limits) == 1 else "their deadlines"
    return f"{_of(late, sum(one.count for one in found))} responses came after {limit}"


def gone(cells: Sequence[Cell]) -> str:
    """How many samples did not arrive; empty where all did."""
    missing = sum(map(absent, cells))
    return f"{_of(missing, sum(map(expected, cells)))} missing" if missing else ""


def _gaps(cells: Sequence[Cell]) -> str:
    """A cycle whose answer is in time has still begun too late where a period is twice as long."""
    found = [(cell, cell.statistics.cyclic) for cell in cells if cell.statistics]
    long = [(cell, own) for cell, own in found if own and own.jitter.max_us >= cell.period_us]
    if not long:
        return ""
    cell, own = max(long, key=lambda one: one[0].period_us + one[1].jitter.max_us)
    most = f"{text.duration(cell.period_us + own.jitter.max_us)} instead of "
    most += text.duration(cell.period_us)
    number = sum(own.gaps or 1 for _, own in long)
    return f"{text.number_of(number, 'period')} at least twice as long, up to {most}"


def _counters(cells: Sequence[Cell]) -> str:
    wrong = sum(cell.wrong_counters for cell in cells)
    return f"{text.number_of(wrong, 'cycle')} with a wrong working counter" if wrong else ""


def _idle(cells: Sequence[Cell]) -> str:
    """The first sample is not judged, so a cell may have nothing that is."""
    empty = [cell for cell in cells if not cell.statistics or not cell.statistics.exceedance.count]
    if not empty:
        return ""
    return f"no samples in {_of(len(empty), len(cells))} cells"


def refused(cells: Sequence[Cell]) -> list[str]:
    """Each policy not given: ``fifo 80 was not granted: measured under other``."""
    wanted: dict[scheduling.Scheduling, list[Cell]] = {}
    for cell in cells:
        wanted.setdefault(scheduling.requested(cell), []).append(cell)
    found = []
    for asked, alike in wanted.items():
        without = [cell for cell in alike if scheduling.refused(cell)]
        if without:
            part = f" in {_of(len(without), len(alike))} cells" * (len(without) < len(alike))
            policies = scheduling.granted_in_words(without)
            found.append(f"{asked} was not granted{part}: measured under {policies}")
    return found


def _of(part: int, whole: int) -> str:
    return f"{text.count(part)} of {text.count(whole)}"
