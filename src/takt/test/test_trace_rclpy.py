# SPDX-License-Identifier: Apache-2.0
"""Recordings of programs without rclcpp, such as those of rclpy: messages and services."""

from __future__ import annotations

from pathlib import Path

import pytest
from recorded_robots import summary
from recording_files import BEGIN, FILTER, MS, SCAN, SENSOR, Process, robot

from takt.errors import TaktError
from takt.schedule.metrics import measure
from takt.schedule.model.model import model
from takt.schedule.record.summary import summary as summary_of
from takt.schedule.ros2 import switches
from takt.schedule.trace import file as files
from takt.schedule.trace.programs import Programs
from takt.schedule.view.page import write_view


def of_rclpy(folder: Path) -> Path:
    """A talker every 10 ms and a listener that takes each message 0.3 ms later; no callbacks."""
    talker, listener = Process(31, "talker.py"), Process(32, "listener.py")
    talker.node(1, "talker")
    talker.publisher(SCAN, 1, "/scan")
    talker.publisher(900, 1, "/rosout")
    listener.node(1, "listener")
    listener.add(0, "rcl_subscription_init", 701, 1, FILTER + 2, "/scan", 10)
    listener.client(800, 1, "/go")
    for job in range(1, 11):
        talker.publish(job * 10 * MS, SCAN)
        talker.publish(job * 10 * MS + 1, 900)
        listener.take(job * 10 * MS + 3 * MS // 10, FILTER, job * 10 * MS)
        listener.request(job * 10 * MS + 4 * MS // 10, 800, job)
        listener.take_response(job * 10 * MS + 5 * MS // 10, 800, job)  # begins a callback, too
    talker.write(folder)
    listener.write(folder)
    return folder


def test_a_recording_without_callbacks_shows_its_messages(tmp_path: Path) -> None:
    folder = of_rclpy(tmp_path / "out")
    found = {one.task: (one.jobs, one.response_max_us) for one in summary(folder).tasks}
    sent, taken = (pytest.approx(us, abs=0.01) for us in (0, 300))
    assert found == {
        "talker.publish:/scan": (10, sent),
        "listener.take:/scan": (10, taken),
        "listener.request:/go": (10, sent),
        "listener.response:/go": (10, None),  # its server was not recorded
    }
    page = tmp_path / "view.html"
    write_view(folder, page)
    text = page.read_text(encoding="utf-8")
    assert "talker.publish:/scan → listener.take:/scan" in text
    assert "max 0.300 ms of 10 messages" in text  # of that chain
    assert "those of rclpy and rcl are not in a recording" in text
    assert {one.callback for one in measure(folder).callbacks} == found.keys()
    with pytest.raises(TaktError, match="contains no callback") as refused:
        model(folder, tmp_path / "no.app.yaml")
    assert "takt view" in str(refused.value.fix)


def test_the_thread_of_rclpy_is_no_other_program(tmp_path: Path) -> None:
    """What it computes between its messages are its callbacks, of which nothing is recorded."""
    folder = of_rclpy(tmp_path / "out")
    (folder / switches.FILE).write_text(
        f"held 1 {BEGIN} {BEGIN + 1000 * MS} 32 32 listener.py\n", encoding="utf-8"
    )
    names = files.read(folder).names
    (row,) = (core for core in range(2) if names.core(core) == "listener.py 32, thread 32")
    assert not Programs(names).by_core.get(row)


def test_processes_of_rclpy_are_shown_beside_rclcpp(tmp_path: Path) -> None:
    folder = of_rclpy(robot(tmp_path / "out"))
    tasks = {one.task for one in summary(folder).tasks}
    assert {"talker.publish:/scan", "listener.take:/scan"} <= tasks
    assert any(".subscription:" in one for one in tasks)
    assert not any(".take:" in one for one in tasks if not one.startswith("listener."))
    (note,) = [one for one in files.read(folder).names.values("note") if "rclpy" in one]
    assert note.startswith("listener.py, talker.py: no callbacks")


def test_what_rclcpp_publishes_is_followed_to_rclpy_and_back(tmp_path: Path) -> None:
    """A timer of rclcpp, a node of rclpy that takes and answers, a subscription of rclcpp."""
    cpp, py = Process(41, "cpp"), Process(42, "relay.py")
    cpp.node(1, "sensor")
    cpp.timer(SENSOR, 1, 10 * MS)
    cpp.publisher(SCAN, 1, "/scan")
    py.node(1, "relay")
    py.add(0, "rcl_subscription_init", 701, 1, FILTER + 2, "/scan", 10)
    for job in range(1, 11):
        begin = job * 10 * MS
        cpp.publish(begin + MS // 2, SCAN)
        cpp.call(begin, begin + MS, SENSOR)
        py.take(begin + MS, FILTER, begin + MS // 2)
    for one in (cpp, py):
        one.write(tmp_path / "out")
    page = tmp_path / "view.html"
    write_view(tmp_path / "out", page)
    text = page.read_text(encoding="utf-8")
    assert "sensor.timer0 → relay.take:/scan" in text
    assert "max 1.000 ms of 10 messages" in text


def test_a_service_of_rclpy_lasts_from_its_request_to_its_response(tmp_path: Path) -> None:
    client, server, reader = (
        Process(51, "client.py"),
        Process(52, "server.py"),
        Process(53, "end.py"),
    )
    client.node(1, "client")
    client.client(800, 1, "/go")
    server.node(1, "server")
    server.add(0, "rcl_service_init", 801, 1, 802, "/go")
    server.publisher(SCAN, 1, "/scan")
    reader.node(1, "end")
    reader.add(0, "rcl_subscription_init", 701, 1, FILTER + 2, "/scan", 10)
    key = f"{800:016}"
    for job in range(1, 11):
        begin = job * 10 * MS
        client.request(begin, 800, job)
        server.add(begin + MS, "rmw_take_request", 802, 7, key, job, 1)
        server.publish(begin + 2 * MS, SCAN)
        server.add(begin + 3 * MS, "rmw_send_response", 802, 7, key, job, begin)
        server.publish(begin + 4 * MS, SCAN)  # by itself
        client.take_response(begin + 5 * MS, 800, job)
        reader.take(begin + 6 * MS, FILTER, begin + 2 * MS)
    for one in (client, server, reader):
        one.write(tmp_path / "out")
    found = {one.task: (one.jobs, one.response_max_us) for one in summary(tmp_path / "out").tasks}
    sent, served, answered, taken = (pytest.approx(us, abs=0.01) for us in (0, 3_000, 2_000, 4_000))
    assert found == {
        "client.request:/go": (10, sent),
        "server.service:/go": (10, served),
        "server.publish:/scan": (10, sent),
        "client.response:/go": (10, answered),
        "end.take:/scan": (10, taken),
    }
    page = tmp_path / "view.html"
    write_view(tmp_path / "out", page)
    text = page.read_text(encoding="utf-8")
    assert "client.request:/go → server.service:/go → client.response:/go" in text
    assert "client.request:/go → server.service:/go → end.take:/scan" in text


@pytest.mark.parametrize("rclcpp", [True, False])
def test_without_calls_the_note_says_whether_callbacks_could_have_been_recorded(
    tmp_path: Path, rclcpp: bool
) -> None:
    process = Process(1)
    process.node(1, "one")
    if rclcpp:
        process.timer(100, 1, MS)
    process.write(tmp_path / "out")
    (note,) = [one for one in summary_of(tmp_path / "out", [], 0).notes if "callback" in one]
    assert ("rclpy" in note) != rclcpp
    assert note.startswith("no callback was called") == rclcpp


def test_a_page_shows_no_chain_that_no_message_took(tmp_path: Path) -> None:
    folder = of_rclpy(tmp_path / "out")
    other = Process(33, "other.py")
    other.node(1, "other")
    other.publisher(SCAN, 1, "/scan")  # nobody takes it: the listener was slow
    other.publish(5 * MS, SCAN)
    other.write(folder)
    page = tmp_path / "view.html"
    write_view(folder, page)
    text = page.read_text(encoding="utf-8")
    assert "talker.publish:/scan → listener.take:/scan" in text
    assert "other.publish:/scan → " not in text
    assert "No data reached its end" not in text
