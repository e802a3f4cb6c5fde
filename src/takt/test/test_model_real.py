# SPDX-License-Identifier: Apache-2.0
"""From an execution to its app.yaml, and a second one held to it. Nothing goes by the clock."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("takt_core", reason="the C++ workspace is not built")

from command_line import takt

from takt.errors import Failure
from takt.network import stacks
from takt.schedule.application.file import read_application
from takt.schedule.application.flat import flat

MS = 1_000_000
ROBOT = """
cpus: [{cpu}]
policy: fp
nodes:
  camera:
    look: {{timer: 20ms, offset: 3ms, wcet: 300us, priority: 30, writes: {{image: 1KB}}}}
  planner:
    plan:
      {{timer: 40ms, wcet: 400us, priority: 20, reads: [image], writes: {{plan: 100B}}, group: map}}
    tidy: {{timer: 200ms, wcet: 200us, priority: 10, deadline: 150ms, group: map}}
  arm: {{move: {{on: plan, wcet: 200us, priority: 40, overrun: catch_up}}}}
"""


@pytest.fixture(autouse=True)
def _runner() -> None:
    try:
        stacks.program("app_runner")
    except Failure:
        pytest.skip("app_runner is not installed")


def executed(app: Path, out: Path) -> Path:
    assert takt(["execute", str(app), "--duration", "2s", "--out", str(out)]) == 0
    (trace,) = out.glob("*.takttrace")
    return trace


def test_an_executed_application_comes_back_and_a_second_run_is_held_to_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    app, back = tmp_path / "robot.app.yaml", tmp_path / "back.app.yaml"
    app.write_text(ROBOT.format(cpu=max(os.sched_getaffinity(0))))
    trace = executed(app, tmp_path / "first")
    assert takt(["model", str(trace), "-o", str(back)]) == 0
    before, after = (_by_name(flat(read_application(file))) for file in (app, back))
    assert after.keys() == before.keys()
    for name, one in before.items():
        for key in ("trigger", "period", "offset", "deadline", "group", "overrun", "writes"):
            assert after[name].get(key) == one.get(key), f"{name}.{key}"
        assert {r["topic"] for r in one["reads"]} == {r["topic"] for r in after[name]["reads"]}
        assert after[name]["execution"]["worst"] >= one["execution"]["worst"]  # it burns that
    chains = [one.callbacks for one in read_application(back).chains.values()]
    assert chains == [["camera.look", "planner.plan", "arm.move"]]
    assert takt(["analyse", str(back), "--assign", str(tmp_path / "robot.timing.yaml")]) in {0, 1}

    second = executed(back, tmp_path / "second")
    capsys.readouterr()
    assert takt(["explain", str(second), "--against", str(back), "--json"]) == 0
    explained = json.loads(capsys.readouterr().out)
    assert explained["bounds"] is not None
    assert explained["bounds"]["responses"] > 100
    assert takt(["metrics", str(second), "--against", str(back), "--json"]) == 0
    (metrics,) = json.loads(capsys.readouterr().out)["traces"]
    assert {one["callback"] for one in metrics["callbacks"]} == before.keys()
    (chain,) = metrics["chains"]
    assert chain["latency_us"]["count"] > 10


def _by_name(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {one["name"]: one for one in document["callbacks"]}
