# SPDX-License-Identifier: Apache-2.0
"""Models of robots of several processes, from recordings of takt record."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import recording_files as make
import takt_core
from recording_files import BEGIN, FILTER, MS, SCAN, SENSOR, Process

from takt.schedule.analysis.ask import analyse
from takt.schedule.application.file import read_application
from takt.schedule.application.flat import flat
from takt.schedule.metrics.against import against
from takt.schedule.model.document import Modelled
from takt.schedule.model.model import model
from takt.schedule.ros2 import control
from takt.schedule.trace.file import read

US = 1_000
LATE = MS // 5  # from a publication to the call that it releases
FAST = 5 * MS


class Pair:
    """A sensor every 10 ms with a wait set, and a filter of its scan without one."""

    def __init__(self) -> None:
        self.sensor, self.filter = Process(11, "/opt/bin/sensors"), Process(22, "filters --fast")
        self.sensor.node(1, "sensor")
        self.sensor.timer(SENSOR, 1, 10 * MS)
        self.sensor.publisher(SCAN, 1, "/scan")
        self.filter.node(1, "filter")
        self.filter.subscription(FILTER, 1, "/scan")

    def scans(self, count: int, late: int = LATE, first: int = 1) -> Pair:
        for number in range(first, first + count):
            begin = number * 10 * MS
            self.sensor.add(begin - 2, "rclcpp_executor_wait_for_work", -1)
            self.sensor.add(begin - 1, "rclcpp_executor_execute", SENSOR + 1)
            self.sensor.call(begin, begin + MS, SENSOR)
            self.sensor.publish(begin + MS - 1, SCAN)
            self.filter.take(begin + MS - 1 + late - 1, FILTER, begin + MS - 1)
            self.filter.call(begin + MS - 1 + late, begin + 3 * MS, FILTER)
        return self

    def modelled(self, folder: Path) -> tuple[dict[str, Any], Modelled]:
        for one in (self.sensor, self.filter):
            one.write(folder / "recording")
        return modelled(folder)


def modelled(folder: Path) -> tuple[dict[str, Any], Modelled]:
    out = folder / "modelled.app.yaml"
    written = model(folder / "recording", out)
    return flat(read_application(out)), written


def processes(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {one["name"]: one for one in document["processes"]}


def noted(written: Modelled, text: str) -> list[str]:
    return [one for one in written.notes if text in one]


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


CLIENT, PATH, DRIVE = 600, 700, 800


class Client:
    """Calls a server in another process every 20 ms, after 1 ms; the response is there after 5."""

    def __init__(self) -> None:
        self.client, self.server = Process(11, "control"), Process(22, "planner")
        self.client.node(1, "control")
        self.client.timer(SENSOR, 1, 20 * MS)
        self.client.client(CLIENT, 1, "/plan")
        self.client.publisher(PATH, 1, "/path")
        self.client.node(2, "drive")
        self.client.subscription(DRIVE, 2, "/path")
        self.server.node(1, "planner")
        self.server.service(FILTER, 1, "/plan")

    def write(self, folder: Path) -> None:
        for one in (self.client, self.server):
            one.write(folder / "recording")

    def does_not_wait(self, jobs: int = 20) -> Client:
        """Its callback for the response takes 1 ms; another program had its core for 0.2 ms."""
        for job in range(1, jobs + 1):
            begin = job * 20 * MS
            self.client.call(begin, begin + MS, SENSOR)
            self.client.request(begin + MS - 1, CLIENT, job)
            self.server.serve(begin + 2 * MS, begin + 5 * MS, FILTER, CLIENT, job)
            taken = begin + 6 * MS
            self.client.take_response(taken, CLIENT, job, cpu=taken)
            self.client.publish(taken + MS // 2, PATH)
            self.client.add(
                taken + MS, "rclcpp_executor_wait_for_work", -1, cpu=taken + 8 * MS // 10
            )
            self.client.take(taken + MS + 1, DRIVE, taken + MS // 2)
            self.client.call(taken + MS + 2, taken + 2 * MS, DRIVE)
        return self


def test_a_client_that_does_not_wait_sends_requests_and_has_a_callback_for_the_response(
    tmp_path: Path,
) -> None:
    Client().does_not_wait().write(tmp_path)
    document, written = modelled(tmp_path)
    text = (tmp_path / "modelled.app.yaml").read_text(encoding="utf-8")
    for key in ("requests: [/plan]", "service: /plan", "response: /plan"):
        assert text.count(key) == 1, key
    found = {one["name"]: one for one in document["callbacks"]}
    assert found["planner.service_plan"]["execution"]["worst"] == 3 * MS
    response = found["control.client_plan"]
    assert response["execution"]["worst"] == MS * 8 // 10
    assert response["writes"] == ["path"]
    (chain,) = written.chains
    assert chain.callbacks == [
        "control.timer0",
        "planner.service_plan",
        "control.client_plan",
        "drive.subscription_path",
    ]
    print(text)
    assert (chain.arrivals, chain.longest_us) == (20, 8_000)
    takt_core.analyse(json.dumps(document), sensitivity=False, proposals=False)


def test_requests_of_programs_that_were_not_recorded_come_from_outside(tmp_path: Path) -> None:
    robot = Client().does_not_wait()
    for job in range(1, 21):
        begin = job * 20 * MS + 10 * MS
        robot.server.serve(begin, begin + MS, FILTER, CLIENT + 2, job)
    robot.write(tmp_path)
    document, _ = modelled(tmp_path)
    topics = {one["name"]: one for one in document["topics"]}
    requests = topics["plan/_service/request"]
    assert requests["external_period"] == 20 * MS
    text = (tmp_path / "modelled.app.yaml").read_text(encoding="utf-8")
    assert "  /plan: {external_period: 20ms}" in text


def waits(jobs: int = 20, others: int = 0, late: int = 0) -> Process:
    """A timer computes for 1 ms, waits for the server in another thread, and computes for 2 ms.

    ``others``: requests of a program that was not recorded. ``late``: in ns, after it was sent a
    request is recorded.
    """
    one = Process(33, "robot")
    one.node(1, "control")
    one.node(2, "planner")
    one.timer(SENSOR, 1, 20 * MS)
    one.client(CLIENT, 1, "/plan")
    one.service(FILTER, 2, "/plan")
    for job in range(1, jobs + 1):
        begin = job * 20 * MS
        one.add(begin, "callback_start", SENSOR, 0, cpu=begin)
        one.request(begin + MS + late, CLIENT, job, cpu=begin + MS)
        one.serve(begin + 2 * MS, begin + 5 * MS, FILTER, CLIENT, job, thread=12)
        one.take_response(begin + 6 * MS, CLIENT, job, thread=13, cpu=7)
        one.add(begin + 6 * MS + 9, "rclcpp_executor_wait_for_work", -1, thread=13, cpu=16)
        one.add(begin + 8 * MS, "callback_end", SENSOR, cpu=begin + 3 * MS)
    for job in range(1, others + 1):
        one.serve(job * 20 * MS + 9 * MS, job * 20 * MS + 10 * MS, FILTER, 9, job, thread=12)
    return one


@pytest.mark.parametrize("late", [0, 3 * MS // 2])
def test_a_client_that_waits_has_segments_with_the_call(tmp_path: Path, late: int) -> None:
    waits(late=late).write(tmp_path / "recording")
    document, written = modelled(tmp_path)
    found = {one["name"]: one for one in document["callbacks"]}
    assert set(found) == {"control.timer0", "planner.service_plan"}
    one, two = ({"shortest": time, "longest": time} for time in (MS, 2 * MS))
    assert found["control.timer0"]["segments"] == [one, {"call": "/plan"}, two]
    assert (document["policy"], found["planner.service_plan"]["kind"]) == ("fp", "service")
    assert noted(written, "control.client_plan: it takes responses that others wait for")
    bounds = {one.name: one.response_us for one in analyse(document, "x").scenarios[0].callbacks}
    # Of the client, 2 ms count in the server's response, too.
    assert bounds["control.timer0"] == 8_000


def test_where_others_do_not_wait_a_wait_is_one_of_the_longest_time(tmp_path: Path) -> None:
    waits(others=20).write(tmp_path / "recording")
    document, _ = modelled(tmp_path)
    found = {one["name"]: one for one in document["callbacks"]}
    client, server = found["control.timer0"], found["planner.service_plan"]
    assert (client["suspension"], client["suspensions"]) == (5 * MS, 1)
    assert client["writes"] == [server["trigger"]]
    assert "group" not in client
    takt_core.analyse(json.dumps(document), sensitivity=False, proposals=False)


def test_a_wait_under_an_executor_of_rclcpp_counts_as_execution(tmp_path: Path) -> None:
    Pair().scans(20).sensor.write(tmp_path / "recording")
    waits().write(tmp_path / "recording")
    document, _ = modelled(tmp_path)
    found = {one["name"]: one for one in document["callbacks"]}
    assert found["control.timer0"]["execution"]["worst"] == 8 * MS
    assert found["control.timer0"]["publishes"] == "anywhere"
    takt_core.analyse(json.dumps(document), sensitivity=False, proposals=False)


def test_a_client_that_computes_until_the_response_is_there_does_not_wait(tmp_path: Path) -> None:
    one = waits()
    for job in range(1, 21):  # it computed all the time
        begin = job * 20 * MS
        one.add(begin + 8 * MS - 1, "callback_end", SENSOR, cpu=begin + 8 * MS - 1)
    one.write(tmp_path / "recording")
    document, _ = modelled(tmp_path)
    found = {one["name"]: one for one in document["callbacks"]}
    assert "segments" not in found["control.timer0"]
    assert found["control.client_plan"]["trigger"] == "plan/_service/response"
