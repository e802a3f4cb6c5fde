# SPDX-License-Identifier: Apache-2.0
"""What a statement of a paper is judged by: quantities of what was measured, and a criterion."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

from takt.reproduce.criterion import Criterion
from takt.reproduce.rare import Counts, Strata, flat, together
from takt.reproduce.scatter import Missing, Order

PUBLISHED = "published_"  # before the names of the paper's own values, in a criterion


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


def share(definition: str, counts: Callable[[Seen], Sequence[Counts]]) -> Share[Seen]:
    """A share of its definition and counts; Missing where there is no sample."""
    return pooled(definition, lambda seen: [counts(seen)])


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
    """

    criterion: str
    quantities: Mapping[str, Quantity[Seen]]
    differs: str = ""
    shown: Mapping[str, Quantity[Seen]] = field(default_factory=dict)  # beside it, not deciding
    not_asked: Callable[[Seen], str] | None = None

    def __post_init__(self) -> None:
        unknown = {
            name for name in Criterion(self.criterion).names if not name.startswith(PUBLISHED)
        } - set(self.quantities)
        if unknown:
            raise ValueError(f"{self.criterion!r}: no quantity {', '.join(sorted(unknown))}")


# Half as much again is told apart from alike, and from "around" a number.
ALIKE = "1.5"


def around(name: str, published: str) -> str:
    """Neither half as much again as a number of the paper, nor as much below."""
    return f"{published} / {ALIKE} <= {name} <= {ALIKE} * {published}"


def alike(one: str, other: str) -> str:
    """Neither is more than half as much again as the other."""
    return f"{one} <= {ALIKE} * {other} and {other} <= {ALIKE} * {one}"


def values_of(quantities: Mapping[str, Quantity[Seen]], evidence: Evidence) -> dict[str, float]:
    """Each of the quantities of what was measured; raises Missing."""
    return {name: one.of(evidence) for name, one in quantities.items()}  # type: ignore[arg-type]
