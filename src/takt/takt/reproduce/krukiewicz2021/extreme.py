# SPDX-License-Identifier: Apache-2.0
"""The highest and the lowest share over several applications, with exact bounds."""

from __future__ import annotations

from collections.abc import Callable

from takt.reproduce.krukiewicz2021.evidence import Evidence
from takt.reproduce.quantity import Share
from takt.reproduce.rare import Strata, highest_bounds, lowest_bounds, together
from takt.reproduce.scatter import Missing

Applications = Callable[[Evidence], Strata]  # the runs of each


_OF = {"highest": (max, highest_bounds), "lowest": (min, lowest_bounds)}


def extreme_share(choose: str, definition: str, of: Applications) -> Share[Evidence]:
    """That of the application that has the ``highest`` or the ``lowest``."""
    pick, bounds = _OF[choose]
    return Share(
        definition, lambda evidence: pick(_shares(of(evidence))), strata=of, bounds=bounds, most=1
    )


def _shares(strata: Strata) -> list[float]:
    every = [together(runs) for runs in strata]
    if not all(of for _, of in every):
        raise Missing("an application has no executions")
    return [cases / of for cases, of in every]
