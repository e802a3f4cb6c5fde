# SPDX-License-Identifier: Apache-2.0
"""Overheads from executions under executors with several threads."""

from __future__ import annotations

import json
from pathlib import Path

from trace_files import event, header, name, write

from takt.schedule.application.file import read_application
from takt.schedule.application.flat import flat
from takt.schedule.application.overheads import read_overheads
from takt.schedule.trace.file import Type

US, MS = 1_000, 1_000_000
NOTICED, PERIODS = 50 * US, 400
APP = """
processes:
  driver: {executor: rclcpp_multi_threaded, cpus: [0, 1], priority: 60, nodes: [lidar]}
  planner: {executor: EXECUTOR, cpus: [0, 1], priority: 40, nodes: [route, map]}
nodes:
  lidar: {drive: {timer: 10ms, wcet: 3ms}}
  route: {plan: {timer: 10ms, wcet: 1ms}}
  map: {publish: {timer: 20ms, wcet: 2ms}}
"""


def _trace(tmp_path: Path, jobs: list[tuple[int, int, int, int, int, int]], executor: str) -> Path:
    """Jobs: task, release, start, end, time on a core, core."""
    app = tmp_path / "threads.app.yaml"
    app.write_text(APP.replace("EXECUTOR", executor))
    records = [
        name("attribute", 0, f"application={json.dumps(flat(read_application(app)))}"),
        name("attribute", 0, "approach=takt"),
        name("task", 0, "lidar.drive"),
        name("task", 1, "route.plan"),
        name("task", 2, "map.publish"),
    ]
    events = []
    numbers = [0, 0, 0]
    for task, release, start, end, running, core in jobs:
        job = numbers[task]
        numbers[task] += 1
        events += [
            (release, event(release, Type.release, task=task, job=job, value=-1)),
            (start, event(start, Type.start, task=task, job=job, value=10, core=core)),
            (end, event(end, Type.end, task=task, job=job, value=running, core=core)),
        ]
    records += [record for _, record in sorted(events, key=lambda one: one[0])]
    return write(tmp_path / "threads.takttrace", records, header())


def test_waiting_for_a_core_that_another_process_has_is_no_overhead(tmp_path: Path) -> None:
    jobs = []
    for period in range(PERIODS):
        now = period * 10 * MS
        begin, takes = now + NOTICED, MS
        if period % 4 == 0:  # both are on one core, which the trace does not tell
            jobs.append((0, now, begin, begin + 3 * MS, 3 * MS, 0))
            takes += 3 * MS
        jobs.append((1, now, begin, begin + takes, MS, 1))
    found = read_overheads(_trace(tmp_path, jobs, "rclcpp_multi_threaded"))
    assert found["dispatch"] == NOTICED


def test_a_timer_that_waits_for_the_thread_of_timers_is_no_overhead(tmp_path: Path) -> None:
    jobs = []
    for period in range(PERIODS):
        now = period * 10 * MS
        begin = now + NOTICED
        if period % 2 == 0:  # it takes the core of that thread, and another one is free
            jobs.append((2, now, begin, begin + 2 * MS, 2 * MS, 0))
            begin += 2 * MS + NOTICED
        jobs.append((1, now, begin, begin + MS, MS, 1))
    assert read_overheads(_trace(tmp_path, jobs, "rclcpp_events_cbg"))["dispatch"] == NOTICED
