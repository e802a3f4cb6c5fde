# SPDX-License-Identifier: Apache-2.0
"""What was measured in several runs, each by its name."""

from __future__ import annotations

from collections.abc import Mapping

from takt.reproduce.evidence import Evidence
from takt.reproduce.quantity import Highest, Quantity, highest
from takt.reproduce.scatter import Missing, Order


class Several:
    """The evidence of several runs; it remembers which of them were asked."""

    def __init__(self, of: Mapping[str, Evidence]) -> None:
        self._of = of
        self._asked: dict[str, Evidence] = {}

    def drawn(self, order: Order | None) -> Several:
        """Nothing asked yet; with an order, the runs of each point that this says."""
        return Several({name: one.drawn(order) for name, one in self._of.items()})

    @property
    def runs(self) -> int:
        """The fewest runs of a point that was asked for."""
        return min(one.runs for one in self._asked.values())

    @property
    def seconds(self) -> float:
        """How long the measuring of all that was asked for took."""
        return sum(one.seconds for one in self._asked.values())

    def __getitem__(self, name: str) -> Evidence:
        """Of one of them; raises Missing where it is not there."""
        if name not in self._of:
            raise Missing(f"a run with {name}; there are {', '.join(self._of)}")
        return self._asked.setdefault(name, self._of[name])


def under(name: str, quantity: Quantity[Evidence]) -> Quantity[Several]:
    """A quantity of one of several runs."""
    words = f"{quantity.definition}; {name}"
    if isinstance(quantity, Highest):
        own = quantity
        return highest(
            words,
            lambda evidence: own.maxima(evidence[name]),
            lambda evidence: own.samples(evidence[name]),
            own.join,
        )
    return Quantity(
        words,
        lambda evidence: quantity.of(evidence[name]),
        least=quantity.least,
        most=quantity.most,
    )
