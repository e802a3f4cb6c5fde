# SPDX-License-Identifier: Apache-2.0
"""Runs of the two theses in each world: the numbers of Sticha 2014 and of Krukiewicz-Gacek 2021."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, ClassVar

import synthetic_executions
import synthetic_suites
from synthetic_cells import synthetic_run
from synthetic_executions import overheads, whole
from synthetic_suites import BARE_CHECKS, RARE, World, but, cases
from synthetic_whole_suites import WholeRun

from takt.bench.model import Table
from takt.measure.results.model import Cell
from takt.reproduce.evidence import Evidence as SuiteEvidence
from takt.reproduce.judgement import judge
from takt.reproduce.krukiewicz2021.evidence import Evidence
from takt.reproduce.krukiewicz2021.findings import CHECKS
from takt.reproduce.model import Answer
from takt.reproduce.published import read_published
from takt.reproduce.sticha2014.evidence import Measured

# Which runs are the other way round: every other one, a third of them, two thirds, the first.
MIXTURES: list[Callable[[int], bool]] = [
    lambda run: run % 2 == 1,
    lambda run: run % 3 == 2,
    lambda run: run % 3 != 2,
    lambda run: run == 0,
    lambda run: run != 0,
]

_NEVER = cases(0)
NOTHING = but(beyond=_NEVER, beyond_with_first=_NEVER, outside=_NEVER, never_fired=_NEVER,
              differences_from=_NEVER)  # fmt: skip
# What stands for the thesis's timer, messages and bare wake-ups.
WANTED = {("rcl", "rcl_timer"), ("rcl", "shm"), ("cyclictest", "nanosleep")}


class Suites:
    """The suites of Sticha 2014 in whole runs; each says what the thesis says of it."""

    asked: ClassVar = {
        (name, "cyclictest" if name in BARE_CHECKS else "rcl"): check
        for name, check in synthetic_suites.EVERY.items()
    }
    worlds: ClassVar[dict[str, tuple[World, float]]] = {
        "paper": (synthetic_suites.as_published, 1.0),
        "reversed": (synthetic_suites.the_other_way_round, 1.0),
        "tail": (synthetic_suites.as_published, 1.0),
        "few": (NOTHING, 0.001),
    }

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._cells: dict[str, list[Cell]] = {}
        self._known: dict[object, Any] = {}  # what a run amounts to, of every world

    def answer(self, name: str, stack: str, world: str) -> Answer:
        if world == "neutral" and name in RARE:
            world = "few"
        if world != "neutral":
            return self._judged(name, stack, self.cells(world))
        paper, other = self.cells("paper"), self.cells("reversed")
        return first_undecided(
            self._judged(
                name,
                stack,
                [b if some(a.repetition) else a for a, b in zip(paper, other, strict=True)],
            )
            for some in MIXTURES
        )

    def cells(self, world: str) -> list[Cell]:
        if world not in self._cells:
            says, scale = self.worlds[world]
            folder = self.folder / world
            folder.mkdir(parents=True)
            made = [
                WholeRun(folder, one, says, tail=world == "tail").made()
                for one in synthetic_suites.suites(scale).cells
                if (one.stack, one.transport) in WANTED
            ]
            self._cells[world] = [one.model_copy(update=placed(one, world)) for one in made]
        return self._cells[world]

    def _judged(self, name: str, stack: str, cells: list[Cell]) -> Answer:
        values = synthetic_suites.PUBLISHED.findings[name].values
        measured = Measured(synthetic_run("sticha2014", cells), self.folder, values=self._known)
        return judge(
            synthetic_suites.EVERY[name], values, SuiteEvidence(measured, stack), most_draws=200
        )


def placed(cell: Cell, world: str) -> dict[str, Any]:
    """Its own name and its files below the folder of all worlds."""
    return {
        "id": f"{world}-{cell.id}",
        "histogram": f"{world}/{cell.histogram}",
        "samples": [f"{world}/{one}" for one in cell.samples],
    }


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
        published, other = (
            synthetic_executions.as_published,
            synthetic_executions.the_other_way_round,
        )
        growing, falling = synthetic_executions.PUBLISHED_GROWTH, synthetic_executions.FALLING
        paper, contrary = whole(published), whole(other)
        self.evidence = {
            "paper": Evidence(paper, overheads(growing)),
            "reversed": Evidence(contrary, overheads(falling)),
            "tail": Evidence(whole(published, tail=True), with_tail(overheads(growing))),
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


def with_tail(tables: list[Table]) -> list[Table]:
    """One round of Takt's took three times as long."""
    return [
        one.model_copy(
            update={
                "rounds": one.rounds
                | {"takt": [{"mean": 3 * one.rounds["takt"][0]["mean"]}, *one.rounds["takt"][1:]]}
            }
        )
        for one in tables
    ]


def mixed(mine: list[Any], theirs: list[Any], some: Callable[[int], bool]) -> list[Any]:
    """Some of the runs are the others', by their number."""
    return [other if some(place) else one
            for place, (one, other) in enumerate(zip(mine, theirs, strict=True))]  # fmt: skip
