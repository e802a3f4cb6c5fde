# SPDX-License-Identifier: Apache-2.0
"""Which application is which: the same space, seed, combination and repetition give the same one.

Applications are drawn in blocks of a fixed size, each with random numbers of its own. So they can
be drawn in any order and anywhere, and a longer series begins with a shorter one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from takt.schedule.generate.chance import Chance
from takt.schedule.generate.parameters import Parameters
from takt.schedule.generate.sets import documents, draw
from takt.schedule.generate.space import Space
from takt.schedule.generate.timing import filled
from takt.schedule.generate.wide import widen

BLOCK = 100
BEYOND = 1  # sets the random numbers of one application apart from those of its block


@dataclass(frozen=True)
class Generated:
    """One application."""

    name: str
    combination: int
    repetition: int
    parameters: Parameters
    utilization: float  # after rounding
    document: dict[str, Any]  # the flat form, but that a distribution is as an app.yaml says it

    @property
    def policy(self) -> str:
        """Of the application; a robot's processes have their own."""
        return "robot" if "processes" in self.document else self.parameters.policy

    @cached_property
    def flat(self) -> dict[str, Any]:
        """The flat form as plain data."""
        callbacks = self.document["callbacks"]
        if all("quantiles" in one["execution"] for one in callbacks):
            return self.document
        return self.document | {
            "callbacks": [one | {"execution": filled(one["execution"])} for one in callbacks]
        }

    @cached_property
    def text(self) -> str:
        """The flat form, JSON: the fast way to the core."""
        return json.dumps(self.flat, separators=(",", ":"))


def blocks(repeat: int) -> Iterator[tuple[int, int]]:
    """Number and size of the blocks of one combination."""
    for number, first in enumerate(range(0, repeat, BLOCK)):
        yield number, min(BLOCK, repeat - first)


def block(space: Space, seed: int, combination: int, number: int, size: int) -> list[Generated]:
    """The first `size` applications of a block."""
    rng = np.random.default_rng([seed, combination, number])
    choices = {
        key: rng.integers(0, len(values), BLOCK).tolist() for key, values in space.drawn.items()
    }
    groups: dict[tuple[int, ...], list[int]] = {}
    for row in range(BLOCK):
        groups.setdefault(tuple(column[row] for column in choices.values()), []).append(row)
    found: list[Generated | None] = [None] * BLOCK
    for picked, rows in groups.items():
        choice: dict[str, Any] = {
            key: values[index]
            for (key, values), index in zip(space.drawn.items(), picked, strict=True)
        }
        wanted = space.parameters(combination, choice)
        sets = draw(wanted, len(rows), rng)
        repetitions = [number * BLOCK + row for row in rows]
        names = [f"app_{combination:03}_{repetition:06}" for repetition in repetitions]
        drawn = zip(
            rows, repetitions, sets.utilization().tolist(), documents(sets, names), strict=True
        )
        for row, repetition, utilization, document in drawn:
            if row >= size:
                break
            if not wanted.plain:
                chance = Chance(seed, combination, repetition, BEYOND)
                utilization = widen(document, wanted, chance)  # noqa: PLW2901
            name = document["name"]
            one = Generated(name, combination, repetition, wanted, utilization, document)
            found[row] = one
    return [one for one in found[:size] if one is not None]
