# SPDX-License-Identifier: Apache-2.0
"""Processes of a robot with reservations (SCHED_DEADLINE), nice values and quotas."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from executed import cpu, executed, robot

from takt.errors import TaktError
from takt.machine.scheduling import Scheduling
from takt.schedule.analysis.ask import analyse
from takt.schedule.application.dump import app_yaml
from takt.schedule.application.file import read_application
from takt.schedule.application.flat import flat
from takt.schedule.simulation.simulate import simulate
from takt.schedule.trace import file as traces
from takt.schedule.trace import scheduled

EXAMPLE = Path(__file__).parents[3] / "examples" / "reservations.app.yaml"
RESERVATION = "reservation: {runtime: 4ms, deadline: 8ms, period: 10ms}"


def _changed(tmp_path: Path, old: str, new: str) -> Path:
    text = EXAMPLE.read_text(encoding="utf-8")
    assert old in text
    file = tmp_path / "changed.app.yaml"
    file.write_text(text.replace(old, new), encoding="utf-8")
    return file


@pytest.mark.parametrize("quota", ["", ", cpu_max: 20ms 100ms"])
def test_what_is_written_is_the_same_robot(tmp_path: Path, quota: str) -> None:
    document = flat(read_application(_changed(tmp_path, "nice: 5", f"nice: 5{quota}")))
    again = tmp_path / "again.app.yaml"
    again.write_text(app_yaml(document, "again"), encoding="utf-8")
    assert flat(read_application(again)) == document
    assert "deadline: 8ms" in again.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (RESERVATION, f"priority: 5, {RESERVATION}", "priority and reservation are given"),
        (f"{RESERVATION}, ", "", "key priority is missing: give the real-time priority"),
        ("runtime: 4ms", "runtime: 9ms", "runtime <= deadline <= period"),
        ("deadline: 8ms", "deadline: 11ms", "lower the runtime, or lengthen the others"),
        (
            "runtime: 4ms",
            "runtime: 1ns",
            "of 1ns is refused by the kernel (SCHED_DEADLINE): give at",
        ),
        ("nice: 5", "nice: 5, cpu_max: 0.9ms 100ms", "give a quota of at least 1 ms"),
        ("nice: 5", "nice: 5, cpu_max: 100ms 2s", "and a period of at most 1 s"),
        ("nice: 5", "nice: 20", "must be at most 19"),
        ("nice: 5", "nice: 5, cpu_max: 200ms 100ms", "of several cores, and a process has one"),
        ("nice: 5", "nice: 5, cpu_max: max 100ms", "limits nothing: remove it"),
        ("priority: 80", "priority: 80, cpu_max: 20ms 100ms", "nice in place of the priority"),
    ],
)
def test_what_is_wrong_has_a_line_and_a_fix(tmp_path: Path, old: str, new: str, says: str) -> None:
    file = _changed(tmp_path, old, new)
    with pytest.raises(TaktError) as error:
        read_application(file)
    assert says in str(error.value)
    assert str(error.value.where).startswith(str(file))


@pytest.mark.parametrize(
    ("old", "new", "says", "fix"),
    [
        (
            "cpu: 1, priority: 40",
            "cpu: 1, reservation: {runtime: 6ms, period: 10ms}, policy: np-fp",
            "the reservations on core 1 take 1.1 of it together",
            "until the sum is at most 1",
        ),
        (", policy: np-fp, nodes: [camera", ", nodes: [camera", "is that of one thread", "np-fp"),
        (
            "chains:",
            "cores: {1: {interrupts: [{period: 1ms, duration: 5us}]}}\nchains:",
            "has interrupts of its own",
            "remove it",
        ),
    ],
)
def test_what_the_kernel_would_not_keep_is_refused(
    tmp_path: Path, old: str, new: str, says: str, fix: str
) -> None:
    with pytest.raises(TaktError) as error:
        analyse(flat(read_application(_changed(tmp_path, old, new))), "")
    assert says in str(error.value)
    assert fix in str(error.value.fix)


def test_a_reservation_is_a_supply_and_takes_its_runtime_from_what_is_below() -> None:
    document = flat(read_application(EXAMPLE))
    found = analyse(document, "")
    assert found.verdict == "meets"
    bounds = {one.name: one for one in found.scenarios[0].callbacks}
    # 10 + 8 - 2 * 4 without anything, then twice the 4 of which 4.5 + 2 needs the second.
    assert bounds["camera.grab"].response_us == 22_500
    assert "Easwaran" in bounds["camera.grab"].bound_by
    assert bounds["wheels.turn"].response_us == 5_500
    assert any("SCHED_DEADLINE" in one for one in found.remarks)
    assert any("nothing but process 'log' runs at SCHED_OTHER" in one for one in found.remarks)
    played = {
        one.callback: one for one in simulate(document, where="", duration=2_000_000_000).callbacks
    }
    for name, bound in bounds.items():
        assert bound.response_us is not None
        assert played[name].response.max_us <= bound.response_us


def _roaming(tmp_path: Path, *changes: tuple[str, str]) -> Path:
    """Two reservations on both cores, above a priority on each and a nice value."""
    roams = "cpus: [0, 1], reservation: {runtime: 4ms, deadline: 8ms, period: 10ms}"
    text = EXAMPLE.read_text(encoding="utf-8").replace(f"cpu: 1, {RESERVATION}", roams)
    text = text.replace("cpu: 1, priority: 80", roams.replace("4ms", "2ms") + ", policy: np-edf")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    file = tmp_path / "roaming.app.yaml"
    file.write_text(text, encoding="utf-8")
    return file


def test_reservations_on_all_cores_do_not_delay_each_other(tmp_path: Path) -> None:
    document = flat(read_application(_roaming(tmp_path)))
    found = analyse(document, "")
    assert found.verdict == "meets"
    bounds = {one.name: one.response_us for one in found.scenarios[0].callbacks}
    # Both reservations may be on its core: 1 + 2 (4 + 2).
    assert bounds["wheels.turn"] == 13_000
    assert not any("exclusive cpuset" in one for one in found.remarks)
    assert any("on its cores" in one for one in found.remarks)
    played = {
        one.callback: one for one in simulate(document, where="", duration=2_000_000_000).callbacks
    }
    for name, bound in bounds.items():
        longest = played[name].response
        assert longest is not None
        assert bound is not None
        assert longest.max_us <= bound


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        (
            [
                (
                    "cpu: 1, priority: 40",
                    "cpus: [0, 1], reservation: {runtime: 1ms, period: 9ms}, policy: np-fp",
                )
            ],
            "it is one of 3 reservations on 2 cores",
        ),
        (
            [
                (
                    "cpu: 1, priority: 40",
                    "cpu: 1, reservation: {runtime: 1ms, period: 9ms}, policy: np-fp",
                )
            ],
            "have a core in common, and other ones",
        ),
        (
            [("chains:", "cores: {1: {interrupts: [{period: 1ms, duration: 5us}]}}\nchains:")],
            "of which core 1 does not provide all of its time",
        ),
    ],
)
def test_what_the_kernel_would_not_keep_on_several_cores_is_refused(
    tmp_path: Path, changes: list[tuple[str, str]], says: str
) -> None:
    with pytest.raises(TaktError, match=says):
        analyse(flat(read_application(_roaming(tmp_path, *changes))), "")


def test_locks_of_one_thread_delay_nobody(tmp_path: Path) -> None:
    """Of a reservation and of a nice value: the bounds are those without locks."""
    changes = [
        ("wcet: 2ms, ", "wcet: 2ms, critical_sections: [{lock: map, length: 1ms}], "),
        ("wcet: 4500us, ", "wcet: 4500us, critical_sections: [{lock: map, length: 1ms}], "),
        ("wcet: 5ms, ", "wcet: 5ms, critical_sections: [{lock: disk, length: 1ms}], "),
        ("chains:", "locks: {map: {protocol: ceiling}, disk: {protocol: inheritance}}\nchains:"),
    ]
    text = EXAMPLE.read_text(encoding="utf-8")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    file = tmp_path / "locks.app.yaml"
    file.write_text(text, encoding="utf-8")
    found = [analyse(flat(read_application(one)), "") for one in (EXAMPLE, file)]
    bounds = [[each.response_us for each in one.scenarios[0].callbacks] for one in found]
    assert bounds[0] == bounds[1]
    assert simulate(flat(read_application(file)), where="", duration=400_000_000).callbacks


def test_two_at_sched_other_share_a_core_without_a_bound(tmp_path: Path) -> None:
    document = flat(
        read_application(
            _changed(tmp_path, "cpu: 1, priority: 40", "cpu: 1, nice: 0, policy: np-fp")
        )
    )
    found = analyse(document, "")
    assert found.verdict == "not_proved"
    assert any("shares core 1 with 'log' by weights" in one for one in found.remarks)
    with pytest.raises(TaktError, match="is not simulated"):
        simulate(document, where="", duration=1_000_000_000)


def test_a_recording_is_held_against_the_scheduling_of_the_file() -> None:
    document = flat(read_application(EXAMPLE))
    as_described = {
        "camera.grab": Scheduling("deadline", 0, 0, frozenset({1})),
        "brake.stop": Scheduling("fifo", 80, 0, frozenset({1})),
        "log.flush": Scheduling("other", 0, 0, frozenset({1})),
    }
    recorded = [
        scheduled.attribute(name, "takt.spin", one).partition("=")[2]
        for name, one in as_described.items()
    ]
    notes = scheduled.notes(document, recorded, {})
    assert notes is not None
    (note,) = notes
    assert "process log: its threads had other, not other, nice 5 as in the file" in note


@pytest.mark.usefixtures("app_runner")
def test_execute_asks_the_kernel_and_says_what_it_does_not_grant(tmp_path: Path) -> None:
    application = robot()
    del application["policy"], application["cpus"]
    application["processes"] = [
        {
            "name": "seeing",
            "policy": "np-fp",
            "cpu": cpu(),
            "reservation": {"runtime": 2_000_000, "deadline": 8_000_000, "period": 10_000_000},
        },
        {"name": "planning", "policy": "np-fp", "cpu": cpu(), "nice": 3},
    ]
    homes = {"camera": "seeing", "planner": "planning", "arm": "seeing"}
    for callback in application["callbacks"]:
        callback["process"] = homes[callback["node"]]
    done = executed(tmp_path, "takt", application)
    assert done.status == "complete"
    names = traces.read(done.trace).names
    # An exclusive cpuset or a machine with one core binds it; else it is said, once.
    refused = [one for one in names.not_granted() if "process 'seeing'" in one]
    assert all(re.search("bound to core|SCHED_DEADLINE", one) for one in refused), refused
    assert not [one for one in names.not_granted() if "nice 3" in one]


@pytest.mark.usefixtures("app_runner")
def test_the_kernel_grants_a_reservation_on_all_cores(tmp_path: Path) -> None:
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) != os.cpu_count() or len(cores) < 2:
        pytest.skip("its cores are no scheduling domain")
    application = robot()
    del application["policy"], application["cpus"]
    reservation = {"runtime": 2_000_000, "deadline": 10_000_000, "period": 10_000_000}
    application["processes"] = [
        {"name": "seeing", "policy": "np-fp", "cpus": cores, "reservation": reservation}
    ]
    for callback in application["callbacks"]:
        callback["process"] = "seeing"
    done = executed(tmp_path, "takt", application)
    assert done.status == "complete"
    refused = [one for one in done.not_granted if "bound to core" in one]
    assert not refused
