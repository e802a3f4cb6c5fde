# SPDX-License-Identifier: Apache-2.0
"""Whether the share of an event grew from A to B by more than is tolerated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum

from takt.statistics.judgement import ALLOWED
from takt.statistics.shares import Counted, Difference, difference, least, share

#: A share that grew by less is no regression, however certain the growth is.
LEAST_GROWTH = ALLOWED
#: A share is undecided where the data do not exclude that it grew by more than this.
RESOLVED = 0.005


class Outcome(str, Enum):
    """The answer to one quantity of a cell, and to all of them."""

    regressed = "regressed"
    unchanged = "no regression"
    undecided = "undecided"


@dataclass(frozen=True)
class Share:
    """How often an event happened in each repetition of A and B."""

    a: list[Counted]
    b: list[Counted]
    limit: float  # a growth that ends above it is a regression
    resolved: float  # a growth that ends below it is none
    difference: Difference | None = None  # None: not known yet

    @property
    def shares(self) -> tuple[float, float]:
        """In A and in B."""
        return share(self.a), share(self.b)

    @property
    def counts(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """Events and all, in A and in B."""
        a, b = (
            (sum(one.hits for one in side), sum(one.count for one in side))
            for side in (self.a, self.b)
        )
        return a, b


def share_of(a: Sequence[Counted], b: Sequence[Counted], threshold: float) -> Share | None:
    """Make a share of its counts; None where a side has no events."""
    before, after = ([one for one in side if one.count] for side in (a, b))
    if not before or not after:
        return None
    tolerated = threshold * share(before)
    limit, resolved = max(LEAST_GROWTH, tolerated), max(RESOLVED, tolerated)
    return Share(before, after, limit, resolved)


def can_alarm(one: Share) -> bool:
    """Whether it can raise an alarm: where nothing happened in either run, none is possible.

    Such a test does not count among those that share the probability of a false alarm
    (Tarone 1990).
    """
    return any(counted.hits for counted in (*one.a, *one.b))


def judge(one: Share, chance: float) -> tuple[Share, Outcome, int | None]:
    """The share with its interval, the outcome, and the repetitions that would decide."""
    found = difference(one.a, one.b, chance)
    outcome = _outcome(one, found)
    needed = _needed(one, chance) if outcome is Outcome.undecided else None
    return replace(one, difference=found), outcome, needed


def _outcome(one: Share, found: Difference) -> Outcome:
    if found.low > one.limit:
        return Outcome.regressed
    return Outcome.unchanged if found.high <= one.resolved else Outcome.undecided


def _needed(one: Share, chance: float) -> int | None:
    """Repetitions in each run that decide if shares and variances stay as they are."""

    def decides(repetitions: int) -> bool:
        found = difference(one.a, one.b, chance, repetitions)
        return _outcome(one, found) is not Outcome.undecided

    return least(decides, max(len(one.a), len(one.b), 2) + 1)
