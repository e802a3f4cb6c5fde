# SPDX-License-Identifier: Apache-2.0
"""Cells that other programs disturbed are measured again: few times, and nothing is lost."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from test_run import SHORT, Quiet, measured, prepared

from takt.measure.results import store
from takt.measure.results.disturbed import sentence
from takt.measure.results.model import Run, Status
from takt.measure.run import again, runner
from takt.network import stacks
from takt.processes.others import Others, Taken
from takt.processes.supervision import Stop

LONG = {"duration": "1s"}  # the shortest that is repeated
BUSY, IDLE = 3.0, 0.0


@pytest.fixture(autouse=True)
def measured_again(monkeypatch: pytest.MonkeyPatch, nothing_measured_again: None) -> None:
    monkeypatch.setattr(again, "MOST", 2)


@pytest.fixture
def others(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """CPU seconds that others take of the next measurements; afterwards they are idle."""
    script: list[float] = []

    def taken(_: Others) -> Taken:
        seconds = script.pop(0) if script else IDLE
        return Taken(seconds, seconds >= BUSY)

    monkeypatch.setattr(Others, "taken", taken)
    return script


def rows(folder: Path) -> list[int]:
    return [pq.read_metadata(path).num_rows for path in sorted(folder.glob("samples/*.parquet"))]


def test_a_disturbed_cell_is_measured_again_at_the_end(
    folder: Path, memory: Path, others: list[float]
) -> None:
    others += [BUSY, IDLE]  # the first of two cells
    watcher = Quiet()
    run = measured(folder, memory, repetitions=2, watcher=watcher, **LONG)
    first, second = run.cells
    assert watcher.finished == [first.id, second.id, first.id]
    assert (first.repeated, first.disturbed, second.repeated) == (1, False, 0)
    assert (run.status, first.count) == (Status.complete, 1000)
    assert store.read(folder) == run


@pytest.mark.parametrize("links", [True, False])
def test_what_was_measured_before_is_kept_and_marked(
    folder: Path, memory: Path, others: list[float], monkeypatch: pytest.MonkeyPatch, links: bool
) -> None:
    """Also on a file system that has no links, as a stick's."""

    def link(*_: object) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    if not links:
        monkeypatch.setattr(os, "link", link)
    others.append(BUSY)
    cell = measured(folder, memory, **LONG).cells[0]
    (before,) = cell.set_aside
    assert (before.disturbed, before.others_seconds, before.count) == (True, BUSY, 1000)
    assert cell.samples == [f"samples/{cell.id}.parquet"]
    assert before.samples == [f"samples/{cell.id}.attempt1.parquet"]
    assert rows(folder) == [1000, 1000]
    assert (folder / "samples" / f"{cell.id}.attempt1.histogram.txt").exists()


def test_it_ends_where_the_machine_stays_busy_and_the_cell_stays_marked(
    folder: Path, memory: Path, others: list[float]
) -> None:
    others += [BUSY] * 10
    cell = measured(folder, memory, **LONG).cells[0]
    assert len(others) == 10 - 1 - again.MOST
    assert (cell.repeated, cell.disturbed, len(cell.set_aside)) == (again.MOST, True, again.MOST)
    assert rows(folder) == [1000] * (1 + again.MOST)
    assert f"{again.MOST} repeats did not help" in str(sentence([cell]))


def test_of_two_disturbed_measurements_the_quieter_one_counts(
    folder: Path, memory: Path, others: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(again, "MOST", 1)
    others += [BUSY, 1000 * BUSY]
    cell = measured(folder, memory, **LONG).cells[0]
    assert (cell.others_seconds, cell.repeated) == (BUSY, 1)
    assert cell.set_aside[0].others_seconds == 1000 * BUSY
    assert cell.histogram is not None
    assert (folder / cell.histogram).exists()
    assert all((folder / name).exists() for name in cell.samples)


def resumed(folder: Path, memory: Path, stop: Stop | None = None) -> Run:
    run = runner.reopen(folder, None, None)
    watcher = Quiet(stop, after=100)
    return runner.measure_cells(
        run, folder, stacks.find(), watcher, stop=stop, limits=SHORT, memory=memory
    )


def test_a_resumed_run_does_not_repeat_for_ever(
    folder: Path, memory: Path, others: list[float]
) -> None:
    others += [BUSY] * 10
    measured(folder, memory, **LONG)
    left = len(others)
    again_run = resumed(folder, memory)
    assert len(others) == left
    assert again_run.cells[0].repeated == again.MOST


def test_a_repeat_that_is_stopped_leaves_the_cell_as_it_was(
    folder: Path, memory: Path, others: list[float]
) -> None:
    others += [BUSY] * 2
    stop = Stop()

    class Second(Quiet):
        def begin(self, cell: object, done: int, of: int) -> None:
            if getattr(cell, "repeated", 0):
                self.stop = stop

    run = prepared(**LONG)
    run = runner.measure_cells(
        run, folder, stacks.find(), Second(), stop=stop, limits=SHORT, memory=memory
    )
    cell = run.cells[0]
    assert (cell.status, cell.disturbed, cell.repeated) == (Status.complete, True, 1)
    assert cell.count == 1000
    assert [pq.read_metadata(folder / name).num_rows for name in cell.samples] == [1000]
    assert resumed(folder, memory).cells[0].repeated == again.MOST


def test_repeats_have_a_budget_of_time(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = prepared(repetitions=10, **LONG)
    for cell in run.cells:
        cell.status, cell.disturbed = Status.complete, True
    monkeypatch.setattr(again, "LEAST_ROOM_S", 0.0)
    each = again.estimate(run.cells[0])

    def repeats() -> Iterator[int]:
        for place in again.due(run):
            run.cells[place].repeated += 1
            yield place

    assert again.most_s(run.cells) == pytest.approx(5 * each)
    assert list(repeats()) == [0, 1, 2, 3, 4]  # half of the time of the plan
    assert list(repeats()) == []


def test_short_cells_are_not_repeated(folder: Path, memory: Path, others: list[float]) -> None:
    others += [BUSY] * 3
    cell = measured(folder, memory, duration="900ms").cells[0]
    assert (cell.repeated, cell.disturbed) == (0, True)
