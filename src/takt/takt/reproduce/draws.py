# SPDX-License-Identifier: Apache-2.0
"""How far the truth may be from what was found: quantities of runs that are drawn again.

Runs are drawn with replacement, those of each point apart (the bootstrap, stratified). Few runs
know little of their own scatter, so the draws are taken further from what was found, as Student's t
is wider than the normal distribution. Hesterberg (2015, "What Teachers Should Know About the
Bootstrap", section 4.3) takes the percentiles further out instead, but these never leave what was
seen: of two runs, the truth is beyond both every other time.

How often something rare happens is not known better than its number of samples allows, though no
run shows a single case: a :class:`Share` has, instead of its draws, by turns the bounds that
:mod:`takt.reproduce.rare` knows; and a :class:`Highest` has those of
:mod:`takt.reproduce.highest`. How wide the draws are is taken of each side - side of a
comparison, as in Welch's test, not of its sides apart.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from takt.reproduce.criterion import Criterion
from takt.reproduce.highest import Maxima, medians
from takt.reproduce.quantity import Highest, Observed, Quantity, Seen, Share, values_of
from takt.reproduce.rare import Strata, flat, together
from takt.reproduce.scatter import CONFIDENCE, Missing, Order, degrees, reach

DRAWS = 4000
Bounds = Callable[[Strata, float], tuple[float, float]]
BEYOND = (1 - CONFIDENCE) / 2  # the share of draws beyond each end of an interval


@dataclass(frozen=True)
class Draws:
    """What was found, and each draw of it: a row for each quantity, a column for each draw."""

    names: Sequence[str]
    criterion: Criterion
    known: Mapping[str, float]
    found: NDArray[np.float64]
    values: NDArray[np.float64]
    counts: Mapping[int, tuple[Strata, Bounds]]  # of the shares, by row
    maxima: Mapping[int, tuple[Maxima, Callable[[Sequence[float]], float]]]  # of the highest values
    runs: int
    degrees: NDArray[np.float64]  # of freedom: of the quantities, then of the margins
    least: NDArray[np.float64]  # that each quantity can be
    most: NDArray[np.float64]

    @classmethod
    def of(
        cls,
        quantities: Mapping[str, Quantity[Seen]],
        criterion: Criterion,
        known: Mapping[str, float],
        evidence: Seen,
        most: int,
    ) -> Draws:
        """A draw of runs that tell nothing is left out."""
        rng = np.random.default_rng(1)
        every = evidence.drawn(None)
        found = values_of(quantities, every)
        fixed = {name: found[name] for name, q in quantities.items() if isinstance(q, Observed)}

        def again(order: Order) -> dict[str, float]:
            return {**values_of(quantities, evidence.drawn(order)), **fixed}

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
                row: (one.strata(every), one.bounds)
                for row, one in enumerate(quantities.values())
                if isinstance(one, Share)
            },
            {
                row: (one.maxima(every), one.join)
                for row, one in enumerate(quantities.values())
                if isinstance(one, Highest)
            },
            every.runs,
            degrees(both),
            np.array([one.least for one in quantities.values()]),
            np.array([one.most for one in quantities.values()]),
        )

    @property
    def samples(self) -> int:
        """The fewest samples of a share; 0 where no share is what leaves it undecided."""
        if not self.counts:
            return 0
        found, values = (self._margins(rows) for rows in self._with_bounds(1.0))
        of_shares = (found == values).all(axis=1)
        above = (found > 0).mean(axis=1)
        if not (of_shares & (above > 0) & (above < 1)).any():
            return 0
        return round(min(together(flat(runs))[1] for runs, _ in self.counts.values()))

    def quantities(self) -> NDArray[np.float64]:
        """How far the truth may be from what was found; of a share, by turns its bounds."""
        found, values = self._with_bounds(1.0)
        beyond = reach(self.degrees[: len(found)], self.runs)[:, None]
        rows = np.clip(found + beyond * (values - found), self.least[:, None], self.most[:, None])
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
        """What was found, and the draws; shares and highest values are the same in both."""
        values = self.values.copy()
        found = np.repeat(self.found[:, None], values.shape[1], axis=1)
        for place, (row, (runs, bounds)) in enumerate(self.counts.items()):
            # Every bound of one beside every one of the others.
            high = np.arange(values.shape[1]) >> place & 1
            values[row] = found[row] = np.array(bounds(runs, times))[high]
        rng = np.random.default_rng(2)
        for row, (points, join) in self.maxima.items():
            drawn = [medians(runs, values.shape[1], times, rng) for runs in points]
            values[row] = found[row] = [join(each) for each in zip(*drawn, strict=True)]
        return found, values


def interval(
    quantity: Quantity[Seen], evidence: Seen, most_draws: int = DRAWS
) -> tuple[float, float] | None:
    """That of one quantity alone, as a judgement has it; None: a point has one run only."""
    asked = evidence.drawn(None)
    quantity.of(asked)  # type: ignore[arg-type]
    if asked.runs < 2:
        return None
    draws = Draws.of({"value": quantity}, Criterion("value"), {}, evidence, most_draws)
    return ends(draws.quantities()[0])


def ends(draws: NDArray[np.float64]) -> tuple[float, float]:
    """Those of the interval that draws are in."""
    low, high = np.quantile(draws, [BEYOND, 1 - BEYOND])
    return float(low), float(high)
