# SPDX-License-Identifier: Apache-2.0
"""What the judges of a trace share: limits, recorded values, and the way to an outcome."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from takt.judge.limits import ALL, Limits
from takt.judge.model import DecidingJob, Judgement, Quantity
from takt.judge.recorded import Recorded, above, worst_us
from takt.pages import text
from takt.schedule.absence.model import Absence
from takt.statistics import Int64
from takt.statistics.judgement import Outcome, decide, upper

if TYPE_CHECKING:
    import takt_core

    from takt.schedule.explain import Explanation
    from takt.schedule.metrics.model import Metrics
    from takt.schedule.trace.file import Names


@dataclass(frozen=True)
class Excuses:
    """Late events that the application did not cause, and the jobs that it did."""

    count: int = 0
    jobs: tuple[DecidingJob, ...] = ()


@dataclass(frozen=True)
class Trial:
    """One trace before its limits."""

    limits: Limits
    confidence: float
    names: Names
    declared: takt_core.Declared | None
    recorded: Recorded
    metrics: Metrics
    explanation: Explanation
    deadlines: Mapping[str, int]  # in ns, where the application declares them
    inactive: frozenset[str] = frozenset()  # callbacks that no scenario needs to release

    def callbacks(self) -> set[str]:
        """Those that it recorded, and those that it should have."""
        return {one.callback for one in self.metrics.callbacks} | set(self.metrics.absent)

    def excuses(self, limit: int) -> Excuses:
        """How many data later than that limit disturbances may have made, on any core.

        Data pass several jobs: each job that missed its deadline by a disturbance may delay one.
        """
        disturbed = sum(one.disturbed for one in self.explanation.callbacks)
        return Excuses(self.recorded.excused(set(), limit) + disturbed)

    def judge(
        self,
        subject: str,
        quantity: Quantity,
        values: Int64,
        limit: int,
        allowed: int,
        excuses: Excuses,
        absent: int = 0,
    ) -> Judgement:
        """Times in ns against a limit; ``absent`` ones are above it, ``allowed`` is in ppm."""
        exceeded = above(values, limit) + absent
        return self.counted(
            subject,
            quantity,
            exceeded,
            len(values) + absent,
            allowed,
            excuses,
            limit_us=limit / 1000,
            worst_us=worst_us(values),
        )

    def counted(
        self,
        subject: str,
        quantity: Quantity,
        exceeded: int,
        count: int,
        allowed: int,
        excuses: Excuses | None = None,
        limit_us: float | None = None,
        worst_us: float | None = None,
    ) -> Judgement:
        """So many of ``count`` are outside a limit."""
        return counted(
            self.confidence,
            subject,
            quantity,
            exceeded,
            count,
            allowed,
            excuses or Excuses(),
            limit_us=limit_us,
            worst_us=worst_us,
        )


def counted(
    confidence: float,
    subject: str,
    quantity: Quantity,
    exceeded: int,
    count: int,
    allowed: int,
    excuses: Excuses,
    limit_us: float | None = None,
    worst_us: float | None = None,
) -> Judgement:
    """So many of ``count`` are outside a limit; ``allowed`` is in ppm."""
    excused, share = min(excuses.count, exceeded), allowed / ALL
    decision = decide(exceeded, excused, count, share, confidence)
    return Judgement(
        subject=subject,
        quantity=quantity,
        limit_us=limit_us,
        allowed=share,
        exceeded=exceeded,
        excused=excused,
        count=count,
        worst_us=worst_us,
        outcome=decision.outcome,
        reason=_reason(exceeded, excused, count, decision.outcome, share, confidence),
        needed=decision.needed,
        jobs=list(excuses.jobs) if decision.outcome is Outcome.fails else [],
    )


def _reason(
    exceeded: int, excused: int, count: int, outcome: Outcome, allowed: float, confidence: float
) -> str:
    if not count:
        return "nothing recorded"
    words = f"{text.count(exceeded)} of {text.count(count)} exceed"
    if excused:
        words += f", {text.count(excused)} of them disturbed"
    if outcome is Outcome.meets or allowed:
        bound = upper(exceeded, count, confidence)
        words += f"; below {bound:.3g} with {confidence:.0%} confidence"
    return words


def never(found: Judgement, absence: Absence) -> Judgement:
    """A limit on what is missing has the outcome that every command gives it."""
    return found.model_copy(update={"outcome": absence.outcome, "reason": absence.reason})
