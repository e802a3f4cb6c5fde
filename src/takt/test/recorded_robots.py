# SPDX-License-Identifier: Apache-2.0
"""Recordings of robots of several processes, and what takt makes of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from recording_files import BEGIN, FILTER, MS, SCAN, SENSOR, Process

from takt.schedule.application.file import read_application
from takt.schedule.application.flat import flat
from takt.schedule.model.document import Modelled
from takt.schedule.model.model import model
from takt.schedule.ros2 import threads
from takt.schedule.trace import file as traces
from takt.schedule.trace.summary import Summing, TraceSummary

LATE = MS // 5  # from a publication to the call that it releases


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


def scheduled(folder: Path, *lines: str) -> None:
    """``PROCESS THREAD POLICY PRIORITY NICE CPUS NAME``, from 1 ms before the recording on."""
    recording = folder / "recording"
    recording.mkdir(exist_ok=True)
    text = "".join(f"thread {BEGIN - MS} {line}\n" for line in lines)
    (recording / threads.FILE).write_text(text, encoding="utf-8")


def modelled(folder: Path) -> tuple[dict[str, Any], Modelled]:
    """The flat form of what the recording in a folder gives, and what was told about it."""
    out = folder / "modelled.app.yaml"
    written = model(folder / "recording", out)
    return flat(read_application(out)), written


def processes(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """By name."""
    return {one["name"]: one for one in document["processes"]}


def noted(written: Modelled, text: str) -> list[str]:
    """The notes with these words."""
    return [one for one in written.notes if text in one]


def summary(folder: Path) -> TraceSummary:
    """What takt trace says of a folder."""
    trace = traces.read(folder)
    summing = Summing(trace)
    return summing.result(traces.replay(trace, [summing]).not_nested)
