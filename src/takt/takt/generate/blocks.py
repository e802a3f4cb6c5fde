# SPDX-License-Identifier: Apache-2.0
"""Which application is which: the same space, seed, combination and repetition give the same one.

Applications are drawn in blocks of a fixed size, each with random numbers of its own. So they can
be drawn in any order and anywhere, and a longer series begins with a shorter one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from takt.generate.parameters import Parameters, Space
from takt.generate.sets import Sets, draw, flat_texts

BLOCK = 100


@dataclass(frozen=True)
class Generated:
    """One application."""

    name: str
    combination: int
    repetition: int
    parameters: Parameters
    utilization: float  # after rounding
    text: str  # the flat form, JSON

    @property
    def document(self) -> dict[str, Any]:
        """The flat form as plain data."""
        document: dict[str, Any] = json.loads(self.text)
        return document


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
        sets = draw(space.parameters(combination, choice), len(rows), rng)
        for row, one in zip(rows, _named(sets, combination, number, rows), strict=True):
            found[row] = one
    return [one for one in found[:size] if one is not None]


def _named(sets: Sets, combination: int, number: int, rows: list[int]) -> Iterator[Generated]:
    repetitions = [number * BLOCK + row for row in rows]
    names = [f"app_{combination:03}_{repetition:06}" for repetition in repetitions]
    utilizations = sets.utilization().tolist()
    texts = flat_texts(sets, names)
    for name, repetition, utilization, text in zip(
        names, repetitions, utilizations, texts, strict=True
    ):
        yield Generated(name, combination, repetition, sets.parameters, utilization, text)
