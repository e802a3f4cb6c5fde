# SPDX-License-Identifier: Apache-2.0
"""A robot whose hosts are the machines of workers."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest
import test_workers as on_workers
from synthetic_hosts import Cluster, until
from test_execute_hosts import two_hosts

from takt.schedule.execution.recording import RECORDING
from takt.schedule.metrics import measure
from takt.schedule.trace import file as traces
from takt.schedule.trace.hosts import first_cores

pytestmark = [pytest.mark.usefixtures("app_runner", "installed"), pytest.mark.timeout(720)]
HOSTS = "pc=controller,motors=component"


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch, prefix: Path) -> None:
    """The workers have the programs of this build."""
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("two hosts on one machine need two cores")
    monkeypatch.setenv("TAKT_PREFIX", on_workers.BUILT)


@pytest.fixture
def robot(tmp_path: Path) -> Path:
    file = tmp_path / "robot.json"
    file.write_text(json.dumps(two_hosts()))
    return file


def test_its_processes_run_on_the_machines_of_workers(
    tmp_path: Path, machine_folder: Path, robot: Path, cluster: Cluster
) -> None:
    out = tmp_path / "out"
    process = on_workers.start(cluster, out, "execute", robot, "--hosts", HOSTS, "--duration", "1s")
    said = out.with_suffix(".said")
    assert process.wait(200) == 0, said.read_text()
    trace = out / "robot.takt.takttrace"
    assert set(first_cores(traces.read(trace).names)) == {"pc", "motors"}
    assert measure(trace).chains[0].latency_us is not None
    assert "times of host motors are" in said.read_text()
    assert until(lambda: on_workers.nothing_left(machine_folder))


def test_a_worker_that_dies_is_named_and_the_rest_kept(
    tmp_path: Path, machine_folder: Path, robot: Path, cluster: Cluster
) -> None:
    out = tmp_path / "out"
    words = ("execute", robot, "--hosts", HOSTS, "--duration", "600s")
    process = on_workers.start(cluster, out, *words)
    try:
        assert until(lambda: has_begun(machine_folder))
        os.kill(cluster.workers["component"].pid, signal.SIGKILL)
        assert process.wait(200) == 1
    finally:
        process.kill()
    said = out.with_suffix(".said").read_text()
    assert "failed on host motors: lost the host component" in said
    kept = traces.read(out / f"robot.takt.takttrace{RECORDING}")
    assert set(first_cores(kept.names)) == {"pc"}
    assert "camera.look" in kept.names.tasks.values()
    assert until(lambda: on_workers.nothing_left(machine_folder))


def has_begun(folder: Path) -> bool:
    """Whether the processes of pc record what they do."""
    each = (one.glob("pc.takttrace.part*") for one in on_workers.scratch_folders(folder))
    return any(part.stat().st_size > 10_000 for parts in each for part in parts)
