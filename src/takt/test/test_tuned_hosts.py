# SPDX-License-Identifier: Apache-2.0
"""Settings on the machines of workers: changed by their agents, and put back whatever happens."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from synthetic_machine import SyntheticMachine, new_machine, state

from takt.measure.conditions import tuned
from takt.measure.conditions.tuned_hosts import tuned_hosts
from takt.measure.results.model import Cell
from takt.network import agent, clocks
from takt.network.hosts import Hosts, Side
from takt.network.workers import Gone

MIGRATION = "/proc/sys/kernel/timer_migration"
CELL = Cell.model_construct(host="controller,component", tuned="timer-migration", conditions=None)


class Asked:
    """A host whose session is in this process, on a synthetic machine."""

    def __init__(self, name: str, folder: Path, machine: str) -> None:
        place: Any = SimpleNamespace(folder=folder / name, run_folder=folder / f"{name}-run")
        for one in (place.folder, place.run_folder):
            one.mkdir()
        self.name, self._machine = name, machine
        self.session = agent.Session(place)
        self.lost = False

    def ask(self, what: str, **arguments: Any) -> Any:
        if self.lost:
            raise Gone("lost the host")
        if arguments.get("function") is clocks.identity:
            return self._machine
        return getattr(self.session, f"do_{what}")(**arguments)


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SyntheticMachine:
    found = new_machine(tmp_path / "machine")
    monkeypatch.setattr(tuned, "machine", lambda: found)
    return found


def hosts(*remotes: Any) -> Hosts:
    active, passive = (Side(remote=one) for one in remotes)
    return Hosts(active, passive)


def test_two_hosts_that_are_one_machine_are_tuned_once(
    machine: SyntheticMachine, tmp_path: Path
) -> None:
    before = state(machine)
    both = [Asked(name, tmp_path, "one") for name in ("controller", "component")]
    cell = CELL.model_copy()
    with tuned_hosts(cell, hosts(*both), tmp_path) as found:
        assert machine.text(MIGRATION) == "0"
        assert found.fault is None
        found.record(cell)
    assert state(machine) == before
    assert cell.conditions is not None
    assert {name: one.tuned_places for name, one in cell.conditions.hosts.items()} == {
        "controller": 1
    }
    assert found.notes == []


def test_each_of_two_machines_is_tuned_and_the_fault_names_the_host(
    machine: SyntheticMachine, tmp_path: Path
) -> None:
    before = state(machine)
    both = [Asked(name, tmp_path, name) for name in ("controller", "component")]
    with tuned_hosts(CELL, hosts(*both), tmp_path) as found:
        # The journal of the first is that of the second: here they are one machine after all.
        assert found.fault is not None
        assert found.fault.what == "the machine is already tuned on the host component"
    assert state(machine) == before


def test_an_agent_that_nobody_asks_any_more_puts_the_settings_back(
    machine: SyntheticMachine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agent, "sweep_since", lambda _: None)
    before = state(machine)
    both = [Asked(name, tmp_path, "one") for name in ("controller", "component")]
    session = both[0].session
    session.place.release = lambda keep: None  # type: ignore[method-assign]
    with tuned_hosts(CELL, hosts(*both), tmp_path):
        both[0].lost = True
        assert state(machine) != before
    assert state(machine) != before
    session.leave()
    assert state(machine) == before
