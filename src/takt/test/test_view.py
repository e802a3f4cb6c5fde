# SPDX-License-Identifier: Apache-2.0
"""takt view: the page has what the trace has, packed without loss."""

from __future__ import annotations

import base64
import json
import re
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import trace_files as make
from conftest import Takt
from numpy.typing import NDArray
from recording_files import MS, robot

from takt.schedule.trace.file import Type
from takt.schedule.trace.summary import TaskSummary
from takt.schedule.view.figures import Latencies, Topic
from takt.schedule.view.graph import graph
from takt.schedule.view.page import write_view

DTYPES = {"Float64Array": "<f8", "Float32Array": "<f4", "Uint32Array": "<u4"}
DTYPES |= {"Uint16Array": "<u2", "Uint8Array": "u1"}


def viewed(trace: Path) -> tuple[str, dict[str, Any], dict[str, NDArray[Any]]]:
    """The page of a trace, what it says about its rows, and its columns."""
    out = trace.parent / "page.html"
    write_view(trace, out)
    text = out.read_text(encoding="utf-8")
    about = json.loads(inside(text, "application/json", "about"))
    raw = zlib.decompress(base64.b64decode(inside(text, "text/plain", "data")))
    columns = {
        name: np.frombuffer(raw, DTYPES[kind], count, at)
        for name, (kind, at, count) in about["arrays"].items()
    }
    return text, about, columns


def inside(text: str, kind: str, name: str) -> str:
    found = re.search(rf'<script type="{kind}" id="{name}">(.*?)</script>', text, re.DOTALL)
    assert found
    return found[1]


def row(about: dict[str, Any], group: str, name: str) -> slice:
    (found,) = (one for one in about["rows"] if (one["group"], one["name"]) == (group, name))
    return slice(found["first"], found["end"])


def test_jobs_stretches_on_cores_and_misses_are_in_the_page(tmp_path: Path) -> None:
    text, about, columns = viewed(make.write(tmp_path / "a.takttrace", make.two_tasks()))
    high = row(about, "callbacks", "guard.brake")
    assert columns["jobBegin"][high].tolist() == [20_000, 100_500]
    assert 'class="number">1.242e+04<' in text  # Hz: two starts, 80.5 µs apart
    assert columns["jobLength"][high].tolist() == [25_000, 30_500]
    assert columns["jobWait"][high].tolist() == [0, 500]
    assert columns["jobDeadline"][high].tolist() == [30_000, 30_000]
    assert columns["jobFlags"][high].tolist() == [0, 1]
    low = row(about, "callbacks", "planner.low_with_a_name_that_needs_two_records")
    assert columns["jobFlags"][low].tolist() == [4]  # preempted
    core = row(about, "cores", "core 0")
    assert columns["spanBegin"][core].tolist() == [10_000, 20_000, 45_000, 100_500]
    assert columns["spanTask"][core].tolist() == [0, 1, 0, 1]
    assert re.findall(r'(?:src|href)="(?!#|data:)[^"]*"|url\((?!#)', text) == []  # needs no network


def test_a_recording_has_cores_threads_and_messages_across_processes(tmp_path: Path) -> None:
    text, about, columns = viewed(robot(tmp_path / "out", jobs=3))
    assert {one["group"] for one in about["rows"]} == {"cores", "threads", "callbacks"}
    assert row(about, "cores", "core 1") == slice(0, 9)
    thread = row(about, "threads", "planning 22, thread 23")
    assert np.diff(columns["spanBegin"][thread]).tolist() == [10 * MS, 10 * MS]
    age = columns["messageTo"] - columns["messageFrom"]
    assert sorted(age.tolist()) == [MS // 10] * 3 + [MS // 2] * 3
    assert "sensor.timer0 → filter.subscription:/scan → plan.subscription:/points" in text
    assert "p50 4.500 ms" in text


def test_a_job_without_an_end_lasts_until_the_end_of_the_trace(tmp_path: Path) -> None:
    records = [
        make.name("task", 0, "one.open"),
        make.event(0, Type.release, task=0, value=5000),
        make.event(1000, Type.start, task=0),
        make.event(9000, Type.scenario, value=1),
    ]
    _, _, columns = viewed(make.write(tmp_path / "a.takttrace", records))
    assert columns["jobFlags"].tolist() == [2]
    assert columns["jobLength"].tolist() == [8000]


def test_a_trace_without_jobs_has_a_page(tmp_path: Path) -> None:
    _, about, columns = viewed(make.write(tmp_path / "a.takttrace", []))
    assert about["rows"] == []
    assert len(columns["jobBegin"]) == 0


def test_names_from_a_trace_are_text_in_the_page(tmp_path: Path) -> None:
    records = [
        make.name("task", 0, "</script><b>.x"),
        make.event(0, Type.start, task=0),
        make.event(10, Type.end, task=0),
    ]
    text, about, _ = viewed(make.write(tmp_path / "a.takttrace", records))
    assert "<b>" not in text
    assert about["tasks"] == ["</script><b>.x"]


def test_a_graph_with_a_cycle_has_columns_and_no_box_on_another() -> None:
    tasks = [summary("a.one", misses=2), summary("b.two"), summary("c.three")]
    taken = Latencies(3, 1.0, 2.0, 3.0)
    tasks[1].response_max_us = 1500.0  # measured: no bound
    tasks[2].response_max_us = 0.001  # a publication
    topics = [
        Topic("ab", ["a.one"], {"b.two": taken}, 3, 1.0),
        Topic("ba", ["b.two"], {"a.one": taken, "c.three": taken}, 3, 1.0),
        Topic("out", [""], {"a.one": taken}, 1, None),
    ]
    drawn = graph(tasks, topics)
    at = {box.name: (box.x, box.y) for box in drawn.boxes}
    assert at["out"] < at["a"] < at["ab"] < at["b"] < at["ba"] < at["c"]
    assert len(set(at.values())) == len(at) == 7  # the writer outside among them
    assert [box.name for box in drawn.boxes if box.mark == "late"] == ["a"]
    assert [box.line for box in drawn.boxes if box.name == "b"] == ["1 callback, max 1.5 ms"]
    assert [box.line for box in drawn.boxes if box.name == "c"] == ["1 callback"]
    assert len(drawn.edges) == 7


def summary(name: str, misses: int = 0) -> TaskSummary:
    numbers = dict.fromkeys(TaskSummary.model_fields, 0) | {"jobs": 5, "misses": misses}
    return TaskSummary.model_validate(numbers | {"task": name})


def test_a_trace_is_never_overwritten(tmp_path: Path, takt: Takt) -> None:
    trace = make.write(tmp_path / "a.takttrace", make.two_tasks())
    before = trace.read_bytes()
    done = takt("view", str(trace), "-o", str(trace))
    assert (done.returncode, trace.read_bytes()) == (2, before)


@pytest.mark.parametrize("what", ["nothing", "folder"])
def test_what_is_no_trace_is_refused(tmp_path: Path, takt: Takt, what: str) -> None:
    (tmp_path / "folder").mkdir()
    done = takt("view", str(tmp_path / what), "-o", str(tmp_path / "page.html"))
    assert done.returncode == 2
    assert not (tmp_path / "page.html").exists()
