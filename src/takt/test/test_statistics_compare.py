# SPDX-License-Identifier: Apache-2.0
"""Comparisons of runs whose truth is known."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from synthetic_runs import Point, write_document, write_run

from takt.measure.results import store
from takt.measure.statistics.compare import compare_runs
from takt.measure.statistics.compare_model import Comparison

POINTS = [
    Point("raw", "wakeup", "nanosleep", "other", 58.0, between=0.03, drift=drift, spikes=0.004)
    for drift in (0.0, 0.2)
]
POINTS = [replace(POINTS[0], transport="quiet"), replace(POINTS[1], transport="autocorrelated")]


def compared(
    folder: Path,
    a: list[Point],
    b: list[Point],
    seed: int = 1,
    count: int = 1000,
    repetitions: int = 3,
    threshold: float = 0.1,
) -> Comparison:
    folders = (folder / f"a{seed}", folder / f"b{seed}")
    for place, points in enumerate((a, b)):
        write_run(folders[place], points, repetitions, count, seed=2 * seed + place)
    runs = (store.read(folders[0]), store.read(folders[1]))
    return compare_runs(runs, folders, threshold)


@pytest.mark.thorough
@pytest.mark.timeout(600)
def test_equal_runs_raise_hardly_any_false_alarm(tmp_path: Path) -> None:
    """At 95 % at most 5 % of equal pairs may alarm even where no growth is tolerated: of 40, more
    than 6 would come by chance in 0.3 % of cases. With the usual 10 % it must be none."""
    strict = usual = 0
    for seed in range(40):
        result = compared(tmp_path, POINTS, POINTS, seed, threshold=0.0)
        strict += result.regressed
        usual += any(change.low > 1.1 for cell in result.cells for change in cell.changes.values())
    assert strict <= 6
    assert usual == 0


def test_cells_that_obtained_another_policy_are_compared_and_it_is_said(tmp_path: Path) -> None:
    granted = Point("raw", "wakeup", "nanosleep", "fifo", 58.0, priority=80)
    refused = replace(granted, denied=True)
    result = compared(tmp_path, [granted], [refused], repetitions=2)
    (cell,) = result.cells
    assert cell.key == granted.key
    assert set(cell.changes) == {"p50", "p99"}
    words = "granted policies differ: fifo 80 in A, other in B; requested: fifo 80"
    assert words in cell.notes
    (cell,) = compared(tmp_path, [refused], [refused], 2, repetitions=2).cells
    assert "fifo 80 was requested; other was granted in both runs" in cell.notes
    (cell,) = compared(tmp_path, [granted], [granted], 3, repetitions=2).cells
    assert not any("granted" in note for note in cell.notes)


def test_a_real_shift_is_found_and_only_where_it_is(tmp_path: Path) -> None:
    for seed in range(5):
        quiet, noisy = POINTS
        slower = replace(quiet, median_us=quiet.median_us * 1.4, spike_us=quiet.spike_us * 1.4)
        result = compared(tmp_path, POINTS, [slower, noisy], seed)
        found = {cell.key: cell.regressed for cell in result.cells}
        assert found == {quiet.key: True, noisy.key: False}
        change = result.cells[0].changes["p50"]
        assert change.low < 1.4 < change.high


def test_getting_faster_is_no_regression(tmp_path: Path) -> None:
    faster = [replace(point, median_us=point.median_us * 0.5) for point in POINTS]
    assert not compared(tmp_path, POINTS, faster).regressed


def test_a_tail_that_grows_is_found_though_the_median_stays(tmp_path: Path) -> None:
    point = replace(POINTS[0], between=0.005, spikes=0.03, spike_us=100.0)
    worse = replace(point, spike_us=1000.0)
    (cell,) = compared(tmp_path, [point], [worse], count=4000).cells
    assert cell.regressed
    assert cell.changes["p50"].low < 1.1 < cell.changes["p99"].low


def test_memory_between_samples_widens_the_interval_of_single_repetitions(tmp_path: Path) -> None:
    result = compared(tmp_path, POINTS, POINTS, repetitions=1, count=4000)
    quiet, noisy = (cell.changes["p50"] for cell in result.cells)
    assert noisy.high / noisy.low > 1.5 * quiet.high / quiet.low or (
        noisy.high - noisy.low > 3 * (quiet.high - quiet.low)
    )
    assert all("one repetition each" in cell.notes[0] for cell in result.cells)


def test_equal_seeds_give_equal_intervals(tmp_path: Path) -> None:
    first = compared(tmp_path, POINTS, POINTS, seed=3)
    assert compared(tmp_path, POINTS, POINTS, seed=3) == first


def test_what_only_one_run_has_is_reported(tmp_path: Path) -> None:
    result = compared(tmp_path, POINTS, POINTS[:1])
    assert result.only_a == [POINTS[1].key]
    assert compared(tmp_path, POINTS[:1], POINTS, seed=2).only_b == [POINTS[1].key]


def test_what_no_longer_works_is_a_regression_and_says_why(tmp_path: Path) -> None:
    broken = [replace(POINTS[0], fails="The probe crashed."), POINTS[1]]
    result = compared(tmp_path, POINTS, broken)
    assert [cell.regressed for cell in result.cells] == [True, False]
    assert any("The probe crashed." in note for note in result.cells[0].notes)
    repaired = compared(tmp_path, broken, POINTS, seed=2)
    assert not repaired.regressed
    assert any("of A failed" in note for note in repaired.cells[0].notes)


def test_samples_that_are_gone_are_reported_and_the_rest_is_compared(tmp_path: Path) -> None:
    folders = (tmp_path / "a", tmp_path / "b")
    for number, folder in enumerate(folders):
        write_run(folder, POINTS, 3, 1000, seed=number)
    runs = (store.read(folders[0]), store.read(folders[1]))
    (folders[0] / runs[0].cells[0].samples[0]).unlink()
    result = compare_runs(runs, folders)
    assert result.cells[0].repetitions == (2, 3)
    assert any("cannot read" in note for note in result.cells[0].notes)


def test_too_few_samples_give_no_interval_but_a_reason(tmp_path: Path) -> None:
    result = compared(tmp_path, POINTS, POINTS, count=300)
    for cell in result.cells:
        assert set(cell.changes) == {"p50"}
        assert any(note.startswith("p99 needs 500 samples") for note in cell.notes)


def test_other_machines_and_versions_are_reported(tmp_path: Path) -> None:
    folders = (tmp_path / "a", tmp_path / "b")
    runs = tuple(write_run(folder, POINTS, 1, 600) for folder in folders)
    runs[1].machine["kernel"] = "6.12.0"
    runs[1].versions["takt"] = "9.9"
    write_document(folders[1], runs[1])
    notes = compare_runs((runs[0], store.read(folders[1])), folders).notes
    assert any("kernel differs" in note and "6.12.0" in note for note in notes)
    assert any("takt differs" in note for note in notes)
