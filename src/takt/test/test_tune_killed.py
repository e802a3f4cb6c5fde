# SPDX-License-Identifier: Apache-2.0
"""Tune killed by SIGKILL at every step of the machine and of the disk, in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from synthetic_machine import JOURNAL, SyntheticMachine, killed_at, new_machine, state

from takt.machine.settings import SETTINGS
from takt.tune.apply import apply
from takt.tune.changes import find_changes
from takt.tune.revert import revert

# of a fork, in later versions of Python; the child only works on files
pytestmark = pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")


def afresh(machine: SyntheticMachine) -> SyntheticMachine:
    """The same machine, to a tool that was started again."""
    return SyntheticMachine(machine.root)


def each_step() -> pytest.MarkDecorator:
    """Every step is the thorough way; one in seven shows what breaks them all."""
    every = pytest.param(1, id="every", marks=pytest.mark.thorough)
    return pytest.mark.parametrize("stride", [pytest.param(7, id="some"), every])


@pytest.fixture
def machine(tmp_path: Path) -> SyntheticMachine:
    return new_machine(tmp_path)


@pytest.mark.timeout(1200)
@each_step()
def test_an_apply_that_is_killed_at_any_step_is_taken_back_exactly(
    memory: Path, stride: int
) -> None:
    half_way = set()
    for number in range(0, 1000, stride):
        machine = new_machine(memory / str(number))
        before = state(machine)
        killed = killed_at(number, machine, lambda: apply(machine))  # noqa: B023
        half_way.add(tuple(state(machine).values()))
        places = revert(afresh(machine))
        assert not [place for place in places if place.result in ("refused", "left")], number
        assert state(machine) == before, number
        assert revert(afresh(machine)) == []
        if not killed:
            break
    else:
        pytest.fail("it never came to its end")
    assert number > 60
    assert len(half_way) > 25 / stride  # it was killed in as many states


@pytest.mark.timeout(1200)
@each_step()
def test_a_revert_that_is_killed_at_any_step_is_finished_by_the_next(
    memory: Path, stride: int
) -> None:
    for number in range(0, 1000, stride):
        machine = new_machine(memory / str(number))
        before = state(machine)
        apply(machine)
        killed = killed_at(number, machine, lambda: revert(machine))  # noqa: B023
        places = revert(afresh(machine))
        assert not [place for place in places if place.result in ("refused", "left")], number
        assert state(machine) == before, number
        if not killed:
            break
    else:
        pytest.fail("it never came to its end")
    assert number > 60


@pytest.mark.timeout(1200)
@each_step()
def test_an_apply_after_a_killed_one_still_knows_what_was_before(memory: Path, stride: int) -> None:
    for number in range(0, 1000, stride):
        machine = new_machine(memory / str(number))
        before = state(machine)
        killed = killed_at(number, machine, lambda: apply(machine))  # noqa: B023
        apply(afresh(machine))
        assert find_changes(machine).changes == []
        revert(afresh(machine))
        assert state(machine) == before, number
        if not killed:
            break


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
