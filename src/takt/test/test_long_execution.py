# SPDX-License-Identifier: Apache-2.0
"""An execution in pieces goes on where it was, and who looks for drift finds it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("takt_core", reason="the C++ workspace is not built")

from command_line import takt
from setup import long_execution
from setup.long_execution import Piece

from takt.schedule.trace import file as traces

TIMERS = """
cpus: [0]
policy: fp
nodes:
  one:
    fast: {timer: 3ms, offset: 1ms, wcet: 100us, priority: 20}
    slow: {timer: 7ms, wcet: 5ms, priority: 10}
"""


def test_releases_of_periods_do_not_drift_and_others_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app, trace = tmp_path / "timers.app.yaml", tmp_path / "timers.takttrace"
    app.write_text(TIMERS)
    assert takt(["simulate", str(app), "--duration", "2s", "--trace", str(trace)]) == 0
    assert long_execution.drift(traces.read(trace)) == 0
    flat: Mapping[str, Any] = json.loads(traces.description(traces.read(trace).names) or "")
    for one in flat["callbacks"]:
        if one["name"] == "one.slow":
            one["period"] += 1
    monkeypatch.setattr(traces, "description", lambda _: json.dumps(flat))
    assert long_execution.drift(traces.read(trace)) == 2000 // 7


def test_pieces_are_summed_and_what_a_kill_left_of_a_line_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    piece = Piece("2026-12-01T04:00:00", 1800.0, 1000, 1, 2, 0, 0, 0, 5000, -3)
    lines = json.dumps(asdict(piece)) + "\n"
    (tmp_path / long_execution.LINES).write_text(lines + '{"begun": "2026')
    executed = []

    def execute(application: Path, out: Path, seconds: float) -> None:
        executed.append(seconds)
        (out / long_execution.LINES).write_text(lines * 2)

    monkeypatch.setattr(long_execution, "execute", execute)
    argv = ["x", "app.yaml", "--out", str(tmp_path), "--hours", "1", "--piece", "1800"]
    monkeypatch.setattr("sys.argv", argv)
    assert long_execution.main() == 0
    assert executed == [1800.0]
    said = capfd.readouterr().out.splitlines()[-1]
    assert said == (
        "2 pieces, 1.00 h, 2,000 jobs, 2 misses, 4 skipped, 0 unfinished, 0 lost events; "
        "drift at most 0 ns; memory 5000 kB, grown by -3 to -3 kB in a piece; "
        "0 pieces disturbed"
    )
