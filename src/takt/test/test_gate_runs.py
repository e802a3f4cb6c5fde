# SPDX-License-Identifier: Apache-2.0
"""``takt gate`` of a run folder: cells meet, fail, or stay undecided where disturbed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from synthetic_runs import Point, write_run

from takt.errors import TaktError
from takt.judge import baseline
from takt.judge.gate import examine, judge
from takt.judge.limits import Limits
from takt.judge.model import Judgement, Quantity, Verdict
from takt.measure.results import store
from takt.measure.results.model import Cell, Note, Status
from takt.measure.results.point import SUPPLY
from takt.statistics.judgement import Outcome

POINT = Point("raw", "wakeup", "nanosleep", "other", 58.0, spikes=0.0)
KEY = POINT.key


def quiet(cell: Cell) -> None:
    cell.steal_seconds, cell.others_seconds, cell.disturbed = 0.0, 0.0, False


def run(
    folder: Path, point: Point = POINT, change: Callable[[Cell], None] = lambda _: None
) -> Path:
    """Three repetitions of 1,000 samples."""
    write_run(folder, [point], 3, 1000, seed=len(folder.name))
    document = store.read(folder)
    for cell in document.cells:
        quiet(cell)
        change(cell)
    store.write(document, folder)
    return folder


def limits(text: str = "100us", **more: str) -> Limits:
    return Limits.model_validate({"cells": {"raw-wakeup-*": {"response": text, **more}}})


def of(verdict: Verdict, quantity: Quantity, statistic: str | None = None) -> Judgement:
    (found,) = (
        one
        for one in verdict.judgements
        if one.subject == KEY
        and one.quantity is quantity
        and (one.growth.statistic if one.growth else None) == statistic
    )
    return found


def test_the_limit_of_a_cell_meets_or_fails(tmp_path: Path) -> None:
    folder = run(tmp_path / "run")
    verdict = judge(folder, limits())
    assert verdict.outcome is Outcome.meets
    assert of(verdict, Quantity.response).count == 3 * 999  # the first sample is not judged
    assert of(judge(folder, limits("60us")), Quantity.response).outcome is Outcome.fails
    assert judge(folder, limits("60us", late="90%")).outcome is Outcome.meets
    few = of(judge(folder, limits(late="0.01%")), Quantity.response)
    assert (few.outcome, few.needed is not None) == (Outcome.undecided, True)


def test_without_a_limit_the_deadline_of_the_cell_holds(tmp_path: Path) -> None:
    found = of(judge(run(tmp_path / "run"), Limits()), Quantity.response)
    assert (found.limit_us, found.outcome) == (1000, Outcome.meets)


def test_a_supply_is_described_and_only_its_windows_are_counted(tmp_path: Path) -> None:
    def described(cell: Cell) -> None:
        cell.kind = SUPPLY

    folder = run(tmp_path / "run", change=described)
    (windows,) = judge(folder, Limits()).judgements
    assert (windows.quantity, windows.outcome) == (Quantity.completeness, Outcome.meets)
    assert of(judge(folder, limits("60us")), Quantity.response).outcome is Outcome.fails
    folder = run(tmp_path / "lossy", replace(POINT, losses=1), described)
    assert judge(folder, Limits()).outcome is Outcome.fails


def test_lost_samples_fail(tmp_path: Path) -> None:
    folder = run(tmp_path / "run", replace(POINT, losses=5))
    found = of(judge(folder, limits()), Quantity.completeness)
    assert (found.outcome, found.exceeded) == (Outcome.fails, 15)
    assert judge(folder, limits(lost="2%", late="0%")).outcome is Outcome.meets


def test_a_failed_repetition_fails_and_a_stopped_one_is_undecided(tmp_path: Path) -> None:
    def ended(status: Status) -> Callable[[Cell], None]:
        def change(cell: Cell) -> None:
            if cell.repetition == 2:
                cell.status, cell.error = status, Note(what="no memory", why="it is full")

        return change

    for status, outcome in ((Status.failed, Outcome.fails), (Status.partial, Outcome.undecided)):
        folder = run(tmp_path / status.value, change=ended(status))
        found = of(judge(folder, limits()), Quantity.completeness)
        assert found.outcome is outcome
        assert found.reason == f"1 of 3 repetitions {status.value}: no memory"


def disturbed(cell: Cell) -> None:
    cell.disturbed, cell.others_seconds = True, 0.9


def stolen(cell: Cell) -> None:
    cell.steal_seconds = 10.0


@pytest.mark.parametrize("change", [disturbed, stolen])
def test_what_a_disturbance_may_explain_is_undecided(
    tmp_path: Path, change: Callable[[Cell], None]
) -> None:
    folder = run(tmp_path / "run", replace(POINT, losses=5), change)
    verdict = judge(folder, limits("60us"))
    assert of(verdict, Quantity.response).outcome is Outcome.undecided
    assert of(verdict, Quantity.completeness).outcome is Outcome.undecided
    assert verdict.outcome is Outcome.undecided


def test_a_little_stolen_time_does_not_excuse_every_sample(tmp_path: Path) -> None:
    def change(cell: Cell) -> None:
        cell.steal_seconds = 0.01

    found = of(judge(run(tmp_path / "run", change=change), limits("50us")), Quantity.response)
    assert (found.outcome, found.excused) == (Outcome.fails, 600)


def against(tmp_path: Path, folder: Path) -> Verdict:
    old = run(tmp_path / "old")
    baseline.write(tmp_path / "base.json", examine(old, Limits()).side())
    wanted = {"baseline": str(tmp_path / "base.json"), "by": "10%"}
    return judge(folder, Limits.model_validate({"not_worse_than": wanted}))


def test_a_baseline_of_a_run_finds_a_slower_one(tmp_path: Path) -> None:
    assert against(tmp_path, run(tmp_path / "same")).outcome is not Outcome.fails
    slower = run(tmp_path / "slower", replace(POINT, median_us=90.0))
    verdict = against(tmp_path, slower)
    assert of(verdict, Quantity.latency, "p50").outcome is Outcome.fails
    assert of(verdict, Quantity.completeness, "share").outcome is Outcome.meets


def test_a_slower_run_that_was_disturbed_is_undecided(tmp_path: Path) -> None:
    slower = run(tmp_path / "slower", replace(POINT, median_us=90.0), disturbed)
    verdict = against(tmp_path, slower)
    found = of(verdict, Quantity.latency, "p50")
    assert (found.outcome, verdict.outcome) == (Outcome.undecided, Outcome.undecided)
    assert "a disturbance may explain it" in found.reason


def test_wrong_use_of_a_run_is_named(tmp_path: Path) -> None:
    folder = run(tmp_path / "run")
    wanted = Limits.model_validate({"cells": {"rcl-*": {"late": "1%"}}})
    with pytest.raises(TaktError, match=r"rcl-\*") as error:
        judge(folder, wanted)
    assert KEY in str(error.value)
    with pytest.raises(TaktError, match="application"):
        judge(folder, Limits(), tmp_path / "robot.app.yaml")
    next((folder / "samples").glob("*.parquet")).unlink()
    with pytest.raises(TaktError, match=r"the samples of .* are missing: .*parquet"):
        judge(folder, Limits())
