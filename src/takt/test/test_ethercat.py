# SPDX-License-Identifier: Apache-2.0
"""EtherCAT: the installed master and simulated slaves by the tool, and what goes wrong on a bus.

Skipped where the stack is not there or no network namespace can be made.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from command_line import takt
from killed_runs import cleaned
from test_real_probes import PATIENT
from test_run import Quiet

from takt.cli.blocks import blocks
from takt.errors import TaktError
from takt.measure.conditions import segment
from takt.measure.experiment.file import Source, check
from takt.measure.experiment.plan import Plan, plan, this_machine
from takt.measure.report import model
from takt.measure.results.model import BusReport, Cell, Run, Status
from takt.measure.run import runner
from takt.measure.statistics.series import read_batches
from takt.network import namespace, stacks

ROOT = Path(__file__).resolve().parents[3]
INSTALLED = stacks.find({"TAKT_PREFIX": os.environ.get("TAKT_PREFIX", f"{ROOT}/.takt/install")})
PATIENCE_S = 150.0
pytestmark = pytest.mark.timeout(660)
SOEM = Path(__file__).with_name("soem_master.py")


@pytest.fixture(autouse=True)
def stack(monkeypatch: pytest.MonkeyPatch) -> None:
    """The master, its slaves, and the right to make a network for them."""
    if "ethercat" not in INSTALLED:
        pytest.skip("the stack ethercat is not installed")
    if lacking := namespace.lacking():
        pytest.skip(lacking[0])
    prefix = INSTALLED.probes["ethercat"].parents[2]
    monkeypatch.setenv("TAKT_PREFIX", str(prefix))


def planned(**keys: Any) -> Plan:
    block = {"kind": "ethercat", "stack": "ethercat", "samples": 500} | keys
    document = {"name": "x", "repetitions": 1, "measurements": [block]}
    return plan(check(document, Source()), Source(), INSTALLED, this_machine(), 1)


def measured(folder: Path, watcher: Quiet | None = None, **keys: Any) -> Run:
    # At a real-time priority a busy machine keeps nobody from answering.
    block = {"kind": "ethercat", "stack": "ethercat", "samples": 500, "scheduling": "fifo 80"}
    document = {"name": "x", "repetitions": 1, "measurements": [block | keys]}
    experiment = check(document, Source())
    plan_of_run = plan(experiment, Source(), INSTALLED, this_machine(), 1)
    run = runner.new_run(experiment, plan_of_run, runner.Diagnosis())
    folder.mkdir(exist_ok=True)
    return runner.measure_cells(run, folder, INSTALLED, watcher or Quiet(), limits=PATIENT)


def bus_of(cell: Cell) -> BusReport:
    assert cell.probes[0].bus is not None
    return cell.probes[0].bus


def interface_in(command: list[str]) -> str:
    """That of a probe's command line."""
    return command[command.index("--interface") + 1]


class Spy(Quiet):
    """Notes the interface of the probe that measures."""

    def __init__(self) -> None:
        super().__init__()
        self.interface = ""

    def advance(self, _cell: Cell, _recorded: int) -> None:
        for one in psutil.Process().children():
            with contextlib.suppress(psutil.Error):
                if "--samples" in (command := one.cmdline()):
                    self.interface = interface_in(command)
                    assert namespace.exists(self.interface)


@pytest.fixture
def veth() -> Iterator[Callable[[], tuple[str, list[str]]]]:
    """Makes a pair of interfaces: this end, and the command that runs another on the other."""
    pairs: list[tuple[str, subprocess.Popen[bytes]]] = []

    def make() -> tuple[str, list[str]]:
        name = f"ect{os.getpid() % 100000}x{len(pairs)}"
        holder = subprocess.Popen(
            ["unshare", "--net", "--", "sh", "-c", "echo; exec sleep 600"], stdout=subprocess.PIPE
        )
        assert holder.stdout
        holder.stdout.readline()
        pairs.append((name, holder))
        inside = ["nsenter", f"--net=/proc/{holder.pid}/ns/net", "--"]
        add = ["ip", "link", "add", name, "type", "veth", "peer", "name", "other"]
        subprocess.run([*add, "netns", str(holder.pid)], check=True)
        for command in (
            ["ip", "link", "set", name, "up"],
            [*inside, "ip", "link", "set", "other", "up"],
        ):
            subprocess.run(command, check=True)
        return name, inside

    yield make
    for name, holder in pairs:
        subprocess.run(["ip", "link", "del", name], capture_output=True)
        holder.kill()
        holder.communicate()


@contextlib.contextmanager
def simulated(inside: list[str], folder: Path, *options: str) -> Iterator[Path]:
    """The simulated segment on the other end; gives the file with what it counts."""
    result = folder / "segment.json"
    program = stacks.program(segment.PROGRAM)
    command = [*inside, str(program), "--interface", "other", "--result", str(result), *options]
    command += ["--priority", "80"]
    running = subprocess.Popen(command)
    try:
        limit = time.monotonic() + PATIENCE_S
        while not result.exists() and running.poll() is None and time.monotonic() < limit:
            time.sleep(0.01)
        assert result.exists()
        yield result
    finally:
        running.terminate()
        running.wait()


def test_sixteen_slaves_take_part_in_every_cycle(tmp_path: Path) -> None:
    spy = Spy()
    run = measured(tmp_path, spy)
    (cell,) = run.cells
    assert (cell.status, cell.error) == (Status.complete, None)
    assert (cell.sent, cell.count, cell.lost) == (500, 500, 0)
    bus = bus_of(cell)
    assert (bus.slaves, bus.expected_counter, bus.wrong_counter) == (16, 48, 0)
    assert [(one.cycle, one.working_counter) for one in bus.changes] == [(0, 48)]
    assert cell.conditions is not None
    assert (cell.conditions.segment_frames or 0) > 500
    assert cell.conditions.segment_ignored == 0
    assert spy.interface.startswith("takt")
    assert not namespace.exists(spy.interface)
    assert "ethercrab" in run.versions


def test_the_period_is_that_of_sending_and_the_latency_is_the_round_trip(tmp_path: Path) -> None:
    (cell,) = measured(tmp_path, slaves=3, rate="500Hz", samples=200).cells
    assert cell.statistics
    assert cell.statistics.cyclic
    (batch,) = read_batches(tmp_path / cell.samples[0])
    trips = (batch.received_ns - batch.sent_ns)[1:] / 1000
    assert cell.statistics.latency.max_us == pytest.approx(trips.max())
    jitter = (batch.sent_ns[1:] - batch.sent_ns[:-1])[2:] / 1000 - 2000
    assert cell.statistics.cyclic.jitter.max_us == pytest.approx(jitter.max())
    assert cell.statistics.cyclic.jitter.mean_us == pytest.approx(jitter.mean(), abs=0.01)
    assert (cell.key, bus_of(cell).slaves) == (
        "ethercat-ethercat-simulated-fifo80-500Hz-3slaves", 3,
    )  # fmt: skip


def test_report_and_terminal_show_period_and_counter(tmp_path: Path) -> None:
    run = measured(tmp_path, fault="wrong_counter")
    assert run.cells[0].status is Status.complete  # in the end all slaves take part
    assert run.cells[0].wrong_counters == 10
    (block,) = blocks(run)
    assert "wrong in 10 cycles" in block
    assert "Period:" in block
    (table,) = model.build(tmp_path, run).kinds
    assert table.title == "EtherCAT cycle"
    tables = {one.title: one for one in table.measurements[0].own}
    names = [row[0].rpartition(", ")[2] for row in tables["Jitter and drift"].rows]
    assert names == ["period", "jitter", "drift"]
    (counters,) = tables["Working counter"].rows
    assert counters[1:6] == ["16", "48", "500", "0", "10"]
    assert counters[6].endswith(": 47")
    assert "m1-jitter" in table.measurements[0].charts


def test_a_slave_that_is_lost_in_mid_run_fails_the_cell_and_keeps_its_samples(
    tmp_path: Path,
) -> None:
    (cell,) = measured(tmp_path, fault="slave_lost").cells
    assert cell.status is Status.failed
    assert cell.error
    assert cell.error.what == "slaves were lost in mid-run"
    assert "45, not 48; 15 of 16 slaves" in cell.error.why
    assert cell.count == 500
    changes = [one.working_counter for one in bus_of(cell).changes]
    assert (changes[0], changes[-1]) == (48, 45)
    assert 200 < cell.wrong_counters < 300


def test_a_segment_that_falls_silent_is_given_up(tmp_path: Path) -> None:
    (cell,) = measured(tmp_path, fault="silent", samples=20_000, rate="10kHz").cells
    assert cell.status is Status.failed
    assert cell.error
    assert cell.error.what == "the segment does not answer any more"
    assert cell.lost == 3
    assert cell.count > 5000


def test_an_interface_without_slaves_is_reported(
    tmp_path: Path, veth: Callable[[], tuple[str, list[str]]]
) -> None:
    name, _ = veth()
    (cell,) = measured(tmp_path, interface=name).cells
    assert cell.status is Status.failed
    assert cell.error
    assert cell.error.what == "no slave answers"
    assert cell.key.endswith(f"interface-fifo80-1kHz-{name}")


def test_an_interface_that_is_down_and_one_that_is_no_ethernet_are_reported(
    tmp_path: Path, veth: Callable[[], tuple[str, list[str]]]
) -> None:
    name, _ = veth()
    subprocess.run(["ip", "link", "set", name, "down"], check=True)
    for interface, why in ((name, "it is down"), ("lo", "it is no Ethernet")):
        (cell,) = measured(tmp_path / interface, interface=interface).cells
        assert cell.error
        assert cell.error.what == f"the interface {interface} cannot be used"
        assert (cell.error.why, bool(cell.error.fix)) == (why, True)


def test_slaves_on_an_interface_of_this_machine_are_cycled(
    tmp_path: Path, veth: Callable[[], tuple[str, list[str]]]
) -> None:
    name, inside = veth()
    with simulated(inside, tmp_path, "--slaves", "5") as counts:
        (cell,) = measured(tmp_path / "any", interface=name).cells
        assert (cell.status, cell.error, bus_of(cell).slaves) == (Status.complete, None, 5)
        (cell,) = measured(tmp_path / "six", interface=name, slaves=6).cells
        assert cell.error
        assert cell.error.what == "the segment has 5 slaves, not 6"
    assert json.loads(counts.read_text())["operational"] == 0  # they were brought back to INIT


def test_an_interface_that_goes_away_ends_the_cell(
    tmp_path: Path, veth: Callable[[], tuple[str, list[str]]]
) -> None:
    name, inside = veth()

    class Cutting(Quiet):
        def advance(self, _cell: Cell, recorded: int) -> None:
            if recorded > 100:
                subprocess.run(["ip", "link", "del", name], capture_output=True)

    with simulated(inside, tmp_path):
        keys = {"interface": name, "samples": 60_000}
        (cell,) = measured(tmp_path / "out", Cutting(), **keys).cells
    assert cell.status is Status.failed
    assert cell.error
    assert cell.error.what == "the interface failed"
    assert cell.count > 100


@pytest.mark.parametrize(
    ("keys", "what"),
    [
        ({"interface": "nowhere0"}, "no interface nowhere0"),
        ({"transport": "interface"}, "no interface given"),
        ({"transport": "simulated", "interface": "lo"}, "the slaves on lo are not simulated"),
        ({"interface": "lo", "fault": "silent"}, "real slaves have no simulated fault"),
        ({"slaves": 129}, "slaves"),
        ({"fault": "fire"}, "fault"),
        ({"payload": "4B"}, "a ethercat has no payload"),
        ({"kind": "wakeup", "stack": "raw", "slaves": 2}, "a wakeup has no slaves"),
    ],
)
def test_what_makes_no_sense_is_refused_before_anything_runs(
    keys: dict[str, Any], what: str
) -> None:
    with pytest.raises(TaktError, match=what):
        planned(**keys)


def test_a_killed_tool_leaves_no_segment_and_no_link(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "takt", "measure", "ethercat", "--duration", "60s"]
    command += ["--scheduling", "fifo"]
    mark = {"TAKT_TEST_ETHERCAT": str(tmp_path)}
    tool = subprocess.Popen(
        [*command, "--out", str(tmp_path / "out")],
        env=os.environ | mark,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )

    def marked(word: str) -> list[int]:
        """Programs that the tool has started."""
        found = []
        for entry in Path("/proc").iterdir():
            with contextlib.suppress(OSError):
                if (
                    entry.name.isdecimal()
                    and f"TAKT_TEST_ETHERCAT={tmp_path}".encode()
                    in (entry / "environ").read_bytes().split(b"\0")
                    and word in (entry / "cmdline").read_bytes().decode(errors="replace")
                ):
                    found.append(int(entry.name))
        return found

    def until(holds: Callable[[], bool]) -> bool:
        limit = time.monotonic() + PATIENCE_S
        while not holds() and time.monotonic() < limit:
            time.sleep(0.02)
        return holds()

    try:
        # What becomes another program has no command for a moment.
        interfaces: set[str] = set()
        while not interfaces and tool.poll() is None:
            for probe in marked(".taktsamples"):
                with contextlib.suppress(psutil.NoSuchProcess, ValueError):
                    interfaces.add(interface_in(psutil.Process(probe).cmdline()))
            time.sleep(0.02)
        (interface,) = interfaces
        assert until(lambda: bool(marked(segment.PROGRAM)))
        assert namespace.exists(interface)
        tool.send_signal(signal.SIGKILL)
        tool.wait()
        assert until(lambda: marked("") == [])
        assert until(lambda: not namespace.exists(interface))
        assert until(lambda: cleaned(tmp_path / "out"))
    finally:
        for pid in marked(""):
            os.kill(pid, signal.SIGKILL)


def test_the_command_measures_and_says_so_in_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    command = ["measure", "ethercat", "--samples", "200", "--slaves", "2", "--repetitions", "1"]
    command += ["--scheduling", "fifo"]
    assert takt([*command, "--out", str(out), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    (cell,) = document["cells"]
    assert (cell["stack"], cell["kind"], cell["count"]) == ("ethercat", "ethercat", 200)


def test_the_slaves_reach_operation_with_another_master(
    tmp_path: Path, veth: Callable[[], tuple[str, list[str]]]
) -> None:
    pytest.importorskip("pysoem")
    name, inside = veth()
    with simulated(inside, tmp_path) as counts:
        command = [sys.executable, str(SOEM), name, "500"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S)
        assert done.returncode == 0, done.stdout + done.stderr
        found = json.loads(done.stdout)
    assert (found["slaves"], found["operational"], found["expected_counter"]) == (16, 16, 48)
    assert found["names"] == ["TaktSim"] * 16
    assert found["unlike"] == 0  # every slave's inputs were its outputs of the cycle before
    # The network of a busy machine may lose a frame; what comes back is right.
    assert found["right"] + found["lost"] == 500
    assert found["right"] > 450
    assert json.loads(counts.read_text())["ignored"] == 0
