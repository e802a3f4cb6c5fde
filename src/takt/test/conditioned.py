# SPDX-License-Identifier: Apache-2.0
"""Cells with load, traffic or a link, and what they need of the machine.

What needs root, stress-ng or iperf3 is skipped where that is missing, by the tool's own words.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from test_real_probes import INSTALLED, PATIENT, ROOT
from test_run import Quiet, prepared

from takt.measure.conditions import declared
from takt.measure.results.model import Cell, Run
from takt.measure.run import runner
from takt.network import stacks
from takt.processes.supervision import Limits

BUILT = os.environ.get("TAKT_PREFIX", f"{ROOT}/.takt/install")
HOPELESS = Limits(ready_s=2.0)  # for what will never be ready
# Does nothing, as a load and as traffic.
IDLE = "#!/bin/sh\nexec sleep 600\n"


def program(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(text)
    (folder / name).chmod(0o755)


def measured(run: Run, folder: Path, memory: Path, limits: Limits = PATIENT) -> Cell:
    runner.measure_cells(run, folder, stacks.find(), Quiet(), limits=limits, memory=memory)
    return run.cells[0]


def needs(**conditions: Any) -> None:
    """Skips where this machine lacks something for a cell with these conditions."""
    usual = {"kind": "pingpong", "transport": "udp", "host": "here", "load": "none"}
    cell = Cell.model_construct(**usual | conditions)
    for _, what, fix in declared.lacking(cell):
        pytest.skip(f"{what}: {fix}")


def linked(**keys: Any) -> Run:
    """A run of one cell over a link, whose plan no stack of a test would pass."""
    traffic_mbps = keys.pop("traffic_mbps", 0.0)
    needs(host="here,namespace", traffic_mbps=traffic_mbps)
    run = prepared(**keys)
    more = {"host": "here,namespace", "link_mbps": 100.0, "traffic_mbps": traffic_mbps}
    run.cells = [run.cells[0].model_copy(update=more)]
    return run


def real(stack: str, monkeypatch: pytest.MonkeyPatch, **keys: Any) -> Run:
    """As ``linked``, with an installed probe that sends."""
    if stack not in INSTALLED:
        pytest.skip(f"the stack {stack} is not installed")
    monkeypatch.setenv("TAKT_PREFIX", BUILT)
    return linked(stack=stack, transport="udp", **keys)


def on_a_disk(folder: Path) -> None:
    kind = subprocess.run(["stat", "-f", "-c", "%T", folder], capture_output=True, text=True)
    if kind.stdout.strip() in ("tmpfs", "ramfs"):
        pytest.skip("the temporary folder is no disk")
