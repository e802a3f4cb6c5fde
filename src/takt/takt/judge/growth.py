# SPDX-License-Identifier: Apache-2.0
"""Holds recordings to a baseline with the statistics of ``takt compare``.

The intervals hold simultaneously (Bonferroni). Two rules keep a disturbed machine from failing:
growth that stolen time or other programs may have made is undecided, and so is any ratio of one
repetition on each side, because nothing is known of the variation between repetitions. Simulations
repeat to the nanosecond: their ratios are exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, isfinite, log

from takt.judge import model
from takt.judge.model import Judgement, Quantity
from takt.judge.repetition import SIMULATOR, Key, Repetition, Side
from takt.judge.wrong import wrong
from takt.pages import text
from takt.statistics import growth, ratios
from takt.statistics.growth import Share
from takt.statistics.judgement import Outcome
from takt.statistics.shares import Difference, share

LEAST = 3  # repetitions on each side
_OUTCOMES = {
    growth.Outcome.regressed: Outcome.fails,
    growth.Outcome.unchanged: Outcome.meets,
    growth.Outcome.undecided: Outcome.undecided,
}
_EVENTS = {Quantity.skipped: "skipped", Quantity.completeness: "missing"}


@dataclass(frozen=True)
class _Pair:
    """A series on both sides."""

    key: Key
    before: list[Repetition]
    after: list[Repetition]

    @property
    def single(self) -> bool:
        return len(self.before) == len(self.after) == 1


def judge(before: Side, after: Side, by: float, confidence: float, where: str) -> list[Judgement]:
    """Every series of the baseline; raises TaktError for what cannot be compared with it.

    ``by``: the tolerated growth as a share; ``where``: the file of the baseline.
    """
    if before.source != after.source:
        raise wrong(
            f"recorded by {before.source}, but what is judged was recorded by {after.source}",
            where,
            "write a baseline of the same kind: takt gate TRACE --write-baseline FILE",
        )
    pairs, judged = [], []
    for key, series in before.series.items():
        found = [one for one in after.series.get(key, []) if one.count]
        known = [one for one in series if one.count]
        if known and not found:
            judged.append(_gone(key, known, after))
        elif known:
            pairs.append(_Pair(key, known, found))
    exact = after.source == SIMULATOR
    shares = {pair.key: one for pair in pairs if (one := _share(pair, by)) is not None}
    chosen = [
        (pair, name)
        for pair in pairs
        for name in ratios.QUANTILES
        if any(name in one.levels for one in pair.before)
    ]
    tests = len(chosen) + sum(growth.can_alarm(one) for one in shares.values())
    chance = (1 - confidence) / max(1, tests)
    judged += _percentiles(chosen, by, chance, exact=exact)
    for pair in pairs:
        if pair.key in shares:
            judged.append(_of_share(pair, shares[pair.key], by, chance, exact=exact))
    return judged


def differences(before: Side, after: Side) -> list[str]:
    """What is not compared, and why."""
    new = sorted({f"{name}, {what.value}" for name, what in after.series.keys() - before.series})
    found = [f"not in the baseline: {', '.join(new)}"] if new else []
    for key, series in before.series.items():
        limits = (
            {one.limit_us for one in series},
            {one.limit_us for one in after.series.get(key, [])},
        )
        if limits[1] and limits[0] != limits[1]:
            found.append(
                f"{key[0]}, {key[1].value}: another limit than in the baseline: the shares of late "
                "ones are not compared"
            )
    return found


def _gone(key: Key, known: Sequence[Repetition], after: Side) -> Judgement:
    reason = f"{text.count(sum(one.count for one in known))} values in the baseline, none here"
    if not after.whole:
        reason += "; events are lost or the trace is not whole"
    outcome = Outcome.fails if after.whole else Outcome.undecided
    return _judgement(key, 0, outcome, reason, None, None)


def _percentiles(
    chosen: Sequence[tuple[_Pair, str]], by: float, chance: float, *, exact: bool
) -> list[Judgement]:
    """p50 and p99, as far as the baseline has them."""
    enough = [
        (pair, name) for pair, name in chosen if any(name in one.levels for one in pair.after)
    ]
    found = [_ratio(pair, name) for pair, name in enough]
    calm = [_ratio(pair, name, calm=True) for pair, name in enough]
    judged = []
    grown = ratios.judge(found, by, chance)
    undisturbed = ratios.judge(calm, by, chance)
    for (pair, name), one, without in zip(enough, grown, undisturbed, strict=True):
        outcome, needed, remark = _OUTCOMES[one.outcome], one.needed, ""
        if pair.single and not exact and outcome is not Outcome.undecided:
            outcome, needed = Outcome.undecided, LEAST
            remark = "; the variation between repetitions is unknown"
        elif outcome is Outcome.fails and without.outcome is not growth.Outcome.regressed:
            outcome, remark = Outcome.undecided, "; a disturbance may explain it"
        before = _centre(pair.before, name)
        shift = one.shift
        shown = model.Growth(
            statistic=name,
            before=before,
            after=before * shift.ratio,
            low=shift.low,
            high=shift.high if isfinite(shift.high) else None,
            limit=1 + by,
        )
        reason = f"{shift.ratio:.3f} times the baseline"
        if not exact:
            reason += f", interval {shift.low:.3f} … {shift.high:.3f}"
        reason += f", limit {1 + by:g}{remark}"
        count = sum(one.count for one in pair.after)
        judged.append(_judgement(pair.key, count, outcome, reason, needed, shown))
    for pair, name in chosen:
        if (pair, name) not in enough:
            needed_count = ratios.QUANTILES[name][1]
            reason = f"{name} needs {needed_count} values in each repetition: record for longer"
            shown = model.Growth(statistic=name, before=_centre(pair.before, name), after=0.0,
                                 low=None, high=None, limit=1 + by)  # fmt: skip
            judged.append(_judgement(pair.key, 0, Outcome.undecided, reason, None, shown))
    return judged


def _ratio(pair: _Pair, name: str, *, calm: bool = False) -> ratios.Ratio:
    after = [(one.undisturbed or one) if calm else one for one in pair.after]
    sides = [[one.levels[name] for one in side if name in one.levels]
             for side in (pair.before, after)]  # fmt: skip
    if not sides[1]:  # nothing is left without what stolen time may have made: no growth is shown
        sides[1] = sides[0]
    return ratios.ratio(name, sides[0], sides[1])


def _centre(side: Sequence[Repetition], name: str) -> float:
    """The geometric mean in µs."""
    logs = [log(one.levels[name].value) for one in side if name in one.levels]
    return exp(sum(logs) / len(logs)) / 1000


def _share(pair: _Pair, by: float, *, calm: bool = False) -> Share | None:
    """The share of late values or events; None where it has no limit, or another one now."""
    limits = {one.limit_us for one in (*pair.before, *pair.after)}
    if len(limits) > 1:
        return None
    after = [(one.undisturbed or one) if calm else one for one in pair.after]
    return growth.share_of([one.late for one in pair.before], [one.late for one in after], by)


def _of_share(pair: _Pair, one: Share, by: float, chance: float, *, exact: bool) -> Judgement:
    """Late values, or events such as skipped releases."""
    one, found, needed = _decided(one, chance, exact=exact)
    outcome, remark = _OUTCOMES[found], ""
    if outcome is Outcome.fails and pair.single and not exact:
        outcome, needed = Outcome.undecided, LEAST
        remark = "; the variation between repetitions is unknown"
    elif outcome is Outcome.fails and not _remains(pair, by, chance, exact=exact):
        outcome, remark = Outcome.undecided, "; a disturbance may explain it"
    (before, of_before), (after, of_after) = one.counts
    what = _EVENTS.get(pair.key[1], "late")
    name = "late" if what == "late" else "share"
    difference = one.difference or Difference(0.0, 0.0, 0.0)
    limit = one.limit if difference.low > one.limit else one.resolved
    reason = f"{text.count(after)} of {text.count(of_after)} {what}, "
    reason += f"{text.count(before)} of {text.count(of_before)} in the baseline"
    reason += f"; growth {100 * difference.low:+.3g} … {100 * difference.high:+.3g} "
    reason += f"percentage points, limit {100 * limit:.3g}{remark}"
    shown = model.Growth(
        statistic=name,
        before=share(one.a),
        after=share(one.b),
        low=difference.low,
        high=difference.high,
        limit=limit,
    )
    return _judgement(pair.key, of_after, outcome, reason, needed, shown)


def _remains(pair: _Pair, by: float, chance: float, *, exact: bool) -> bool:
    """Whether a growth is shown without what a disturbance may have made."""
    one = _share(pair, by, calm=True)
    return one is not None and _decided(one, chance, exact=exact)[1] is growth.Outcome.regressed


def _decided(one: Share, chance: float, *, exact: bool) -> tuple[Share, growth.Outcome, int | None]:
    if not exact:
        return growth.judge(one, chance)
    value = share(one.b) - share(one.a)
    outcome = growth.Outcome.regressed if value > one.limit else growth.Outcome.unchanged
    return Share(one.a, one.b, one.limit, one.limit, Difference(value, value, value)), outcome, None


def _judgement(
    key: Key,
    count: int,
    outcome: Outcome,
    reason: str,
    needed: int | None,
    shown: model.Growth | None,
) -> Judgement:
    return Judgement(
        subject=key[0],
        quantity=key[1],
        limit_us=None,
        allowed=0,
        exceeded=0,
        count=count,
        outcome=outcome,
        reason=reason,
        needed=needed,
        growth=shown
        or model.Growth(statistic=model.VALUES, before=0, after=0, low=None, high=None, limit=0),
    )
