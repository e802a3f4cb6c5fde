# SPDX-License-Identifier: Apache-2.0
"""An interface that goes down and CPUs that a group loses in mid-run are said once, by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from takt.processes import taken_away
from takt.processes.disturbances import Disturbances


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Its interfaces, its control groups and its processes, as files."""
    for name in ("INTERFACES", "GROUPS", "PROC"):
        (tmp_path / name).mkdir()
        monkeypatch.setattr(taken_away, name, tmp_path / name)
    return tmp_path


def put(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"{text}\n", encoding="ascii")


def test_an_interface_that_goes_down_and_comes_up_is_said_once(machine: Path) -> None:
    state = machine / "INTERFACES" / "eth0" / "operstate"
    put(state, "up")
    put(machine / "INTERFACES" / "lo" / "operstate", "unknown")
    put(machine / "INTERFACES" / "wlan0" / "operstate", "down")  # all the time
    watched = Disturbances()
    for word in ("up", "down", "down", "up", "up"):
        put(state, word)
        watched.look()
    new = machine / "INTERFACES" / "takt0" / "operstate"
    for word in ("down", "up"):
        put(new, word)
        watched.look()
    state.unlink()  # a link that was made for a run goes with it
    watched.look()
    assert [what for what, _ in watched.reported] == [
        "the network interface eth0 went down",
        "the network interface eth0 came up again",
    ]


@pytest.mark.parametrize(
    ("lines", "file"),
    [
        ("0::/robot.slice/a.service", "robot.slice/cpuset.cpus.effective"),
        (
            "9:name=systemd:/\n3:cpuset:/robot\n0::/",
            "cpuset/robot/cpuset.effective_cpus",
        ),
    ],
    ids=["version 2", "version 1"],
)
def test_cpus_that_a_control_group_loses_are_said_once(
    machine: Path, lines: str, file: str
) -> None:
    put(machine / "PROC" / "7" / "cgroup", lines)
    cpus = machine / "GROUPS" / file
    watched = Disturbances()
    for text in ("0-3", "0-3", "0,2", "0,2", "0-2"):
        put(cpus, text)
        watched.look([7, 8])  # 8 has ended
    group = str(Path(file).parent)
    assert [what for what, _ in watched.reported] == [
        f"the control group {group} lost CPU 1, 3",
        f"the control group {group} got CPU 1",
    ]


def test_processes_of_other_groups_are_not_compared(machine: Path) -> None:
    for pid, group, text in ((7, "a", "0-3"), (8, "b", "1")):
        put(machine / "PROC" / str(pid) / "cgroup", f"0::/{group}")
        put(machine / "GROUPS" / group / "cpuset.cpus.effective", text)
    watched = Disturbances()
    for pids in ([7], [8], [7, 8]):
        watched.look(pids)
    assert watched.reported == []


def test_without_control_groups_nothing_is_said(machine: Path) -> None:
    watched = Disturbances()
    watched.look([7])
    assert watched.reported == []
