# SPDX-License-Identifier: Apache-2.0
"""Overheads that come from the trace of an execution."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import Takt
from trace_files import event, header, name, write

from takt.errors import TaktError
from takt.schedule.analysis.ask import analyse
from takt.schedule.application.file import read_application
from takt.schedule.application.flat import flat
from takt.schedule.application.overheads import read_overheads
from takt.schedule.trace.file import Type

US, MS = 1_000, 1_000_000
SIMULATOR = 2
APP = """
policy: fp
nodes:
  camera: {grab: {timer: 1ms, wcet: 100us, priority: 10, writes: {image: 2KiB}}}
  detector: {detect: {on: image, wcet: 50us, priority: 20}}
"""
NOTICED, LOST, PUBLISHED, DELIVERED = 30 * US, 5 * US, 20 * US, 41 * US


def _application(tmp_path: Path, more: str = "") -> Path:
    file = tmp_path / "eye.app.yaml"
    file.write_text(APP + more)
    return file


def _executed(
    tmp_path: Path, jobs: int = 200, approach: str = "takt", source: int = 1, late: int = 1
) -> Path:
    """Each job costs the same, but for ``late`` ones that are noticed 300 us after the others."""
    described = flat(read_application(_application(tmp_path)))
    records = [
        name("attribute", 0, f"application={json.dumps(described)}"),
        name("attribute", 0, f"approach={approach}"),
        name("task", 0, "camera.grab"),
        name("task", 1, "detector.detect"),
        name("topic", 0, "image"),
    ]
    for job in range(jobs):
        release = job * MS
        start = release + NOTICED + (300 * US if job < late else 0)
        sent = start + 100 * US + LOST
        end = sent + PUBLISHED
        begin, done = end + DELIVERED, end + DELIVERED + 50 * US
        records += [
            event(release, Type.release, task=0, job=job, value=release + MS),
            event(start, Type.start, task=0, job=job, value=10),
            event(sent, Type.publish, task=0, job=job, value=job, topic=0),
            event(sent, Type.release, task=1, job=job, value=release + MS),
            event(end, Type.end, task=0, job=job, value=end - start - LOST),
            event(begin, Type.start, task=1, job=job, value=20),
            event(done, Type.end, task=1, job=job, value=done - begin),
        ]
    return write(tmp_path / "eye.takttrace", records, header(source=source))


def test_each_cost_is_attributed_to_jobs_messages_and_sizes(tmp_path: Path) -> None:
    found = read_overheads(_executed(tmp_path))
    assert found == {
        "dispatch": NOTICED + LOST,
        "publish": 0,  # no callback writes a message without content
        "publish_per_kib": PUBLISHED // 2,
        "deliver": 0,
        "deliver_per_kib": (DELIVERED - NOTICED - LOST) // 2,
    }


def test_what_many_jobs_take_counts_for_bounds_and_not_for_the_middle(tmp_path: Path) -> None:
    trace = _executed(tmp_path, late=20)  # a tenth
    assert read_overheads(trace)["dispatch"] == NOTICED + LOST + 300 * US
    assert read_overheads(trace, "overheads")["dispatch"] == NOTICED + LOST


def test_an_application_that_names_the_trace_has_bounds_that_count_it(tmp_path: Path) -> None:
    _executed(tmp_path)
    file = _application(tmp_path, "overheads: {from: eye.takttrace, publish: 3us}\n")
    document = flat(read_application(file))
    assert document["overheads"] == {**read_overheads(tmp_path / "eye.takttrace"), "publish": 3000}
    assert "from" not in json.dumps(document)
    (scenario,) = analyse(document, "").scenarios
    responses = {one.name: one.response_us for one in scenario.callbacks}
    taken = NOTICED + LOST + 100 * US + PUBLISHED + 3000
    assert responses["camera.grab"] is not None
    assert responses["camera.grab"] * US >= taken


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"jobs": 50}, "no callback has 100 jobs"),
        ({"source": SIMULATOR}, "of a simulation has no overheads"),
        ({"approach": "baseline1"}, "baseline1 has no bounds"),
    ],
)
def test_traces_that_do_not_show_overheads_are_refused(
    tmp_path: Path, change: dict[str, Any], says: str
) -> None:
    with pytest.raises(TaktError, match=says):
        read_overheads(_executed(tmp_path, **change))


def test_a_missing_file_is_named_with_the_line_that_names_it(tmp_path: Path) -> None:
    file = _application(tmp_path, "overheads: {from: gone.json}\n")
    with pytest.raises(TaktError, match="no such file") as error:
        read_application(file)
    line = len(file.read_text().splitlines())
    assert str(error.value.where).startswith(f"{file}:{line}: ")


def test_the_terminal_says_which_overheads_are_declared(takt: Takt, tmp_path: Path) -> None:
    _executed(tmp_path)
    done = takt("analyse", _application(tmp_path), "--overheads", tmp_path / "eye.takttrace")
    assert done.returncode == 0
    assert "overheads: dispatch 35 µs" in done.stdout
    assert "not declared: preemption, release, publish, deliver" in done.stdout
