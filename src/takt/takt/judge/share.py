# SPDX-License-Identifier: Apache-2.0
"""Decides whether a share of late events is below what is allowed (Clopper & Pearson 1934).

A limit that allows none is a question about what was recorded: one late event breaks it. A limit
that allows a share is a question about the probability behind it, which only enough events decide.
Events that a disturbance explains neither convict nor acquit: where they make the difference, the
limit stays undecided.
"""

from __future__ import annotations

from dataclasses import dataclass

import takt_core

from takt.schedule.absence.model import Outcome

MOST_NEEDED = 10**9  # beyond that, more of the same does not decide


@dataclass(frozen=True)
class Decision:
    """An outcome, and how many events it would take where they were too few."""

    outcome: Outcome
    needed: int | None = None


def decide(exceeded: int, excused: int, count: int, allowed: float, confidence: float) -> Decision:
    """Decides on so many late events of ``count``, of which ``excused`` are explained."""
    if count == 0:
        return Decision(Outcome.undecided)
    certain = exceeded - excused
    if allowed == 0:
        return Decision(_none_allowed(exceeded, certain))
    if _decided(certain, count, allowed, confidence) is Outcome.fails:
        return Decision(Outcome.fails)
    if _decided(exceeded, count, allowed, confidence) is Outcome.meets:
        return Decision(Outcome.meets)
    return Decision(Outcome.undecided, _needed(exceeded, count, allowed, confidence))


def _none_allowed(exceeded: int, certain: int) -> Outcome:
    if not exceeded:
        return Outcome.meets
    return Outcome.fails if certain > 0 else Outcome.undecided


def _decided(late: int, count: int, allowed: float, confidence: float) -> Outcome:
    if allowed >= 1 or upper(late, count, confidence) < allowed:
        return Outcome.meets
    if 1 - upper(count - late, count, confidence) > allowed:
        return Outcome.fails
    return Outcome.undecided


def upper(late: int, count: int, confidence: float) -> float:
    """The upper bound of the share, at that confidence."""
    return float(takt_core.exceedance(late, count, confidence)[1])


def _needed(late: int, count: int, allowed: float, confidence: float) -> int | None:
    """The least count that decides if the share stays as it is."""
    share = late / count

    def decides(number: int) -> bool:
        outcome = _decided(round(share * number), number, allowed, confidence)
        return outcome is not Outcome.undecided

    high = count
    while not decides(high):
        high *= 2
        if high > MOST_NEEDED:
            return None
    low = high // 2
    while high - low > max(1, high // 100):
        middle = (low + high) // 2
        low, high = (low, middle) if decides(middle) else (middle, high)
    return high
