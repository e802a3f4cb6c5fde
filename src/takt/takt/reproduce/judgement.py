# SPDX-License-Identifier: Apache-2.0
"""Whether a statement of a paper holds here: a criterion over quantities, each with its interval.

The runs of every point are drawn again with replacement, and the quantities are computed anew from
each such draw (the bootstrap, stratified by points). Few runs know little of their own scatter, so
the draws are taken further from what was found, as Student's t is wider than the normal
distribution. Hesterberg (2015, "What Teachers Should Know About the Bootstrap", section 4.3) takes
the percentiles further out instead, but these never leave what was seen: of two runs, the truth is
beyond both every other time. The statement holds where the criterion is true of all draws but a
fortieth, does not hold where it is false of all but so many, and is undecided between.

How often something rare happens is not known better than its number of samples allows, though no
run shows a single case: a :class:`Share` has, instead of its draws, by turns the bounds that
:mod:`takt.reproduce.rare` knows. How wide the draws are is taken of each side - side of a
comparison, as in Welch's test, not of its sides apart.
"""

from __future__ import annotations

import contextlib
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from takt.reproduce.criterion import Criterion
from takt.reproduce.model import Answer, Figures, duration_in_words, rounded
from takt.reproduce.rare import Counts, bounds, together
from takt.reproduce.scatter import CONFIDENCE, Missing, Order, degrees, reach

__all__ = [
    "Check", "Counts", "Missing", "Observed", "Order", "Quantity", "Share", "judge", "share",
]  # fmt: skip

DRAWS = 4000
BEYOND = (1 - CONFIDENCE) / 2  # the share of draws beyond each end of an interval
PUBLISHED = "published_"  # before the names of the paper's own values, in a criterion
MOST_TIMES = 64  # as many runs: beyond that, the value lies at the threshold
MEASURING = " of measuring"
MOST_TIMES_SAMPLES = 1 << 40  # as many samples, for what is rare


class Evidence(Protocol):
    """What was measured, in runs; it remembers which points it was asked for."""

    def drawn(self, order: Order | None) -> Evidence:
        """Nothing asked yet; with an order, the runs of each point that this says."""

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
    most: float = field(default=math.inf, kw_only=True)  # it cannot be higher: 1 of a share


@dataclass(frozen=True)
class Observed(Quantity[Seen]):
    """What was seen: the highest, or a number of cases. It has no interval, and proves no absence.

    A draw of the runs without the one that has it would deny it.
    """


@dataclass(frozen=True)
class Share(Quantity[Seen]):
    """How often something happens of how many times it could: ``counts`` are these, run by run."""

    counts: Callable[[Seen], Sequence[Counts]]


def share(definition: str, counts: Callable[[Seen], Sequence[Counts]]) -> Share[Seen]:
    """A share of its definition and counts; Missing where there is no sample."""

    def of(evidence: Seen) -> float:
        cases, samples = together(counts(evidence))
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
    draws = _Draws.of(check.quantities, criterion, known, evidence, most_draws)

    def decided(times: float) -> bool | None:
        """With draws as near to what was found as with so many times as many runs."""
        true = float(np.mean(criterion.of(draws.margins(times))))
        return True if true >= 1 - BEYOND else False if true <= BEYOND else None

    holds = decided(1.0)
    return judged(
        holds=holds,
        intervals={
            name: _interval(row)
            for name, row in zip(found, draws.quantities(), strict=True)
            if not isinstance(check.quantities[name], Observed)
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
    draws = _Draws.of({"value": quantity}, Criterion("value"), {}, evidence, most_draws)
    return _interval(draws.quantities()[0])


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
                values.append(bounds(one.counts(planned)))
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
    """What was found, and each draw of it: a row for each quantity, a column for each draw."""

    names: Sequence[str]
    criterion: Criterion
    known: Mapping[str, float]
    found: NDArray[np.float64]
    values: NDArray[np.float64]
    counts: Mapping[int, Sequence[Counts]]  # of the shares, by row
    runs: int
    degrees: NDArray[np.float64]  # of freedom: of the quantities, then of the margins
    most: NDArray[np.float64]  # of the quantities

    @classmethod
    def of(
        cls,
        quantities: Mapping[str, Quantity[Seen]],
        criterion: Criterion,
        known: Mapping[str, float],
        evidence: Seen,
        most: int,
    ) -> _Draws:
        """A draw of runs that tell nothing is left out."""
        rng = np.random.default_rng(1)
        every = evidence.drawn(None)
        found = _values(quantities, every)
        fixed = {name: found[name] for name, q in quantities.items() if isinstance(q, Observed)}

        def again(order: Order) -> dict[str, float]:
            return {**_values(quantities, evidence.drawn(order)), **fixed}

        drawn = []
        for _ in range(most):
            with contextlib.suppress(Missing):
                drawn.append(list(again(rng).values()))

        def both(order: Order) -> NDArray[np.float64]:
            values = again(order)
            each = {name: np.array([one]) for name, one in {**known, **values}.items()}
            return np.array([*values.values(), *criterion.margins(each)[:, 0]])

        return cls(
            list(quantities),
            criterion,
            known,
            np.array(list(found.values())),
            np.array(drawn).T,
            {
                row: one.counts(every)
                for row, one in enumerate(quantities.values())
                if isinstance(one, Share)
            },
            every.runs,
            degrees(both),
            np.array([one.most for one in quantities.values()]),
        )

    @property
    def samples(self) -> int:
        """The fewest samples of a share; 0 where no share is what leaves it undecided."""
        found, values = (self._margins(rows) for rows in self._with_bounds(1.0))
        of_shares = (found == values).all(axis=1)
        above = (found > 0).mean(axis=1)
        if not (of_shares & (above > 0) & (above < 1)).any():
            return 0
        return min((together(runs)[1] for runs in self.counts.values()), default=0)

    def quantities(self) -> NDArray[np.float64]:
        """How far the truth may be from what was found; of a share, by turns its bounds."""
        found, values = self._with_bounds(1.0)
        beyond = reach(self.degrees[: len(found)], self.runs)[:, None]
        rows = np.minimum(found + beyond * (values - found), self.most[:, None])
        # What is below zero in no run is not below zero.
        return np.where((values >= 0).all(axis=1, keepdims=True), np.maximum(rows, 0), rows)

    def margins(self, times: float) -> NDArray[np.float64]:
        """The same of the criterion's comparisons, with so many times as many runs.

        These are assumed to scatter as those that there are.
        """
        found, values = (self._margins(rows) for rows in self._with_bounds(times))
        freedom = self.degrees[len(self.names) :] * (self.runs * times - 1) / (self.runs - 1)
        beyond = times**-0.5 * reach(freedom, self.runs)[:, None]
        return np.asarray(found + beyond * (values - found))

    def _margins(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        drawn = dict(zip(self.names, rows, strict=True))
        known = {name: np.full(rows.shape[1], value) for name, value in self.known.items()}
        return self.criterion.margins({**known, **drawn})

    def _with_bounds(self, times: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """What was found, and the draws; shares are at their bounds in both."""
        values = self.values.copy()
        found = np.repeat(self.found[:, None], values.shape[1], axis=1)
        for place, (row, runs) in enumerate(self.counts.items()):
            # Every bound of one beside every one of the others.
            high = np.arange(values.shape[1]) >> place & 1
            values[row] = found[row] = np.array(bounds(runs, times))[high]
        return found, values


def _interval(draws: NDArray[np.float64]) -> tuple[float, float]:
    low, high = np.quantile(draws, [BEYOND, 1 - BEYOND])
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
        about = float(f"{samples * high:.2g}")
        return f"about {about:,.0f} samples: {duration_in_words(seconds * high)}{MEASURING}"
    return (
        f"about {runs * times} runs of each point: {duration_in_words(seconds * times)}{MEASURING}"
    )
