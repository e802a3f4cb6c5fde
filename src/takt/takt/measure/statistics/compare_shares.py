# SPDX-License-Identifier: Apache-2.0
"""What a ratio of latencies does not show: late and lost samples, settings, failed repetitions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.stats import fisher_exact

from takt.measure.results import outcome, reservations, scheduling
from takt.measure.results.model import Cell, Status
from takt.measure.statistics.compare_model import Judged, KeyComparison, Outcome, Share
from takt.pages import text
from takt.statistics import growth
from takt.statistics.shares import Counted, least

EVENTS = {"late": "after the deadline", "lost": "lost or never sent"}


def judge(cell: KeyComparison, chance: float) -> None:
    """Give each share of a cell its interval and its outcome."""
    for name, one in cell.shares.items():
        cell.shares[name], outcome, needed = growth.judge(one, chance)
        reason = _reason(name, cell.shares[name])
        cell.judge(Judged(name, outcome, reason, needed))


def _reason(name: str, one: Share) -> str:
    found = one.difference
    assert found is not None  # noqa: S101 - it is judged
    (hits_a, count_a), (hits_b, count_b) = one.counts
    low, high = (f"{100 * end:+.3g}" for end in (found.low, found.high))
    limit = one.limit if found.low > one.limit else one.resolved
    return (
        f"{_of(hits_b, count_b)} {EVENTS[name]} in B, {_of(hits_a, count_a)} in A; "
        f"growth {low} … {high} percentage points, limit {100 * limit:.3g}"
    )


def _of(part: int, whole: int) -> str:
    return f"{text.count(part)} of {text.count(whole)}"


def lost_of(cell: Cell, correlation: float) -> Counted:
    """Samples that a repetition lost or never sent, of those expected."""
    absent = reservations.absent(cell)
    if cell.status is Status.complete:
        return Counted(absent, max(reservations.expected(cell), absent), correlation)
    return Counted(absent, cell.count + absent, correlation)


def judge_settings(cell: KeyComparison, sides: tuple[Sequence[Cell], Sequence[Cell]]) -> None:
    """Refused settings are facts: one that A was granted and B was not is a regression."""
    a, b = ([one for one in side if one.probes] for side in sides)
    if not a or not b:
        return
    new = sorted(_refused(b) - _refused(a))
    before, after = (sum(map(scheduling.refused, side)) / len(side) for side in (a, b))
    wanted = scheduling.requested(b[0])
    if after > before or new:
        what = [] if after <= before else [f"{wanted} (granted: {scheduling.granted_in_words(b)})"]
        what += [one for one in new if not what or str(wanted) not in one]
        reason = f"granted in A, refused in B: {', '.join(what)}"
        cell.judge(Judged("settings", Outcome.regressed, reason))
        return
    refused = sorted(_refused(b)) or ([str(wanted)] if after else [])
    reason = f"refused in both runs: {', '.join(refused)}" if refused else "all granted"
    cell.judge(Judged("settings", Outcome.unchanged, reason))


def _refused(side: Sequence[Cell]) -> set[str]:
    """Settings that a probe of any repetition requested and was not granted."""
    notes = [note.what for cell in side for probe in cell.probes for note in probe.notes]
    return {what for what in notes if not what.startswith(outcome.NOT_A_SETTING)}


def judge_completion(
    cell: KeyComparison, sides: tuple[Sequence[Cell], Sequence[Cell]], chance: float
) -> None:
    """Failed repetitions: more of them than in A are a regression if chance does not explain it."""
    failed, every = (
        [sum(one.status is Status.failed for one in side) for side in sides],
        [len(side) for side in sides],
    )
    before, after = (one / whole for one, whole in zip(failed, every, strict=True))
    reason = f"{_of(failed[1], every[1])} repetitions failed in B, {_of(failed[0], every[0])} in A"
    if after <= before:
        cell.judge(Judged("completion", Outcome.unchanged, reason))
    elif after == 1 or _more_fail(before, after, every, chance):
        cell.judge(Judged("completion", Outcome.regressed, reason))
    else:
        needed = least(
            lambda number: _more_fail(before, after, [number, number], chance), max(every) + 1
        )
        cell.judge(Judged("completion", Outcome.undecided, reason, needed))


def _more_fail(before: float, after: float, every: Sequence[int], chance: float) -> bool:
    """Fisher's exact test."""
    failed = [round(before * every[0]), round(after * every[1])]
    table = np.array([[failed[i], every[i] - failed[i]] for i in (1, 0)])
    return bool(fisher_exact(table, alternative="greater")[1] < chance)
