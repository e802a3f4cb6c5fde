# SPDX-License-Identifier: Apache-2.0
"""Runs of the two theses in each world: the numbers of Sticha 2014 and of Krukiewicz-Gacek 2021."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, ClassVar

import made_executions
import made_suites
from made_executions import executed, overheads
from made_suites import BARE_CHECKS, RARE, Made, World, but, cases

from takt.measure.results.model import Cell
from takt.reproduce.judgement import judge
from takt.reproduce.krukiewicz2021.evidence import Evidence
from takt.reproduce.krukiewicz2021.findings import CHECKS
from takt.reproduce.model import Answer
from takt.reproduce.published import read_published

# Which runs are the other way round: every other one, a third of them, two thirds, the first.
MIXTURES: list[Callable[[int], bool]] = [
    lambda run: run % 2 == 1,
    lambda run: run % 3 == 2,
    lambda run: run % 3 != 2,
    lambda run: run == 0,
    lambda run: run != 0,
]


class Suites:
    """The suites of Sticha 2014; each run amounts to what the thesis says of it."""

    asked: ClassVar = {
        (name, "cyclictest" if name in BARE_CHECKS else "rcl"): check
        for name, check in made_suites.EVERY.items()
    }

    def __init__(self, folder: Path) -> None:
        self.worlds = {"paper": made_suites.as_published, "reversed": the_other_way_round}

    def answer(self, name: str, stack: str, world: str) -> Answer:
        if world != "neutral":
            return self._judged(name, stack, self.worlds[world])
        if name in RARE:
            return self._judged(name, stack, NOTHING, 0.001)
        return first_undecided(
            self._judged(name, stack, partly(reversed_in)) for reversed_in in MIXTURES
        )

    def _judged(self, name: str, stack: str, of: World, scale: float = 1.0) -> Answer:
        values = made_suites.PUBLISHED.findings[name].values
        evidence = Made.of_world(of, scale, stack)
        return judge(made_suites.EVERY[name], values, evidence, most_draws=200)


the_other_way_round = made_suites.the_other_way_round
_NEVER = cases(0)
NOTHING = but(beyond=_NEVER, beyond_with_first=_NEVER, outside=_NEVER, never_fired=_NEVER,
              differences_from=_NEVER)  # fmt: skip


def partly(reversed_in: Callable[[int], bool]) -> World:
    """Some runs are the other way round, by their number; all others are as published."""

    def world(cell: Cell, of: str, more: tuple[Any, ...]) -> Any:
        one = the_other_way_round if reversed_in(cell.repetition) else made_suites.as_published
        return one(cell, of, more)

    return world


def first_undecided(answers: Iterable[Answer]) -> Answer:
    """Of runs that contradict each other in several mixtures; the last one where none is."""
    last = None
    for last in answers:
        if last.holds is None:
            return last
    assert last is not None
    return last


class Applications:
    """The executions of Krukiewicz-Gacek 2021."""

    asked: ClassVar = {(name, "rcl"): check for name, check in CHECKS.items()}

    def __init__(self, folder: Path) -> None:
        published, other = made_executions.as_published, made_executions.the_other_way_round
        growing, falling = made_executions.PUBLISHED_GROWTH, made_executions.FALLING
        paper, contrary = executed(published), executed(other)
        self.evidence = {
            "paper": Evidence(paper, overheads(growing)),
            "reversed": Evidence(contrary, overheads(falling)),
        }
        self.mixtures = [
            Evidence(
                {point: mixed(runs, contrary[point], some) for point, runs in paper.items()},
                [one.model_copy(update={"rounds": {
                    name: mixed(rounds, theirs.rounds[name], some)
                    for name, rounds in one.rounds.items()
                }}) for one, theirs in zip(overheads(growing), overheads(falling), strict=True)],
            )
            for some in MIXTURES
        ]  # fmt: skip
        self.published = read_published("krukiewicz2021")

    def answer(self, name: str, stack: str, world: str) -> Answer:
        if world != "neutral":
            return self._judged(name, self.evidence[world])
        return first_undecided(self._judged(name, one) for one in self.mixtures)

    def _judged(self, name: str, evidence: Evidence) -> Answer:
        values = self.published.findings[name].values
        return judge(CHECKS[name], values, evidence, most_draws=200)


def mixed(mine: list[Any], theirs: list[Any], some: Callable[[int], bool]) -> list[Any]:
    """Some of the runs are the others', by their number."""
    return [other if some(place) else one
            for place, (one, other) in enumerate(zip(mine, theirs, strict=True))]  # fmt: skip
