# SPDX-License-Identifier: Apache-2.0
"""Whether a statement of a paper holds here: a criterion over quantities, each with its interval.

It holds where the criterion is true of all draws (:mod:`takt.reproduce.draws`) but a fortieth, does
not hold where it is false of all but so many, and is undecided between.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

import numpy as np

from takt.pages import text
from takt.reproduce.criterion import ANY, MORE, PUBLISHED, Criterion
from takt.reproduce.draws import BEYOND, DRAWS, Draws, ends
from takt.reproduce.model import Answer, Effect, Figures, duration_in_words, rounded
from takt.reproduce.quantity import Check, Observed, Seen, Share, values_of
from takt.reproduce.scatter import Missing

FAR_APART = 0.5  # of a value: an interval that is wider is scatter, not a value at the threshold
MOST_TIMES = 64  # as many runs: beyond that, the value lies at the threshold
MEASURING = " of measuring"
MOST_TIMES_SAMPLES = 1 << 40  # as many samples, for what is rare


def judge(
    check: Check[Seen], published: Figures, evidence: Seen, most_draws: int = DRAWS
) -> Answer:
    """The answer of this machine; undecided, with the reason, where the data cannot tell."""
    criterion = Criterion(check.asked())
    known = _known(published)
    asked = evidence.drawn(None)
    why = check.not_asked(evidence) if check.not_asked else ""
    if why:
        return Answer(criterion.text, None, {}, differs=check.differs, not_asked=why)
    try:
        found = values_of(check.quantities, asked)
        shown = values_of(check.shown, asked)
    except Missing as missing:
        return Answer(criterion.text, None, {}, differs=check.differs, needs=str(missing))
    judged = partial(
        Answer,
        criterion=criterion.text,
        measured=rounded({**found, **shown}),
        definitions={
            name: one.definition for name, one in (*check.quantities.items(), *check.shown.items())
        },
        differs=check.differs,
    )
    runs = asked.runs
    if runs < 2:
        needs = "a point has one run only: two at least show how far runs differ"
        return judged(holds=None, needs=needs)
    draws = Draws.of(check.quantities, criterion, known, evidence, most_draws)

    def decided(times: float) -> bool | None:
        """With draws as near to what was found as with so many times as many runs."""
        return _decided(draws, times)

    holds, effect = decided(1.0), _effect(check, draws)
    if (samples := check.short(evidence)) and holds is check.too_soon and _premature(check, draws):
        needs = (
            f"runs of {text.count(check.length)} samples, as the paper's, because a run's highest "
            f"grows with its length; these have {text.count(samples)}"
        )
        return judged(holds=None, needs=needs)
    return judged(
        holds=holds,
        effect=effect if holds is not None else "",
        intervals={
            name: ends(row)
            for name, row in zip(found, draws.quantities(), strict=True)
            if not isinstance(check.quantities[name], Observed)
        },
        needs="" if holds is not None else _needs(decided, runs, draws, asked.seconds),
    )


def _decided(draws: Draws, times: float = 1.0) -> bool | None:
    true = float(np.mean(draws.criterion.of(draws.margins(times))))
    return True if true >= 1 - BEYOND else False if true <= BEYOND else None


def _effect(check: Check[Seen], draws: Draws) -> Effect:
    """Whether an effect is certainly there but smaller than published, or certainly larger."""
    if not check.has_effect:
        return ""
    any_effect, larger = (
        _decided(replace(draws, criterion=Criterion(check.asked(size)))) for size in (ANY, MORE)
    )
    if larger:
        return "larger"
    return "smaller" if any_effect and _decided(draws) is False else ""


def _premature(check: Check[Seen], draws: Draws) -> bool:
    """Longer runs may answer otherwise: nothing shows that the effect is the other way round."""
    if not check.has_effect:
        return True
    return _decided(replace(draws, criterion=Criterion(check.asked(ANY)))) is not False


def undecidable(
    checks: Mapping[str, Check[Seen]], published: Mapping[str, Figures], planned: Seen
) -> list[str]:
    """The checks that ``planned`` is too little for: a point is not in it, or samples are too few.

    Samples suffice where their bounds decide even though not one case is seen.
    """
    return [name for name, check in checks.items() if not _decides(check, published[name], planned)]


def _decides(check: Check[Seen], published: Figures, planned: Seen) -> bool:
    if check.not_asked and check.not_asked(planned):
        return True
    if check.too_soon and _too_short(check, planned):
        return False
    values: list[tuple[float, ...]] = []
    try:
        for one in check.quantities.values():
            if isinstance(one, Share):
                values.append(one.bounds(one.strata(planned), 1.0))
            else:
                values.append((one.of(planned),))
    except Missing:
        return False
    if not any(isinstance(one, Share) for one in check.quantities.values()):
        return True
    known = _known(published)
    criterion = Criterion(check.asked())
    answers = {
        criterion.holds({**known, **dict(zip(check.quantities, corner, strict=True))})
        for corner in itertools.product(*values)
    }
    return len(answers) == 1


def _too_short(check: Check[Seen], planned: Seen) -> bool:
    with contextlib.suppress(Missing):
        return check.short(planned) > 0
    return True


def _known(published: Figures) -> dict[str, float]:
    """The paper's values by their names in a criterion."""
    return {
        f"{PUBLISHED}{name}": float(value)
        for name, value in published.items()
        if isinstance(value, int | float)
    }


def _needs(decided: Callable[[float], bool | None], runs: int, draws: Draws, seconds: float) -> str:
    """What it would take: how many runs, if they scatter as those that are there.

    For what is rare, how many samples, if it stays as rare.
    """
    samples = draws.samples
    most = MOST_TIMES_SAMPLES if samples else MOST_TIMES
    times = 2
    while times <= most and decided(times) is None:
        times *= 2
    if times > most and samples:
        return "the value lies at the threshold: no number of such samples would decide"
    if times > most and (scatter := _widest(draws)):
        return f"runs that differ less: {scatter}; {MOST_TIMES} times as many would not decide"
    if times > most:
        return (
            f"the value lies at the threshold: even {MOST_TIMES} times as many "
            "runs would not decide"
        )
    if samples:
        low, high = times / 2, float(times)
        while high > 1.05 * low:
            middle = (low * high) ** 0.5
            low, high = (middle, high) if decided(middle) is None else (low, middle)
        about = float(f"{samples * high:.2g}")
        return f"about {text.fixed(about)} samples: {duration_in_words(seconds * high)}{MEASURING}"
    return (
        f"about {runs * times} runs of each point: {duration_in_words(seconds * times)}{MEASURING}"
    )


def _widest(draws: Draws) -> str:
    """The quantity whose interval is the widest, if that is more than half of its value."""
    rows = dict(zip(draws.names, zip(draws.found, draws.quantities(), strict=True), strict=True))
    wide = {}
    for name, (found, row) in rows.items():
        low, high = ends(row)
        if (width := high - low) > FAR_APART * abs(found):
            wide[name] = (width / max(abs(found), 1e-12), low, high)
    if not wide:
        return ""
    name = max(wide, key=lambda one: wide[one][0])
    _, low, high = wide[name]
    return f"{name} is {low:.4g} to {high:.4g}"
