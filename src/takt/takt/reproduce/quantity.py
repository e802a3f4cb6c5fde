# SPDX-License-Identifier: Apache-2.0
"""What a statement of a paper is judged by: quantities of what was measured, and a criterion."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean, median
from typing import Generic, Protocol, TypeVar

from takt.reproduce.criterion import EFFECT, LEAST, PUBLISHED, Criterion, sized
from takt.reproduce.highest import Maxima
from takt.reproduce.rare import Counts, Strata, bounds, flat, together
from takt.reproduce.scatter import Missing, Order

NEARLY = 0.9  # of the samples of the paper's run: as long as it


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
    least: float = field(default=-math.inf, kw_only=True)  # it cannot be lower: 1 of a ratio
    most: float = field(default=math.inf, kw_only=True)  # nor higher: 1 of a share


@dataclass(frozen=True)
class Observed(Quantity[Seen]):
    """What was seen: the highest, or a number of cases. It has no interval, and proves no absence.

    A draw of the runs without the one that has it would deny it.
    """


@dataclass(frozen=True)
class Share(Quantity[Seen]):
    """How often something happens of how many times it could: ``strata`` are these, run by run."""

    strata: Callable[[Seen], Strata]
    bounds: Callable[[Strata, float], tuple[float, float]] = bounds  # with so many times as many


@dataclass(frozen=True)
class Highest(Quantity[Seen]):
    """The highest value of a run: the median of the runs' highest, each of ``samples`` at least.

    ``maxima`` are the runs' highest of each point, and ``join`` makes one number of the points'
    medians. What is known of it comes from the order of the runs' highest
    (:mod:`takt.reproduce.highest`): runs that are drawn again never exceed their own highest.
    """

    maxima: Callable[[Seen], Maxima]
    samples: Callable[[Seen], int]
    join: Callable[[Sequence[float]], float]


def highest(
    definition: str,
    maxima: Callable[[Seen], Maxima],
    samples: Callable[[Seen], int],
    join: Callable[[Sequence[float]], float] = fmean,
) -> Highest[Seen]:
    """The highest value of a run, of its definition and the runs' highest."""
    return Highest(
        definition,
        lambda evidence: join([median(runs) for runs in maxima(evidence)]),
        maxima=maxima,
        samples=samples,
        join=join,
    )


def share(definition: str, counts: Callable[[Seen], Sequence[Counts]]) -> Share[Seen]:
    """A share of its definition and counts; Missing where there is no sample."""
    return pooled(definition, lambda evidence: [counts(evidence)])


def pooled(definition: str, strata: Callable[[Seen], Strata]) -> Share[Seen]:
    """The share of what a paper counts together, such as all its middlewares; each is a stratum."""

    def of(evidence: Seen) -> float:
        cases, samples = together(flat(strata(evidence)))
        if not samples:
            raise Missing(f"no samples of: {definition}")
        return cases / samples

    return Share(definition, of, strata)


@dataclass(frozen=True)
class Check(Generic[Seen]):
    """How a statement is judged; ``differs``: what is another thing than in the paper, and why.

    ``not_asked`` says why it is about another kernel, machine or middleware; empty: it is asked.
    ``length`` is how many samples the paper's run had, of whose highest the statement is: the
    highest grows with the length of a run, so shorter runs cannot answer ``too_soon``.
    """

    criterion: str
    quantities: Mapping[str, Quantity[Seen]]
    differs: str = ""
    shown: Mapping[str, Quantity[Seen]] = field(default_factory=dict)  # beside it, not deciding
    not_asked: Callable[[Seen], str] | None = None
    length: int = 0
    too_soon: bool = False

    def __post_init__(self) -> None:
        unknown = {
            name for name in Criterion(self.asked()).names if not name.startswith(PUBLISHED)
        } - set(self.quantities)
        if unknown:
            raise ValueError(f"{self.criterion!r}: no quantity {', '.join(sorted(unknown))}")

    def asked(self, effect: str = LEAST) -> str:
        """The criterion for an effect: as large as published, as it is printed, or another one."""
        return sized(self.criterion, effect)

    @property
    def has_effect(self) -> bool:
        """Whether it asks for an effect that is published."""
        return EFFECT in self.criterion

    def short(self, evidence: Seen) -> int:
        """How many samples the shortest run has where that is too few; 0: runs are long enough."""
        runs = [q.samples(evidence) for q in self.quantities.values() if isinstance(q, Highest)]
        shortest = min(runs, default=self.length)
        return shortest if shortest < NEARLY * self.length else 0


def values_of(quantities: Mapping[str, Quantity[Seen]], evidence: Evidence) -> dict[str, float]:
    """Each of the quantities of what was measured; raises Missing."""
    return {name: one.of(evidence) for name, one in quantities.items()}  # type: ignore[arg-type]
