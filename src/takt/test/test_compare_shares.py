# SPDX-License-Identifier: Apache-2.0
"""Comparisons judge what no ratio of latencies shows: late, lost, refused, failed, absent."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from command_line import takt
from synthetic_runs import Point, write_document, write_run

from takt.measure.results import store
from takt.measure.results.model import Note, Status
from takt.measure.statistics.compare import compare_runs
from takt.measure.statistics.compare_model import Comparison, Outcome
from takt.statistics.shares import Counted, difference, least

POINT = Point("rcl", "pingpong", "shm", "fifo", 100.0, 500, priority=80, spikes=0.0)
FROZEN = replace(POINT, frozen_us=(300_000.0, 700_000.0))
BUSY = replace(POINT, busy=0.7)  # 1.4 % of the responses are late
Written = Callable[..., Comparison]


@pytest.fixture
def compared(tmp_path: Path) -> Written:
    """Write two runs and compare them."""

    def call(
        a: list[Point], b: list[Point], repetitions: int = 3, count: int = 2000, seed: int = 1
    ) -> Comparison:
        for place, (name, points) in enumerate((("a", a), ("b", b))):
            write_run(tmp_path / name, points, repetitions, count, seed=2 * seed + place)
        return again(tmp_path)

    return call


def again(folder: Path) -> Comparison:
    folders = (folder / "a", folder / "b")
    return compare_runs((store.read(folders[0]), store.read(folders[1])), folders)


def outcome(result: Comparison, quantity: str, cell: int = 0) -> Outcome:
    (found,) = (one.outcome for one in result.cells[cell].judged if one.quantity == quantity)
    return found


def command(folder: Path, *options: object) -> int:
    return takt(["compare", str(folder / "a"), str(folder / "b"), *map(str, options)])


def test_a_frozen_probe_is_a_regression_though_its_latency_is_not(
    compared: Written, tmp_path: Path
) -> None:
    result = compared([BUSY], [replace(FROZEN, median_us=60.0)])
    assert outcome(result, "late") is Outcome.regressed
    assert outcome(result, "p99") is Outcome.unchanged
    before, after = result.cells[0].shares["late"].shares
    assert before < 0.05
    assert after > 0.4
    assert command(tmp_path) == 1


@pytest.mark.parametrize("repetitions", [1, 2, 3, 5])
def test_losses_are_a_regression(compared: Written, tmp_path: Path, repetitions: int) -> None:
    result = compared(
        [replace(POINT, losses=1)], [replace(POINT, losses=1100)], repetitions=repetitions
    )
    assert outcome(result, "lost") is Outcome.regressed
    assert command(tmp_path) == 1


@pytest.mark.parametrize(
    ("lost", "expected"),
    [
        (0, Outcome.unchanged),
        (1, Outcome.unchanged),
        (6, Outcome.undecided),  # 0.3 %: more than 0.1 % is likely, and not shown
        (30, Outcome.regressed),
    ],
)
def test_the_growth_decides_on_both_sides_of_the_limit(
    compared: Written, lost: int, expected: Outcome
) -> None:
    repetitions = 1 if expected is Outcome.undecided else 3
    result = compared([POINT], [replace(POINT, losses=lost)], repetitions=repetitions)
    assert outcome(result, "lost") is expected


def test_a_certain_growth_below_the_practical_minimum_is_none() -> None:
    a, b = ([Counted(hits, 1_000_000)] * 3 for hits in (1000, 1500))
    found = difference(a, b, 0.01)
    assert 0 < found.low < found.high < 0.001


def test_fewer_late_and_lost_samples_are_no_regression(compared: Written, tmp_path: Path) -> None:
    assert not compared([replace(FROZEN, losses=900)], [POINT]).regressed
    assert command(tmp_path) == 0


def test_a_refused_setting_is_a_regression_and_only_where_a_had_it(
    compared: Written, tmp_path: Path
) -> None:
    denied = replace(POINT, denied=True)
    assert outcome(compared([POINT], [denied]), "settings") is Outcome.regressed
    assert command(tmp_path) == 1
    assert outcome(compared([denied], [denied]), "settings") is Outcome.unchanged
    assert outcome(compared([denied], [POINT]), "settings") is Outcome.unchanged
    assert command(tmp_path) == 0


@pytest.mark.parametrize(
    ("what", "expected"),
    [("locked memory", Outcome.regressed), ("starting a sample each 1 ms", Outcome.unchanged)],
)
def test_other_settings_count_and_notes_about_the_measurement_do_not(
    compared: Written, tmp_path: Path, what: str, expected: Outcome
) -> None:
    compared([POINT], [POINT])
    run = store.read(tmp_path / "b")
    run.cells[1].probes[0].notes.append(Note(what=what, why="refused"))
    write_document(tmp_path / "b", run)
    assert outcome(again(tmp_path), "settings") is expected


def test_a_cell_that_b_lacks_is_a_regression_and_one_that_a_lacks_is_not(
    compared: Written, tmp_path: Path
) -> None:
    other = replace(POINT, transport="udp")
    result = compared([POINT, other], [POINT])
    assert (result.gone, result.outcome) == ([other.key], Outcome.regressed)
    assert command(tmp_path) == 1
    result = compared([POINT], [POINT, other])
    assert (result.only_b, result.regressed) == ([other.key], False)
    assert command(tmp_path, "--undecided-fails") == 0


@pytest.mark.parametrize(
    ("failed", "expected"), [(0, "no regression"), (1, "undecided"), (3, "regressed")]
)
def test_failed_repetitions_count(
    compared: Written, tmp_path: Path, failed: int, expected: str
) -> None:
    compared([POINT], [POINT])
    run = store.read(tmp_path / "b")
    for cell in run.cells[:failed]:
        cell.status, cell.error = Status.failed, Note(what="the probe died", why="SIGSEGV")
    write_document(tmp_path / "b", run)
    assert outcome(again(tmp_path), "completion").value == expected


def test_undecided_cells_are_named_and_fail_on_request(
    compared: Written, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    uneven = replace(POINT, between=0.5)
    result = compared([uneven], [uneven], repetitions=2)
    assert result.outcome is Outcome.undecided
    needed = result.cells[0].needed
    assert needed is not None
    assert needed > 2
    assert command(tmp_path) == 0
    out = capfd.readouterr().out
    assert f"{POINT.key}: undecided: p50 (about" in out
    assert "repetitions needed" in out
    assert command(tmp_path, "--undecided-fails") == 3


def test_a_regression_comes_before_undecided_cells(compared: Written, tmp_path: Path) -> None:
    uneven = replace(POINT, transport="udp", between=0.5)
    compared([uneven, POINT], [uneven, replace(POINT, losses=900)], repetitions=2)
    assert command(tmp_path, "--undecided-fails") == 1


def test_the_repetitions_that_are_needed_decide(compared: Written) -> None:
    point = replace(POINT, between=0.04)
    few = compared([point], [point], repetitions=2, seed=5)
    needed = few.cells[0].needed
    assert needed is not None
    assert outcome(few, "p50") is Outcome.undecided
    more = compared([point], [point], repetitions=2 * needed, seed=5)
    assert outcome(more, "p50") is Outcome.unchanged


def test_the_same_run_twice_is_no_regression(compared: Written, tmp_path: Path) -> None:
    for point in (POINT, BUSY, FROZEN, replace(POINT, losses=40), replace(POINT, denied=True)):
        compared([point], [point])
        assert takt(["compare", str(tmp_path / "a"), str(tmp_path / "a")]) == 0


@pytest.mark.parametrize("seed", range(8))
def test_ordinary_noise_raises_no_alarm(compared: Written, seed: int) -> None:
    noisy = [
        replace(BUSY, between=0.03, drift=0.2, losses=2),
        replace(POINT, transport="udp", spikes=0.02, spike_us=800.0, losses=5),
        replace(POINT, transport="rare", busy=0.1),
    ]
    assert not compared(noisy, noisy, seed=100 + seed, count=1500).regressed


@pytest.mark.thorough
@pytest.mark.timeout(900)
def test_of_many_noisy_pairs_hardly_any_raises_an_alarm(compared: Written) -> None:
    """Of 40 equal pairs, 5 % at most; more than 6 would come by chance in 0.3 % of cases."""
    points = [replace(BUSY, transport=name, busy=busy) for name, busy in (("x", 0.3), ("y", 3.0))]
    alarms = sum(
        any(
            one.quantity in ("late", "lost")
            for cell in compared(points, points, seed=seed, count=1000).cells
            for one in cell.of(Outcome.regressed)
        )
        for seed in range(40)
    )
    assert alarms <= 6


def test_bursts_and_uneven_repetitions_widen_the_interval() -> None:
    a = [Counted(0, 2000)] * 3
    even, uneven = [Counted(40, 2000)] * 3, [Counted(120, 2000), *[Counted(0, 2000)] * 2]
    bursts = [Counted(40, 2000, correlation=40.0)] * 3
    assert difference(a, even, 0.01).low > 0.01
    assert difference(a, uneven, 0.01).low <= 0
    assert difference(a, bursts, 0.01).low < 0.005


def test_more_repetitions_narrow_the_interval() -> None:
    a, b = [Counted(1, 500), Counted(2, 500)], [Counted(1, 500), Counted(4, 500)]
    widths = [
        found.high - found.low
        for found in (difference(a, b, 0.01, number) for number in (2, 4, 40, 400))
    ]
    assert widths == sorted(widths, reverse=True)
    assert least(lambda number: number >= 37, 3) == 37
    assert least(lambda number: False, 3) is None


def test_other_deadlines_are_judged_by_the_one_of_a(compared: Written, tmp_path: Path) -> None:
    compared([POINT], [POINT])
    run = store.read(tmp_path / "b")
    for cell in run.cells:
        cell.deadline_us = 10.0
    write_document(tmp_path / "b", run)
    result = again(tmp_path)
    assert outcome(result, "late") is Outcome.unchanged
    assert any("deadlines differ" in note for note in result.cells[0].notes)


def test_the_table_shows_the_intervals_of_both_percentiles(
    compared: Written, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    changes = compared([POINT], [POINT]).cells[0].changes
    assert command(tmp_path) == 0
    out = capfd.readouterr().out
    for name in ("p50", "p99"):
        assert f"interval of {name}" in out
        assert f"{changes[name].low:.3f} … {changes[name].high:.3f}" in out


def test_documents_name_every_quantity(
    compared: Written, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    compared([POINT, replace(POINT, transport="udp")], [replace(POINT, losses=900)])
    files = tmp_path / "compare.xml", tmp_path / "compare.md"
    assert command(tmp_path, "--junit", files[0], "--markdown", files[1], "--json") == 1
    document = json.loads(capfd.readouterr().out)
    assert document["outcome"] == "regressed"
    (cell,) = document["cells"]
    assert cell["lost"] == [0, 2700]
    assert cell["shares"]["lost"]["counts"] == [[0, 6000], [2700, 6000]]
    assert {one["quantity"]: one["outcome"] for one in cell["judged"]}["lost"] == "regressed"
    (suite,) = ET.parse(files[0]).getroot()  # noqa: S314 - of our own making
    failed = [case.get("name") for case in suite if case.find("failure") is not None]
    assert f"{POINT.key}, lost" in failed
    assert (suite.get("failures"), len(failed)) == ("2", 2)
    written = files[1].read_text()
    assert f"| {POINT.key} | lost | 2\u202f700 of 6\u202f000 lost or never sent in B" in written
    assert "| samples | measured in A, missing in B |  | **fails** |" in written


def test_annotations_are_printed_on_github_only(
    compared: Written,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    compared([POINT], [replace(POINT, losses=900)])
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    command(tmp_path)
    assert "::error" not in capfd.readouterr().out
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    command(tmp_path)
    assert f"::error title={POINT.key}, lost::" in capfd.readouterr().out
