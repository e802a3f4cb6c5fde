# SPDX-License-Identifier: Apache-2.0
"""Cores and priorities of a model: those that the threads of a recording had."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from recorded_robots import scheduled
from recording_files import BEGIN, MS, SENSOR, Process
from test_model_recorded_robot import FAST, Pair, modelled, noted, processes

from takt.errors import Failure
from takt.network import stacks
from takt.schedule.analysis.ask import analyse
from takt.schedule.metrics.against import against
from takt.schedule.ros2 import threads
from takt.schedule.trace.file import read

SENSORS, FILTERS = 11, 22  # processes of a pair, and the threads of their callbacks


def pair() -> Pair:
    """The filter has the shorter period, so the guess has it above."""
    one = Pair().scans(20)
    one.filter.timer(900, 1, FAST)
    for number in range(1, 40):
        begin = number * FAST + 4 * MS
        one.filter.call(begin, begin + 9_000, 900)
    return one


def priorities(folder: Path) -> tuple[dict[str, int], list[str]]:
    document, written = pair().modelled(folder)
    return {name: one["priority"] for name, one in processes(document).items()}, written.notes


def test_priorities_are_the_recorded_ones_whatever_the_periods(tmp_path: Path) -> None:
    scheduled(tmp_path, "11 11 fifo 40 0 1 sensors", "22 22 fifo 30 0 1 filters")
    found, notes = priorities(tmp_path)
    assert found == {"sensors": 40, "filters": 30}
    (note,) = [one for one in notes if "processes: as recorded: " in one]
    assert {"sensors fifo 40", "filters fifo 30"} == set(note.rpartition(": ")[2].split(", "))
    assert not [one for one in notes if "assumed: the shorter" in one]


def test_a_thread_without_a_priority_below_another_one_has_its_nice_value(tmp_path: Path) -> None:
    scheduled(tmp_path, "11 11 rr 40 0 1 sensors", "22 22 other 0 -5 1 filters")
    document, written = pair().modelled(tmp_path)
    found = processes(document)
    assert found["sensors"]["priority"] == 40
    assert found["filters"]["nice"] == -5
    assert "priority" not in found["filters"]
    assert noted(written, "process filters: other, nice -5, below the others on core 1")


def test_all_without_a_priority_below_another_one_have_their_nice_values(tmp_path: Path) -> None:
    scheduled(
        tmp_path,
        "11 11 rr 40 0 1 s",
        "22 22 other 0 -5 1 f",
        "33 33 other 0 3 1 m",
        "44 44 other 0 0 2 y",
    )
    for number in (33, 44):
        one = Process(number, f"program{number}")
        one.core = 1 if number == 33 else 2
        one.node(1, f"node{number}")
        one.timer(SENSOR, 1, 20 * MS)
        for job in range(1, 10):
            one.call(job * 20 * MS, job * 20 * MS + MS, SENSOR)
        one.write(tmp_path / "recording")
    document, written = pair().modelled(tmp_path)
    found = processes(document)
    assert found["sensors"]["priority"] == 40
    assert found["filters"]["nice"] == -5
    assert found["program33"]["nice"] == 3
    assert "nice" not in found["program44"]  # alone on its core
    assert noted(written, "beside program33, with which it shares by weights: no bound is known")
    report = analyse(document, "").scenarios[0]
    bounds = {one.name: one.response_us for one in report.callbacks}
    assert bounds["sensor.timer0"] is not None
    assert bounds["node33.timer0"] is None


def test_a_reservation_is_written_with_its_parameters(tmp_path: Path) -> None:
    scheduled(
        tmp_path,
        "11 11 deadline:4000000:8000000:10000000 0 0 0-1 sensors",
        "22 22 fifo 30 0 1 filters",
    )
    document, written = pair().modelled(tmp_path)
    found = processes(document)
    times = {"runtime": 4_000_000, "deadline": 8_000_000, "period": 10_000_000}
    assert found["sensors"]["reservation"] == times
    assert found["filters"]["priority"] == 30
    assert noted(written, "process sensors: its thread had a reservation (SCHED_DEADLINE)")


def test_where_no_thread_had_a_priority_the_note_says_so(tmp_path: Path) -> None:
    scheduled(tmp_path, "11 11 other 0 0 1 sensors", "22 22 other 0 0 1 filters")
    found, notes = priorities(tmp_path)
    assert found["filters"] > found["sensors"]
    assert [one for one in notes if "their threads had none (other)" in one]


def test_equal_priorities_become_distinct_and_are_said(tmp_path: Path) -> None:
    scheduled(tmp_path, "11 11 fifo 40 0 1 sensors", "22 22 fifo 40 0 1 filters")
    found, notes = priorities(tmp_path)
    assert found["filters"] > found["sensors"]
    assert [one for one in notes if "filters, sensors all had 40 on core 1" in one]
    assert [one for one in notes if "written otherwise, in their order" in one]


def test_no_room_above_shifts_all(tmp_path: Path) -> None:
    """A reservation whose parameters were not recorded is above all priorities."""
    scheduled(tmp_path, "11 11 fifo 98 0 1 sensors", "22 22 deadline 0 0 1 filters")
    found, notes = priorities(tmp_path)
    assert 98 >= found["filters"] > found["sensors"]
    assert [one for one in notes if "sensors 98 as 79" in one]


def test_the_last_scheduling_counts_and_a_change_is_said(tmp_path: Path) -> None:
    scheduled(
        tmp_path,
        "11 11 other 0 0 1 sensors",
        "22 22 fifo 30 0 1 filters",
    )
    with (tmp_path / "recording" / threads.FILE).open("a") as file:
        file.write(f"thread {BEGIN + 100 * MS} 11 11 fifo 70 0 1 sensors\nthread x\n")
    found, notes = priorities(tmp_path)
    assert found == {"sensors": 70, "filters": 30}
    assert [one for one in notes if "changed while it was recorded: other, then fifo 70" in one]


def test_an_affinity_is_the_core_and_a_wider_one_is_said(tmp_path: Path) -> None:
    scheduled(tmp_path, "11 11 fifo 40 0 3 sensors", "22 22 fifo 30 0 0-1 filters")
    document, written = pair().modelled(tmp_path)
    found = {name: one["cpu"] for name, one in processes(document).items()}
    assert found == {"sensors": 3, "filters": 1}
    assert noted(written, "the kernel may move filters to any of 0-1")
    assert not noted(written, "move sensors")


def test_threads_of_the_middleware_are_named(tmp_path: Path) -> None:
    scheduled(
        tmp_path,
        "11 11 fifo 40 0 1 sensors",
        "11 12 other 0 0 0-1 dds.udp.7411",
        "11 13 other 0 0 0-1 dds.udp.7410",
        "22 22 fifo 30 0 1 filters",
    )
    _, written = pair().modelled(tmp_path)
    (note,) = noted(written, "threads beside those of its callbacks")
    assert note.startswith("process sensors: ")
    assert "dds.udp (other on 0-1) ×2" in note


def held(folder: Path, *lines: str) -> list[str]:
    """What is said of the modelled file, held against a recording with these threads."""
    scheduled(folder, *lines)
    trace = against(read(folder / "recording"), folder / "modelled.app.yaml")
    return trace.names.values("note")


def test_priorities_and_cores_are_compared_with_the_file(tmp_path: Path) -> None:
    scheduled(tmp_path, "11 11 fifo 40 0 1 sensors", "22 22 fifo 30 0 1 filters")
    pair().modelled(tmp_path)
    same = held(tmp_path, "11 11 fifo 40 0 1 sensors", "22 22 fifo 30 0 1 filters")
    assert [one for one in same if one.endswith("threads had these cores and priorities")]
    assert not [one for one in same if one.startswith("process ")]
    other = held(tmp_path, "11 11 other 0 0 1 sensors", "22 22 fifo 30 0 0-1 filters")
    differ = [one for one in other if one.startswith("process ")]
    assert {one.partition(" as in")[0] for one in differ} == {
        "process sensors: its threads had other, not fifo 40",
        "process filters: the kernel could run its threads on cores 0-1, not on 1 alone",
    }
    (tmp_path / "recording" / threads.FILE).unlink()
    without = against(read(tmp_path / "recording"), tmp_path / "modelled.app.yaml")
    (note,) = [one for one in without.names.values("note") if one.startswith("bounds are")]
    assert "threads that ran without them may exceed them" in note


def test_a_recording_without_the_file_is_as_before(tmp_path: Path) -> None:
    _, written = Pair().scans(20).modelled(tmp_path)
    assert noted(written, "priorities of processes: not in this recording")
    assert modelled(tmp_path)


def test_a_real_recording_has_the_priorities_of_its_threads(tmp_path: Path) -> None:
    """Two processes on one core; the guess by periods would have the other one above."""
    try:
        played = stacks.program("played_events")
        stacks.program("libtakt_record.so")
    except Failure:
        pytest.skip("takt_record is not built with its tests")
    core = max(os.sched_getaffinity(0))
    each = f"taskset -c {core} chrt -f"
    if (
        not shutil.which("chrt")
        or subprocess.run(["chrt", "-f", "2", "true"], check=False).returncode
    ):
        pytest.skip("no real-time priorities here")
    folder = tmp_path / "recording"
    script = f"{each} 2 {played} every 10 & {each} 3 {played} every 40 & wait"
    words = [sys.executable, "-m", "takt", "record", "-o", str(folder), "--json", "--"]
    done = subprocess.run([*words, "sh", "-c", script], capture_output=True, text=True, check=True)
    each_process = json.loads(done.stdout)["processes"]
    ran = [one for of in each_process for one in of["threads"] if one["calls"]]
    assert sorted((one["policy"], one["priority"], one["cpus"]) for one in ran) == [
        ("fifo", 2, [core]),
        ("fifo", 3, [core]),
    ]
    document, written = modelled(tmp_path)
    homes = {one["process"]: one["period"] for one in document["callbacks"]}
    found = {homes[name]: one for name, one in processes(document).items()}
    assert {period // MS: one["priority"] for period, one in found.items()} == {10: 2, 40: 3}
    assert {one["cpu"] for one in found.values()} == {core}
    assert noted(written, "priorities of processes: as recorded")
