# SPDX-License-Identifier: Apache-2.0
"""The tool with the installed probes: what a cell's name says is what carried its messages.

Skipped where the workspace has not been built, or for a stack that is not there.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest
from shared_memory import note
from test_run import Quiet, rows

from takt.measure.experiment.file import Source, check
from takt.measure.experiment.plan import plan, this_machine
from takt.measure.results import store
from takt.measure.results.model import Cell, Run, Status
from takt.measure.run import runner
from takt.network import namespace, stacks, transport
from takt.processes import leftovers, scratch
from takt.processes.supervision import Limits

ROOT = Path(__file__).resolve().parents[3]
INSTALLED = stacks.find({"TAKT_PREFIX": os.environ.get("TAKT_PREFIX", f"{ROOT}/.takt/install")})


PATIENT = Limits(start_s=120.0, ready_s=120.0)  # on a machine with much else to do


class Spy(Quiet):
    """Looks at the probes while they measure, and kills the last one when told to."""

    def __init__(self, kill_after: int | None = None) -> None:
        super().__init__()
        self.kill_after = kill_after
        self.shared: set[str] = set()

    def advance(self, cell: Cell, recorded: int) -> None:
        probes = [one for one in psutil.Process().children() if "probe_" in one.name()]
        for probe in probes:
            used = leftovers._used_by(probe.pid, scratch.MEMORY)
            self.shared |= {
                name
                for name in leftovers.present()
                if leftovers._inode(scratch.MEMORY / name) in used
            }
        if self.kill_after is not None and recorded >= self.kill_after:
            probes[-1].send_signal(signal.SIGKILL)


def measured(folder: Path, spy: Quiet, **keys: Any) -> Run:
    if keys["stack"] not in INSTALLED:
        pytest.skip(f"the stack {keys['stack']} is not installed")
    block = {"duration": "300ms", "rate": "1kHz"} | keys
    document = {"name": "x", "repetitions": 1, "measurements": [block]}
    experiment = check(document, Source())
    plan_of_run = plan(experiment, Source(), INSTALLED, this_machine(), 1)
    run = runner.new_run(experiment, plan_of_run, runner.Diagnosis())
    return runner.measure_cells(run, folder, INSTALLED, spy, limits=PATIENT)


@pytest.mark.parametrize(
    ("stack", "kind", "transport"),
    [
        ("raw", "wakeup", "nanosleep"),
        ("raw", "pingpong", "futex"),
        ("raw", "pingpong", "udp"),
        ("rcl", "pingpong", "shm"),
        ("rcl", "pingpong", "udp"),
        ("rcl", "pingpong", "process"),
        ("rcl", "pubsub", "shm"),
        ("rcl", "pubsub", "process"),
        ("cyclonedds", "pingpong", "udp"),
        ("cyclonedds", "pingpong", "process"),
        ("cyclonedds", "pubsub", "udp"),
        ("cyclonedds", "pubsub", "process"),
        ("rustdds", "pingpong", "udp"),
        ("rustdds", "pubsub", "udp"),
        ("iceoryx2", "pingpong", "shm"),
        ("iceoryx2", "pubsub", "shm"),
        ("zenoh", "pingpong", "tcp"),
        ("zenoh", "pubsub", "tcp"),
        ("rcl,cyclonedds", "pingpong", "udp"),
        ("rustdds,rcl", "pingpong", "udp"),
        ("cyclonedds,rcl", "pubsub", "udp"),
    ],
)
def test_every_kind_and_transport_measures(
    tmp_path: Path, stack: str, kind: str, transport: str
) -> None:
    cell = measured(tmp_path, Quiet(), stack=stack, kind=kind, transport=transport).cells[0]
    assert (cell.status, cell.error) == (Status.complete, None)
    assert cell.sent == 300
    assert cell.count + cell.lost == 300
    assert cell.statistics is not None
    assert 0 < cell.statistics.latency.min_us <= cell.statistics.latency.p50_us


@pytest.mark.parametrize(
    ("stack", "kind", "transport"),
    [
        ("raw", "timer-oneshot", "timerfd"),
        ("raw", "timer-cyclic", "futex"),
        ("rcl", "timer-oneshot", "rcl_timer"),
        ("rcl", "timer-cyclic", "rcl_timer"),
        ("rcl", "timer-cyclic", "executor"),
        ("ros1", "timer-oneshot", "ros_timer"),
        ("ros1", "timer-cyclic", "steady_timer"),
        ("ros1", "pubsub", "tcpros_nodelay"),
        ("cyclictest", "wakeup", "nanosleep"),
    ],
)
def test_timers_and_ros1_measure(tmp_path: Path, stack: str, kind: str, transport: str) -> None:
    if stack == "ros1" and shutil.which("rosmaster") is None:
        pytest.skip("rosmaster is not installed: takt setup ros1")
    pace = {"timeout": "1ms"} if kind == "timer-oneshot" else {"rate": "1kHz"}
    keys = {"stack": stack, "kind": kind, "transport": transport, "samples": 200}
    run = measured(tmp_path, Quiet(), duration=None, **{"rate": None} | pace | keys)
    cell = run.cells[0]
    assert (cell.status, cell.error) == (Status.complete, None)
    assert cell.sent == cell.count + cell.lost == 200
    found = cell.statistics
    assert found is not None
    assert cell.histogram is not None
    if kind == "timer-oneshot":
        assert found.one_shot is not None
        assert (found.one_shot.reported is None) == (stack == "raw")
        assert found.one_shot.never_fired == cell.lost
    elif kind == "timer-cyclic":
        assert found.cyclic is not None
        assert found.cyclic.callbacks == cell.count
    elif kind == "pubsub":
        assert len(found.subscribers) == 1
    assert not [one for one in psutil.Process().children() if "rosmaster" in one.name()]


def test_a_late_reply_costs_its_cycles_where_that_is_asked(tmp_path: Path) -> None:
    keys = {"stack": "raw", "kind": "pingpong", "transport": "udp", "late": "next_cycle"}
    cell = measured(tmp_path, Quiet(), rate="50kHz", **keys).cells[0]
    assert (cell.status, cell.error) == (Status.complete, None)
    assert cell.sent == cell.count + cell.lost <= cell.samples_requested == 15_000
    assert rows(tmp_path, cell.samples) == cell.sent


def test_other_nodes_talk_while_a_topic_is_measured(tmp_path: Path) -> None:
    before = set(psutil.Process().children())
    keys = {"stack": "rcl", "kind": "pubsub", "transport": "shm", "talkers": 2, "load": "cpu"}
    cell = measured(tmp_path, Quiet(), **keys).cells[0]
    assert (cell.status, cell.error) == (Status.complete, None)
    assert [one for one in cell.notes if "occupied CPU" not in one.what] == []  # of a busy machine
    assert cell.count + cell.lost == 300
    assert set(psutil.Process().children()) <= before


def test_a_log_of_ros_goes_with_its_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROS_HOME", str(tmp_path / "ros"))
    monkeypatch.delenv(transport.LOGS, raising=False)
    logs: list[Path] = []

    class Look(Quiet):
        def advance(self, cell: Cell, recorded: int) -> None:
            logs.extend(scratch.MEMORY.glob("takt-*/log/probe_rclcpp*"))

    keys = {"stack": "rclcpp", "kind": "pingpong", "transport": "process"}
    (tmp_path / "run").mkdir()
    cell = measured(tmp_path / "run", Look(), **keys).cells[0]
    assert (cell.status, cell.error) == (Status.complete, None)
    assert logs
    assert not (tmp_path / "ros").exists()


def test_udp_goes_over_no_shared_memory(tmp_path: Path) -> None:
    spy = Spy()
    measured(tmp_path, spy, stack="rcl", kind="pingpong", transport="udp", duration="1s")
    assert spy.shared == set()


@pytest.mark.parametrize(
    ("stack", "transport"),
    [
        ("cyclonedds", "udp"),
        ("rustdds", "udp"),
        ("cyclonedds,rustdds", "udp"),
        ("zenoh", "tcp"),
    ],
)
def test_between_two_hosts_the_messages_go_over_their_link(
    tmp_path: Path, stack: str, transport: str
) -> None:
    if (lacking := namespace.lacking()) is not None:
        pytest.skip(lacking[0])
    keys = {"kind": "pingpong", "transport": transport, "host": "here,namespace"}
    cell = measured(tmp_path, Quiet(), stack=stack, **keys).cells[0]
    assert (cell.status, cell.error) == (Status.complete, None)
    assert cell.conditions is not None
    assert (cell.conditions.messages_there_bytes or 0) > cell.count * cell.payload_bytes
    assert {name for probe in cell.probes for name in probe.versions} == set(stack.split(","))


def test_shm_goes_over_shared_memory(tmp_path: Path) -> None:
    spy = Spy()
    run = measured(tmp_path, spy, stack="rcl", kind="pingpong", transport="shm", duration="1s")
    if "fastrtps" not in run.versions["rmw"]:
        pytest.skip("only the files of Fast DDS are known")
    assert len([name for name in spy.shared if "port" not in name]) >= 2  # a segment a process


@pytest.mark.parametrize("kind", ["pingpong", "pubsub"])
def test_shm_needs_no_network_and_uses_none(tmp_path: Path, kind: str) -> None:
    if "rcl" not in INSTALLED:
        pytest.skip("the stack rcl is not installed")
    isolated = ["unshare", "--net"]  # where not even the loopback is up
    if subprocess.run([*isolated, "true"], capture_output=True).returncode:
        pytest.skip("this system does not allow a network of one's own")
    options = "--stack rcl --transport shm --payload 1MB --rate 100Hz --duration 300ms"
    command = f"{sys.executable} -m takt measure {kind} {options} --repetitions 1"
    command += f" --out {tmp_path / 'out'}"
    done = subprocess.run([*isolated, *command.split()], capture_output=True, text=True)
    cell = store.read(tmp_path / "out").cells[0]
    assert (cell.status, cell.error) == (Status.complete, None), done.stdout + done.stderr
    assert cell.count + cell.lost == 30


def test_several_subscribers_record_each(tmp_path: Path) -> None:
    keys = {"stack": "rcl", "kind": "pubsub", "transport": "udp", "subscribers": 3}
    cell = measured(tmp_path, Quiet(), **keys).cells[0]
    assert cell.status is Status.complete
    assert len(cell.samples) == 3
    assert rows(tmp_path, cell.samples) == cell.count
    assert cell.count + cell.lost == 3 * 300


@pytest.mark.parametrize("stack", ["rcl", "iceoryx2"])
def test_a_killed_probe_leaves_its_samples_and_no_shared_memory(tmp_path: Path, stack: str) -> None:
    spy = Spy(kill_after=100)
    keys = {"stack": stack, "kind": "pingpong", "transport": "shm", "duration": "5s"}
    cell = measured(tmp_path, spy, **keys).cells[0]
    assert cell.status is Status.failed
    assert cell.error is not None
    assert cell.error.what == "the ping died: SIGKILL"
    assert rows(tmp_path, cell.samples) >= 100
    assert spy.shared
    note(tmp_path, *spy.shared)
    assert leftovers.unused(tmp_path, scratch.MEMORY, remove=False) == []  # others may use a port


def test_a_full_shared_memory_fails_the_cell_that_would_go_over_udp(tmp_path: Path) -> None:
    if "rcl" not in INSTALLED:
        pytest.skip("the stack rcl is not installed")
    enter = ["unshare", "--mount", "sh", "-c"]  # the machine's own stays as it is
    fill = "mount -t tmpfs -o size=SIZE tmpfs /dev/shm && "
    if subprocess.run(
        [*enter, f"{fill.replace('SIZE', '1m')}true"], capture_output=True
    ).returncode:
        pytest.skip("this system does not allow a /dev/shm of one's own")
    for size, kind, expected in (
        ("256m", "pingpong", Status.complete),
        ("256m", "pubsub", Status.complete),
        ("2m", "pingpong", Status.failed),
        ("2m", "pubsub", Status.failed),
        ("5m", "pingpong", Status.failed),  # room for one of the two
    ):
        out = tmp_path / f"{kind}{size}"
        options = f"--stack rcl --transport shm --duration 300ms --repetitions 1 --out {out}"
        command = f"{sys.executable} -m takt measure {kind} {options}"
        done = subprocess.run(
            [*enter, fill.replace("SIZE", size) + command], capture_output=True, text=True
        )
        cell = store.read(out).cells[0]
        assert cell.status is expected, done.stdout + done.stderr
        assert done.returncode == (expected is Status.failed)
        if expected is Status.failed:
            assert cell.error is not None
            assert cell.error.what.startswith("/dev/shm is too small")
            assert re.search("--shm-size=|remount,size=", cell.error.fix or "")


def test_without_privileges_everything_runs_and_is_marked(tmp_path: Path) -> None:
    if "raw" not in INSTALLED:
        pytest.skip("the stack raw is not installed")
    drop = ["prlimit", "--rtprio=0:0", "--memlock=65536:65536"]
    if os.geteuid() == 0:
        drop += ["setpriv", "--bounding-set=-sys_nice,-ipc_lock"]
    if shutil.which(drop[0]) is None or shutil.which("setpriv") is None:
        pytest.skip("prlimit and setpriv (util-linux) are needed")
    prefix = str(INSTALLED.probes["raw"].parents[2])
    options = ["--scheduling", "fifo", "--duration", "100ms", "--repetitions", "1"]
    command = [sys.executable, "-m", "takt", "measure", "wakeup", *options, "--out", tmp_path / "o"]
    path = os.pathsep.join([str(ROOT / "src" / "takt"), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [*drop, *command],
        env={**os.environ, "PYTHONPATH": path, "TAKT_PREFIX": prefix},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    cell = store.read(tmp_path / "o").cells[0]
    assert (cell.status, cell.count) == (Status.complete, 100)
    assert cell.probes[0].granted["policy"] == "other"
    marked = " ".join(note.what for note in cell.notes)
    assert "policy fifo at priority 80" in marked
    assert "locked memory" in marked
    assert "sched_setscheduler" in done.stdout
    words = " ".join(done.stdout.split())
    assert "raw-wakeup-nanosleep-other-1kHz" in words
    assert "(requested:" in words
    assert (
        "fifo 80 was not granted: measured under other results:" in words
    )  # the last line says so
    assert (cell.key, cell.deadline_us) == ("raw-wakeup-nanosleep-fifo80-1kHz", 1000.0)


def test_with_privileges_a_row_is_named_as_asked_for(tmp_path: Path) -> None:
    if "raw" not in INSTALLED or os.geteuid() != 0:
        pytest.skip("the stack raw and root are needed")
    command = [sys.executable, "-m", "takt", "measure", "wakeup", "--scheduling", "fifo"]
    command += ["--duration", "100ms", "--repetitions", "1", "--json", "--out", str(tmp_path / "o")]
    path = os.pathsep.join([str(ROOT / "src" / "takt"), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        command,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    (cell,) = document["cells"]
    if cell["policy"] == "other":
        pytest.skip("this machine gives nobody a real-time policy")
    assert cell["name"] == document["rows"][0]["name"] == cell["key"]
    assert "refused" not in document["verdict"]["headline"]
