# SPDX-License-Identifier: Apache-2.0
"""What no plan can be made of is refused: what it is, where it stands, what to do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from synthetic_plans import MACHINE, TWO, UDP, Installed, planned

from takt.errors import TaktError
from takt.measure.experiment import faults
from takt.measure.experiment.faults import Fault, Machine
from takt.measure.experiment.file import read_experiment
from takt.measure.experiment.plan import plan
from takt.measure.results.point import Point

FIXED = {"transport": "fixed", "payload": "64B"}
FIXED_WRONG = {"scheduling": "rr 5", "delay": ["0s", "1ms"], "host": ["here", TWO]}
ALL_KEPT = {"durability": "transient_local", "history": "keep_all"}


@pytest.mark.parametrize(
    ("keys", "where", "what"),
    [
        (
            {"stack": "ros9"},
            "--stack",
            "ros9 is not installed (installed: cyclictest, iceoryx2, other, raw,",
        ),
        ({"stack": "raw", "kind": "pubsub"}, "--stack", "raw has no pubsub"),
        ({"transport": "pigeon"}, "--transport", "no transport pigeon for pingpong"),
        ({"transport": ["shm", "pigeon"]}, "--transport", "available: shm, udp, process"),
        ({"cpu": 7}, "--cpu", "may not use CPU 7"),
        ({"cpu": "0,7"}, "--cpu", "may not use CPU 7"),
        ({"stack": "raw", "kind": "wakeup", "cpu": "0,1"}, "--cpu", "one role"),
        ({"stack": "raw", "kind": "supply"}, "--cpu", "that of one core"),
        ({"stack": "raw", "kind": "supply", "cpu": 0, "period": "2s"}, "--period", "every 2s"),
        ({"payload": "65MiB"}, "--payload", "68157440B exceeds the maximum of shm"),
        ({"stack": "raw", "payload": "1MB"}, "--payload", "the maximum is 65000 bytes"),
        ({"transport": "fixed", "payload": "500B"}, "--payload", "sizes: 64B, 4096B"),
        ({"rate": "200kHz"}, "--rate", "faster than 100kHz"),
        ({"period": "1us"}, "--period", "faster than 100kHz"),
        ({"duration": "1ms"}, "--duration", "at least two samples"),
        ({"duration": "100h"}, "--duration", "MiB of memory"),
        ({"stack": "raw", "kind": "wakeup", "depth": None, "cpu": 0, "payload": None}, None, None),
        (
            {"stack": "raw", "reliability": "reliable"},
            "--reliability",
            "has no reliability to choose: no QoS",
        ),
        (
            {"kind": "pubsub", "transport": "alone", "subscribers": 2},
            "--subscribers",
            "with one subscriber",
        ),
        ({"payload": ["500B", "500B"]}, "the options", "duplicate point"),
        ({"kind": "timer-oneshot", "transport": "executor"}, "--transport", "available: rcl_timer"),
        ({"kind": "timer-oneshot", "timeout": "5us"}, "--timeout", "shorter than 10us"),
        ({"kind": "timer-oneshot", "timeout": "1ms", "cpu": "0,1"}, "--cpu", "one role"),
        ({"kind": "timer-cyclic", "rate": "200kHz"}, "--rate", "faster than 100kHz"),
        (
            {"kind": "timer-cyclic", "transport": "executor", "scheduling": "rr 5"},
            "--scheduling",
            "has no scheduling rr: the threads of",
        ),
        (
            {"kind": "pubsub", "transport": "alone", "talkers": 2},
            "--talkers",
            "runs in one process",
        ),
        ({"host": TWO}, "--host", "shm of rcl does not go from host to host"),
        ({"stack": "raw", "transport": "apart"}, "--transport", "needs two hosts"),
        ({"stack": "raw", "kind": "wakeup", "host": TWO}, "--host", "one role"),
        ({**UDP, "kind": "pubsub", "talkers": 1, "host": TWO}, "--talkers", "on one host"),
        (
            {**UDP, "host": TWO, "traffic": "200Mbps"},
            "--traffic",
            "exceed a link of 100Mbps",
        ),
        ({**UDP, "host": ["here", TWO], "traffic": "1Mbps"}, "--traffic", "this block has one"),
        ({**UDP, "host": ["here", TWO], "queue": "own"}, "--queue", "this block has one"),
        ({**UDP, "host": TWO, "queue": "limited"}, "--queue", "no traffic to limit"),
        ({**UDP, "host": ["here", TWO], "delay": "1ms"}, "--delay", "this block has one"),
        ({**UDP, "host": TWO, "delay": "1ms", "jitter": "2ms"}, "--jitter", "more than the delay"),
        ({**UDP, "host": TWO, "delay": "2s"}, "--delay", "longer than 1s"),
        ({**UDP, "host": TWO, "loss": "100%"}, "--loss", "leaves no link"),
        ({**UDP, "host": "a,b", "loss": "1%"}, "--loss", "their own network"),
        ({"load": "stress 99"}, "--load", "MiB of memory"),
        ({"stack": "iceoryx2", "reliability": "reliable"}, "--reliability", "no reliability"),
        ({"stack": "zenoh", "reliability": "reliable"}, "--reliability", "its transport"),
        (
            {"stack": "raw", "history": "keep_all"},
            "--history",
            "no history to choose: no QoS",
        ),
        ({"stack": "iceoryx2", "durability": "transient_local"}, "--durability", "late joiners"),
        ({"stack": "zenoh", "history": "keep_all"}, "--history", "keep the last messages"),
        ({"stack": "raw", "kind": "wakeup", "threads": 2}, "--threads", "wakes one thread up"),
        ({"content": "string"}, "--content", "shm of rcl has no content string"),
        (
            {"stack": "texts", "content": "string", "payload": "48B"},
            "--payload",
            "too short for the message header",
        ),
        (
            {"stack": "cyclictest", "kind": "wakeup", "threads": 90, "duration": "1000s"},
            "--duration",
            "for each of 90 recorders",
        ),
        ({**FIXED, "history": "keep_all"}, "--history", "fixed of rcl has no history to choose"),
        (
            {**ALL_KEPT, "payload": "64MiB", "samples": 100_000, "duration": None},
            "--history",
            "keeps all 100000 messages",
        ),
        ({"duration": "0s"}, "--duration", "0ns is too short"),
        ({"stack": "rcl,raw"}, "--stack", "rcl and raw cannot communicate"),
        ({"stack": "rcl,absent"}, "--stack", "absent is not installed"),
        ({"stack": "rcl,other", "transport": "shm"}, "--transport", "no transport shm"),
    ],
)
def test_what_cannot_be_measured_is_refused_with_its_place(
    keys: dict[str, Any], where: str | None, what: str | None
) -> None:
    if where is None or what is None:
        assert planned(**keys).cells
        return
    with pytest.raises(TaktError) as caught:
        planned(**keys)
    assert where in (caught.value.where or "")
    assert what in str(caught.value)
    assert caught.value.fix


def test_all_faults_of_a_file_are_reported_at_once(experiment: Callable[[str], Path]) -> None:
    file = experiment(
        "name: x\nmeasurements:\n"
        "- {kind: pingpong, stack: rcl,\n  payload: [500B, 65MiB],\n  cpu: [0, 7],\n"
        "  load: stress 99}\n"
        "- kind: wakeup\n  stack: [raw, rcl]\n  duration: 1ms\n"
    )
    with pytest.raises(TaktError) as caught:
        plan(*read_experiment(file), Installed(), MACHINE, 0)
    every = [caught.value, *caught.value.others]
    assert [(one.where, one.what.partition(" of memory")[0]) for one in every] == [
        (f"{file}:6", "the load stress 99 needs 6336 MiB"),
        (f"{file}:5", "this process may not use CPU 7"),
        (f"{file}:4", "68157440B exceeds the maximum of shm"),
        (f"{file}:9", "1ms is too short for 1kHz"),
        (f"{file}:8", "the stack rcl has no wakeup"),
    ]
    assert all(one.fix and one.fix in str(caught.value) for one in every)


def test_the_order_of_the_rules_decides_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def reported() -> set[tuple[str | None, str]]:
        with pytest.raises(TaktError) as caught:
            planned(cpu=7, load="stress 99", duration="100h", payload="65MiB", **FIXED_WRONG)
        return {(one.where, one.what) for one in (caught.value, *caught.value.others)}

    found = reported()
    assert len(found) > 4
    monkeypatch.setattr(faults, "RULES", faults.RULES[::-1])
    assert reported() == found


def test_of_very_many_faults_the_first_are_reported_and_the_others_counted() -> None:
    with pytest.raises(TaktError) as caught:
        planned(cpu=list(range(2, 40)), payload=["500B", "1KB"])
    assert str(caught.value).count("may not use CPU") == 1 + len(caught.value.others) < 12
    assert "more faults" in str(caught.value)


@pytest.mark.parametrize(
    ("keys", "where"), [({"load": "fft"}, "--load"), ({**UDP, "host": TWO}, "--host")]
)
def test_what_the_machine_lacks_for_a_condition_is_refused(
    keys: dict[str, Any], where: str
) -> None:
    def lacking(point: Point) -> Iterator[Fault]:
        if point.load == "fft":
            yield "load", "stress-ng is not installed", "install it"
        if point.host != "here":
            yield "host", "no privilege", "be root"

    machine = Machine(MACHINE.cpus, MACHINE.memory_bytes, lacking)
    assert planned(machine=machine).cells
    with pytest.raises(TaktError) as caught:
        planned(machine=machine, **keys)
    assert where in (caught.value.where or "")
    assert caught.value.fix in ("install it", "be root")


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"stack": "rcl", "executor": "events"}, "has no executor to choose"),
        ({"stack": "rclcpp", "executor": "static"}, "has no executor static"),
        (
            {"stack": "rclcpp", "executor": "takt", "scheduling": "rr 10"},
            "executor takt and scheduling rr",
        ),
        ({"stack": "raw", "kind": "wakeup", "executor": "takt"}, "has no executor"),
        ({"stack": "rcl,rclcpp", "executor": "takt", **UDP}, "has no executor to choose"),
    ],
)
def test_an_executor_that_cannot_be_is_refused(keys: dict[str, Any], words: str) -> None:
    with pytest.raises(TaktError, match=words):
        planned(**keys)
