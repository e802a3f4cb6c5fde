# SPDX-License-Identifier: Apache-2.0
"""The last line of a comparison: what cannot be told, missing or is gone is no "no"."""

from __future__ import annotations

from takt.cli.compared import conclusion, lines
from takt.measure.statistics.compare_model import Comparison, Judged, KeyComparison, Outcome

SAME = Judged("p50", Outcome.unchanged, "B/A 1.000")
OPEN = Judged("p99", Outcome.undecided, "B/A 1.000, interval 0.033 … 290", needed=7)
SLOWER = Judged("p99", Outcome.regressed, "B/A 2.000")


def comparison(*cells: KeyComparison, only_a: tuple[str, ...] = ()) -> Comparison:
    return Comparison(list(cells), [*only_a], only_b=[], notes=[], gone=[*only_a])


def said(*cells: KeyComparison, only_a: tuple[str, ...] = ()) -> str:
    return conclusion(comparison(*cells, only_a=only_a), 0.1, 95.0)


def cell(*judged: Judged, **fields: object) -> KeyComparison:
    one = KeyComparison("raw-wakeup")
    for each in judged or [SAME]:
        one.judge(each)
    for name, value in fields.items():
        setattr(one, name, value)
    return one


def test_only_what_was_shown_is_said() -> None:
    assert said(cell()) == "No cell regressed by more than 10 % (confidence 95 %)."


def test_an_undecided_cell_is_named_with_the_repetitions_that_it_needs() -> None:
    found = said(cell(), cell(SAME, OPEN))
    assert found.startswith("No cell is shown to have regressed")
    assert "undecided: 1 of 2, up to 7 repetitions needed" in found
    (line,) = lines(comparison(cell(SAME, OPEN)))
    assert line == "raw-wakeup: undecided: p99 (about 7 repetitions in each run)"


def test_an_undecided_quantity_does_not_hide_a_regression_of_another() -> None:
    one = cell(OPEN, Judged("lost", Outcome.regressed, "90 of 100 lost"))
    assert one.outcome is Outcome.regressed
    assert said(one) == "1 of 1 cells regressed (confidence 95 %): lost in 1."
    assert lines(comparison(one)) == ["raw-wakeup: lost regressed: 90 of 100 lost"]


def test_what_did_not_arrive_is_in_no_ratio_and_reported() -> None:
    assert "7 missing in B, 0 in A" in said(cell(absent=(0, 7)))
    assert "missing" not in said(cell(absent=(0, 0)))


def test_cells_that_are_gone_are_reported() -> None:
    assert "1 cell of A is missing in B" in said(cell(), only_a=("rcl-pubsub",))


def test_a_policy_that_was_refused_in_one_of_them_is_reported() -> None:
    assert "1 cell ran under another granted policy" in said(cell(otherwise=True))


def test_a_regression_does_not_hide_the_rest() -> None:
    found = said(cell(SLOWER), cell(absent=(0, 7)), only_a=("x", "y"))
    assert found.startswith("3 of 4 cells regressed (confidence 95 %): p99 in 1, samples in 2")
    assert "7 missing in B" in found
    assert "2 cells of A are missing in B" in found
