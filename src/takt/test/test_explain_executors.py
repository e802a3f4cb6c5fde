# SPDX-License-Identifier: Apache-2.0
"""Responses are held against the bounds of the executor that ran them, not of another one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import recording_files as recorded
import trace_files as make
from explained_traces import HIGH, LOW, MS, begin, end, explained
from explained_traces import OTHER as READER
from test_explain_bounds import bounded, why

from takt.schedule.application.executors import SEVERAL_THREADS
from takt.schedule.explain import Explanation, explain
from takt.schedule.explain.model import ShareKind

SENSOR, OTHER, SCAN = recorded.SENSOR, recorded.FILTER, recorded.SCAN

APPLICATION = """
policy: edf
nodes:
  sensor:
    timer0: {timer: 10ms, wcet: 1ms, group: sensor}
  other:
    timer0: {timer: 40ms, wcet: 4ms, group: other}
"""


def high_behind_low(tmp_path: Path, *more: bytes, **changes: Any) -> Explanation:
    """High waits for all of low, which fixed priorities of Takt do not allow: 5 ms, not 2."""
    return explained(
        tmp_path,
        bounded(**changes),
        *more,
        begin(LOW, 0, 0),
        end(LOW, 4 * MS, 4 * MS),
        begin(HIGH, MS, 4 * MS),
        end(HIGH, 6 * MS, 2 * MS),
    )


def approach(name: str) -> bytes:
    return make.name("attribute", 0, f"approach={name}")


@pytest.mark.parametrize("name", ["rclcpp_single_threaded", "rclcpp_events"])
def test_an_executor_of_rclcpp_has_its_own_bounds(tmp_path: Path, name: str) -> None:
    found = high_behind_low(tmp_path, approach(name))
    assert found.bounds is not None
    assert (found.bounds.responses, found.bounds.above) == (2, 0)


@pytest.mark.parametrize("name", ["takt", "rclcpp_takt"])
def test_takt_has_the_bounds_of_its_policy_with_nodes_of_rclcpp_too(
    tmp_path: Path, name: str
) -> None:
    found = high_behind_low(tmp_path, approach(name))
    assert found.bounds is not None
    assert found.bounds.above == 1


@pytest.mark.parametrize("name", SEVERAL_THREADS)
def test_an_executor_with_a_thread_for_each_core_has_bounds_on_several(
    tmp_path: Path, name: str
) -> None:
    found = high_behind_low(tmp_path, approach(name), cpus=[0, 1])
    assert found.bounds is not None
    assert found.bounds.responses == 2


def test_several_cores_have_no_bounds_under_an_executor_of_one_thread(tmp_path: Path) -> None:
    found = high_behind_low(tmp_path, approach("rclcpp_events"), cpus=[0, 1])
    assert found.bounds is None
    assert any("rclcpp_events has none for several cores" in one for one in found.remarks)


def test_what_overtook_in_the_queue_is_named(tmp_path: Path) -> None:
    """Low is released first, and goes last: its response is 8 ms, two above its bound."""
    found = explained(
        tmp_path,
        bounded(),
        approach("rclcpp_events"),
        begin(LOW, 0, 4 * MS),
        begin(HIGH, 0, 0),
        end(HIGH, 2 * MS, 2 * MS),
        begin(HIGH, MS, 2 * MS, number=1),
        end(HIGH, 4 * MS, 2 * MS, number=1),
        end(LOW, 8 * MS, 4 * MS),
    )
    assert why(found) == (ShareKind.overtaken, {ShareKind.overtaken: 2})


def test_no_job_is_overtaken_where_the_bound_allows_it(tmp_path: Path) -> None:
    """By rounds, high may run again before low: that is no reason for a response."""
    found = explained(
        tmp_path,
        bounded(),
        approach("rclcpp_single_threaded"),
        begin(LOW, 0, 16 * MS),
        *(
            record
            for job in range(8)
            for record in (
                begin(HIGH, job * MS, 2 * job * MS, number=job),
                end(HIGH, 2 * (job + 1) * MS, 2 * MS, number=job),
            )
        ),
        end(LOW, 20 * MS, 4 * MS),
    )
    (low,) = [one for one in found.details if one.callback.startswith("low") and one.above]
    assert low.above is not None
    assert ShareKind.overtaken not in low.above.unknown_us


def of_recording(tmp_path: Path, *, waits: bool, threads: bool = False, more: str = "") -> Any:
    """Sensor waits for all of another callback each 40 ms; its response is 4 ms, once in four."""
    process = recorded.Process(11)
    process.node(1, "sensor")
    process.node(2, "other")
    process.timer(SENSOR, 1, 10 * MS)
    process.timer(OTHER, 2, 40 * MS)
    for job in range(1, 41):
        at, thread = job * 10 * MS, 12 if threads else 0
        calls = [(at, at + MS, SENSOR, 0)]
        if job % 4 == 0:
            calls = [(at, at + 4 * MS, OTHER, thread), (at + 4 * MS, at + 5 * MS, SENSOR, 0)]
        for begun, ended, callback, where in calls:
            if waits:
                process.add(begun - 2, "rclcpp_executor_wait_for_work", -1, thread=where)
                process.add(begun - 1, "rclcpp_executor_execute", callback + 1, thread=where)
            process.call(begun, ended, callback, thread=where)
    process.write(tmp_path / "recording")
    application = tmp_path / "robot.app.yaml"
    application.write_text(APPLICATION + more, encoding="utf-8")
    return explain(tmp_path / "recording", application=application)


@pytest.mark.parametrize(
    ("waits", "executor"), [(True, "rclcpp_single_threaded"), (False, "rclcpp_events")]
)
def test_a_recording_has_the_bounds_of_the_executor_that_it_shows(
    tmp_path: Path, waits: bool, executor: str
) -> None:
    found = of_recording(tmp_path, waits=waits)
    assert found.bounds is not None
    assert (found.bounds.responses, found.bounds.above) == (50, 0)
    assert any(f"bounds are those of {executor}: the callbacks" in one for one in found.remarks)


@pytest.mark.parametrize(("threads", "more"), [(True, ""), (False, "executor: takt\n")])
def test_it_has_takts_where_threads_are_several_or_the_file_says_so(
    tmp_path: Path, threads: bool, more: str
) -> None:
    found = of_recording(tmp_path, waits=False, threads=threads, more=more)
    assert found.bounds is not None
    assert found.bounds.above == 10
    assert any("bounds are those of Takt's executor" in one for one in found.remarks)


def test_an_executor_of_rclcpp_in_the_file_is_not_replaced(tmp_path: Path) -> None:
    more = "executor: rclcpp_events\n"
    text = APPLICATION.replace("policy: edf\n", "")
    application = tmp_path / "other.app.yaml"
    application.write_text(text + more, encoding="utf-8")
    of_recording(tmp_path, waits=True)
    found = explain(tmp_path / "recording", application=application)
    assert "bounds are those of rclcpp_events: as the file has it" in found.remarks


def of_a_late_message(tmp_path: Path, busy: int, idle: int) -> Explanation:
    """In ms of each 10: a timer of the reader's process, and no callback of it.

    The message of another process is published at 0 and heard after the last of ten jobs.
    """
    application = {
        "version": 1,
        "name": "two",
        "processes": [
            {"name": name, "executor": "rclcpp_single_threaded", "cpu": cpu, "priority": 50}
            for cpu, name in enumerate(("reader", "writer"))
        ],
        "handover": {"least": 0, "most": MS},
        "callbacks": [
            {
                "name": name,
                "node": name,
                "process": process,
                "execution": {"worst": worst * MS},
                **more,
            }
            for name, process, worst, more in (
                ("high", "reader", busy, {"period": 10 * MS}),
                ("low", "writer", 1, {"period": 200 * MS, "writes": ["scan"]}),
                (
                    "other",
                    "reader",
                    1,
                    {"kind": "message", "trigger": "scan", "period": 200 * MS},
                ),
            )
        ],
        "topics": [{"name": "scan"}],
    }
    heard = 10 * 10 * MS
    return explained(
        tmp_path,
        make.name("attribute", 0, "application=" + json.dumps(application)),
        *(
            record
            for job in range(10)
            for at in [job * 10 * MS + idle * MS]
            for record in (
                begin(HIGH, at, at, number=job),
                end(HIGH, at + busy * MS, busy * MS, number=job),
            )
        ),
        begin(READER, 0, heard),
        end(READER, heard + MS, MS),
    )


@pytest.mark.parametrize("busy", [1, 4, 8])
def test_jobs_while_a_message_was_on_its_way_are_a_part_of_the_way(
    tmp_path: Path, busy: int
) -> None:
    """The executor had nothing to do again and again, so it had not noticed the message."""
    found = of_a_late_message(tmp_path, busy, 10 - busy)
    assert found.bounds is not None
    assert found.bounds.by_cause == {ShareKind.late: 1}
