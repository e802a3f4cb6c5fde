# SPDX-License-Identifier: Apache-2.0
"""Tune killed by SIGKILL at every step of the machine and of the disk, in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from synthetic_machine import JOURNAL, SyntheticMachine, killed_at_each_step, new_machine, state

from takt.machine.settings import SETTINGS
from takt.tune.apply import apply
from takt.tune.changes import find_changes
from takt.tune.revert import revert


def afresh(machine: SyntheticMachine) -> SyntheticMachine:
    """The same machine, to a tool that was started again."""
    return SyntheticMachine(machine.root)


@pytest.fixture
def machine(tmp_path: Path) -> SyntheticMachine:
    return new_machine(tmp_path)


def test_an_apply_that_is_killed_at_any_step_is_taken_back_exactly(
    machine: SyntheticMachine, memory: Path
) -> None:
    before = state(machine)
    left = killed_at_each_step(machine, memory, apply)
    assert len({tuple(state(one).values()) for one in left}) > 25  # it was killed in as many states
    for one in left:
        places = revert(one)
        assert not [place for place in places if place.result in ("refused", "left")], one.root
        assert state(one) == before, one.root
        assert revert(afresh(one)) == []


def test_a_revert_that_is_killed_at_any_step_is_finished_by_the_next(
    machine: SyntheticMachine, memory: Path
) -> None:
    before = state(machine)
    apply(machine)
    left = killed_at_each_step(machine, memory, revert)
    assert len(left) > 25
    for one in left:
        places = revert(one)
        assert not [place for place in places if place.result in ("refused", "left")], one.root
        assert state(one) == before, one.root


@pytest.mark.parametrize("stride", [7, pytest.param(1, marks=pytest.mark.thorough)])
def test_an_apply_after_a_killed_one_still_knows_what_was_before(
    machine: SyntheticMachine, memory: Path, stride: int
) -> None:
    before = state(machine)
    for one in killed_at_each_step(machine, memory, apply)[::stride]:
        apply(one)
        assert find_changes(one).changes == []
        revert(afresh(one))
        assert state(one) == before, one.root


def test_a_process_that_is_killed_while_it_applies_is_taken_back(tmp_path: Path) -> None:
    machine = new_machine(tmp_path / "machine")
    before = state(machine)
    code = (
        "import sys, time; from pathlib import Path\n"
        "from synthetic_machine import SyntheticMachine\n"
        "from takt.tune.apply import apply\n"
        "machine = SyntheticMachine(Path(sys.argv[1])); seen = []\n"
        "def step():\n"
        "    seen.append(0)\n"
        "    if len(seen) == 20: print('half-way', flush=True); time.sleep(600)\n"
        "machine.step = step; apply(machine)\n"
    )
    command = [sys.executable, "-c", code, str(machine.root)]
    with subprocess.Popen(
        command, env={"PYTHONPATH": ":".join(sys.path)}, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "half-way\n"
        process.kill()
    assert state(machine) != before
    revert(machine)
    assert state(machine) == before


def test_the_journal_is_on_the_disk_before_the_first_write(machine: SyntheticMachine) -> None:
    seen: list[str] = []

    def step() -> None:
        document = json.loads(machine.path(JOURNAL).read_text())
        begun = [entry["setting"] for entry in document["entries"] if entry["state"] == "begun"]
        seen.extend(set(begun))
        assert begun

    machine.step = step  # type: ignore[method-assign]
    apply(machine)
    # limits are a file on the disk, which has no step of the kernel's
    assert set(seen) == {setting.id for setting in SETTINGS} - {"limits"}
