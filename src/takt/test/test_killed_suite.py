# SPDX-License-Identifier: Apache-2.0
"""A measurement that is killed three times loses nothing, and who counts losses sees one."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from setup import killed_suite

EXPERIMENT = """
name: suite
repetitions: 5
duration: 300ms
measurements:
  - {kind: wakeup, stack: fake, transport: fine}
"""


def test_a_suite_that_is_killed_three_times_loses_nothing_and_a_loss_is_counted(
    tmp_path: Path,
    prefix: Path,
    experiment: Callable[[str], Path],
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    path = os.pathsep.join([str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    monkeypatch.setenv("PYTHONPATH", path)
    out = tmp_path / "out"
    first = ["run", str(experiment(EXPERIMENT)), "--out", str(out)]
    again = ["run", "--resume", str(out)]
    assert killed_suite.killed(first, again, out, [0.05, 0.2, 0.1]) == 0
    run = json.loads((out / "run.json").read_text())
    assert [cell["status"] for cell in run["cells"]] == ["complete"] * 5
    assert [cell["count"] for cell in run["cells"]] == [300] * 5
    shown = capfd.readouterr().out
    assert shown.count("kill ") == 3
    assert "lost: nothing" in shown

    kept = killed_suite.Kept(Counter(map(killed_suite._digest, killed_suite._ended(out))))
    damaged = next(out.glob("samples/*.parquet"))
    name, rows = damaged.name.partition(".")[0], pq.read_metadata(damaged).num_rows
    kept.begun = [(name, rows)]
    assert killed_suite._lost(kept, out) == []
    kept.begun = [(name, rows + 1)]
    damaged.unlink()
    assert killed_suite._lost(kept, out) == ["1 files", f"{rows + 1} samples of {name}"]
