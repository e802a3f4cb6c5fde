# SPDX-License-Identifier: Apache-2.0
"""Joins the judgements of several repetitions: counts add up, and one failure fails the whole."""

from __future__ import annotations

from collections.abc import Sequence

from takt.judge.callbacks import MOST_JOBS
from takt.judge.model import Judgement, Quantity
from takt.pages import text
from takt.statistics.judgement import decide, overall


def pooled(repetitions: Sequence[list[Judgement]], confidence: float) -> list[Judgement]:
    """One judgement for each limit, in the order of the first repetition."""
    if len(repetitions) == 1:
        return repetitions[0]
    found: dict[tuple[str, Quantity], list[Judgement]] = {}
    for judgements in repetitions:
        for one in judgements:
            found.setdefault((one.subject, one.quantity), []).append(one)
    return [_joined(every, confidence) for every in found.values()]


def _joined(every: list[Judgement], confidence: float) -> Judgement:
    first = every[0]
    exceeded, excused, count = (
        sum(getattr(one, name) for one in every) for name in ("exceeded", "excused", "count")
    )
    outcome, needed = overall(one.outcome for one in every), None
    if first.allowed and all(one.count for one in every):  # more jobs decide about a share
        decision = decide(exceeded, excused, count, first.allowed, confidence)
        outcome, needed = decision.outcome, decision.needed
    worst = [one.worst_us for one in every if one.worst_us is not None]
    decisive = [one for one in every if one.outcome is outcome] or every
    reason = f"{text.count(exceeded)} of {text.count(count)} exceed in "
    reason += text.number_of(len(every), "repetition")
    if first.quantity in (Quantity.record, Quantity.completeness):
        reason = f"{decisive[0].reason} (in {len(decisive)} of {len(every)} repetitions)"
    elif excused:
        reason += f", {text.count(excused)} of them disturbed"
    return first.model_copy(
        update={
            "exceeded": exceeded,
            "excused": excused,
            "count": count,
            "worst_us": max(worst, default=None),
            "outcome": outcome,
            "reason": reason,
            "needed": needed,
            "jobs": [job for one in decisive for job in one.jobs][:MOST_JOBS],
        }
    )
