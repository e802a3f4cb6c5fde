# SPDX-License-Identifier: Apache-2.0
"""Hosts with one machine-id: refused before the start, where Fast DDS would not let them meet."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from test_run import prepared

from takt.measure.conditions import elsewhere
from takt.measure.results.model import Cell
from takt.network import clocks, namespace, same_host
from takt.network.same_host import Identity, identity, taken_for_one

KILTED: dict[str, str] = {}
PC, CLONE, OTHER = Identity("m", "a"), Identity("m", "b"), Identity("n", "b")


@pytest.mark.parametrize(
    ("stack", "other", "variables", "expected"),
    [
        ("rcl", CLONE, KILTED, True),
        ("rclcpp", CLONE, KILTED, True),
        ("rcl", PC, KILTED, False),  # two processes of one host
        ("rcl", OTHER, KILTED, False),
        ("cyclonedds", CLONE, KILTED, False),
        ("raw", CLONE, KILTED, False),
        ("rcl", CLONE, {"RMW_IMPLEMENTATION": "rmw_cyclonedds_cpp"}, False),
    ],
)
def test_only_fast_dds_takes_clones_for_one_host(
    stack: str, other: Identity, variables: dict[str, str], *, expected: bool
) -> None:
    assert taken_for_one([stack], PC, other, variables) is expected
    assert taken_for_one([stack], other, PC, variables) is expected


def test_fast_dds_2_distinguishes_hosts_by_their_addresses(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "libfastrtps.so.2.14").touch()
    assert not taken_for_one(["rcl"], PC, CLONE, {"AMENT_PREFIX_PATH": str(tmp_path)})


def test_without_a_machine_id_nothing_is_known(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(same_host, "MACHINE", tmp_path / "none")
    found = identity()
    assert found.machine == ""
    assert not taken_for_one(["rcl"], found, found._replace(network="x"), KILTED)


def test_the_machine_id_itself_is_not_sent(tmp_path: Path, monkeypatch: Any) -> None:
    file = tmp_path / "machine-id"
    file.write_text("0123456789abcdef0123456789abcdef\n")
    monkeypatch.setattr(same_host, "MACHINE", file)
    assert identity().machine
    assert identity().machine not in file.read_text()


class Clones:
    """Workers on two clones of one image."""

    def __init__(self, *hosts: Identity) -> None:
        self._hosts = iter(hosts)

    def about(self, _: str, __: list[str]) -> dict[str, Any]:
        clock = {"identity": "x", "now_ns": 0, "bound_ns": None, "reference": "", "source": ""}
        return {"host": next(self._hosts), "clock": clock, "stacks": {}}


@pytest.mark.usefixtures("prefix")
@pytest.mark.parametrize(("other", "refused"), [(CLONE, True), (OTHER, False)])
def test_a_plan_refuses_clones_and_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch, other: Identity, *, refused: bool
) -> None:
    for variable in ("RMW_IMPLEMENTATION", "AMENT_PREFIX_PATH", "TAKT_ROS_WHEELS"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(elsewhere, "_stack", lambda *_: None)
    monkeypatch.setattr(elsewhere, "_clocks", lambda *_: None)
    monkeypatch.setattr(elsewhere, "Clock", lambda **_: clocks.read())
    cell = prepared().cells[0]
    asked = Cell.model_validate(cell.model_dump() | {"stack": "rcl", "host": "pc,arm"})
    workers: Any = Clones(PC, other)
    found = elsewhere.lacking(asked, ["pc", "arm"], workers)
    if not refused:
        assert found is None
        return
    assert found is not None
    what, fix = found
    assert what.startswith("pc and arm have the same machine-id")
    assert "systemd-machine-id-setup" in fix


def test_a_network_namespace_is_another_network_of_the_same_machine() -> None:
    if lack := namespace.lacking():
        pytest.skip(f"no network namespaces can be made here: {lack}")
    code = "from takt.network.same_host import identity; print(*identity())"
    command = ["unshare", "--net", "--", sys.executable, "-c", code]
    there = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    here = identity()
    assert there[0] == here.machine or not here.machine
    assert there[-1] != here.network
