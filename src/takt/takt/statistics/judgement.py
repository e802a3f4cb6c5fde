# SPDX-License-Identifier: Apache-2.0
"""The one judgement: events late, lost or absent, of so many, against the share that is allowed.

A limit that allows none is a question about what was recorded: one late event breaks it. A limit
that allows a share is a question about the probability behind it, which only enough events decide
(Clopper & Pearson 1934). Events that a disturbance explains neither convict nor acquit: where they
make the difference, the limit stays undecided. What did not arrive is late.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

#: What is allowed where no limit says otherwise: 1 in 1,000.
ALLOWED = 1e-3
CONFIDENCE = 0.95  # where no limit says otherwise
MOST_NEEDED = 10**9  # beyond that, more of the same does not decide


class Outcome(str, Enum):
    """The answer to one limit, and to all of them."""

    meets = "meets"
    fails = "fails"
    undecided = "undecided"


@dataclass(frozen=True)
class Decision:
    """An outcome, the interval behind it, and the events that would decide."""

    outcome: Outcome
    low: float = 0.0  # the share is above this, without the excused events, at the confidence
    high: float = 1.0  # the share is below this, with them, at the same confidence
    needed: int | None = None  # events that decide if the share stays; None: decided, or unknown


def overall(outcomes: Iterable[Outcome]) -> Outcome:
    """One failure fails the whole; nothing judged is nothing decided."""
    found = set(outcomes)
    if Outcome.fails in found:
        return Outcome.fails
    return Outcome.meets if found == {Outcome.meets} else Outcome.undecided


def decide(
    exceeded: int,
    excused: int,
    count: int,
    allowed: float = ALLOWED,
    confidence: float = CONFIDENCE,
) -> Decision:
    """Decides on so many late events of ``count``, of which ``excused`` are explained."""
    if count == 0:
        return Decision(Outcome.undecided)
    certain = max(0, exceeded - excused)
    low, high = lower(certain, count, confidence), upper(exceeded, count, confidence)
    if allowed == 0:
        return Decision(_none_allowed(exceeded, certain), low, high)
    if low > allowed:
        return Decision(Outcome.fails, low, high)
    if allowed >= 1 or high < allowed:
        return Decision(Outcome.meets, low, high)
    return Decision(
        Outcome.undecided, low, high, _needed(exceeded, excused, count, allowed, confidence)
    )


def _none_allowed(exceeded: int, certain: int) -> Outcome:
    if not exceeded:
        return Outcome.meets
    return Outcome.fails if certain > 0 else Outcome.undecided


def upper(late: int, count: int, confidence: float = CONFIDENCE) -> float:
    """The upper bound of the share, at that confidence; 1 without events."""
    import takt_core  # not everything that knows outcomes has it: takt doctor works without

    return float(takt_core.exceedance(late, count, confidence)[1]) if count else 1.0


def lower(late: int, count: int, confidence: float = CONFIDENCE) -> float:
    """The lower bound of the share, at that confidence; 0 without events."""
    return 1.0 - upper(count - late, count, confidence)


def _needed(
    exceeded: int, excused: int, count: int, allowed: float, confidence: float
) -> int | None:
    """The least count that decides if the share stays as it is, and nothing disturbs any more.

    None where too many are needed, and where only the disturbance keeps it from a decision.
    """
    share = exceeded / count

    def decides(number: int) -> bool:
        late = round(share * number)
        return (
            upper(late, number, confidence) < allowed or lower(late, number, confidence) > allowed
        )

    if excused and decides(count):
        return None
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
