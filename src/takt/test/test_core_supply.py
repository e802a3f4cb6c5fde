# SPDX-License-Identifier: Apache-2.0
"""The supply of the cores of a run: from cells with known windows and gaps to a supply.yaml."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from synthetic_cells import cell_of, records_of, synthetic_run, write_recording

from takt.cli import session
from takt.measure.report.html import write_report
from takt.measure.report.model import build
from takt.measure.results.model import Cell
from takt.measure.results.supply import Taker
from takt.measure.run import takers
from takt.measure.run.measured import add_measured
from takt.measure.run.samples import RECORD, gap_bytes
from takt.measure.run.session import judge
from takt.measure.run.takers import Takers
from takt.measure.statistics.compare import compare_runs
from takt.measure.statistics.core_supply import supplies, write
from takt.measure.statistics.supply import Watched
from takt.processes.switches import Held
from takt.schedule.application.supply import read_supply

PERIOD_US = 20_000.0  # so windows are 10 ms long
Gap = tuple[int, float, float]  # window, and ms from its planned begin to the begin and the end


def supply_cell(
    folder: Path, gaps: Sequence[Gap], count: int = 40, repetition: int = 0, cpu: int = 1
) -> Cell:
    """A cell with wake-ups that are 10 µs late, and these gaps."""
    windows = records_of(np.full(count, 10.0), PERIOD_US)
    records = np.zeros(len(gaps), RECORD)
    for place, (window, begin, end) in enumerate(gaps):
        planned = int(windows["intended_ns"][window])
        at = planned + round(begin * 1e6)
        records[place] = (window, at, at, planned + round(end * 1e6))
    asked = {"kind": "supply", "stack": "raw", "transport": "clock", "cpu": [cpu]}
    cell = cell_of(folder, [windows], repetition, **asked, period_us=PERIOD_US)
    files = [
        write_recording(folder / f"{cell.id}.taktsamples", windows),
        write_recording(folder / f"{cell.id}-supply.taktsamples", records),
    ]
    add_measured(cell, files, folder)
    return cell


def test_the_gaps_are_kept_beside_the_windows(tmp_path: Path) -> None:
    cell = supply_cell(tmp_path, [(0, 1, 2), (3, 4, 4.5)])
    assert cell.samples == [f"samples/{cell.id}.parquet"]
    assert cell.gaps == f"samples/{cell.id}-supply.parquet"
    assert (tmp_path / cell.gaps).exists()
    assert (cell.count, cell.lost) == (40, 0)


def test_a_core_has_the_supply_of_its_worst_cell(tmp_path: Path) -> None:
    cells = [
        supply_cell(tmp_path, [(5, 1, 1.1)]),
        supply_cell(tmp_path, [(7, 2, 2.4)], repetition=1),
        supply_cell(tmp_path, [], repetition=2, cpu=0),
    ]
    whole, found = supplies(synthetic_run("x", cells), tmp_path)
    assert (whole.cpu, whole.rate, whole.delay_us, whole.latency_us) == (0, 1.0, 0.0, 10.0)
    assert found.cpu == 1
    assert found.cells == [cells[0].id, cells[1].id]
    assert (found.windows, found.longest_gap_us) == (80, 400.0)
    assert found.window_us == 10_000  # 20 gaps of 0.4 ms are less
    assert found.rate == pytest.approx(1 - 0.4 / 9.99, abs=1e-4)
    assert found.delay_us == 400
    assert found.short_gaps.count == 1


def test_windows_in_a_row_count_as_one_where_gaps_are_long(tmp_path: Path) -> None:
    (found,) = supplies(synthetic_run("x", [supply_cell(tmp_path, [(5, 1, 6)])]), tmp_path)
    assert (found.windows, found.window_us) == (4, 100_000)
    assert found.least_share == pytest.approx(1 - 5 / 99.9)
    # Each of its windows begins with the wake-up.
    assert (found.curve[-1].length_us, found.curve[-1].least_us) == (99_900, 94_900)


def test_a_core_that_gave_nothing_for_a_recording_has_no_supply(tmp_path: Path) -> None:
    gaps = [(window, 0.01, 10.0) for window in range(40)]
    (found,) = supplies(synthetic_run("x", [supply_cell(tmp_path, gaps)]), tmp_path)
    assert found.rate is None
    assert write([found], tmp_path) is None


def test_the_file_is_what_analyse_reads_and_never_more_than_was_found(tmp_path: Path) -> None:
    cells = [supply_cell(tmp_path, [(5, 1, 1.1234567), (6, 2, 2.2)])]
    (found,) = supplies(synthetic_run("x", cells), tmp_path)
    path = write([found], tmp_path)
    assert path == tmp_path / "supply.yaml"
    core = read_supply(path)[1]
    assert core.supply is not None
    assert core.supply.rate is not None
    assert found.rate is not None
    assert core.supply.rate <= found.rate
    assert (core.supply.delay or 0) >= (found.delay_us or 0) * 1e3
    assert core.latency == 10_000
    assert core.measured is not None
    assert (core.measured.windows, core.measured.window) == (40, 10_000_000)
    for point in found.curve:
        rest = point.length_us - (core.supply.delay or 0) / 1e3
        assert core.supply.rate * rest <= point.least_us + 1e-6


def test_the_file_of_gaps_has_the_room_of_the_contract() -> None:
    assert gap_bytes(3, 200_000_000) == 4096 + 3 * 500 * 32
    assert gap_bytes(3, 1_000_000) == 4096 + 3 * 16 * 32


class _Kernel:
    """A made-up /proc whose counters grow."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.write(0, 0, 0)

    def write(self, ticks: int, softirqs: int, steal: int) -> None:
        (self.folder / "interrupts").write_text(
            f"            CPU0       CPU1\n 40:      {7 + ticks}      100  PCI-MSI 4-edge  eth0\n"
            f"LOC:      5      {100 + ticks}   Local timer interrupts\nERR:    0\n"
        )
        (self.folder / "softirqs").write_text(
            f"          CPU0     CPU1\n  TIMER:     3     {softirqs}\n"
        )
        (self.folder / "stat").write_text(
            "cpu  1 1 1 1 1 1 1 900 0 0\ncpu0 1 1 1 1 1 1 1 500 0 0\n"
            f"cpu1 1 1 1 1 1 1 1 {steal} 0 0\n"
        )


class _Switches:
    refused = None

    def __init__(self, cpus: Sequence[int], ignored: object) -> None:
        self.cpus = cpus
        self.held = [
            Held(900, 1200, 1, 7, "late"),
            Held(1500, 1510, 1, 8, "irq/24"),
            Held(2100, 2400, 1, 9, "between"),
            Held(3005, 3008, 1, 8, "irq/24"),
        ]

    def look(self) -> None: ...
    def end(self) -> None: ...


def test_takers_are_programs_within_windows_and_what_counters_grew_by(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel = _Kernel(tmp_path)
    monkeypatch.setattr(takers, "PROC", tmp_path)
    monkeypatch.setattr(takers, "Switches", _Switches)
    cell = supply_cell(tmp_path, [])
    looking = Takers(cell)
    looking.look([])
    kernel.write(250, 30, 2)
    looking.end()
    none = np.empty(0, np.int64)
    found = looking.of([Watched(1000, 2000, none, none), Watched(3000, 4000, none, none)])
    assert found == [
        Taker(kind="program", name="late", count=1, seconds=200e-9, longest_us=0.2),
        Taker(kind="program", name="irq/24", count=2, seconds=13e-9, longest_us=0.01),
        Taker(kind="interrupt", name="Local timer interrupts", count=250),
        Taker(kind="softirq", name="TIMER", count=30),
        Taker(kind="steal", name="hypervisor", seconds=2 / takers.TICKS_S),
    ]


@pytest.mark.parametrize(
    ("count", "outcome", "words"),
    [(40, "meets", "the cell is measured"), (39, "undecided", "1 of 40 missing")],
)
def test_a_supply_has_one_verdict_which_is_not_about_deadlines(
    tmp_path: Path, count: int, outcome: str, words: str
) -> None:
    """So few wake-ups decide about no share of late ones, and a late one is a gap."""
    cell = supply_cell(tmp_path, [(3, 0, 30)], count)
    cell.samples_requested = 40
    verdict = judge(synthetic_run("x", [cell]))
    assert verdict.outcome is not None
    assert verdict.outcome.value == outcome
    assert words in " ".join(verdict.headline.split())
    assert "deadline" not in verdict.headline


def test_its_row_has_no_deadline_and_nothing_late(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A deadline that was asked, of which the wake-up in window 3 is late."""
    supply = supply_cell(tmp_path, [(3, 0, 30)])
    assert supply.statistics is not None
    supply.deadline_us = 1.0
    run = synthetic_run("x", [supply])
    (row,) = session.document(run, tmp_path)["rows"]
    assert (row["deadline_us"], row["late"], row["count"]) == (None, None, 40)
    assert (row["judged"]["deadline_us"], row["judged"]["late"]) == (None, 0)
    session._show(run, tmp_path, [])
    printed = capsys.readouterr().out
    assert "p99.9" in printed
    assert "late" not in printed.partition("results:")[0].lower()
    assert "deadline" not in printed.partition("results:")[0]


def test_beside_other_rows_its_late_ones_are_blank(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    windows = records_of(np.full(40, 10.0), PERIOD_US)
    timer = cell_of(tmp_path, [windows], kind="wakeup", stack="raw", transport="clock")
    run = synthetic_run("x", [supply_cell(tmp_path, []), timer])
    rows = {row["key"]: row for row in session.document(run, tmp_path)["rows"]}
    assert [row["late"] for row in rows.values()] == [None, 0]
    session._show(run, tmp_path, [])
    printed = " ".join(capsys.readouterr().out.split())  # however wide the terminal is
    assert "Late: after the deadline." in printed


def test_its_report_has_no_deadline(tmp_path: Path) -> None:
    supply = supply_cell(tmp_path, [(3, 0, 30)])
    run = synthetic_run("x", [supply])
    page = write_report(tmp_path, run).read_text(encoding="utf-8")
    (kind,) = build(tmp_path, run).kinds
    assert not kind.has_deadlines
    (own,) = kind.measurements[0].own
    (found,) = supplies(run, tmp_path)
    assert own.rows[0][0] == "1"
    assert found.rate is not None
    assert f"{found.rate:.4f}" in own.rows[0]
    assert "Supply of each core" in page
    assert kind.measurements[0].charts["m1-v1-time"]["deadline"] is None
    assert not re.search(r"\d late", page)
    for words in (">Deadline<", "deadlines missed", ", deadline ", "later than the deadline"):
        assert words not in page
    timer = cell_of(
        tmp_path, [records_of(np.full(40, 10.0), PERIOD_US)], kind="wakeup", stack="raw"
    )
    both = write_report(tmp_path, synthetic_run("x", [supply, timer])).read_text(encoding="utf-8")
    for words in (">Deadline<", "deadlines missed", ", deadline "):
        assert words in both


def test_a_comparison_does_not_judge_late_wake_ups(tmp_path: Path) -> None:
    sides = []
    for name, gaps in (("a", []), ("b", [(3, 0.0, 30.0)])):
        folder = tmp_path / name
        folder.mkdir()
        sides.append((synthetic_run(name, [supply_cell(folder, gaps)]), folder))
    (a, folder_a), (b, folder_b) = sides
    (found,) = compare_runs((a, b), (folder_a, folder_b)).cells
    assert set(found.shares) <= {"lost"}


def test_the_watching_program_takes_nothing_whatever_it_was_called_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its name may still be known as that of the program that became it, on another core."""
    monkeypatch.setattr(takers, "PROC", tmp_path)
    monkeypatch.setattr(takers, "Switches", _Switches)
    looking = Takers(supply_cell(tmp_path, []))
    looking.look([7])
    looking.end()
    none = np.empty(0, np.int64)
    found = looking.of([Watched(1000, 2000, none, none)])
    assert [one.name for one in found] == ["irq/24"]


def test_of_other_cells_nobody_is_a_taker(tmp_path: Path) -> None:
    cell = cell_of(tmp_path, [records_of([1.0, 2.0], 1000.0)], cpu=[0], kind="wakeup")
    looking = Takers(cell)
    looking.end()
    assert looking.of([]) == []
