# SPDX-License-Identifier: Apache-2.0
"""A clock that is set and a CPU that goes while something is measured are told; nothing is lost."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from test_run import SHORT, Quiet, prepared, rows

from takt.measure.results.model import Cell, Status
from takt.measure.run import runner
from takt.network import stacks
from takt.processes import disturbances
from takt.processes.disturbances import Disturbances

HOUR_NS = 3600 * 10**9


class Machine(Quiet):
    """Sets the clock of the tool, and takes a CPU from it, while a cell is measured."""

    def __init__(self, patch: pytest.MonkeyPatch, folder: Path, go: Path) -> None:
        super().__init__()
        self.patch, self.folder, self.go = patch, folder, go
        self.steps = [self.later, self.earlier, self.without_a_cpu]
        self.cpus("0-3")

    def advance(self, cell: Cell, recorded: int) -> None:
        if recorded and self.steps:
            self.steps.pop(0)()
        elif not self.steps:
            self.go.touch()

    def cpus(self, text: str) -> None:
        file = self.folder / "online"
        file.write_text(f"{text}\n")
        self.patch.setattr(disturbances, "ONLINE", file)

    def later(self) -> None:
        real = time.time_ns
        self.patch.setattr(time, "time_ns", lambda: real() + HOUR_NS)

    def earlier(self) -> None:
        real = time.time_ns
        self.patch.setattr(time, "time_ns", lambda: real() - HOUR_NS)

    def without_a_cpu(self) -> None:
        self.cpus("0-2")


def test_a_clock_set_both_ways_and_a_cpu_gone_are_noted_and_no_sample_is_lost(
    folder: Path,
    memory: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    go: Path,
) -> None:
    machine = Machine(monkeypatch, tmp_path, go)
    run = prepared(duration="1s", transport="held")
    done = runner.measure_cells(run, folder, stacks.find(), machine, limits=SHORT, memory=memory)
    cell = done.cells[0]
    assert machine.steps == []
    assert (cell.status, cell.count) == (Status.complete, 1000)
    assert rows(folder, cell.samples) == 1000
    noted = [note.what for note in cell.notes]
    assert [what[:34] for what in noted if "clock" in what] == [
        "the wall clock was set by +3600.00",
        "the wall clock was set by -3600.00",
    ]
    assert "CPU 3 was taken offline" in noted


@pytest.mark.parametrize("slew", [-500e-6, 500e-6])
def test_a_clock_that_is_slewed_is_not_set(slew: float, monkeypatch: pytest.MonkeyPatch) -> None:
    at = iter(range(0, 10**15, 60 * 10**9))
    readings = [(now, int(now * slew)) for now, _ in zip(at, range(20), strict=False)]
    clocks = iter(readings)
    monkeypatch.setattr(disturbances, "_clocks", lambda: next(clocks))
    watched = Disturbances()
    for _ in readings[1:]:
        watched.look()
    assert watched.reported == []


def test_clocks_that_cannot_be_read_at_once_are_no_step(monkeypatch: pytest.MonkeyPatch) -> None:
    clocks = iter([(0, 5), (10**6, None), (2 * 10**6, 5)])
    monkeypatch.setattr(disturbances, "_clocks", lambda: next(clocks))
    watched = Disturbances()
    watched.look()
    watched.look()
    assert watched.reported == []


def test_a_machine_that_was_suspended_had_no_clock_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """By 90 s, in which the wall clock went on; then by less than is told, again and again."""
    second = 10**9
    wall = iter([(0, 5), (second, 5 + 90 * second), (2 * second, 5 + 90 * second)])
    slept = iter([7, 7 + 90 * second, 8 + 90 * second])
    monkeypatch.setattr(disturbances, "_clocks", lambda: next(wall))
    monkeypatch.setattr(disturbances, "_suspended", lambda: next(slept))
    watched = Disturbances()
    watched.look()
    watched.look()
    assert [what for what, _ in watched.reported] == ["the machine was suspended for 90.000 s"]
