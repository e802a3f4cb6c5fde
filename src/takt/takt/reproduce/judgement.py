# SPDX-License-Identifier: Apache-2.0
"""Whether a statement of a paper holds here: a criterion over quantities, each with its interval.

The runs of every point are drawn again with replacement, and the quantities are computed anew from
each such draw (the bootstrap, stratified by points). Few runs know little of their own scatter, so
the percentiles are taken further out, as Student's t is wider than the normal distribution
(Hesterberg 2015, "What Teachers Should Know About the Bootstrap", section 4.3: the expanded
percentile interval). The statement holds where the criterion is true of all draws but so few, does
not hold where it is false of all but so few, and is undecided between.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from takt.reproduce.criterion import Criterion
from takt.reproduce.model import Answer, Figures, rounded

DRAWS = 4000
CONFIDENCE = 0.95
PUBLISHED = "published_"  # before the names of the paper's own values, in a criterion
MOST_TIMES = 64  # as many runs: beyond that, the value lies at the threshold


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
    known = {
        f"{PUBLISHED}{name}": float(value)
        for name, value in published.items()
        if isinstance(value, int | float)
    }
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

    def decided(spread: float) -> bool | None:
        """With draws so many times as far from what was found, as if there were more runs."""
        rows, counts = np.unique(
            list(found.values()) + spread * (draws - list(found.values())),
            axis=0,
            return_counts=True,
        )
        true = sum(
            int(count)
            for row, count in zip(rows, counts, strict=True)
            if criterion.holds({**known, **dict(zip(found, map(float, row), strict=True))})
        )
        few = outside(runs) * len(draws)
        return True if len(draws) - true <= few else False if true <= few else None

    holds = decided(1.0)
    return judged(
        holds=holds,
        intervals={
            name: _interval(column, runs) for name, column in zip(found, draws.T, strict=True)
        },
        needs="" if holds is not None else _needs(decided, runs, asked.seconds),
    )


def _values(quantities: Mapping[str, Quantity[Seen]], evidence: Evidence) -> dict[str, float]:
    return {name: one.of(evidence) for name, one in quantities.items()}  # type: ignore[arg-type]


def _draws(
    quantities: Mapping[str, Quantity[Seen]], evidence: Evidence, most: int
) -> NDArray[np.float64]:
    """The quantities of each draw, a row each; a draw of runs that tell nothing is left out."""
    rng = np.random.default_rng(1)
    rows = []
    for _ in range(most):
        with contextlib.suppress(Missing):
            rows.append(list(_values(quantities, evidence.drawn(rng)).values()))
    return np.array(rows)


def outside(runs: int) -> float:
    """The share of draws beyond each end of the interval, for so many runs of a point."""
    reach = stats.t.ppf((1 + CONFIDENCE) / 2, runs - 1) * np.sqrt(runs / (runs - 1))
    return float(stats.norm.cdf(-reach))


def _interval(draws: NDArray[np.float64], runs: int) -> tuple[float, float]:
    low, high = np.quantile(draws, [outside(runs), 1 - outside(runs)])
    return float(low), float(high)


def _needs(decided: Callable[[float], bool | None], runs: int, seconds: float) -> str:
    """What it would take: how many runs, if they scatter as those that are there."""
    times = 2
    while times <= MOST_TIMES:
        if decided(times**-0.5) is not None:
            minutes = seconds * times / 60
            return f"about {runs * times} runs of each point: {minutes:.0f} min of measuring"
        times *= 2
    return f"the value lies at the threshold: {MOST_TIMES} times as many runs would not tell"
