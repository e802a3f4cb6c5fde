# SPDX-License-Identifier: Apache-2.0
"""Cells that are measured on a tuned machine, and what ``check --tuned`` says of the settings."""

from __future__ import annotations

import contextlib
import errno
from dataclasses import replace
from pathlib import Path

import pytest
from synthetic_machine import JOURNAL, SyntheticMachine, new_machine, state
from synthetic_runs import Point, write_run
from test_run import Quiet, prepared

from takt.cli.main import main
from takt.errors import TaktError
from takt.machine.settings import BY_ID
from takt.measure.check import tuned as checked
from takt.measure.check.plan import RealtimeCore
from takt.measure.conditions import declared, tuned
from takt.measure.results import store
from takt.measure.results.model import Cell, Run, Status
from takt.measure.run import cell as one_cell
from takt.measure.run import runner
from takt.network import stacks
from takt.processes.supervision import Limits
from takt.tune.apply import apply

MIGRATION = "/proc/sys/kernel/timer_migration"


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SyntheticMachine:
    found = new_machine(tmp_path / "machine")
    monkeypatch.setattr(tuned, "machine", lambda: found)
    return found


def measured(folder: Path, memory: Path, choice: str) -> Cell:
    run = prepared(tuned=choice)
    runner.measure_cells(
        run, folder, stacks.find(), Quiet(), limits=Limits(start_s=30.0), memory=memory
    )
    return run.cells[0]


def test_one_setting_is_there_for_a_while_and_no_other(machine: SyntheticMachine) -> None:
    before = state(machine)
    with tuned.tuned("timer-migration") as found:
        changed = {name for name, content in state(machine).items() if before[name] != content}
        assert changed == {MIGRATION.lstrip("/")}
        assert (found.changed, found.fault, found.notes) == (1, None, [])
    assert state(machine) == before


def test_all_means_the_settings_that_take_effect_at_once(machine: SyntheticMachine) -> None:
    with tuned.tuned("all") as found:
        assert found.fault is None
        assert machine.text(MIGRATION) == "0"
        assert machine.scheduling(14) == (1, 60)
        assert not machine.exists("/etc/security/limits.d/90-takt.conf")


def test_whatever_happens_meanwhile_it_is_taken_back(machine: SyntheticMachine) -> None:
    before = state(machine)
    with contextlib.suppress(KeyboardInterrupt), tuned.tuned("all"):
        assert state(machine) != before
        raise KeyboardInterrupt
    assert state(machine) == before


def test_a_machine_that_is_tuned_already_is_neither_measured_nor_reverted(
    machine: SyntheticMachine,
) -> None:
    apply(machine, without=["swap"])
    now = state(machine)
    with tuned.tuned("swap") as found:
        assert found.fault is not None
        assert "already tuned" in found.fault.what
    assert state(machine) == now
    assert machine.exists(JOURNAL)
    lack = tuned.lacking("swap")
    assert lack is not None
    assert "--revert" in lack[1]
    assert tuned.lacking("none") is None


def test_a_setting_that_changes_nothing_is_a_fault(machine: SyntheticMachine) -> None:
    machine.put({MIGRATION: "0\n"})
    with tuned.tuned("timer-migration") as found:
        assert found.fault is not None
        assert "all settings already have" in found.fault.why


def test_a_refused_setting_is_a_fault_and_a_refused_place_a_note(machine: SyntheticMachine) -> None:
    machine.refuses = {MIGRATION: errno.EROFS, "/proc/sys/kernel/nmi_watchdog": errno.EROFS}
    with tuned.tuned("timer-migration") as found:
        assert found.fault is not None
        assert "EROFS" in found.fault.why
    with tuned.tuned("watchdog") as found:
        assert found.fault is None
        assert ["EROFS" in note.why for note in found.notes] == [True]


def test_what_cannot_be_put_back_is_in_the_notes(machine: SyntheticMachine) -> None:
    with tuned.tuned("timer-migration") as found:
        machine.put({MIGRATION: "7\n"})
    assert [note.what for note in found.notes] == [f"timer-migration: {MIGRATION} left"]


def test_only_who_may_change_the_machine_gets_such_a_cell(
    machine: SyntheticMachine, monkeypatch: pytest.MonkeyPatch
) -> None:
    cell = Cell.model_construct(
        kind="wakeup", tuned="all", load="none", host="here", traffic_mbps=0.0
    )
    assert not list(declared.lacking(cell))
    monkeypatch.setattr(machine, "writable", lambda path: False)
    assert list(declared.lacking(cell)) == [
        ("tuned", "this user may not change machine settings", "use sudo")
    ]
    with pytest.raises(TaktError, match="may not change"):
        tuned.refuse_if_lacking("all")


def test_a_tuned_cell_says_so_in_its_name_and_what_was_changed(
    machine: SyntheticMachine, folder: Path, memory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, values_read = state(machine), []
    measure = one_cell._supervised

    def watched(*arguments: object) -> object:
        values_read.append(machine.text(MIGRATION))
        return measure(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(one_cell, "_supervised", watched)
    cell = measured(folder, memory, "timer-migration")
    assert (cell.status, cell.error) == (Status.complete, None)
    assert "-tuned_timer-migration" in cell.key
    assert cell.conditions is not None
    assert cell.conditions.tuned_places == 1
    assert values_read == ["0"]
    assert state(machine) == before


def test_a_cell_whose_setting_is_refused_has_failed(
    machine: SyntheticMachine, folder: Path, memory: Path
) -> None:
    machine.refuses = {MIGRATION: errno.EROFS}
    cell = measured(folder, memory, "timer-migration")
    assert cell.status is Status.failed
    assert cell.error is not None
    assert cell.error.what == "nothing was changed by timer-migration"


def test_an_unknown_setting_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match="rt-throttling"):
        tuned.parse("warp")


# what they are worth


def run_of(folder: Path, factors: dict[str, float]) -> Run:
    """Cells whose latency is as many times that of the cells that are not tuned."""
    base = Point("raw", "wakeup", "none", "fifo", 58.0, between=0.01)
    points = [
        replace(base, transport=name, median_us=base.median_us * by, spike_us=base.spike_us * by)
        for name, by in factors.items()
    ]
    write_run(folder, points, 5, 1000, seed=3)
    run = store.read(folder)
    for cell in run.cells:
        cell.tuned, cell.transport = cell.transport, "nanosleep"
    return run


def test_a_setting_that_helps_is_distinguished_from_one_that_harms_and_one_that_does_nothing(
    tmp_path: Path,
) -> None:
    factors = {"none": 1.0, "all": 0.7, "swap": 1.0, "governor": 0.6, "watchdog": 1.5}
    found = checked.worth(run_of(tmp_path, factors), tmp_path)
    assert [(one.setting, one.answer) for one in found] == [
        ("watchdog", "harms"),
        ("governor", "helps"),
        ("swap", "no significant difference"),
        ("all", "helps"),
    ]
    for one in found:
        assert one.layer == "Timer wake-up"
        assert one.p50 is not None
        assert one.p50.low < factors[one.setting] < one.p50.high


def test_without_cells_that_are_not_tuned_there_is_nothing_to_say(tmp_path: Path) -> None:
    assert checked.worth(run_of(tmp_path, {"all": 1.0, "swap": 1.0}), tmp_path) == []


def test_a_setting_whose_cells_failed_is_not_measured(tmp_path: Path) -> None:
    run = run_of(tmp_path, {"none": 1.0, "swap": 1.0})
    for cell in run.cells:
        if cell.tuned == "swap":
            cell.status, cell.samples = Status.failed, []
    assert [one.answer for one in checked.worth(run, tmp_path)] == ["not measured"]


def test_the_experiment_has_each_setting_alone_and_all_together(machine: SyntheticMachine) -> None:
    names = tuned.worth_measuring(machine)
    assert names == [name for name in BY_ID if name != "limits"]
    asked = checked.experiment(RealtimeCore(1, "the last one"), names)
    assert [block.tuned for block in asked.measurements] == [["none", *names, "all"]] * 2
    single = checked.experiment(RealtimeCore(1, "the last one"), ["swap"])
    assert single.measurements[0].tuned == ["none", "swap"]


def test_the_command_refuses_who_may_not(
    machine: SyntheticMachine, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(machine, "writable", lambda path: False)
    with pytest.raises(SystemExit) as end:
        main(["check", "--tuned"])
    assert end.value.code == 2
    assert "fix: use sudo" in capsys.readouterr().err
