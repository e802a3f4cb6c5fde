# SPDX-License-Identifier: Apache-2.0
"""``load: idle``: proved like a load; where it is not met, cells are marked and repeated."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from test_run import measured, prepared

from takt.measure.report.title import title
from takt.measure.results import outcome
from takt.measure.results.disturbed import sentence
from takt.measure.results.model import Status
from takt.measure.run import again
from takt.processes import others
from takt.processes.others import Others, Taken
from takt.statistics.judgement import Outcome

LONG = {"duration": "1s"}  # the shortest that is repeated
A_LITTLE_S = 0.1  # of two CPUs for a second: 5 %, less than disturbs other cells


@pytest.fixture(autouse=True)
def measured_again(monkeypatch: pytest.MonkeyPatch, nothing_measured_again: None) -> None:
    monkeypatch.setattr(again, "MOST", 2)


@pytest.fixture
def a_little(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Other programs that take a little of the next so many measurements, and then nothing."""

    def of(number: int) -> None:
        left = [number]

        def taken(self: Others) -> Taken:
            left[0] -= 1
            seconds = A_LITTLE_S if left[0] >= 0 else 0.0
            limit = min(self._limit.cpus, self._limit.share * 2)
            return Taken(seconds, seconds > limit)

        monkeypatch.setattr(Others, "taken", taken)

    return of


def test_what_does_not_disturb_other_cells_disturbs_one_that_declares_idle(
    folder: Path, memory: Path, a_little: Callable[[int], None]
) -> None:
    a_little(10)
    cells = {one.load: one for one in measured(folder, memory, load=["none", "idle"], **LONG).cells}
    assert not cells["none"].disturbed
    assert (cells["none"].repeated, cells["none"].conditions) == (0, None)
    idle = cells["idle"]
    assert idle.disturbed
    assert (idle.repeated, len(idle.set_aside)) == (again.MOST, again.MOST)
    assert idle.status is Status.complete  # disturbed, not failed
    assert "1 of 2 measurements" in str(sentence(cells.values()))


def test_a_repeat_on_an_idle_machine_counts(
    folder: Path, memory: Path, a_little: Callable[[int], None]
) -> None:
    a_little(1)
    (cell,) = measured(folder, memory, load="idle", **LONG).cells
    assert (cell.disturbed, cell.repeated) == (False, 1)
    assert [one.disturbed for one in cell.set_aside] == [True]
    assert "machine was declared idle" not in str(outcome.judge([cell]).reasons)


def test_a_machine_that_was_not_idle_is_undecided_also_with_all_in_time(
    folder: Path, memory: Path, a_little: Callable[[int], None]
) -> None:
    a_little(10)
    cells = {one.load: one for one in measured(folder, memory, load=["none", "idle"], **LONG).cells}
    found = outcome.judge([cells["idle"]])
    assert found.outcome is Outcome.undecided
    assert "the machine was declared idle and was not" in found.reasons
    assert not any("declared idle" in one for one in outcome.judge([cells["none"]]).reasons)


@pytest.fixture
def burner() -> Iterator[None]:
    """A program of another family that computes for a bounded time."""
    spin = (
        "import os, time\nif os.fork():\n    os._exit(0)\nend = time.monotonic() + 120\n"
        "print(os.getpid(), flush=True)\nos.close(1)\nwhile time.monotonic() < end:\n    pass\n"
    )
    words = [sys.executable, "-IS", "-c", spin]
    started = subprocess.run(words, stdout=subprocess.PIPE, text=True, timeout=150)
    yield
    os.kill(int(started.stdout), 9)


def test_a_real_program_is_seen_and_the_share_that_was_idle_is_recorded(
    folder: Path, memory: Path, burner: None
) -> None:
    cell = measured(folder, memory, load="idle", duration="500ms").cells[0]
    assert cell.disturbed
    assert cell.conditions is not None
    assert cell.conditions.idle_cpu_share is not None
    assert cell.conditions.idle_cpu_share < 1.0 - others.IDLE.share
    assert cell.conditions.load_cpu_share is None


def test_idle_stands_in_the_key_and_in_the_title(folder: Path) -> None:
    cells = prepared(load=["none", "idle", "cpu"]).cells
    keys = {one.load: one.key for one in cells}
    assert len(set(keys.values())) == 3
    assert keys["idle"].endswith("load_idle")
    titles = {one.load: title(one) for one in cells}
    assert "on an idle machine" in titles["idle"]
    assert "idle" not in titles["none"]
