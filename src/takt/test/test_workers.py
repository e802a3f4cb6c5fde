# SPDX-License-Identifier: Apache-2.0
"""Roles on the machines of Dask workers: whatever happens to either side, nothing is left there.

With root two namespaces stand for two machines; the same experiment file runs on both.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import synthetic_hosts
from conftest import Takt
from synthetic_hosts import Cluster, until
from test_process import gone
from test_real_probes import INSTALLED, ROOT

from takt.measure.results import store
from takt.measure.results.model import Run, Status
from takt.network import agent, certificates
from takt.processes import scratch

BUILT = os.environ.get("TAKT_PREFIX", f"{ROOT}/.takt/install")
# Several processes that import Dask, on a busy machine.
pytestmark = pytest.mark.timeout(720)
EXPERIMENT = """
name: two_machines
repetitions: 1
duration: 500ms
measurements:
  - {kind: pingpong, stack: [STACKS], transport: udp, period: 10ms, host: "controller,component"}
  - {kind: pubsub, stack: rcl, transport: udp, period: 10ms, host: "component,controller"}
"""


@pytest.fixture
def real(monkeypatch: pytest.MonkeyPatch, prefix: Path) -> None:
    """The installed probes."""
    if not {"raw", "rcl"} <= set(INSTALLED.probes):
        pytest.skip("the stacks raw and rcl are not installed")
    monkeypatch.setenv("TAKT_PREFIX", BUILT)


def arguments(cluster: Cluster, out: Path, *words: str | Path) -> list[str]:
    command = [sys.executable, "-m", "takt", *map(str, words), "--out", str(out)]
    return [*cluster.tool.enter, *command, "--scheduler", cluster.address]


def start(cluster: Cluster, out: Path, *words: str | Path) -> subprocess.Popen[bytes]:
    """What it says goes beside its folder, for who looks why it has failed."""
    with out.with_suffix(".said").open("wb") as said:
        return subprocess.Popen(
            arguments(cluster, out, *words),
            env={
                **os.environ,
                "PYTHONPATH": synthetic_hosts.python_path(),
                "TAKT_FAKE_MEETING": str(cluster.tool.folder),
                "XDG_CONFIG_HOME": str(cluster.tool.configuration),
            },
            stdout=said,
            stderr=said,
        )


def measured(cluster: Cluster, out: Path, *words: str | Path) -> Run:
    process = start(cluster, out, *words)
    try:
        process.wait(200)
    finally:
        process.kill()
    said = out.with_suffix(".said").read_text()
    assert (out / scratch.DOCUMENT).exists(), f"it ended with {process.returncode}: {said}"
    return store.read(out)


def fake(transport: str, host: str = "controller,component", **keys: str) -> list[str]:
    words = ["measure", "pingpong", "--stack", "fake", "--transport", transport, "--host", host]
    words += ["--repetitions", "1"]
    options = {"duration": "200ms"} | keys
    return words + [word for key, value in options.items() for word in (f"--{key}", value)]


def probes(folder: Path) -> list[int]:
    """Those that run on the machines."""
    return [pid for pid in synthetic_hosts.marked(folder) if "--role" in title(pid)]


def title(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""


def scratch_folders(folder: Path) -> list[Path]:
    """Of sessions on the machines."""
    found = []
    for one in scratch.MEMORY.glob(f"takt-{os.getuid()}-*"):
        owner = one / scratch.OWNER
        if owner.exists() and str(folder) in owner.read_text():
            found.append(one)
    return found


def recording_there(folder: Path) -> bool:
    return any(map(scratch.recordings, scratch_folders(folder)))


def nothing_left(folder: Path) -> bool:
    sessions = list((folder / "cache" / "takt" / "hosts").glob("*"))
    return not probes(folder) and not scratch_folders(folder) and not sessions


def rows(out: Path, names: list[str]) -> int:
    return sum(pq.read_metadata(out / name).num_rows for name in names)


def file_for(folder: Path) -> Path:
    path = folder / "two_machines.yaml"
    path.write_text(EXPERIMENT.replace("STACKS", "raw, rcl"))
    return path


def check_two_machines(run: Run, out: Path, folder: Path) -> None:
    assert [(cell.key, cell.error) for cell in run.cells if cell.error] == []
    assert run.status is Status.complete
    assert len(run.cells) == 3
    for cell in run.cells:
        # A publisher that others keep from its core for long replaces what it has not yet sent.
        assert cell.sent == cell.count + cell.lost == 50
        assert 0 < cell.count <= rows(out, cell.samples) <= 50
        assert cell.conditions is not None
        assert cell.conditions.link_there_bytes is not None
        assert cell.conditions.link_there_bytes > cell.count * cell.payload_bytes
        if cell.kind == "pubsub":
            assert cell.conditions.clock is not None
            assert "the same machine" in cell.conditions.clock
            assert cell.conditions.clock_bound_us == 0
    assert set(run.hosts) == {"controller", "component"}
    assert run.hosts["component"]["kernel"] == os.uname().release
    assert until(lambda: nothing_left(folder))


def test_an_experiment_runs_on_two_workers(
    tmp_path: Path, machine_folder: Path, real: None, cluster: Cluster
) -> None:
    run = measured(cluster, tmp_path / "out", "run", file_for(tmp_path))
    check_two_machines(run, tmp_path / "out", machine_folder)


@pytest.mark.thorough
def test_the_same_file_runs_on_workers_in_two_namespaces(
    tmp_path: Path, machine_folder: Path, real: None
) -> None:
    if lack := synthetic_hosts.lacking():
        pytest.skip(f"no network namespaces can be made here: {lack}")
    with synthetic_hosts.apart(machine_folder) as cluster:
        run = measured(cluster, tmp_path / "out", "run", file_for(tmp_path))
    check_two_machines(run, tmp_path / "out", machine_folder)


@pytest.mark.thorough
def test_one_role_is_here(
    tmp_path: Path, machine_folder: Path, real: None, cluster: Cluster
) -> None:
    words = [
        "measure",
        "pingpong",
        "--stack",
        "raw",
        "--transport",
        "udp",
        "--host",
        "here,component",
    ]
    run = measured(cluster, tmp_path / "out", *words, "--samples", "50", "--repetitions", "2")
    assert [(cell.status, cell.count) for cell in run.cells] == [(Status.complete, 50)] * 2
    assert until(lambda: nothing_left(machine_folder))


@pytest.mark.thorough
def test_what_carried_nothing_fails_its_cell(
    tmp_path: Path, machine_folder: Path, cluster: Cluster
) -> None:
    # More than whatever else runs here sends over the loopback meanwhile.
    run = measured(cluster, tmp_path / "out", *fake("fine", payload="60MB"))
    cell = run.cells[0]
    assert cell.error is not None  # the fake probe only says that it sends
    assert cell.error.what == "the messages were not carried by the network"
    assert cell.count == rows(tmp_path / "out", cell.samples) == 200
    assert until(lambda: nothing_left(machine_folder))


@pytest.mark.thorough
def test_a_probe_that_dies_there_says_its_last_words_here(
    tmp_path: Path, machine_folder: Path, cluster: Cluster
) -> None:
    cell = measured(cluster, tmp_path / "out", *fake("crash")).cells[0]
    assert cell.error is not None
    assert cell.error.what == "the ping died: SIGSEGV"
    assert "the stack's last word" in cell.error.why
    assert cell.count == 100
    assert until(lambda: nothing_left(machine_folder))


@pytest.mark.thorough
def test_shared_memory_that_is_left_there_is_swept(
    tmp_path: Path, machine_folder: Path, cluster: Cluster
) -> None:
    (machine_folder / "go").touch()
    cell = measured(cluster, tmp_path / "out", *fake("leak", duration="1s")).cells[0]
    assert cell.error is not None
    assert cell.error.what == "the ping died: SIGKILL"
    assert until(lambda: nothing_left(machine_folder))
    assert not synthetic_hosts.leaked(machine_folder).exists()


@pytest.mark.thorough
def test_ctrl_c_brings_home_what_was_measured(
    tmp_path: Path, machine_folder: Path, cluster: Cluster
) -> None:
    out = tmp_path / "out"
    tool = start(cluster, out, *fake("fine", duration="600s"))
    try:
        assert until(lambda: recording_there(machine_folder))
        tool.send_signal(signal.SIGINT)
        tool.wait(200)
    finally:
        tool.kill()
    cell = store.read(out).cells[0]
    assert (tool.returncode, cell.status) == (1, Status.partial)
    assert cell.count == rows(out, cell.samples) > 0
    assert until(lambda: nothing_left(machine_folder))


@pytest.mark.thorough
def test_a_killed_worker_fails_its_cell_and_leaves_nothing(
    tmp_path: Path, machine_folder: Path, cluster: Cluster
) -> None:
    out = tmp_path / "out"
    tool = start(cluster, out, *fake("fine", duration="600s"))
    try:
        assert until(lambda: recording_there(machine_folder))
        there = probes(machine_folder)
        os.kill(cluster.workers["component"].pid, signal.SIGKILL)
        tool.wait(200)
        assert tool.returncode == 1
    finally:
        tool.kill()
    cell = store.read(out).cells[0]
    assert cell.status is Status.failed
    assert cell.error is not None
    assert "the pong died: lost the host component: " in cell.error.what
    assert cell.count  # of the other host
    assert until(lambda: all(map(gone, there)))
    assert until(lambda: nothing_left(machine_folder))


def test_a_killed_tool_leaves_nothing_running_and_its_recordings_come_home_later(
    tmp_path: Path, machine_folder: Path, cluster: Cluster
) -> None:
    out = tmp_path / "out"
    tool = start(cluster, out, *fake("held", duration="5s"))
    try:
        assert until(lambda: recording_there(machine_folder))
    finally:
        tool.kill()
        tool.wait()
    assert until(lambda: not probes(machine_folder))
    (machine_folder / "go").touch()
    folders = scratch_folders(machine_folder)
    try:
        assert any(map(scratch.recordings, folders))
        words = arguments(cluster, out, "run", "--resume", out)
        at = words.index("--out")
        subprocess.run(
            [*words[:at], *words[at + 2 :]],
            env={
                **os.environ,
                "TAKT_FAKE_MEETING": str(machine_folder),
                "XDG_CONFIG_HOME": str(cluster.tool.configuration),
            },
            capture_output=True,
            timeout=200,
        )
        cell = store.read(out).cells[0]
        assert cell.count == 5000
        assert rows(out, cell.earlier_attempts) > 0
        assert until(lambda: nothing_left(machine_folder))
    finally:
        for folder in folders:
            shutil.rmtree(folder, ignore_errors=True)


@pytest.mark.parametrize("address", ["desk", "tcp://127.0.0.1", "tcp://127.0.0.1:9"])
def test_a_worker_of_no_scheduler_says_what_to_do(takt: Takt, address: str) -> None:
    printed = takt("worker", address, "component")
    assert printed.returncode == 2
    assert address in printed.stderr
    assert "tls://desk:8786" in printed.stderr or "./takt scheduler" in printed.stderr


def test_a_host_without_a_worker_is_refused(takt: Takt, cluster: Cluster) -> None:
    printed = takt(*fake("fine", host="here,robot"), "--scheduler", cluster.address)
    assert printed.returncode == 2
    assert "no worker of the scheduler offers the host robot" in printed.stderr
    assert "component, controller" in printed.stderr
    assert f"./takt worker {cluster.address} robot" in printed.stderr


@pytest.mark.thorough
def test_a_stack_that_is_not_there_is_refused(takt: Takt, cluster: Cluster, prefix: Path) -> None:
    folder = prefix / "lib" / "takt_probes"
    for worker in cluster.workers.values():
        worker.end()
    cluster.start("component", TAKT_PREFIX=str(folder))
    printed = takt(*fake("fine", host="here,component"), "--scheduler", cluster.address)
    assert printed.returncode == 2
    assert "the stack fake is not installed on the host component" in printed.stderr


@pytest.mark.parametrize("has", ["none", pytest.param("another", marks=pytest.mark.thorough)])
def test_another_takt_is_refused(
    takt: Takt, machine_folder: Path, tmp_path: Path, has: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    if has == "another":
        shutil.copytree(synthetic_hosts.SOURCES / "takt", other / "takt")
        (other / "takt" / "__init__.py").write_text('__version__ = "0.0.1"\n')
    with synthetic_hosts.here(machine_folder, roles=()) as cluster:
        monkeypatch.setenv("XDG_CONFIG_HOME", str(cluster.tool.configuration))
        machine, log = cluster.tool, cluster.tool.folder / "other.log"
        command = [sys.executable, "-m", "distributed.cli.dask_worker", cluster.address]
        command += ["--no-nanny", "--resources", "component=1", "--local-directory", str(tmp_path)]
        keys = certificates.known().environment()
        worker = machine.start("other", command, PYTHONPATH=str(other), **keys)
        try:
            assert until(lambda: "Registered to:" in log.read_text())
            printed = takt(*fake("fine", host="here,component"), "--scheduler", cluster.address)
        finally:
            worker.end()
    assert printed.returncode == 2
    assert "host component: it has" in printed.stderr
    assert ("0.0.1" in printed.stderr) == (has == "another")
    assert "install the same version of Takt there" in printed.stderr


def test_a_host_without_a_scheduler_is_refused(takt: Takt) -> None:
    printed = takt(*fake("fine", host="here,robot"))
    assert printed.returncode == 2
    assert "--scheduler tls://HOST:8786" in printed.stderr


@pytest.mark.parametrize(
    ("keys", "text"),
    [
        ({"host": "a,b", "delay": "1ms"}, "other machines use their own network"),
        ({"host": "here,namespace", "load": "cpu,none"}, "the loads cpu,none are of two machines"),
    ],
)
def test_what_is_of_our_link_or_of_this_machine_is_refused(
    takt: Takt, keys: dict[str, Any], text: str
) -> None:
    printed = takt(*fake("fine", **keys))
    assert printed.returncode == 2
    assert text in printed.stderr


def test_the_digest_is_of_the_python(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    own = agent.identity()
    assert own == agent.identity()
    (tmp_path / "__init__.py").write_text("")
    monkeypatch.setattr(agent.takt, "__file__", str(tmp_path / "__init__.py"))
    assert agent.identity() != own
