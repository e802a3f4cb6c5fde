# SPDX-License-Identifier: Apache-2.0
"""The outcome of measured cells: every command that judges cells asks here.

Judged are the responses against the deadline, from the planned start. A response that never came
is late. A repetition that failed fails; one that was stopped, and a requested setting that was not
granted, leave the answer undecided: they answer another question. During a disturbed cell, what is
late or absent may be the disturbance's; stolen time explains as many as it can have delayed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from takt.measure.results import reservations, scheduling
from takt.measure.results.model import Cell, Model, Status
from takt.measure.results.point import SUPPLY
from takt.pages import text
from takt.statistics.judgement import ALLOWED, CONFIDENCE, Decision, Outcome, decide, overall

IDLE = "idle"  # as a load
NOT_A_SETTING = "starting a sample each"  # a note of the probes about late starts


class CellOutcome(Model):
    """The outcome of one cell, or of the repetitions of a point together."""

    outcome: Outcome
    deadline_us: float | None  # of the response, from the planned start; null: a supply has none
    late: int  # responses after the deadline
    absent: int  # responses that never came: lost, or never sent
    excused: int  # of both: during a disturbed cell, or by stolen time
    count: int  # all that were judged, absent ones included
    allowed: float  # share that may be late or absent
    low: float  # the share is above this, without the excused ones, at the confidence
    high: float  # the share is below this, with them, at the same confidence
    confidence: float
    needed: int | None = None  # how many decide if the share stays; null: decided, or unknown
    reasons: list[str]  # why it does not meet; one line without any


@dataclass(frozen=True)
class Late:
    """Responses later than a limit, absent ones included."""

    at_least: int
    at_most: int  # more than at_least: run.json counts at some limits only
    excused: int
    count: int

    def decide(self, allowed: float = ALLOWED, confidence: float = CONFIDENCE) -> Decision:
        """Whether fewer than that share are late."""
        certain = max(0, self.at_least - self.excused)
        return decide(self.at_most, self.at_most - certain, self.count, allowed, confidence)


def deadline_of(cell: Cell) -> float | None:
    """On the response, in µs; None for a supply, where a late wake-up is a gap of the core."""
    return None if cell.kind == SUPPLY else cell.deadline_us


def late(cells: Sequence[Cell], limit_us: float) -> Late:
    """Counts them over all of these cells, as exactly as ``run.json`` tells."""
    least = most = excused = count = 0
    for cell in cells:
        low, high = _late(cell, limit_us)
        absent = reservations.absent(cell)
        least, most = least + low + absent, most + high + absent
        excused += min(high + absent, excuses(cell, limit_us))
        count += judged(cell)
    return Late(least, most, excused, count)


def judged(cell: Cell) -> int:
    """How many responses of it count; the first one that came does not."""
    came = cell.statistics.exceedance.count if cell.statistics else cell.count
    return came + reservations.absent(cell)


def excuses(cell: Cell, limit_us: float) -> int:
    """The most responses later than that limit that the cell itself did not cause.

    Time that is stolen in one piece of length s makes at most s / min(limit, period) responses
    late, and steal_seconds counts all CPUs, so this is never too few.
    """
    if cell.disturbed:
        return judged(cell)
    return int(cell.steal_seconds * 1e6 / max(1e-3, min(limit_us, cell.period_us)))


def not_granted(cells: Sequence[Cell]) -> list[str]:
    """Each requested setting that a probe or the machine did not get, once."""
    found = reservations.refused(cells)
    notes = [note.what for cell in cells for probe in cell.probes for note in probe.notes]
    if any(cell.disturbed and IDLE in cell.loads.values() for cell in cells):
        found.append("the machine was declared idle and was not")
    settings = [what.rstrip(".") for what in notes if not what.startswith(NOT_A_SETTING)]
    return list(dict.fromkeys([*found, *settings]))


def judge(cells: Sequence[Cell]) -> CellOutcome:
    """The outcome of a cell, or of repetitions of one point together."""
    deadline = cells[0].deadline_us
    absent = sum(map(reservations.absent, cells))
    found = of_counts(late(cells, deadline), absent, deadline)
    if cells[0].kind == SUPPLY:
        found = _of_supply(found, reservations.gone(cells))
    outcomes, reasons = [found.outcome], []
    for status, outcome in (
        (Status.failed, Outcome.fails),
        (Status.partial, Outcome.undecided),
        (Status.pending, Outcome.undecided),
    ):
        if those := [cell for cell in cells if cell.status is status]:
            outcomes.append(outcome)
            reasons.append(_ended(those, len(cells)))
    if refused := not_granted(cells):
        outcomes.append(Outcome.undecided)
        reasons += refused
    reasons += found.reasons
    return found.model_copy(update={"outcome": overall(outcomes), "reasons": reasons})


def _of_supply(found: CellOutcome, gone: str) -> CellOutcome:
    """A supply is described, not judged: it has no deadline, and a late wake-up is a gap."""
    outcome = Outcome.undecided if gone else Outcome.meets
    reasons = [gone] if gone else []
    nothing_judged = {"deadline_us": None, "late": 0, "excused": 0, "low": 0.0, "high": 1.0}
    return found.model_copy(
        update={"outcome": outcome, "reasons": reasons, "needed": None, **nothing_judged}
    )


def of_counts(counted: Late, absent: int, deadline_us: float) -> CellOutcome:
    """The same of counts alone; ``absent`` of the late ones never came."""
    decision = counted.decide()
    return CellOutcome(
        outcome=decision.outcome,
        deadline_us=deadline_us,
        late=counted.at_most - absent,
        absent=absent,
        excused=counted.excused,
        count=counted.count,
        allowed=ALLOWED,
        low=round(decision.low, 9),
        high=round(decision.high, 9),
        confidence=CONFIDENCE,
        needed=decision.needed,
        reasons=_reasons(counted, decision),
    )


def points(cells: Sequence[Cell]) -> list[list[Cell]]:
    """The repetitions of each point, as they were granted."""
    by_name: dict[str, list[Cell]] = {}
    for cell in cells:
        by_name.setdefault(scheduling.name(cell), []).append(cell)
    return list(by_name.values())


def of_run(cells: Sequence[Cell]) -> Outcome:
    """The outcome of all cells, point by point."""
    return overall(judge(every).outcome for every in points(cells))


def _late(cell: Cell, limit_us: float) -> tuple[int, int]:
    """Least and most responses later than the limit; counted limits on both sides enclose it."""
    statistics = cell.statistics
    if statistics is None:  # not judged, so not in time
        return 0, cell.count
    came = statistics.exceedance.count
    counted = [statistics.exceedance, *statistics.loop_exceedance]
    least = [one.exceeded for one in counted if one.deadline_us >= limit_us]
    most = [one.exceeded for one in counted if one.deadline_us <= limit_us]
    if statistics.response.max_us <= limit_us:
        most.append(0)
    return max(least, default=0), min(most, default=came)


def _reasons(counted: Late, decision: Decision) -> list[str]:
    """The counts, with the interval that decided."""
    if not counted.count:
        return ["nothing was measured"]
    words = f"{text.count(counted.at_most)} of {text.count(counted.count)} late or missing"
    if counted.excused:
        words += f", {text.count(counted.excused)} of them disturbed"
    if decision.outcome is Outcome.fails:
        return [f"{words}: more than {decision.low:.2g} with {CONFIDENCE:.0%} confidence"]
    words += f": fewer than {decision.high:.2g} with {CONFIDENCE:.0%} confidence"
    if decision.needed is not None:
        words += f"; about {text.count(decision.needed)} responses decide"
    elif decision.outcome is Outcome.undecided and counted.excused:
        words += "; measure again on an idle machine"
    return [words]


def _ended(those: Sequence[Cell], every: int) -> str:
    word = those[0].status.value
    why = those[0].error.what if those[0].error else "not measured to the end"
    return f"{len(those)} of {every} repetitions {word}: {why}"
