# SPDX-License-Identifier: Apache-2.0
"""A finding says that the cells behind it are incomplete, or were disturbed."""

from __future__ import annotations

from pathlib import Path

from test_verdict import cell, run

from takt.measure.results.model import Status
from takt.reproduce import runs
from takt.reproduce.doubts import cells_behind, doubts
from takt.reproduce.evidence import Evidence, Measured
from takt.reproduce.quantity import Check, Quantity

CELLS = [cell([20.0] * 100, number, others_seconds=0.01) for number in range(3)]


def check(**asked: object) -> Check[Evidence]:
    quantity: Quantity[Evidence] = Quantity(
        "made", lambda evidence: evidence.mean(runs.p50, **asked)
    )
    return Check("a > 0", {"a": quantity})


def test_complete_and_undisturbed_cells_leave_no_doubt() -> None:
    assert doubts(CELLS) == []


def test_disturbed_and_incomplete_cells_are_counted() -> None:
    busy = CELLS[0].model_copy(update={"disturbed": True, "others_seconds": 2.0})
    stopped = CELLS[1].model_copy(update={"status": Status.partial})
    incomplete, disturbed = doubts([busy, stopped, CELLS[2]])
    assert incomplete == "1 of 3 runs incomplete"
    assert "(80% of one CPU) during 1 of 3 measurements" in disturbed


def test_only_the_runs_of_the_points_that_it_asks_about_count() -> None:
    other = [
        one.model_copy(update={"key": "other", "id": f"other-{place}", "label": "other"})
        for place, one in enumerate(CELLS)
    ]
    failed = other[1].model_copy(update={"status": Status.failed, "statistics": None})
    measured = Measured(run(*CELLS, other[0], failed), Path())
    stack = CELLS[0].stack
    assert cells_behind(check(label="other"), Evidence(measured, stack)) == [other[0], failed]
    assert doubts(cells_behind(check(label="other"), Evidence(measured, stack))) == [
        "1 of 2 runs incomplete"
    ]
    assert cells_behind(check(label=CELLS[0].label), Evidence(measured, stack)) == CELLS
    assert cells_behind(check(label="none"), Evidence(measured, stack)) == []
