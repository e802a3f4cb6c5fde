# SPDX-License-Identifier: Apache-2.0
"""A campaign counts what it asked for: of what was not asked there is no count, and no success."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import trace_files
from command_line import takt as command
from conftest import Takt

from takt.schedule.campaign import execute
from takt.schedule.campaign.folder import Folder
from takt.schedule.campaign.model import Campaign, ExecutionSettings
from takt.schedule.execution.model import Execution
from takt.schedule.generate.space import read_space


def grid(folder: Path) -> Path:
    path = folder / "grid.json"
    given = {"nodes": 6, "utilization": 0.7, "periods": [5, 10, 20], "policy": "edf"}
    path.write_text(json.dumps({"parameters": given}))
    return path


@pytest.mark.parametrize(
    ("do", "unknown"),
    [
        ("analyse", ("bound_violations", "misses_in_accepted")),
        ("simulate", ("accepted", "bound_violations", "misses_in_accepted")),
        ("analyse,simulate", ()),
    ],
)
def test_what_was_not_asked_is_no_zero(
    takt: Takt, tmp_path: Path, do: str, unknown: tuple[str, ...]
) -> None:
    words: list[str | Path] = ["campaign", grid(tmp_path), "--repeat", "2", "--do", do]
    document = takt.json(*words, "--workers", "1", "--out", "out")
    keys = ("accepted", "bound_violations", "misses_in_accepted")
    assert {key for key in keys if document[key] is None} == set(unknown)
    printed = takt(*words, "--out", "out").stdout
    assert ("% of 2 accepted" in printed) == ("accepted" not in unknown)
    (row,) = (line for line in printed.splitlines() if "nodes 6" in line)
    assert row.count("–") == len(unknown)


@pytest.mark.parametrize("executed", [0, 3])
def test_an_execution_in_which_nothing_ran_has_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, executed: int
) -> None:
    class Found:
        executions, misses, mean_miss_ratio, freshness = executed, 0, None, None

    class Done:
        trace, status, steal_seconds = tmp_path, "complete", 0.0
        not_granted: tuple[str, ...] = ()
        disturbances: tuple[str, ...] = ()

    def run(*_: Any, trace: Path, **__: Any) -> type[Done]:
        trace.touch()
        return Done

    monkeypatch.setattr("takt.schedule.execution.execute", run)
    monkeypatch.setattr("takt.schedule.metrics.measure", lambda _: Found)
    asked = Campaign(
        {}, read_space(grid(tmp_path)), 1, 1, ("execute",), ExecutionSettings(("baseline0",), 1, 1)
    )
    (error,) = execute.execute(Folder(tmp_path / "out", asked), asked, lambda *_: None)
    assert (error is not None and "no job was executed" in error) == (executed == 0)


@pytest.mark.parametrize("status", ["complete", "stopped"])
def test_an_execution_in_which_nothing_ran_is_exit_code_1(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    status: str,
) -> None:
    fields = {"application": "a", "approach": "takt", "policy": "fp", "seed": 1, "status": status}
    times = {"duration_s": 1.0, "seconds": 1.0, "steal_seconds": 0.0}

    def run(*_: Any, trace: Path, **__: Any) -> Execution:
        trace_files.write(trace, [])
        return Execution(**fields, **times, not_granted=[], disturbances=[], trace=trace)

    monkeypatch.setattr("takt.schedule.execution.execute", run)
    app = tmp_path / "a.app.yaml"
    app.write_text("nodes: {a: {t: {timer: 10ms, wcet: 1ms, priority: 9}}}")
    assert command(["execute", str(app), "--out", str(tmp_path / "out")]) == 1
    assert "no job ended during the execution" in capfd.readouterr().err
