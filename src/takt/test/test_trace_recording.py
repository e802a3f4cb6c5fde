# SPDX-License-Identifier: Apache-2.0
"""A folder of takt record is read as a trace is: jobs, messages and chains of all its processes."""

from __future__ import annotations

import os
import random
import struct
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from conftest import Takt
from recorded_robots import summary
from recording_files import BEGIN, FILTER, MS, SENSOR, Process, robot

from takt.errors import TaktError
from takt.judge.gate import examine
from takt.judge.limits import Limits
from takt.schedule.explain import explain
from takt.schedule.explain.html import render
from takt.schedule.metrics import measure
from takt.schedule.model.model import model
from takt.schedule.ros2.event import Event
from takt.schedule.ros2.reading import Reading
from takt.schedule.trace import file as files
from takt.schedule.trace.file import Step, Type
from takt.schedule.trace.summary import TaskSummary


def task(folder: Path, name: str) -> TaskSummary:
    return next(one for one in summary(folder).tasks if one.task == name)


def application(folder: Path) -> Path:
    out = folder.parent / "robot.app.yaml"
    model(folder, out)
    return out


def test_responses_count_from_the_release_of_each_job(tmp_path: Path) -> None:
    folder = robot(tmp_path / "out")
    assert summary(folder).source == "recording"
    sensor = task(folder, "sensor.timer0")
    assert (sensor.jobs, sensor.releases, sensor.skipped) == (20, 20, 0)
    assert sensor.response_max_us == pytest.approx(1100)
    # From the publication in another process, and within the process.
    assert task(folder, "filter.subscription:/scan").response_max_us == pytest.approx(1600)
    assert task(folder, "plan.subscription:/points").response_max_us == pytest.approx(2100)


def test_a_chain_crosses_processes(tmp_path: Path) -> None:
    folder = robot(tmp_path / "out")
    metrics = measure(folder, application=application(folder))
    (chain,) = metrics.chains
    assert chain.latency_us is not None
    assert (chain.latency_us.count, chain.latency_us.max) == (20, pytest.approx(4500))
    scan = next(one for one in metrics.data_age if one.topic == "scan")
    assert scan.age_us is not None
    assert scan.age_us.max == pytest.approx(500)


def test_the_model_knows_the_latency_of_its_chains(tmp_path: Path) -> None:
    out = tmp_path / "robot.app.yaml"
    (chain,) = model(robot(tmp_path / "out"), out).chains
    # The first one was released before another process had called a timer.
    assert (chain.arrivals, chain.longest_us) == (19, pytest.approx(4500))
    assert "start-up: 1 released" in out.read_text(encoding="utf-8")


def test_a_timer_has_its_period_as_deadline_or_that_of_the_application(tmp_path: Path) -> None:
    folder = robot(tmp_path / "out")
    assert explain(folder).misses == 0
    file = application(folder)
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace("{timer: 10ms", "{timer: 10ms, deadline: 1ms"), encoding="utf-8")
    found = explain(folder, application=file)
    late = {one.callback for one in found.details if one.missed}
    assert (found.misses, late) == (20, {"sensor.timer0"})
    assert any("real-time priorities in the file" in one for one in found.remarks)
    page = render(found)
    assert "on sensors 11, thread 11" in page
    assert "on core" not in page


def test_releases_that_a_timer_left_out_are_skipped(tmp_path: Path) -> None:
    process = Process(1)
    process.node(1, "one")
    process.timer(SENSOR, 1, 10 * MS)
    for place in (1, 2, 5, 6):
        process.call(place * 10 * MS, place * 10 * MS + MS, SENSOR)
    process.write(tmp_path / "out")
    assert task(tmp_path / "out", "one.timer0").skipped == 2
    # Where events are missing, jobs may be, too.
    process.write(tmp_path / "out", dropped=3)
    assert task(tmp_path / "out", "one.timer0").skipped == 0


def test_a_pause_of_the_recording_is_no_skipped_release(tmp_path: Path) -> None:
    process = Process(1)
    process.node(1, "one")
    process.timer(SENSOR, 1, 10 * MS)
    for place in (1, 2, 5, 6, 8):
        process.call(place * 10 * MS, place * 10 * MS + MS, SENSOR)
    # One runs when the recording pauses: its end is missing.
    process.add(30 * MS, "callback_start", SENSOR, 0, cpu=0)
    process.write(tmp_path / "out")
    pauses = struct.pack("<8sIIqqqq", b"TAKTCON1", 0, 0, BEGIN, BEGIN + 31 * MS, BEGIN + 45 * MS, 0)
    (tmp_path / "out" / "control").write_bytes(pauses)
    found = task(tmp_path / "out", "one.timer0")
    assert (found.jobs, found.skipped) == (5, 1)


def test_a_model_has_no_distance_across_a_pause(tmp_path: Path) -> None:
    """Messages every 10 ms in two stretches of 100 ms, two seconds apart."""
    process = Process(1)
    process.node(1, "one")
    process.subscription(FILTER, 1, "/scan")
    for stretch in (0, 2000):
        for place in range(1, 11):
            begin = (stretch + 10 * place) * MS
            process.call(begin, begin + MS, FILTER)
    process.write(tmp_path / "out")
    stretches = (BEGIN, BEGIN + 105 * MS, BEGIN + 2000 * MS, BEGIN + 2105 * MS)
    pauses = struct.pack("<8sIIqqqq", b"TAKTCON1", 0, 0, *stretches)
    (tmp_path / "out" / "control").write_bytes(pauses)
    out = tmp_path / "robot.app.yaml"
    found = model(tmp_path / "out", out)
    text = out.read_text(encoding="utf-8")
    assert "distance at least 10 ms, mean 10 ms" in text
    assert "the longest that 20 messages keep, mean distance 10 ms" in text
    assert "external_period: 10ms" in text
    assert found.duration_ms == pytest.approx(2101 - 1895)


def test_jobs_of_unrecorded_writers_have_no_release_and_a_note_says_so(tmp_path: Path) -> None:
    folder = robot(tmp_path / "out", outside=True)
    assert task(folder, "filter.subscription:/scan").incomplete == 20
    assert task(folder, "filter.subscription:/scan").response_max_us is None
    assert task(folder, "plan.subscription:/points").response_max_us == pytest.approx(2100)
    assert any("not recorded" in one and "scan" in one for one in measure(folder).notes)


def test_a_message_to_both_its_process_and_others_is_one(tmp_path: Path) -> None:
    process = Process(1)
    process.node(1, "one")
    process.timer(SENSOR, 1, 10 * MS)
    process.publisher(400, 1, "/scan")
    process.call(10 * MS, 12 * MS, SENSOR)
    process.add(11 * MS, "rclcpp_intra_publish", 400, 7)
    process.publish(11 * MS + 1, 400)
    process.write(tmp_path / "out")
    assert [one for one in types(tmp_path / "out") if one == Type.publish] == [Type.publish]


def types(folder: Path) -> list[int]:
    found: list[int] = []

    class Sink:
        def take(self, step: Step) -> None:
            found.extend(step.events["type"].tolist())

    files.replay(files.read(folder), [Sink()])
    return found


def test_threads_stand_where_cores_do(tmp_path: Path) -> None:
    trace = files.read(robot(tmp_path / "out"))
    assert {trace.names.core(number) for number in range(4)} == {
        "sensors 11, thread 11",
        "planning 22, thread 22",
        "planning 22, thread 23",
        "core 3",
    }
    assert trace.path == tmp_path / "out"


def test_perfetto_and_parquet_have_its_threads_and_callbacks(tmp_path: Path, takt: Takt) -> None:
    robot(takt.folder / "out")
    document = takt.json("trace", "out", "--perfetto", "out.pftrace", "--parquet", "tables")
    assert (document["exit_code"], document["source"]) == (0, "recording")
    content = (takt.folder / "out.pftrace").read_bytes()
    for name in (b"threads", b"planning 22, thread 23", b"plan.subscription:/points"):
        assert name in content
    jobs = pq.read_table(takt.folder / "tables" / "jobs.parquet")
    assert jobs.num_rows == 60


def test_two_calls_in_one_period_are_two_jobs(tmp_path: Path) -> None:
    process = Process(1)
    process.node(1, "one")
    process.timer(SENSOR, 1, 10 * MS)
    for begin in (19, 21, 22, 30):
        process.call(begin * MS, begin * MS + MS // 2, SENSOR)
    process.write(tmp_path / "out")
    assert task(tmp_path / "out", "one.timer0").jobs == 4


def test_a_recording_is_judged_by_the_limits_of_an_application(tmp_path: Path) -> None:
    folder = robot(tmp_path / "out")
    verdict = examine(folder, Limits(), application(folder)).verdict()
    assert verdict.outcome.value == "meets"


def test_damaged_recordings_are_read_or_refused_but_no_other_error(tmp_path: Path) -> None:
    folder = robot(tmp_path / "out", jobs=4)
    whole = {file: file.read_bytes() for file in folder.glob("*.taktrecord")}
    draw = random.Random(3)
    extreme = [b"\xff" * 8, b"\xff" * 7 + b"\x7f", b"\0" * 7 + b"\x80", b"\0" * 8]
    read = refused = 0
    for number in range(150):
        for file, content in whole.items():
            data = bytearray(content)
            first = 72 + struct.unpack_from("<I", data, 52)[0]
            at = draw.randrange(first // 8, len(data) // 8) * 8
            data[at : at + 8] = draw.choice(extreme)
            file.write_bytes(data)
            os.utime(file, ns=(number, number))
        try:
            summary(folder)
            read += 1
        except TaktError:
            refused += 1
    assert min(read, refused) > 20


def test_folders_without_recordings_and_without_callbacks_are_refused(tmp_path: Path) -> None:
    with pytest.raises(TaktError, match="contains no recording"):
        files.read(tmp_path)
    process = Process(1)
    process.node(1, "one")
    process.write(tmp_path / "out")
    with pytest.raises(TaktError, match="contains no callback"):
        files.read(tmp_path / "out")


def test_services_that_rclcpp_copies_have_their_calls() -> None:
    # Those of a lifecycle node: rcl makes them, and rclcpp names the address of a copy.
    reading = Reading("recording")
    time = iter(range(1, 100))

    def say(name: str, thread: int = 5, **fields: int | str) -> None:
        reading.take(Event(next(time), name, {"vpid": 3, "vtid": thread, **fields}))

    def init(service: int, name: str, node: int) -> None:
        say("rcl_service_init", service_handle=service, node_handle=node, service_name=name)

    init(90, "/arm/move/_action/send_goal", 2)  # of an action of another node: without a callback
    init(10, "/arm/get_parameters", 1)
    say("rclcpp_service_callback_added", service_handle=10, callback=40)
    init(11, "/arm/change_state", 1)
    init(12, "/arm/get_state", 1)
    say("rcl_lifecycle_state_machine_init", node_handle=1)
    for service, thread in ((70, 6), (21, 5), (22, 5), (71, 5)):  # 70 and 71: of nobody known
        say("rclcpp_service_callback_added", thread, service_handle=service, callback=service + 20)
    for callback in (40, 41, 41, 41, 42, 42, 90, 91):
        say("callback_start", callback=callback)
        say("callback_end", callback=callback)
    calls = {one.name: len(one.jobs) for one in reading.entities.values() if one.jobs}
    assert calls == {"arm/get_parameters": 1, "arm/change_state": 3, "arm/get_state": 2}
    assert set(reading.unknown) == {(3, 90), (3, 91)}
