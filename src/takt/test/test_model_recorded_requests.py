# SPDX-License-Identifier: Apache-2.0
"""Models of services and of the clients that wait for them, from recordings of takt record."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import takt_core
from recorded_robots import Pair, modelled, noted
from recording_files import FILTER, MS, SENSOR, Process

from takt.schedule.analysis.ask import analyse

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
