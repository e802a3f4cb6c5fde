# SPDX-License-Identifier: Apache-2.0
"""A cell, a bench or top whose core others hold ends soon, and says who held it."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest
from test_rivals import CORE, PRIORITY, spinner  # noqa: F401 - a fixture

from takt.bench import programs
from takt.errors import Failure
from takt.measure.run import starving
from takt.measure.run.starving import PATIENCE_S, Starving
from takt.processes.process import Process
from takt.processes.supervision import Stop


class Held:
    """Rivals that have the core, or not."""

    occupants: tuple[str, ...] = ()

    def reported(self, *_: Any, **__: Any) -> list[str]:
        return list(self.occupants)


def watching(monkeypatch: pytest.MonkeyPatch, held: bool, *, local: bool = True) -> Starving:
    monkeypatch.setattr(starving, "Rivals", Held)
    monkeypatch.setattr(Held, "occupants", ("process 7 occupied CPU 1",) if held else ())
    cell: Any = SimpleNamespace(period_us=1000.0, lost_after_us=500_000.0, cpu=[1])
    return Starving(Stop(), cell, local=local)


@pytest.mark.parametrize("held", [True, False])
def test_who_never_gets_the_core_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch, held: bool
) -> None:
    watched = watching(monkeypatch, held)
    watched.look(0, [], 10.0)
    watched.look(0, [], 10.0 + PATIENCE_S - 0.1)
    assert not watched.requested
    watched.look(0, [], 10.0 + PATIENCE_S + 0.1)
    assert watched.requested == held  # a slow start alone keeps its allowance


def test_on_another_machine_nobody_here_holds_the_core(monkeypatch: pytest.MonkeyPatch) -> None:
    watched = watching(monkeypatch, held=True, local=False)
    for now in range(0, 60, 2):
        watched.look(0, [], float(now))
    assert not watched.requested


def test_who_stands_still_after_some_samples_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    watched = watching(monkeypatch, held=False)
    for now in range(100):  # slow, and it gets on
        watched.look(1 + now, [], 3.0 * now)
    assert not watched.requested
    watched.look(100, [], 297.0 + PATIENCE_S + 0.9)
    assert not watched.requested  # two replies may be lost, a second in all
    watched.look(100, [], 297.0 + PATIENCE_S + 1.2)
    assert watched.requested


def test_a_stop_that_was_asked_for_is_heard(monkeypatch: pytest.MonkeyPatch) -> None:
    stop = Stop()
    monkeypatch.setattr(starving, "Rivals", Held)
    cell: Any = SimpleNamespace(period_us=1.0, lost_after_us=1.0, cpu=[])
    watched = Starving(stop, cell)
    assert not watched.requested
    stop.request()
    assert watched.requested
    assert not watched.is_over
    stop.request()
    assert watched.at_once


def test_a_program_that_is_bound_to_a_core_that_is_held_is_ended(spinner: int) -> None:  # noqa: F811
    process = Process(["sleep", "60"])
    os.sched_setscheduler(process.pid, os.SCHED_FIFO, os.sched_param(PRIORITY - 10))
    os.sched_setaffinity(process.pid, {CORE})
    process.end(0.1)
    assert process.poll() is not None
    assert psutil.Process(spinner).status() == psutil.STATUS_RUNNING  # which still holds the core


def test_a_bench_that_does_not_end_names_who_held_the_core(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(programs, "Rivals", Held)
    monkeypatch.setattr(Held, "occupants", ("process 7 occupied CPU 1 for 2.0 of 2.0 s",))
    with pytest.raises(
        Failure, match=r"sleep did not end within 0 s.*; disturbance: process 7 occupied"
    ):
        programs.output([Path("/bin/sleep"), "60"], 0.2)


def test_top_names_who_held_a_core_while_it_waited(monkeypatch: pytest.MonkeyPatch) -> None:
    from takt.cli import top

    source: Any = SimpleNamespace(next=lambda _: [], publishers=0)
    monkeypatch.setattr(top, "ONCE_LIMIT_S", 0.05)
    monkeypatch.setattr("takt.processes.rivals.Rivals", Held)
    monkeypatch.setattr(Held, "occupants", ("process 7 occupied CPU 1 for 2.0 of 2.0 s",))
    with pytest.raises(Failure, match="; disturbance: process 7 occupied CPU 1"):
        top._once(source, False)
