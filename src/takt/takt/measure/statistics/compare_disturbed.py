# SPDX-License-Identifier: Apache-2.0
"""A growth that disturbed cells made convicts nobody: it is undecided without them.

The cells of a comparison are compared a second time without those that other programs disturbed. A
latency or share that grew only in the first one stays undecided. Settings and failures are facts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from takt.measure.results.model import Cell
from takt.measure.statistics.compare_model import Judged, KeyComparison, Outcome

Pair = tuple[list[Cell], list[Cell]]
Compare = Callable[[Mapping[str, Pair]], list[KeyComparison]]
FACTS = ("settings", "completion", "samples")


def excuse(compared: Sequence[KeyComparison], pairs: Mapping[str, Pair], again: Compare) -> None:
    """Turns such regressions into undecided quantities; ``again`` compares other pairs alike."""
    disturbed = {
        cell.key: pairs[cell.key]
        for cell in compared
        if cell.regressed and any(one.disturbed for side in pairs[cell.key] for one in side)
    }
    quiet = {key: _undisturbed(pair) for key, pair in disturbed.items()}
    second = {
        cell.key: cell
        for cell in again({key: pair for key, pair in quiet.items() if pair[0] and pair[1]})
    }
    for cell in compared:
        if cell.key in disturbed:
            _excuse(cell, second.get(cell.key))


def _undisturbed(pair: Pair) -> Pair:
    a, b = ([one for one in side if not one.disturbed] for side in pair)
    return a, b


def _excuse(cell: KeyComparison, quiet: KeyComparison | None) -> None:
    still = {one.quantity for one in quiet.of(Outcome.regressed)} if quiet else set()
    cell.judged = [
        _undecided(one)
        if one.outcome is Outcome.regressed and one.quantity not in {*FACTS, *still}
        else one
        for one in cell.judged
    ]
    cell.regressed = bool(cell.of(Outcome.regressed))


def _undecided(one: Judged) -> Judged:
    reason = f"{one.reason}; other programs disturbed it: measure again on an idle machine"
    return replace(one, outcome=Outcome.undecided, reason=reason, needed=None, disturbed=True)
