# SPDX-License-Identifier: Apache-2.0
"""Several jobs of a callback at once, from the file to the metrics of a trace."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("takt_core", reason="the C++ workspace is not built")

from takt.errors import TaktError
from takt.schedule.application.dump import app_yaml
from takt.schedule.application.file import read_application
from takt.schedule.application.flat import flat
from takt.schedule.explain import explain
from takt.schedule.metrics import measure
from takt.schedule.simulation.simulate import simulate

APP = """
cpus: {cpus}
policy: fp
nodes:
  camera: {{look: {{timer: 10ms, wcet: 15ms, deadline: 16ms, priority: 30, at_once: 2,
    writes: [image]}}}}
  tracker: {{follow: {{on: image, wcet: 1ms, deadline: 10ms, priority: 40}}}}
"""


def application(folder: Path, cpus: str) -> dict[str, Any]:
    path = folder / "camera.app.yaml"
    path.write_text(APP.format(cpus=cpus), encoding="utf-8")
    return flat(read_application(path))


def test_each_lane_has_its_jobs_in_the_metrics(tmp_path: Path) -> None:
    document = application(tmp_path, "[1, 2]")
    trace = tmp_path / "run.takttrace"
    simulate(document, where="camera", duration=1_000_000_000, trace=trace)
    found = {one.callback: one for one in measure(trace).callbacks}
    assert list(found) == ["camera.look", "camera.look#2", "tracker.follow"]
    lanes = [found["camera.look"].executions, found["camera.look#2"].executions]
    assert sum(lanes) >= 97
    assert max(lanes) - min(lanes) <= 1
    assert explain(trace).misses == sum(one.misses for one in found.values())


def test_one_core_is_refused_where_the_callback_stands(tmp_path: Path) -> None:
    document = application(tmp_path, "[1]")
    with pytest.raises(TaktError, match="2 of them, and cpus names fewer cores"):
        simulate(document, where="camera")


def test_the_key_is_written_as_it_was_read(tmp_path: Path) -> None:
    document = application(tmp_path, "[1, 2]")
    path = tmp_path / "again.app.yaml"
    path.write_text(app_yaml(document, "", {}), encoding="utf-8")
    assert flat(read_application(path)) == document
