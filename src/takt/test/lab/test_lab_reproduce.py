# SPDX-License-Identifier: Apache-2.0
"""``takt lab reproduce``: what guests measure of a paper, and what their runs answer."""

from __future__ import annotations

import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from synthetic_cells import synthetic_run

from takt.errors import Failure, TaktError
from takt.lab import cells, jobs, left, reproduced
from takt.lab.compare import Asked
from takt.lab.kernels import Kernel
from takt.lab.modes import Mode
from takt.machine.system import System
from takt.measure.experiment.faults import Machine
from takt.measure.experiment.plan import Plan, plan
from takt.measure.results.model import Cell, Status
from takt.network import stacks
from takt.processes.supervision import Stop
from takt.reproduce import page, ye2023

SHELL_S = 60.0
NUMBERS = "instruction time, one virtual CPU"


def planned(*, ros: bool) -> Plan:
    there = stacks.find()
    needed = {"raw", "rcl"} if ros else {"raw"}
    if lacking := sorted(one for one in needed if one not in there):
        pytest.skip(f"not built: {', '.join(lacking)}")
    chosen, source = ye2023.guest_experiment(0.0002, there, ros=ros)
    return plan(chosen, source, there, Machine(frozenset({0}), 1 << 30), seed=1)


def test_a_paper_without_a_comparison_of_kernels_is_refused() -> None:
    with pytest.raises(TaktError, match="cannot be measured in a guest") as error:
        reproduced.check("sticha2014", Mode.icount)
    assert "ye2023" in str(error.value.fix)


def test_times_that_say_nothing_of_a_kernel_are_refused() -> None:
    with pytest.raises(TaktError, match="no measure of a kernel"):
        reproduced.check("ye2023", Mode.functional)


def test_a_guest_measures_what_the_statements_on_two_kernels_take() -> None:
    quick, whole = planned(ros=False), planned(ros=True)
    assert {(one.label, one.stack) for one in quick.cells} == {("wakeup", "raw"), ("jitter", "raw")}
    assert {(one.label, one.stack) for one in whole.cells} == {
        *((one.label, one.stack) for one in quick.cells),
        ("sizes", "rcl"),
        ("six", "rcl"),
    }
    assert {one.repetition for one in whole.cells} == {0, 1}
    assert quick.skipped == whole.skipped == []


def test_wake_ups_are_measured_under_the_papers_load_and_subscribers_take_the_last_message(
    tmp_path: Path,
) -> None:
    todo, _ = cells.planned(planned(ros=True).cells, stacks.find(), tmp_path)
    loads = {one.cell.label: one.job.load for one in todo}
    assert loads == {"wakeup": jobs.FFT, "jitter": jobs.FFT, "sizes": jobs.IDLE, "six": jobs.IDLE}
    assert {one.cell.label for one in todo if one.job.takes} == {"sizes", "six"}
    script = jobs.init([one.job for one in todo], [], tmp_path / "out")
    done = subprocess.run(["sh", "-n"], input=script.encode(), timeout=SHELL_S)
    assert done.returncode == 0
    on, off = script.rindex("\nfft_on"), script.rindex("\nfft_off")
    for one in todo:
        assert (on < script.index(f"step {one.job.name}'") < off) == (one.job.load == jobs.FFT)
    six = next(one for one in todo if one.cell.label == "six")
    turn = (
        script[script.index(f"step {six.job.name}'") :].partition("step ")[2].partition("step ")[0]
    )
    assert turn.count('& b="$b $!"') == 6
    assert turn.index("drain $b") < turn.index("kill $b")


def test_subscribers_may_end_by_themselves_and_pongs_are_ended(tmp_path: Path) -> None:
    lines = jobs.HEAD[jobs.HEAD.index("drain()") :].partition("\n}\n")[0] + "\n}\n"
    script = lines + "sleep 0.3 & b=$!; drain $b; kill -0 $b 2>/dev/null && echo runs || echo ended"
    done = subprocess.run(["sh", "-c", script], capture_output=True, text=True, timeout=SHELL_S)
    assert done.stdout == "ended\n"


def test_a_guest_that_was_killed_goes_on_where_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cells_of_it = planned(ros=False).cells
    kernel = Kernel("rt", "6.1-rt", tmp_path / "vmlinuz", tmp_path, real_time=True)
    booted: list[list[str]] = []

    def boot(*given: Any) -> None:
        """As the shell of a guest does it, without its commands; it is killed in the third job."""
        content = given[4]
        booted.append([one.name for one in content.todo])
        memory = tmp_path / "memory"
        memory.mkdir(exist_ok=True)
        for number, job in enumerate(content.todo):
            if number == 2 and len(booted) == 1:
                raise Failure("killed")
            for end in (".0.json", ".log", "-s0.taktsamples"):
                (memory / f"{job.name}{end}").write_text("x")
            (memory / f"{job.name}.code").write_text("0\n")
            script = jobs.kept(job.name, content.out, loaded=False).replace(
                jobs.MEMORY, str(memory)
            )
            assert subprocess.run(["sh", "-c", script], timeout=SHELL_S).returncode == 0

    measured: list[Path] = []
    monkeypatch.setattr(reproduced, "boot", boot)
    monkeypatch.setattr(reproduced.guest, "console_text", lambda _: "")
    monkeypatch.setattr(reproduced, "machine_of", lambda *_: System(tmp_path))
    monkeypatch.setattr(reproduced, "measured_programs", lambda _: [])
    monkeypatch.setattr(
        reproduced.cells,
        "measured",
        lambda one, out, *_: measured.extend(out.glob(f"{one.job.name}*")) or one.cell,
    )
    module = SimpleNamespace(
        guest_experiment=ye2023.guest_experiment, keep_of_guest=lambda *_: None
    )
    folder = tmp_path / "results"

    def once(seed: int = 1) -> None:
        asked = Asked(Mode.icount, 0, False, 1.0, seed)
        place = tmp_path / f"place{len(booted)}"
        place.mkdir(exist_ok=True)
        reproduced._one(
            "ye2023", module, kernel, asked, 0.0002, folder, place, Stop(), lambda _: None
        )

    with pytest.raises(Failure, match="killed"):
        once()
    with pytest.raises(Failure, match="other options"):
        once(seed=2)
    once()
    every = [one.id for one in cells_of_it]
    assert booted == [every, every[2:]]
    kept = {name: {one.name for one in measured if one.name.startswith(name)} for name in every}
    ends = (".0.json", ".log", "-s0.taktsamples", ".code", jobs.KEPT)
    assert kept == {name: {f"{name}{end}" for end in ends} for name in every}
    once()  # nothing is left to do
    assert len(booted) == 2
    assert not (folder / "rt" / left.LEFT).exists()


def test_a_guests_times_are_not_compared_with_the_papers(tmp_path: Path) -> None:
    done: list[Cell] = [
        one.model_copy(update={"status": Status.failed}) for one in planned(ros=False).cells[:2]
    ]
    run = synthetic_run("ye2023", done, machine={"time": NUMBERS})
    ye2023.keep_of_guest(run, tmp_path, 0.0002, System(tmp_path), NUMBERS)
    found = page.read(tmp_path)
    assert (found.findings, found.figures) == ([], [])
    assert {one.table for one in found.tables} == {"table 3"}
    assert any(NUMBERS in one.here for one in found.deviations)
    assert not found.complete
