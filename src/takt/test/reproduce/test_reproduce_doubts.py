# SPDX-License-Identifier: Apache-2.0
"""A finding says that the cells behind it are incomplete, or were disturbed."""

from __future__ import annotations

from test_verdict import cell, run

from takt.measure.results.model import Status
from takt.reproduce.doubts import doubted, doubts
from takt.reproduce.model import Finding

CELLS = [cell([20.0] * 100, number, others_seconds=0.01) for number in range(3)]


def finding(stack: str) -> Finding:
    return Finding(
        id="f", stack=stack, claim="", at="", published={}, measured={}, holds=True, criterion=""
    )


def test_complete_and_undisturbed_cells_leave_no_doubt() -> None:
    assert doubts(CELLS) == []


def test_disturbed_and_incomplete_cells_are_counted() -> None:
    busy = CELLS[0].model_copy(update={"disturbed": True, "others_seconds": 2.0})
    stopped = CELLS[1].model_copy(update={"status": Status.partial})
    incomplete, disturbed = doubts([busy, stopped, CELLS[2]])
    assert incomplete == "1 of 3 runs incomplete"
    assert "(80% of one CPU) during 1 of 3 measurements" in disturbed


def test_only_the_cells_of_its_stack_count_and_all_where_it_has_none() -> None:
    busy = CELLS[0].model_copy(update={"disturbed": True, "others_seconds": 2.0, "stack": "rcl"})
    found = doubted([finding("raw"), finding("rcl"), finding("all")], run(busy, *CELLS[1:]))
    assert [len(one.doubts) for one in found] == [0, 1, 1]
