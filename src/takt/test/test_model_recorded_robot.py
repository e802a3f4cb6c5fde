# SPDX-License-Identifier: Apache-2.0
"""Models of robots of several processes, from recordings of takt record."""

from __future__ import annotations

import json
from pathlib import Path

import recording_files as make
import takt_core
from recorded_robots import LATE, Pair, modelled, noted, processes
from recording_files import BEGIN, FILTER, MS, SCAN, SENSOR, Process

from takt.schedule.metrics.against import against
from takt.schedule.ros2 import control
from takt.schedule.trace.file import read

US = 1_000
FAST = 5 * MS


def test_processes_executors_and_nodes_are_as_recorded(tmp_path: Path) -> None:
    document, written = Pair().scans(20).modelled(tmp_path)
    assert "policy" not in document
    found = processes(document)
    assert found["sensors"]["executor"] == "rclcpp_single_threaded"
    assert found["filters"]["executor"] == "rclcpp_events"
    homes = {one["name"]: one["process"] for one in document["callbacks"]}
    assert homes == {"sensor.timer0": "sensors", "filter.subscription_scan": "filters"}
    assert noted(written, "filters: no wait set")
    assert not noted(written, "sensors: no wait set")
    assert not noted(written, "edf on core 0")
    takt_core.analyse(json.dumps(document), sensitivity=False, proposals=False)


def test_a_recording_of_one_process_has_none(tmp_path: Path) -> None:
    pair = Pair().scans(20)
    pair.sensor.write(tmp_path / "recording")
    document, written = modelled(tmp_path)
    assert "processes" not in document
    assert document["policy"] == "edf"
    assert noted(written, "edf on core 0")


def test_the_latency_is_that_of_messages_that_found_their_reader_waiting(tmp_path: Path) -> None:
    pair = Pair().scans(10).scans(1, late=LATE * 2, first=11)
    pair.filter.call(127 * MS, 137 * MS, FILTER)
    pair.sensor.call(130 * MS, 131 * MS, SENSOR)
    pair.sensor.publish(131 * MS - 1, SCAN)
    pair.filter.take(138 * MS, FILTER, 131 * MS - 1)  # which waited until that call ended
    pair.filter.call(138 * MS, 139 * MS, FILTER)
    document, written = pair.scans(1, first=15).modelled(tmp_path)
    assert document["handover"] == {"least": LATE, "most": 2 * LATE}
    (note,) = noted(written, "middleware:")
    assert "10 of 11 messages" in note  # without the first and the last one


def test_what_waited_for_a_process_on_its_core_is_no_latency(tmp_path: Path) -> None:
    pair = Pair()
    pair.sensor.core = 0
    pair.scans(10)
    other = Process(33, "others")
    other.node(1, "other")
    other.timer(SENSOR, 1, 10 * MS)
    other.call(50 * MS, 50 * MS + US, SENSOR)
    other.call(111 * MS - 1, 111 * MS + 3 * LATE - 1, SENSOR)
    other.write(tmp_path / "recording")
    pair.scans(1, late=4 * LATE, first=11)
    document, written = pair.scans(1, first=12).modelled(tmp_path)
    assert document["handover"] == {"least": LATE, "most": LATE}
    assert noted(
        written, "9 of 10 messages between processes found the reader waiting and its core"
    )


def test_where_no_reader_was_waiting_the_latency_is_of_all_messages(tmp_path: Path) -> None:
    pair = Pair().scans(5)
    for number in range(1, 6):
        begin = number * 10 * MS
        pair.filter.call(begin + MS // 2, begin + MS + LATE // 2, FILTER)
    document, written = pair.modelled(tmp_path)
    assert document["handover"]["most"] == LATE
    assert noted(written, "none of which found it waiting")


def test_what_waited_for_the_stop_of_its_process_is_no_latency(tmp_path: Path) -> None:
    document, written = Pair().scans(10).scans(1, late=9 * LATE, first=11).modelled(tmp_path)
    assert document["handover"] == {"least": LATE, "most": LATE}
    assert noted(written, "9 of 9 messages")  # without the first and the last one


def test_what_waited_through_a_pause_of_the_recording_is_no_latency(tmp_path: Path) -> None:
    pair = Pair().scans(5)
    pair.sensor.publish(100 * MS, SCAN)
    pair.filter.take(900 * MS, FILTER, 100 * MS)
    pair.filter.call(900 * MS, 901 * MS, FILTER)
    folder = tmp_path / "recording"
    folder.mkdir()
    control.create(folder, on=False)
    with (folder / control.FILE).open("ab") as file:
        for stretch in ((BEGIN, BEGIN + 200 * MS), (BEGIN + 800 * MS, BEGIN + 1000 * MS)):
            file.write(b"".join(time.to_bytes(8, "little") for time in stretch))
    document, _ = pair.modelled(tmp_path)
    assert document["handover"]["most"] == LATE


def test_a_process_has_the_core_on_which_nearly_all_its_calls_began(tmp_path: Path) -> None:
    pair = Pair()
    pair.sensor.core = 3
    pair.scans(39)
    pair.sensor.core = 4
    pair.scans(1, first=40)
    document, written = pair.modelled(tmp_path)
    assert processes(document)["sensors"]["cpu"] == 3
    assert processes(document)["filters"]["cpu"] == 1
    (note,) = noted(written, "sensors: core 3")
    assert "3 (98%), 4 (2%)" in note
    assert not noted(written, "filters: core")


def test_one_that_moved_gets_a_core_that_no_other_has(tmp_path: Path) -> None:
    pair = Pair()
    pair.filter.core = 0
    pair.scans(10)
    pair.sensor.core = 0
    pair.scans(10, first=11)
    document, written = pair.modelled(tmp_path)
    found = processes(document)
    assert found["filters"]["cpu"] == 0
    assert found["sensors"]["cpu"] == 1
    (note,) = noted(written, "assumed: core 1")
    assert "0 (50%), 1 (50%)" in note


def test_priorities_are_distinct_and_follow_the_shortest_periods(tmp_path: Path) -> None:
    pair = Pair().scans(20)
    pair.filter.timer(900, 1, FAST)
    for number in range(1, 40):
        pair.filter.call(number * FAST + 4 * MS, number * FAST + 4 * MS + 9 * US, 900)
    document, written = pair.modelled(tmp_path)
    found = processes(document)
    assert found["filters"]["priority"] > found["sensors"]["priority"] >= 1
    assert noted(written, "priorities of processes: not in this recording")


def test_several_threads_are_written_as_one_and_said(tmp_path: Path) -> None:
    make.robot(tmp_path / "recording")
    document, written = modelled(tmp_path)
    assert processes(document)["planning"]["executor"] == "rclcpp_events"
    assert noted(written, "planning: its callbacks ran in 2 threads")


def test_programs_and_nodes_of_one_name_are_numbered(tmp_path: Path) -> None:
    pair = Pair().scans(20)
    other = Process(33, "/opt/bin/sensors")
    other.node(1, "sensor")
    other.timer(SENSOR, 1, 20 * MS)
    for number in range(1, 11):
        other.call(number * 20 * MS, number * 20 * MS + MS, SENSOR)
    other.write(tmp_path / "recording")
    document, written = pair.modelled(tmp_path)
    assert set(processes(document)) == {"sensors", "sensors_2", "filters"}
    homes = {one["name"]: one["process"] for one in document["callbacks"]}
    assert homes["sensor.timer0"] == "sensors"
    assert homes["sensor_2.timer1"] == "sensors_2"
    assert noted(written, "nodes in several processes, numbered after the first one: sensor")


def test_more_processes_than_priorities_do_not_share_a_core(tmp_path: Path) -> None:
    for number in range(100):
        one = Process(100 + number, f"robot{number}")
        one.node(1, f"node{number}")
        one.timer(SENSOR, 1, 10 * MS)
        for job in (1, 2):
            one.call(job * 10 * MS, job * 10 * MS + US, SENSOR)
        one.write(tmp_path / "recording")
    document, written = modelled(tmp_path)
    found = document["processes"]
    assert len({(one["cpu"], one["priority"]) for one in found}) == 100
    assert sum(one["cpu"] == 1 for one in found) == 98
    assert len(noted(written, "core 1 has as many processes as there are priorities")) == 2


def test_bounds_held_against_a_recording_are_said_to_be_of_the_file(tmp_path: Path) -> None:
    Pair().scans(20).modelled(tmp_path)
    trace = against(read(tmp_path / "recording"), tmp_path / "modelled.app.yaml")
    (note,) = [one for one in trace.names.values("note") if one.startswith("bounds are")]
    assert "the executors, cores and real-time priorities in the file" in note


def chain_notes(folder: Path) -> str:
    text = (folder / "modelled.app.yaml").read_text(encoding="utf-8")
    return text.partition("chains:")[2]


def test_nodes_without_recorded_callbacks_are_named(tmp_path: Path) -> None:
    """A node of rclpy takes the scan and publishes a command, for which a motor waits."""
    relay, motor = Process(42, "python3 relay.py"), Process(43, "motor")
    relay.node(1, "relay")
    relay.add(0, "rcl_subscription_init", 701, 1, FILTER + 2, "/scan", 10)
    relay.publisher(901, 1, "/command")
    relay.publisher(902, 1, "/rosout")
    motor.node(1, "motor")
    motor.subscription(FILTER + 100, 1, "/command")
    for begin in range(10 * MS, 200 * MS, 10 * MS):
        relay.take(begin + MS + LATE, FILTER, begin + MS - 1)
        relay.publish(begin + 2 * MS, 901)
        relay.publish(begin + 2 * MS + 1, 902)
        motor.take(begin + 2 * MS + LATE, FILTER + 100, begin + 2 * MS)
        motor.call(begin + 2 * MS + LATE + 1, begin + 3 * MS, FILTER + 100)
    for one in (relay, motor):
        one.write(tmp_path / "recording")
    found, written = Pair().scans(19).modelled(tmp_path)
    (note,) = noted(written, "rclpy")
    assert note.startswith("relay: left out")
    assert "what they publish (command) comes from outside" in note
    assert processes(found).keys() == {"sensors", "filters", "motor"}
    assert [one["name"] for one in found["topics"] if one.get("external")] == ["command"]
    without = tmp_path / "without"
    without.mkdir()
    assert not noted(Pair().scans(19).modelled(without)[1], "rclpy")


def test_data_of_the_start_up_is_no_latency_of_a_chain(tmp_path: Path) -> None:
    pair = Pair().scans(20)
    slow = Process(33, "slow")  # which still makes its nodes while the others talk
    slow.node(1, "slow")
    slow.timer(SENSOR, 1, 10 * MS)
    slow.call(35 * MS, 36 * MS, SENSOR)
    slow.call(45 * MS, 46 * MS, SENSOR)
    slow.write(tmp_path / "recording")
    pair.modelled(tmp_path)
    notes = chain_notes(tmp_path)
    assert "the longest of 17 observed" in notes
    assert "start-up: 3 released before each process had called a timer" in notes


def test_a_timer_that_came_due_before_its_process_spun_is_start_up(tmp_path: Path) -> None:
    pair = Pair()
    begin = 104 * MS  # made at 0; due at 100 ms, when the process still made its nodes
    pair.sensor.call(begin, begin + MS, SENSOR)
    pair.sensor.publish(begin + MS - 1, SCAN)
    pair.filter.take(begin + MS, FILTER, begin + MS - 1)
    pair.filter.call(begin + MS, begin + 2 * MS, FILTER)
    pair.scans(20, first=11)
    pair.modelled(tmp_path)
    notes = chain_notes(tmp_path)
    assert "the longest of 20 observed" in notes
    assert "start-up: 1 released" in notes


def test_without_a_start_up_nothing_is_left_out(tmp_path: Path) -> None:
    Pair().scans(20).modelled(tmp_path)
    notes = chain_notes(tmp_path)
    assert "the longest of 20 observed" in notes
    assert "start-up" not in notes
