# SPDX-License-Identifier: Apache-2.0
"""Whether a statement of a paper holds here: a criterion over quantities, each with its interval.

The runs of every point are drawn again with replacement, and the quantities are computed anew from
each such draw (the bootstrap, stratified by points). Few runs know little of their own scatter, so
the percentiles are taken further out, as Student's t is wider than the normal distribution
(Hesterberg 2015, "What Teachers Should Know About the Bootstrap", section 4.3: the expanded
percentile interval). The statement holds where the criterion is true of all draws but so few, does
not hold where it is false of all but so few, and is undecided between.

How often something rare happens is not known better than its number of samples allows, though no
run shows a single case: a :class:`Share` has, instead of its draws, by turns the lower and the
upper bound of Clopper and Pearson (1934). Cases that come together in few runs tell less than as
many that come alone: as many as come together, beyond chance, count as one.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from takt.reproduce.criterion import Criterion
from takt.reproduce.model import Answer, Figures, duration_in_words, rounded

DRAWS = 4000
CONFIDENCE = 0.95
PUBLISHED = "published_"  # before the names of the paper's own values, in a criterion
MOST_TIMES = 64  # as many runs: beyond that, the value lies at the threshold
MEASURING = " of measuring"
MOST_TIMES_SAMPLES = 1 << 40  # as many samples, for what is rare


class Missing(Exception):
    """A point that a statement needs was not measured, or does not tell."""


class Evidence(Protocol):
    """What was measured, in runs; it remembers which points it was asked for."""

    def drawn(self, rng: np.random.Generator | None) -> Evidence:
        """Nothing asked yet; with ``rng``, the runs of each point drawn with replacement."""

    @property
    def runs(self) -> int:
        """The fewest runs of a point that was asked for."""

    @property
    def seconds(self) -> float:
        """How long the measuring of all that was asked for took."""


Seen = TypeVar("Seen", bound=Evidence)


@dataclass(frozen=True)
class Quantity(Generic[Seen]):
    """One number of this machine that stands for one of the paper."""

    definition: str
    of: Callable[[Seen], float]


Counts = tuple[int, int]  # cases, of how many


@dataclass(frozen=True)
class Share(Quantity[Seen]):
    """How often something happens of how many times it could: ``counts`` are these, run by run."""

    counts: Callable[[Seen], Sequence[Counts]]


def share(definition: str, counts: Callable[[Seen], Sequence[Counts]]) -> Share[Seen]:
    """A share of its definition and counts; Missing where there is no sample."""

    def of(evidence: Seen) -> float:
        cases, samples = _together(counts(evidence))
        if not samples:
            raise Missing(f"no samples of: {definition}")
        return cases / samples

    return Share(definition, of, counts)


@dataclass(frozen=True)
class Check(Generic[Seen]):
    """How a statement is judged; ``differs``: what is another thing than in the paper, and why."""

    criterion: str
    quantities: Mapping[str, Quantity[Seen]]
    differs: str = ""
    shown: Mapping[str, Quantity[Seen]] = field(default_factory=dict)  # beside it, not deciding

    def __post_init__(self) -> None:
        unknown = {
            name for name in Criterion(self.criterion).names if not name.startswith(PUBLISHED)
        } - set(self.quantities)
        if unknown:
            raise ValueError(f"{self.criterion!r}: no quantity {', '.join(sorted(unknown))}")


def judge(
    check: Check[Seen], published: Figures, evidence: Seen, most_draws: int = DRAWS
) -> Answer:
    """The answer of this machine; undecided, with the reason, where the data cannot tell."""
    criterion = Criterion(check.criterion)
    known = _known(published)
    asked = evidence.drawn(None)
    try:
        found = _values(check.quantities, asked)
        shown = _values(check.shown, asked)
    except Missing as missing:
        return Answer(check.criterion, None, {}, differs=check.differs, needs=str(missing))
    judged = partial(
        Answer,
        criterion=check.criterion,
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
    draws = _draws(check.quantities, evidence, most_draws)

    def decided(times: float) -> bool | None:
        """With draws as near to what was found as with so many times as many runs."""
        rows, counts = np.unique(draws.of(times), axis=0, return_counts=True)
        true = sum(
            int(count)
            for row, count in zip(rows, counts, strict=True)
            if criterion.holds({**known, **dict(zip(found, map(float, row), strict=True))})
        )
        few = outside(runs) * int(counts.sum())
        return True if counts.sum() - true <= few else False if true <= few else None

    holds = decided(1.0)
    return judged(
        holds=holds,
        intervals={
            name: _interval(column, runs)
            for name, column in zip(found, draws.of(1.0).T, strict=True)
        },
        needs="" if holds is not None else _needs(decided, runs, draws.samples, asked.seconds),
    )


def interval(
    quantity: Quantity[Seen], evidence: Seen, most_draws: int = DRAWS
) -> tuple[float, float] | None:
    """That of one quantity alone, as a judgement has it; None: a point has one run only."""
    asked = evidence.drawn(None)
    quantity.of(asked)  # type: ignore[arg-type]
    if asked.runs < 2:
        return None
    return _interval(_draws({"": quantity}, evidence, most_draws).of(1.0)[:, 0], asked.runs)


def undecidable(
    checks: Mapping[str, Check[Seen]], published: Mapping[str, Figures], planned: Seen
) -> list[str]:
    """The checks that ``planned`` is too little for: a point is not in it, or samples are too few.

    Samples suffice where their bounds decide even though not one case is seen.
    """
    return [name for name, check in checks.items() if not _tells(check, published[name], planned)]


def _tells(check: Check[Seen], published: Figures, planned: Seen) -> bool:
    values: list[tuple[float, ...]] = []
    try:
        for one in check.quantities.values():
            if isinstance(one, Share):
                values.append(_bounds(one.counts(planned)))
            else:
                values.append((one.of(planned),))
    except Missing:
        return False
    if not any(isinstance(one, Share) for one in check.quantities.values()):
        return True
    known = _known(published)
    criterion = Criterion(check.criterion)
    answers = {
        criterion.holds({**known, **dict(zip(check.quantities, corner, strict=True))})
        for corner in itertools.product(*values)
    }
    return len(answers) == 1


def _known(published: Figures) -> dict[str, float]:
    """The paper's values by their names in a criterion."""
    return {
        f"{PUBLISHED}{name}": float(value)
        for name, value in published.items()
        if isinstance(value, int | float)
    }


def _values(quantities: Mapping[str, Quantity[Seen]], evidence: Evidence) -> dict[str, float]:
    return {name: one.of(evidence) for name, one in quantities.items()}  # type: ignore[arg-type]


@dataclass(frozen=True)
class _Draws:
    """The quantities of what was found, and of each draw, a row each; counts of the shares."""

    found: NDArray[np.float64]
    values: NDArray[np.float64]
    counts: Mapping[int, Sequence[Counts]]  # by column

    @property
    def samples(self) -> int:
        """The fewest samples of a share; 0 where there is none."""
        return min((_together(runs)[1] for runs in self.counts.values()), default=0)

    def of(self, times: float) -> NDArray[np.float64]:
        """The draws if there were so many times as many runs, which scatter as those there are."""
        rows = self.found + times**-0.5 * (self.values - self.found)
        for place, (column, runs) in enumerate(self.counts.items()):
            high = (
                np.arange(len(rows)) >> place & 1
            )  # every bound of one beside every of the others
            rows[:, column] = np.array(_bounds(runs, times))[high]
        return np.asarray(rows)


def _bounds(runs: Sequence[Counts], times: float = 1.0) -> tuple[float, float]:
    """Clopper and Pearson's bounds of a share, half of what CONFIDENCE leaves beyond each."""
    cases, of = (times * number / _dispersion(runs) for number in _together(runs))
    level = (1 + CONFIDENCE) / 2
    low = stats.beta.ppf(1 - level, cases, of - cases + 1) if cases else 0.0
    high = stats.beta.ppf(level, cases + 1, of - cases) if of > cases else 1.0
    return float(low), float(high)


def _dispersion(runs: Sequence[Counts]) -> float:
    """How many cases of a run come with a case, itself included and those by chance left out."""
    cases, of = _together(runs)
    if not cases:
        return 1.0
    others = sum(one * (one - 1) for one, _ in runs)
    by_chance = sum((cases * number / of) ** 2 for _, number in runs)
    return max(1.0, 1 + (others - by_chance) / cases)


def _together(runs: Sequence[Counts]) -> Counts:
    return sum(cases for cases, _ in runs), sum(of for _, of in runs)


def _draws(quantities: Mapping[str, Quantity[Seen]], evidence: Evidence, most: int) -> _Draws:
    """A draw of runs that tell nothing is left out."""
    rng = np.random.default_rng(1)
    every = evidence.drawn(None)
    rows = []
    for _ in range(most):
        with contextlib.suppress(Missing):
            rows.append(list(_values(quantities, evidence.drawn(rng)).values()))
    return _Draws(
        np.array(list(_values(quantities, every).values())),
        np.array(rows),
        {
            column: one.counts(every)
            for column, one in enumerate(quantities.values())
            if isinstance(one, Share)
        },
    )


def outside(runs: int) -> float:
    """The share of draws beyond each end of the interval, for so many runs of a point."""
    reach = stats.t.ppf((1 + CONFIDENCE) / 2, runs - 1) * np.sqrt(runs / (runs - 1))
    return float(stats.norm.cdf(-reach))


def _interval(draws: NDArray[np.float64], runs: int) -> tuple[float, float]:
    low, high = np.quantile(draws, [outside(runs), 1 - outside(runs)])
    return float(low), float(high)


def _needs(decided: Callable[[float], bool | None], runs: int, samples: int, seconds: float) -> str:
    """What it would take: how many runs, if they scatter as those that are there.

    For what is rare, how many samples, if it stays as rare.
    """
    most = MOST_TIMES_SAMPLES if samples else MOST_TIMES
    times = 2
    while times <= most and decided(times) is None:
        times *= 2
    if times > most and samples:
        return "the value lies at the threshold: no number of samples like these would tell"
    if times > most:
        return f"the value lies at the threshold: {MOST_TIMES} times as many runs would not tell"
    if samples:
        low, high = times / 2, float(times)
        while high > 1.05 * low:
            middle = (low * high) ** 0.5
            low, high = (middle, high) if decided(middle) is None else (low, middle)
        return f"about {samples * high:.2g} samples: {duration_in_words(seconds * high)}{MEASURING}"
    return (
        f"about {runs * times} runs of each point: {duration_in_words(seconds * times)}{MEASURING}"
    )
