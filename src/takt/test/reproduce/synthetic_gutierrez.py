# SPDX-License-Identifier: Apache-2.0
"""Runs of Gutiérrez 2018 with the numbers of its tables: DDS 1 to 3 in their places."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from synthetic_cells import synthetic_run
from synthetic_distributions import Values, of_row, synthetic_cell, with_tail
from synthetic_round_trips import trips
from synthetic_suites import SCATTER

from takt.measure.results.model import Cell
from takt.reproduce.evidence import Evidence, Measured
from takt.reproduce.gutierrez2018 import ALL, CHECKS, between
from takt.reproduce.gutierrez2018.quantities import Checked
from takt.reproduce.judgement import judge
from takt.reproduce.model import Answer
from takt.reproduce.published import read_published

Row = tuple[str, str]  # which middleware, which test
PAPERS = {"rcl": "DDS 1", "cyclonedds": "DDS 2", "rustdds": "DDS 3"}
PUBLISHED = read_published("gutierrez2018")
ROWS = {
    (one.paper, one.point["label"]): {name: float(str(v)) for name, v in one.published.items()}
    for one in PUBLISHED.tables
}
# No table has these: what is like them.
LIKE = {"5.A": "2.B", "own-class": "2.E", "own-class-load": "4.A"}
# What is quiet there is loaded here, and the other way round.
REVERSED = {
    "1.A": "1.B", "1.B": "1.A", "1.C": "1.C", "1.D": "1.B", "2.A": "2.F", "2.B": "2.F",
    "2.C": "2.F", "2.D": "2.F", "2.E": "2.F", "2.F": "2.E", "3.A": "3.C", "3.B": "2.F",
    "3.C": "1.A", "4.A": "2.F", "5.A": "2.F", "5.B": "2.F", "own-class": "2.F",
    "own-class-load": "2.F",
}  # fmt: skip
ASKED: dict[tuple[str, str], Checked] = {
    (name, stack): check
    for stack, checks in (*((one, CHECKS) for one in PAPERS), (ALL, between.CHECKS))
    for name, check in checks.items()
}


def published(cell: Cell) -> Row:
    """The row of the paper."""
    return PAPERS[cell.stack], cell.label


def the_other_way_round(cell: Cell) -> Row:
    """The row of a test that the paper opposes to this one; all vendors alike."""
    return "DDS 2", REVERSED[cell.label]


def unlike(cell: Cell) -> Row:
    """One vendor misses and loses in every test, the others in none."""
    return "DDS 2", "2.F" if cell.stack == "rustdds" else "2.E"


def contradictory(cell: Cell) -> Row:
    """Every other run is as published."""
    return (the_other_way_round if cell.repetition % 2 else published)(cell)


def deadline_ms(paper: str, test: str) -> float:
    """10 ms, but for large messages, of which the rows tell how long a cycle took."""
    sent = ROWS[paper, test]["sent"]
    return 10.0 if not test.startswith("3") or sent > 30_001 else 20.0 if sent > 15_000 else 50.0


def of_cell(folder: Path, cell: Cell, row: Row, share: float = 1.0, *, tail: bool = False) -> Cell:
    """A run with the numbers of a row; a share of it is quiet, for no case comes by accident."""
    paper, test = row[0], LIKE.get(row[1], row[1])
    there, turn, late = ROWS[paper, test], cell.repetition, 1000 * deadline_ms(paper, test)
    minutes = 60 if cell.label.startswith("5") else 10
    times = share * minutes / (720 if test == "5.B" else 10)
    sent, high = round(there["sent"] * times), there["max_us"]
    missed, lost = (round(there[name] * times) for name in ("missed", "lost"))
    if test == "5.B":  # the highest came once in twelve hours, and no two losses in one
        lost = int(turn < there["lost"] and share == 1)
        high *= 1.0 if turn == 0 else 0.9
    if share < 1 and not missed:
        high = min(high, late - 1)
    shift = 1 + SCATTER[turn % len(SCATTER)]
    found = of_row(there["min_us"], there["avg_us"], high, sent - lost - 1, missed, late)
    us = np.where(found.us < late, (found.us * shift).clip(max=late - 1), found.us)
    made = Values(us, found.times)
    asked = round(60_001 * share) * minutes // 10
    return synthetic_cell(
        folder, cell, with_tail(made) if tail else made, sent=sent, lost=lost,
        samples_requested=max(asked, sent), deadline_us=late,
    )  # fmt: skip


@cache
def of_three_vendors() -> tuple[Cell, ...]:
    cells: list[Any] = []
    for stack in PAPERS:
        cells += [
            one.model_copy(update={"stack": stack, "key": f"{stack}-{one.key}",
                                   "id": f"{stack}-{one.id}"})
            for one in trips(1.0).cells if one.stack == "rcl"
        ]  # fmt: skip
    return tuple(cells)


# That something never happens is not shown by few messages in which it did not.
ABSENT = {
    "idle-low-jitter", "realtime-never-misses", "load-and-little-traffic", "hours-lose-some",
    "payload-32k-never-misses", "tuned-hardly-misses", "hours-lose-few", "hours-quiet",
}  # fmt: skip
FEW = 0.005


class Trips:
    """The made-up runs of each world, and what is judged of them."""

    asked = ASKED

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._measured: dict[str, Measured] = {}

    def answer(self, name: str, stack: str, world: str) -> Answer:
        if world == "reversed" and name == "vendors-alike":
            world = "unlike"
        if world == "neutral" and name in ABSENT:
            world = "few"
        evidence = Evidence(self.measured(world), stack)
        values = PUBLISHED.findings[name].values
        return judge(ASKED[name, stack], values, evidence, most_draws=200)

    def measured(self, world: str) -> Measured:
        if world not in self._measured:
            row_of = {"paper": published, "reversed": the_other_way_round, "unlike": unlike,
                      "neutral": contradictory, "few": published,
                      "tail": published}[world]  # fmt: skip
            folder, share = self.folder / world, FEW if world == "few" else 1.0
            folder.mkdir(parents=True)
            cells = [
                of_cell(folder, one, row_of(one), share, tail=world == "tail")
                for one in of_three_vendors()
            ]
            self._measured[world] = Measured(synthetic_run("gutierrez2018", cells), folder)
        return self._measured[world]
