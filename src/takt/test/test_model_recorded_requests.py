# SPDX-License-Identifier: Apache-2.0
"""Models of services and of the clients that wait for them, from recordings of takt record."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import takt_core
from recorded_robots import Pair, modelled, noted, processes, scheduled
from recording_files import FILTER, MS, SENSOR, Process

from takt.schedule.analysis.ask import analyse
from takt.schedule.simulation.simulate import simulate

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


def apart(jobs: int = 20, core: int | None = None, taker: int = 13) -> tuple[Process, Process]:
    """A timer that waits for a server in another process; each answers for 3 ms after 1 ms."""
    client, server = Process(41, "client"), Process(42, "server")
    if core is not None:
        client.core = server.core = core
    client.node(1, "control")
    client.timer(SENSOR, 1, 20 * MS)
    client.client(CLIENT, 1, "/plan")
    server.node(2, "planner")
    server.service(FILTER, 2, "/plan")
    for job in range(1, jobs + 1):
        begin = job * 20 * MS
        client.add(begin, "callback_start", SENSOR, 0, cpu=begin)
        client.request(begin + MS, CLIENT, job, cpu=begin + MS)
        server.serve(begin + 2 * MS, begin + 5 * MS, FILTER, CLIENT, job)
        client.take_response(begin + 6 * MS, CLIENT, job, thread=taker, cpu=7)
        client.add(begin + 6 * MS + 9, "rclcpp_executor_wait_for_work", -1, thread=taker, cpu=16)
        client.add(begin + 8 * MS, "callback_end", SENSOR, cpu=begin + 3 * MS)
    return client, server


def test_a_client_that_waits_for_another_process_has_the_call_in_a_process_under_takt(
    tmp_path: Path,
) -> None:
    for one in apart():
        one.write(tmp_path / "recording")
    document, written = modelled(tmp_path)
    found = {one["name"]: one for one in document["callbacks"]}
    assert set(found) == {"control.timer0", "planner.service_plan"}
    one, two = ({"shortest": time, "longest": time} for time in (MS, 2 * MS))
    assert found["control.timer0"]["segments"] == [one, {"call": "/plan"}, two]
    assert found["planner.service_plan"]["kind"] == "service"
    of = processes(document)
    assert of["client"]["policy"] == "fp"
    assert of["server"]["executor"] == "rclcpp_events"
    assert noted(written, "process client: callbacks of it wait for responses of services")
    assert noted(written, "its core free of callbacks of the others")
    assert document["handover"] == {"least": MS, "most": MS}
    bounds = {one.name: one.response_us for one in analyse(document, "x").scenarios[0].callbacks}
    bound = bounds["control.timer0"]
    assert bound is not None
    (played,) = (
        one
        for one in simulate(document, where="", duration=100 * MS).callbacks
        if one.callback == "control.timer0"
    )
    assert 6_000 <= played.response.max_us <= bound


def test_room_is_left_for_the_threads_of_a_client_that_waits(tmp_path: Path) -> None:
    """Its jobs and those of the server run on one core, and execute gives each a band."""
    for one in apart(core=0):
        one.write(tmp_path / "recording")
    document, _ = modelled(tmp_path)
    of = processes(document)
    assert of["client"]["priority"] - of["server"]["priority"] == 1  # the client has the period
    other = Process(43, "slow")
    other.core = 0
    other.node(3, "slow")
    other.timer(SENSOR, 3, 5 * MS)
    for job in range(1, 80):
        other.call(job * 5 * MS + 4 * MS, job * 5 * MS + 4 * MS + 9000, SENSOR)
    other.write(tmp_path / "recording")
    document, _ = modelled(tmp_path)
    of = processes(document)
    assert of["slow"]["priority"] - of["client"]["priority"] >= 3


def test_a_client_with_a_nice_value_does_not_wait_for_anybody(tmp_path: Path) -> None:
    """Takt's executor needs real-time priorities for callbacks that wait."""
    for one in apart(core=0, taker=41):
        one.write(tmp_path / "recording")
    scheduled(tmp_path, "41 41 other 0 0 0 client", "42 42 fifo 30 0 0 server")
    document, _ = modelled(tmp_path)
    found = {one["name"]: one for one in document["callbacks"]}
    assert processes(document)["client"]["nice"] == 0
    assert "segments" not in found["control.timer0"]
    assert found["control.timer0"]["execution"]["worst"] == 8 * MS
    assert found["control.timer0"]["publishes"] == "anywhere"


def test_a_client_that_waits_for_its_own_process_is_under_takt_beside_others(
    tmp_path: Path,
) -> None:
    Pair().scans(20).sensor.write(tmp_path / "recording")
    waits().write(tmp_path / "recording")
    document, _ = modelled(tmp_path)
    found = {one["name"]: one for one in document["callbacks"]}
    assert {name: one.get("policy") for name, one in processes(document).items()} == {
        "robot": "fp",
        "sensors": None,
    }
    assert {"call": "/plan"} in found["control.timer0"]["segments"]
    assert found["control.timer0"]["priority"] > 0
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
