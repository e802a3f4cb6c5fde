# SPDX-License-Identifier: Apache-2.0
"""Cores alone and priorities of the kernel's threads on this very machine, also after a kill.

As short as it can be: everything else on the machine has one core less meanwhile.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from killed_runs import cleaned
from test_process import until

from takt.machine import exclusive, threads
from takt.machine.system import System
from takt.measure.conditions import tuned
from takt.network import stacks
from takt.tune import journal

ROOT = Path(__file__).resolve().parents[3]
PREFIX = os.environ.get("TAKT_PREFIX", f"{ROOT}/.takt/install")
SYSTEM = System()
CORE = SYSTEM.online[-1]
SOFTIRQ = "ksoftirqd"
LIMIT_S = 150.0

pytestmark = pytest.mark.skipif(
    bool(tuned.lacking(SOFTIRQ, [CORE])) or "raw" not in stacks.find({"TAKT_PREFIX": PREFIX}),
    reason="takes root, cpusets, two CPUs, and installed probes",
)


@pytest.fixture
def pinned() -> Iterator[int]:
    """Somebody else's process, which wants to be on the core that is to be had alone."""
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"]) as process:
        os.sched_setaffinity(process.pid, {CORE})
        yield process.pid
        process.kill()


def scheduling() -> list[tuple[int, int]]:
    return [SYSTEM.scheduling(one.pid) for one in threads.softirq_threads(SYSTEM)]


def start(folder: Path, *, seconds: str) -> subprocess.Popen[bytes]:
    block = {
        "kind": "pingpong", "stack": "raw", "transport": "udp", "scheduling": "fifo 20",
        "cpu": CORE, "cores": "alone", "tuned": f"{SOFTIRQ}+irq-threads", "duration": seconds,
        "rate": "100Hz",
    }  # fmt: skip
    file = folder / "x.json"
    file.write_text(json.dumps({"name": "x", "repetitions": 1, "measurements": [block]}))
    command = [sys.executable, "-m", "takt", "run", str(file), "--out", str(folder / "run")]
    environment = os.environ | {"TAKT_PREFIX": PREFIX}
    return subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)


def test_a_cell_has_its_core_exclusively_and_says_what_was_changed(
    tmp_path: Path, pinned: int
) -> None:
    before = scheduling()
    assert start(tmp_path, seconds="300ms").wait(LIMIT_S) == 0
    cell = json.loads((tmp_path / "run" / "run.json").read_text())["cells"][0]
    assert cell["status"] == "complete"
    assert {one["cpu"][0] for probe in cell["probes"] for one in probe["granted"]["threads"]} == {
        CORE
    }
    changed = {one["setting"]: one["now"] for one in cell["conditions"]["tuned"]}
    assert changed[SOFTIRQ] == "fifo 60"
    assert exclusive.ID in changed
    assert os.sched_getaffinity(pinned) == {CORE}
    assert scheduling() == before
    assert not SYSTEM.exists(exclusive.group(SYSTEM))
    assert not SYSTEM.exists(journal.FILE)


def test_killed_in_the_middle_everything_is_put_back(tmp_path: Path, pinned: int) -> None:
    before = scheduling()
    tool = start(tmp_path, seconds="300s")
    limit = time.monotonic() + LIMIT_S
    procs = SYSTEM.path(f"{exclusive.group(SYSTEM)}/cgroup.procs")
    while time.monotonic() < limit and not (procs.exists() and procs.read_text()):
        assert tool.poll() is None
        time.sleep(0.01)
    assert scheduling() == [(1, 60)] * len(before)
    tool.send_signal(signal.SIGKILL)
    tool.wait()
    while time.monotonic() < limit and SYSTEM.exists(journal.FILE):
        time.sleep(0.01)
    assert not SYSTEM.exists(journal.FILE)
    assert not SYSTEM.exists(exclusive.group(SYSTEM))
    assert scheduling() == before
    assert os.sched_getaffinity(pinned) == {CORE}
    assert until(lambda: cleaned(tmp_path / "run"))
