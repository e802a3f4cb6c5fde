# SPDX-License-Identifier: Apache-2.0
"""The first line of a simulation: what never came, was skipped or lost is no deadline kept."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import takt

pytest.importorskip("takt_core", reason="the C++ workspace is not built")

OVERWRITTEN = """
policy: fp
nodes:
  w1: {t: {timer: 10ms, wcet: 1ms, priority: 60, writes: {x: 100B}}}
  w2: {t: {timer: 10ms, wcet: 1ms, priority: 61, writes: {x: 100B}}}
  r: {cb: {"on": x, wcet: 1ms, priority: 40, deadline: 10ms}}
chains:
  first: {callbacks: [w1.t, r.cb], max_latency: 10ms}
  second: {callbacks: [w2.t, r.cb]LIMIT}
"""
SILENT = """
policy: fp
nodes:
  w: {t: {timer: 10ms, wcet: 1ms, priority: 60, writes: {x: 100B}, active: false}}
  r: {t: {timer: 20ms, wcet: 1ms, priority: 40, reads: {x: {max_age: 15ms}}}}
"""
TRIGGERED = """
policy: fp
nodes:
  w: {t: {timer: 10ms, wcet: 1ms, priority: 60, writes: {x: 100B}, active: false}}
  r: {cb: {"on": x, wcet: 1ms, priority: 40, deadline: 10ms}}
"""


def simulated(
    folder: Path, capfd: pytest.CaptureFixture[str], text: str, *options: str
) -> tuple[int, str]:
    """Exit code and first line."""
    path = folder / "made.app.yaml"
    path.write_text(text, encoding="utf-8")
    code = takt(["simulate", str(path), *options])
    return code, capfd.readouterr().out.splitlines()[0]


def test_a_chain_through_which_nothing_came_has_not_kept_its_limit(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    limited = OVERWRITTEN.replace("LIMIT", ", max_latency: 10ms")
    code, line = simulated(tmp_path, capfd, limited)
    assert "no data arrived through second" in line
    assert "through first" not in line
    assert code == 1
    code, line = simulated(tmp_path, capfd, OVERWRITTEN.replace("LIMIT", ""))
    assert "no data arrived through second" in line
    assert code == 0  # there is no limit to be kept


def test_releases_that_were_skipped_are_reported(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    _, line = simulated(tmp_path, capfd, OVERWRITTEN.replace("LIMIT", ""))
    assert "2 releases skipped" in line


def test_a_reader_that_never_had_data_has_not_kept_its_age_limit(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    code, line = simulated(tmp_path, capfd, SILENT)
    assert "r.t never received data" in line
    assert code == 1
    fed = SILENT.replace(", active: false", "").replace("15ms", "30ms")
    code, line = simulated(tmp_path, capfd, fed)
    assert "never" not in line
    assert code == 0


def test_where_no_job_ran_no_deadline_is_said_to_be_kept(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    _, line = simulated(tmp_path, capfd, TRIGGERED, "--duration", "1s")
    assert "no deadline missed" not in line
    assert "no job ended" in line
    assert "r.cb never ran" in line
    _, line = simulated(tmp_path, capfd, TRIGGERED.replace(", active: false", ""))
    assert "no deadline missed" in line
    assert "never ran" not in line


def test_jobs_above_their_budget_are_reported(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    text = "nodes: {a: {t: {timer: 10ms, wcet: 2ms, budget: 1ms, priority: 9}}}"
    _, line = simulated(tmp_path, capfd, text)
    assert "2 jobs above their budget" in line


def absent(
    folder: Path, capfd: pytest.CaptureFixture[str], text: str, *options: str
) -> dict[str, tuple[int, int | None, str]]:
    """What is missing, by subject: arrived, expected, outcome."""
    path = folder / "made.app.yaml"
    path.write_text(text, encoding="utf-8")
    takt(["simulate", str(path), "--json", *options])
    document = json.loads(capfd.readouterr().out)
    return {
        one["subject"]: (one["arrived"], one["expected"], one["outcome"])
        for one in document["absences"]
    }


def test_absence_is_a_row_with_its_outcome(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    limited = OVERWRITTEN.replace("LIMIT", ", max_latency: 10ms")
    assert absent(tmp_path, capfd, limited) == {"second": (0, 2, "fails")}
    unlimited = OVERWRITTEN.replace("LIMIT", "")
    assert absent(tmp_path, capfd, unlimited) == {"second": (0, 2, "undecided")}
    assert absent(tmp_path, capfd, SILENT) == {"r.t ← x": (0, 2, "fails")}
    idle = absent(tmp_path, capfd, TRIGGERED, "--duration", "1s")
    assert idle == {"r.cb": (0, None, "undecided")}
    assert absent(tmp_path, capfd, TRIGGERED.replace(", active: false", "")) == {}
    path = tmp_path / "made.app.yaml"
    path.write_text(limited, encoding="utf-8")
    assert takt(["simulate", str(path)]) == 1
    row = next(line for line in capfd.readouterr().out.splitlines() if "0 of 2" in line)
    assert row.split() == [
        "second",
        "0",
        "of",
        "2",
        "fails",
        *["no", "data", "passed", "the", "chain"],
    ]


def test_a_topic_that_arrives_does_not_hide_one_that_never_does(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    text = SILENT.replace("reads: {", "reads: {y: {}, ") + (
        "  v: {t: {timer: 10ms, wcet: 1ms, priority: 50, writes: {y: 100B}}}\n"
    )
    assert absent(tmp_path, capfd, text) == {"r.t ← x": (0, 2, "fails")}
