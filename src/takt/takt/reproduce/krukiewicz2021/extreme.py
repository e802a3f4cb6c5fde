# SPDX-License-Identifier: Apache-2.0
"""The highest and the lowest share over several applications, with exact bounds."""

from __future__ import annotations

from collections.abc import Callable

from takt.reproduce.krukiewicz2021.evidence import Evidence
from takt.reproduce.quantity import Share
from takt.reproduce.rare import Strata, highest_bounds, lowest_bounds, together
from takt.reproduce.scatter import Missing

Applications = Callable[[Evidence], Strata]  # the runs of each


def highest_share(definition: str, of: Applications) -> Share[Evidence]:
    """That of the application that has the highest."""
    return Share(
        definition,
        lambda evidence: max(_shares(of(evidence))),
        strata=of,
        bounds=highest_bounds,
        most=1,
    )


def lowest_share(definition: str, of: Applications) -> Share[Evidence]:
    """That of the application that has the lowest."""
    return Share(
        definition,
        lambda evidence: min(_shares(of(evidence))),
        strata=of,
        bounds=lowest_bounds,
        most=1,
    )


def _shares(strata: Strata) -> list[float]:
    every = [together(runs) for runs in strata]
    if not all(of for _, of in every):
        raise Missing("an application has no executions")
    return [cases / of for cases, of in every]
