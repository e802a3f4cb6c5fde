# SPDX-License-Identifier: Apache-2.0
"""Other programs on the machines of workers: each machine is watched once, by its own worker."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from test_run import prepared

from takt.errors import Failure
from takt.measure.conditions.watched_hosts import WatchedHosts
from takt.measure.report.conditions import condition_row
from takt.measure.results.model import Cell, Conditions
from takt.network import agent, clocks
from takt.network.hosts import Hosts, Side
from takt.network.workers import Gone
from takt.processes import others

pytestmark = pytest.mark.usefixtures("prefix")


class Worker:
    """One on a machine, whose session answers at once."""

    def __init__(self, name: str, machine: str, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self.name, self._machine, self._patch = name, machine, patch
        place: Any = SimpleNamespace(folder=folder)
        self.session = agent.Session(place)
        self.lost = False

    def ask(self, what: str, **arguments: Any) -> Any:
        if self.lost:
            raise Gone(f"{self.name} does not answer")
        with self._patch.context() as here:
            here.setattr(agent, "clocks", SimpleNamespace(identity=lambda: self._machine))
            return getattr(self.session, f"do_{what}")(**arguments)


@pytest.fixture
def worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    return lambda name, machine: Worker(name, machine, tmp_path, monkeypatch)


def hosts(*workers: Any) -> Hosts:
    active, passive = (Side(remote=one) for one in workers)
    return Hosts(active, passive)


def cell(**keys: Any) -> Cell:
    return prepared().cells[0].model_copy(update={"host": "pc,arm", **keys})


def limits(*workers: Any) -> list[Any]:
    return [one.session._others and one.session._others._limit for one in workers]


def test_the_machine_of_the_command_is_watched_by_the_command(worker: Any) -> None:
    pc, arm = worker("pc", clocks.identity()), worker("arm", "there")
    watched = WatchedHosts(cell(), hosts(pc, arm))
    assert limits(pc, arm) == [None, others.USUAL]
    assert watched.machines == ["arm"]  # its load gives the kernel no work here
    watched.end()
    assert watched.taken.keys() == {"arm"}


def test_a_machine_with_two_workers_is_watched_once(worker: Any) -> None:
    pc, arm = worker("pc", "there"), worker("arm", "there")
    watched = WatchedHosts(cell(), hosts(pc, arm))
    assert limits(pc, arm) == [others.USUAL, None]
    watched.end()
    assert watched.taken.keys() == {"pc"}


def test_each_machine_has_the_limit_of_its_load(worker: Any) -> None:
    pc, arm = worker("pc", "one"), worker("arm", "other")
    WatchedHosts(cell(load="stress,idle"), hosts(pc, arm))
    assert limits(pc, arm) == [others.USUAL, others.IDLE]
    assert pc.session._others._ours is not None  # the kernel's work for it
    assert arm.session._others._ours is None


def test_what_others_took_there_is_kept_and_shown(worker: Any) -> None:
    pc, arm = worker("pc", clocks.identity()), worker("arm", "there")
    watched = WatchedHosts(cell(), hosts(pc, arm))
    arm.session._others.taken = lambda: others.Taken(1.5, much=True)
    watched.end()
    assert watched.taken["arm"].much
    found = Conditions()
    watched.record(found)
    assert {name: one.others_seconds for name, one in found.hosts.items()} == {"arm": 1.5}
    row = condition_row("round trips", "other", [Cell.model_construct(conditions=found)])
    assert row is not None
    assert row.load.startswith("arm: 1.5")
    assert "by other programs" in row.load


def test_a_lost_host_took_nothing_that_is_known(worker: Any) -> None:
    pc, arm = worker("pc", clocks.identity()), worker("arm", "there")
    watched = WatchedHosts(cell(), hosts(pc, arm))
    arm.lost = True
    watched.end()
    assert watched.taken == {}


def test_a_host_that_is_lost_before_the_start_fails_the_cell(worker: Any) -> None:
    pc, arm = worker("pc", clocks.identity()), worker("arm", "there")
    arm.lost = True
    with pytest.raises(Failure, match="arm does not answer"):
        WatchedHosts(cell(), hosts(pc, arm))


def test_what_is_not_watched_was_not_taken(worker: Any) -> None:
    with pytest.raises(ValueError, match="nothing is watched"):
        worker("pc", "there").ask("taken")
