# SPDX-License-Identifier: Apache-2.0
"""A finding that rests on disturbed runs is undecided, never "does not hold"."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from synthetic_suites import PUBLISHED, Synthetic, World, as_published, suites, the_other_way_round

from takt.measure.results.model import Cell
from takt.reproduce.model import Answer
from takt.reproduce.sticha2014 import CHECKS
from takt.reproduce.sticha2014.evidence import Measured
from takt.reproduce.undisturbed import judge

NAME = "oneshot-latency-grows-with-timeout"
WORLDS = {True: as_published, False: the_other_way_round}


def judged(world: World, disturbed: Callable[[Cell], bool], name: str = NAME) -> Answer:
    evidences = suites()
    cells = [cell.model_copy(update={"disturbed": disturbed(cell)}) for cell in evidences.cells]
    run = evidences.model_copy(update={"cells": cells})
    evidence = type(Synthetic.of_world(world))(Measured(run, Path(), planned=True), "rcl")
    return judge(CHECKS[name], PUBLISHED.findings[name].values, evidence, 200)


def idle(cell: Cell) -> bool:
    return cell.load == "idle"


@pytest.mark.parametrize("holds", [True, False])
def test_only_disturbed_runs_decide_nothing(holds: bool) -> None:
    assert judged(WORLDS[holds], lambda _: False).holds is holds
    found = judged(WORLDS[holds], idle)
    assert found.holds is None
    runs = sum(idle(cell) and cell.stack == "rcl" for cell in suites().cells)
    assert f"other programs took CPU time during {runs} runs" in found.needs
    assert found.measured  # what was found is shown all the same


@pytest.mark.parametrize("holds", [True, False])
def test_disturbed_runs_of_which_the_finding_is_not_leave_it_as_it_is(holds: bool) -> None:
    found = judged(WORLDS[holds], lambda cell: cell.load == "cpu" or cell.kind == "pubsub")
    assert (found.holds, found.needs) == (holds, "")


@pytest.mark.parametrize("holds", [True, False])
def test_undisturbed_runs_that_decide_alike_suffice(holds: bool) -> None:
    found = judged(WORLDS[holds], lambda cell: idle(cell) and cell.repetition == 0)
    assert (found.holds, found.needs) == (holds, "")


def test_what_the_disturbed_runs_alone_show_is_undecided() -> None:
    """Disturbed runs that show the contrary of the others, and outnumber them."""

    def loud(cell: Cell) -> bool:
        return idle(cell) and cell.repetition > 1

    def world(cell: Cell, of: str, more: tuple[object, ...]) -> object:
        return WORLDS[not loud(cell)](cell, of, more)

    assert judged(world, lambda _: False).holds is not True
    assert judged(world, loud).holds is not False


def test_the_points_without_load_declare_the_machine_idle() -> None:
    for kind in ("timer-oneshot", "timer-cyclic", "pubsub"):
        found = {cell.load for cell in suites().cells if (cell.stack, cell.kind) == ("rcl", kind)}
        assert {"idle", "cpu"} <= found
