# SPDX-License-Identifier: Apache-2.0
"""When callbacks publish: from the file to bounds and simulation, and back into a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("takt_core", reason="the C++ workspace is not built")

import takt_core

from takt.errors import TaktError
from takt.schedule.application.dump import app_yaml
from takt.schedule.application.file import read_application
from takt.schedule.application.flat import flat

APP = """
policy: np-fp
nodes:
  camera: {{grab: {{timer: 40ms, wcet: 8ms, priority: 20{publishes}, writes: [image]}}}}
  detector: {{detect: {{on: image, wcet: 6ms, deadline: 20ms, priority: 30}}}}
"""


def read(folder: Path, publishes: str) -> dict[str, Any]:
    path = folder / "see.app.yaml"
    path.write_text(APP.format(publishes=publishes), encoding="utf-8")
    return flat(read_application(path))


def response_of_reader(application: dict[str, Any]) -> float:
    """In ms; without preemption it contains what its writer still computes."""
    report = takt_core.analyse(json.dumps(application))
    (found,) = (
        one["response_us"]
        for one in report["scenarios"][0]["callbacks"]
        if one["name"] == "detector.detect"
    )
    return float(found) / 1000


def test_a_message_comes_at_the_end_unless_it_may_come_anywhere(tmp_path: Path) -> None:
    assert response_of_reader(read(tmp_path, "")) == 6
    assert response_of_reader(read(tmp_path, ", publishes: end")) == 6
    assert response_of_reader(read(tmp_path, ", publishes: anywhere")) == pytest.approx(14)


def test_a_written_file_says_when_a_callback_publishes(tmp_path: Path) -> None:
    application = read(tmp_path, ", publishes: anywhere")
    path = tmp_path / "again.app.yaml"
    path.write_text(app_yaml(application, "", {}), encoding="utf-8")
    assert flat(read_application(path))["callbacks"][0]["publishes"] == "anywhere"


def test_another_time_is_refused_where_it_stands(tmp_path: Path) -> None:
    with pytest.raises(TaktError, match="publishes"):
        read(tmp_path, ", publishes: start")
