# SPDX-License-Identifier: Apache-2.0
"""Delay, jitter and loss of a link: really so, by the relay's counters and by the samples."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conditioned import HOPELESS, measured, needs, real
from test_real_probes import INSTALLED

from takt.measure.conditions import relay
from takt.measure.conditions.relay import Relay, wrong_losses
from takt.measure.results.model import Cell, Conditions, Run, Status
from takt.network import stacks

HALVED = """#!/bin/sh
# The relay with half of the delay that it was asked for.
for word; do
    shift
    [ "$before" = --delay-ns ] && word=$((word / 2))
    before=$word
    set -- "$@" "$word"
done
exec {relay} "$@"
"""
COUNTED: dict[str, Any] = {
    "received": 10_000,
    "forwarded": 9_900,
    "lost": 100,
    "overflowed": 0,
    "unsent": 0,
    "missed": 0,
    "late": {"p99_us": 100.0},
    "delay": {"mean_us": 5_050.0},
}
DONE: dict[str, Any] = {"status": "stopped", "policy": "fifo", "there": COUNTED, "back": COUNTED}


class NoLink:
    """Where no frame goes."""

    def between(self, command: list[str]) -> list[str]:
        return command


@pytest.fixture
def judged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A relay that has written a document, and the cell whose condition it is."""
    monkeypatch.setattr(stacks, "program", lambda name: Path("/nowhere", name))
    keys = {"id": "x", "order": 0, "kind": "pingpong", "statistics": None}
    cell = Cell.model_construct(**keys, delay_us=5000.0, jitter_us=0.0, loss=0.01)
    fake_relay = Relay(cell, NoLink(), tmp_path)  # type: ignore[arg-type]

    def judge(document: dict[str, Any]) -> tuple[Relay, Cell]:
        (tmp_path / "x.relay.json").write_text(json.dumps(document))
        return fake_relay, cell

    return judge


def changed(**numbers: Any) -> dict[str, Any]:
    return DONE | {"back": COUNTED | numbers}


def test_a_relay_that_did_what_was_asked_is_no_fault(judged: Any) -> None:
    fake_relay, cell = judged(DONE)
    assert fake_relay.fault(cell) is None
    found = Conditions()
    fake_relay.record(found)
    assert (found.delay_there_us, found.delay_back_us) == (5050.0, 5050.0)
    assert (found.lost_there, found.lost_back) == (0.01, 0.01)
    assert found.relay_late_us == 100.0


@pytest.mark.parametrize(
    ("document", "what"),
    [
        ({}, "the relay stopped early"),
        (DONE | {"status": "running"}, "the relay stopped early"),
        (DONE | {"status": "time is up"}, "the relay stopped early"),
        (changed(late=None), "forwarded nothing"),
        (changed(late={"p99_us": 1001.0}), "forwarded late"),
        (changed(lost=160), "frames lost back do not match"),
        (changed(lost=40), "frames lost back do not match"),
        (changed(overflowed=11), "frames lost back do not match"),
        (changed(missed=11), "frames lost back do not match"),
    ],
)
def test_a_relay_that_did_something_else_fails_the_cell(
    judged: Any, document: dict[str, Any], what: str
) -> None:
    fake_relay, cell = judged(document)
    fault = fake_relay.fault(cell)
    assert fault is not None
    assert what in fault.what


def test_few_frames_may_lose_more_than_their_share_by_chance() -> None:
    counted = COUNTED | {"received": 20, "lost": 3}
    assert wrong_losses(counted, 0.05) is None
    assert wrong_losses(counted | {"received": 2000, "lost": 300}, 0.05) is not None
    assert wrong_losses(counted | {"lost": 2}, 0.0) is not None


def relayed(stack: str, monkeypatch: pytest.MonkeyPatch, **more: Any) -> Run:
    needs(host="here,namespace", delay_us=1.0) if stack in INSTALLED else None
    keys = {key: more.pop(key) for key in ("kind", "duration", "rate") if key in more}
    run = real(stack, monkeypatch, **keys)
    if lack := relay.lacking(Cell.model_construct(delay_us=1.0)):
        pytest.skip(f"{lack[0]}: {lack[1]}")
    run.cells = [run.cells[0].model_copy(update=more)]
    # Whether this machine is quick enough now is no question of these tests.
    monkeypatch.setattr(relay, "LATE_US", 1e6)
    return run


@pytest.mark.parametrize(
    ("stack", "kind"), [("raw", "pingpong"), ("rcl", "pingpong"), ("rcl", "pubsub")]
)
@pytest.mark.parametrize("host", ["here,namespace", "namespace,here"])
def test_messages_come_after_the_delay(
    tmp_path: Path,
    memory: Path,
    monkeypatch: pytest.MonkeyPatch,
    interfaces: list[Path],
    stack: str,
    kind: str,
    host: str,
) -> None:
    run = relayed(
        stack, monkeypatch, kind=kind, rate="20Hz", duration="2s", delay_us=5e3, host=host
    )
    run.cells[0].jitter_us = 1e3
    cell = measured(run, tmp_path, memory)
    assert (cell.status, cell.error) == (Status.complete, None)
    assert cell.statistics is not None
    assert cell.statistics.latency.min_us >= 4e3 * (2 if kind == "pingpong" else 1)
    found = cell.conditions
    assert found is not None
    assert found.delay_there_us is not None
    assert found.delay_back_us is not None
    assert min(found.delay_there_us, found.delay_back_us) >= 4e3
    assert (found.lost_there, found.lost_back) == (0.0, 0.0)
    assert [one.exists() for one in interfaces] == [False]


def test_frames_are_lost(tmp_path: Path, memory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = relayed("raw", monkeypatch, rate="20Hz", duration="3s", loss=0.3, lost_after_us=40e3)
    cell = measured(run, tmp_path, memory)
    assert (cell.status, cell.error) == (Status.complete, None)
    assert cell.lost > 0
    assert cell.count + cell.lost == cell.sent == 60
    assert cell.conditions is not None
    assert cell.conditions.lost_there


def test_a_delay_that_is_not_there_fails_its_cell(
    tmp_path: Path, memory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = relayed("raw", monkeypatch, rate="20Hz", duration="1s", delay_us=50e3)
    halved = tmp_path / "halved"
    halved.write_text(HALVED.format(relay=stacks.program(relay.PROGRAM)))
    halved.chmod(0o755)
    monkeypatch.setattr(stacks, "program", lambda _name: halved)
    cell = measured(run, tmp_path, memory)
    assert cell.status is Status.failed
    assert cell.error is not None
    assert cell.error.what == "a message bypassed the link"


def test_a_relay_that_does_not_start_fails_its_cell(
    tmp_path: Path, memory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = relayed("raw", monkeypatch, delay_us=1e3)
    idle = tmp_path / "idle"
    idle.write_text("#!/bin/sh\nexec sleep 600\n")
    idle.chmod(0o755)
    monkeypatch.setattr(stacks, "program", lambda _name: idle)
    cell = measured(run, tmp_path, memory, HOPELESS)
    assert cell.status is Status.failed
    assert cell.error is not None
    assert cell.error.what == "the relay did not start"
