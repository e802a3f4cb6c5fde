# SPDX-License-Identifier: Apache-2.0
"""The last line of a comparison: what cannot be told, missing or is gone is no "no"."""

from __future__ import annotations

from pathlib import Path

import pytest

from takt.cli.compare import conclusion
from takt.measure.statistics.compare import Comparison, KeyComparison, Shift

SAME = Shift(1.0, 0.95, 1.05)
OPEN = Shift(1.0, 0.033, 290.0)
SLOWER = Shift(2.0, 1.8, 2.2)


def said(*cells: KeyComparison, only_a: tuple[str, ...] = ()) -> str:
    found = Comparison(cells=list(cells), only_a=list(only_a), only_b=[], notes=[])
    return conclusion(found, 0.1, 95.0)


def cell(**fields: object) -> KeyComparison:
    one = KeyComparison("raw-wakeup", {"p50": SAME, "p99": SAME})
    for name, value in fields.items():
        setattr(one, name, value)
    return one


def test_only_what_was_shown_is_said() -> None:
    assert said(cell()) == "No cell regressed by more than 10 % (confidence 95 %)."


@pytest.mark.parametrize("high", [1.1, 1.11])
def test_an_interval_that_reaches_beyond_the_threshold_does_not_tell(high: float) -> None:
    one = cell(changes={"p50": SAME, "p99": Shift(1.0, 0.9, high)})
    told = said(cell(), one)
    assert ("No cell regressed" in told) == (high == 1.1)
    assert ("no answer for 1 of 2" in told) == (high == 1.11)


def test_a_percentile_that_is_not_known_does_not_tell() -> None:
    assert "no answer for 1 of 1" in said(cell(changes={"p50": SAME}))


def test_what_did_not_arrive_is_in_no_ratio_and_told() -> None:
    assert "7 missing in B, 0 in A" in said(cell(absent=(0, 7)))
    assert "missing" not in said(cell(absent=(0, 0)))


def test_cells_that_are_gone_are_told() -> None:
    assert "1 cell of A is missing in B" in said(cell(), only_a=("rcl-pubsub",))


def test_a_policy_that_was_refused_in_one_of_them_is_told() -> None:
    assert "1 cell ran under another granted policy" in said(cell(otherwise=True))


def test_a_regression_does_not_hide_the_rest() -> None:
    slower = cell(changes={"p50": SLOWER, "p99": SLOWER}, regressed=True)
    told = said(slower, cell(absent=(0, 7)), only_a=("x", "y"))
    assert told.startswith("1 of 2 cells regressed by more than 10 %")
    assert "7 missing in B" in told
    assert "2 cells of A are missing in B" in told


def test_the_command_says_it(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    from command_line import takt
    from synthetic_runs import Point, write_run

    point = Point("rcl", "pingpong", "shm", "other", 145.0, 500)
    write_run(tmp_path / "a", [point, Point("raw", "wakeup", "nanosleep", "other", 58.0)], 3, 800)
    lossy = Point("rcl", "pingpong", "shm", "other", 145.0, 500, losses=90)
    write_run(tmp_path / "b", [lossy], 3, 800)
    assert takt(["compare", str(tmp_path / "a"), str(tmp_path / "b")]) == 0
    told = " ".join(capfd.readouterr().out.split())
    assert "270 missing in B, 0 in A" in told
    assert "1 cell of A is missing in B" in told
