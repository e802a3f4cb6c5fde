# SPDX-License-Identifier: Apache-2.0
"""A topic of several writers: what takt model says of each, and what its readers get of all."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("takt_core", reason="the C++ workspace is not built")

from command_line import takt
from recording_files import FILTER, MS, SCAN, SENSOR, Process

from takt.errors import Failure
from takt.network import stacks
from takt.schedule.application.file import read_application
from takt.schedule.application.flat import flat
from takt.schedule.model import from_trace
from takt.schedule.model.document import Modelled, ModelledTopic, ModelledWriter
from takt.schedule.model.model import model
from takt.schedule.model.writers import OUTSIDE, notes

TWO_WRITERS = """
cpus: [{cpu}]
policy: fp
nodes:
  radar:
    scan: {{timer: 20ms, wcet: 100us, priority: 30, writes: {{tf: {{messages: 3}}}}}}
  arm:
    move: {{timer: 50ms, offset: 7ms, wcet: 100us, priority: 20, writes: [tf]}}
  map:
    store: {{on: tf, wcet: 50us, priority: 10, overrun: catch_up}}
topics: {{tf: {{depth: 16}}}}
"""


def writers_of(written: Modelled, topic: str) -> tuple[ModelledTopic, dict[str, ModelledWriter]]:
    (found,) = [one for one in written.topics if one.topic == topic]
    return found, {one.writer: one for one in found.writers}


def test_a_recording_names_what_each_writer_contributes(tmp_path: Path) -> None:
    """Five scans in each job of one timer, one in those of another, and one outside of both."""
    process = Process(11, "/opt/bin/sensors")
    process.node(1, "sensor")
    process.timer(SENSOR, 1, 10 * MS)
    process.timer(other := SENSOR + 50, 1, 40 * MS)
    process.publisher(SCAN, 1, "/scan")
    process.subscription(FILTER, 1, "/scan")
    for number in range(1, 41):
        begin = number * 10 * MS
        process.add(begin - 1, "rclcpp_executor_execute", SENSOR + 1)
        process.call(begin, begin + MS, SENSOR)
        for one in range(5):
            process.publish(begin + 10 + one, SCAN)
        if number % 4 == 0:
            process.call(begin + 2 * MS, begin + 3 * MS, other)
            process.publish(begin + 2 * MS + 10, SCAN)
            process.publish(begin + 5 * MS, SCAN)
    process.write(tmp_path / "recording")
    written = model(tmp_path / "recording", out := tmp_path / "back.app.yaml")
    topic, by_name = writers_of(written, "scan")
    fast, slow, outside = (by_name[one] for one in ("sensor.timer0", "sensor.timer1", OUTSIDE))
    assert (fast.messages, fast.jobs, fast.least, fast.most, fast.burst) == (200, 40, 5, 5, 5)
    assert (slow.messages, slow.jobs, slow.most, slow.burst) == (10, 10, 1, 1)
    assert slow.period_us == pytest.approx(40_000)
    assert (outside.messages, outside.jobs, outside.burst) == (10, None, 1)
    assert topic.burst == 7
    text = " ".join(out.read_text().replace("#", "").split())
    assert "sensor.timer0: 200 messages of 40 jobs, 5 each" in text
    assert "up to 7 at once; the sum of all" in text


def test_what_one_writer_does_not_show_is_not_summed() -> None:
    topic = ModelledTopic(
        topic="tf",
        writers=[
            ModelledWriter(writer="a", messages=10, jobs=10, least=1, most=1, period_us=5, burst=1),
            ModelledWriter(writer=OUTSIDE, messages=1, burst=1),
        ],
        burst=2,
    )
    assert notes(topic)[-1].startswith("together: unknown")
    assert notes(topic)[2] == "outside: 1 messages, too few for a period"


def test_readers_of_an_executed_topic_get_no_more_than_the_sum_of_its_writers(
    tmp_path: Path,
) -> None:
    try:
        stacks.program("app_runner")
    except Failure:
        pytest.skip("app_runner is not installed")
    app, back = tmp_path / "robot.app.yaml", tmp_path / "back.app.yaml"
    app.write_text(TWO_WRITERS.format(cpu=max(os.sched_getaffinity(0))))
    assert takt(["execute", str(app), "--duration", "1s", "--out", str(tmp_path / "first")]) == 0
    (trace,) = (tmp_path / "first").glob("*.takttrace")
    written = model(trace, back)
    topic, by_name = writers_of(written, "tf")
    assert (by_name["radar.scan"].least, by_name["radar.scan"].most) == (3, 3)
    assert (by_name["arm.move"].least, by_name["arm.move"].most) == (1, 1)
    assert topic.period_us is not None
    assert topic.burst >= 4
    (reader,) = [one for one in from_trace.observed(trace).callbacks if one.recorded == "map.store"]
    released = np.sort(reader.releases)
    assert len(released) > topic.burst  # also where something else has the core for long
    for first in range(len(released)):
        within = (released[first:] - released[first]) / (topic.period_us * 1000)
        assert (np.arange(1, len(within) + 1) <= within + topic.burst + 1e-9).all()
    again = {one["name"]: one for one in flat(read_application(back))["callbacks"]}
    assert again["radar.scan"]["messages"] == {"tf": 3}
    assert "period" not in again["map.store"]  # it follows from all that its writers say
