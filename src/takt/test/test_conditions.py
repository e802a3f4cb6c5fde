# SPDX-License-Identifier: Apache-2.0
"""Load, traffic and link of a cell: proved while it is measured, and gone afterwards.

What needs root, stress-ng or iperf3 is skipped where that is missing, by the tool's own words.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from test_process import gone, until
from test_real_probes import INSTALLED, ROOT
from test_run import Quiet, prepared

from takt.errors import Failure
from takt.measure.conditions import declared, load, traffic
from takt.measure.results.model import Cell, Run, Status
from takt.measure.run import programs, runner
from takt.processes import namespace, remains, scratch, shaping, stacks, usage
from takt.processes.supervision import Limits

BUILT = os.environ.get("TAKT_PREFIX", f"{ROOT}/.takt/install")
PATIENT = Limits(ready_s=60.0)
HOPELESS = Limits(ready_s=2.0)  # for what will never be ready
# Does nothing, as a load and as traffic.
IDLE = "#!/bin/sh\nexec sleep 600\n"
# As many processes as stress-ng has, a file like its own, and no work.
LAZY = """#!/bin/sh
for argument; do
    [ "$before" = --temp-path ] && dd if=/dev/zero of="$argument/file" bs=1M count=1 2>/dev/null
    before=$argument
done
sleep 600 & sleep 600 & sleep 600 & wait
"""
# Passes everything on but the rate, of which it takes a tenth.
SLOW = """#!{python}
import os, sys
words = sys.argv[1:]
if "--bitrate" in words:
    at = words.index("--bitrate") + 1
    words[at] = str(int(words[at]) // 10)
os.execv("{iperf3}", ["iperf3", *words])
"""


@pytest.fixture
def folder(tmp_path: Path, prefix: Path) -> Path:
    path = tmp_path / "run"
    path.mkdir()
    return path


@pytest.fixture
def on_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Programs in here are found before all others."""
    path = tmp_path / "bin"
    path.mkdir()
    monkeypatch.setenv("PATH", f"{path}:{os.environ['PATH']}")
    return path


@pytest.fixture
def interfaces(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """This end of each link that the test makes."""
    found: list[Path] = []
    connect = namespace._connect

    def connected(made: namespace.Link, *others: Any, **more: Any) -> None:
        found.append(Path("/sys/class/net", made.interface))
        connect(made, *others, **more)

    monkeypatch.setattr(namespace, "_connect", connected)
    return found


def program(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(text)
    (folder / name).chmod(0o755)


def measured(run: Run, folder: Path, memory: Path, limits: Limits = PATIENT) -> Cell:
    runner.measure(run, folder, stacks.find(), Quiet(), limits=limits, memory=memory)
    return run.cells[0]


def needs(**conditions: Any) -> None:
    """Skips where this machine lacks something for a cell with these conditions."""
    cell = Cell.model_construct(**{"kind": "pingpong", "host": "here", "load": "none"} | conditions)
    if lack := declared.lacking(cell):
        pytest.skip(f"{lack[1]}: {lack[2]}")


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


def test_a_load_that_works_is_recorded(folder: Path, memory: Path) -> None:
    cell = measured(prepared(load="cpu", duration="500ms"), folder, memory)
    assert (cell.status, cell.error) == (Status.complete, None)
    assert cell.conditions is not None
    assert cell.conditions.load_cpu_share is not None
    assert cell.conditions.load_cpu_share >= load.LEAST_SHARE
    assert cell.conditions.traffic_there_mbps is None


def test_a_cell_without_conditions_records_none(folder: Path, memory: Path) -> None:
    assert measured(prepared(), folder, memory).conditions is None


@pytest.mark.parametrize("kind", ["fft", "stress 1"])
def test_a_load_that_does_not_start_fails_its_cell(
    folder: Path, memory: Path, on_path: Path, kind: str
) -> None:
    program(on_path, load.STRESS_NG, IDLE)
    run = prepared(load=[kind, "none"])
    runner.measure(run, folder, stacks.find(), Quiet(), limits=HOPELESS, memory=memory)
    cells = {cell.load: cell for cell in run.cells}
    error = cells[kind].error
    assert (cells[kind].status, cells["none"].status) == (Status.failed, Status.complete)
    assert error is not None
    assert error.what == f"the load {kind} did not start"
    assert error.fix is not None
    assert "stress-ng" in error.fix
    assert not (folder / scratch.LOADED).exists()


def test_a_load_that_dies_says_its_last_words(folder: Path, memory: Path, on_path: Path) -> None:
    program(on_path, load.STRESS_NG, "#!/bin/sh\necho no such stressor >&2\nexit 2\n")
    cell = measured(prepared(load="stress 1"), folder, memory)
    assert cell.status is Status.failed
    assert cell.error is not None
    assert "no such stressor" in cell.error.why


def test_a_load_that_does_nothing_fails_its_cell(folder: Path, memory: Path, on_path: Path) -> None:
    on_a_disk(folder)
    program(on_path, load.STRESS_NG, LAZY)
    cell = measured(prepared(load="stress 1", duration="1s"), folder, memory)
    assert cell.status is Status.failed
    assert cell.error is not None
    assert cell.error.what == "the load stress 1 did not load the machine"
    assert cell.count == 1000  # what was measured is kept
    assert cell.conditions is not None
    assert cell.conditions.load_cpu_share is not None
    assert cell.conditions.load_cpu_share < load.LEAST_SHARE


@pytest.mark.parametrize("kind", ["fft", "stress 2"])
def test_stress_ng_loads_and_leaves_nothing(folder: Path, memory: Path, kind: str) -> None:
    needs(load=kind)
    on_a_disk(folder)
    before = set(usage.family([os.getpid()]))
    cell = measured(prepared(load=kind, duration="1s"), folder, memory)
    assert (cell.status, cell.error) == (Status.complete, None)
    assert cell.conditions is not None
    assert (cell.conditions.load_written_bytes is not None) == (kind == "stress 2")
    assert set(usage.family([os.getpid()])) <= before
    assert not (folder / scratch.LOADED).exists()


def test_a_link_that_carried_nothing_fails_its_cell(folder: Path, memory: Path) -> None:
    cell = measured(linked(), folder, memory)  # the fake probe only says that it sends
    assert cell.status is Status.failed
    assert cell.error is not None
    assert cell.error.what == "the messages were not carried by the link"
    assert cell.count == 200


@pytest.mark.parametrize("stack", ["raw", "rcl"])
@pytest.mark.parametrize("host", ["here,namespace", "namespace,here"])
def test_messages_are_carried_by_the_link(
    tmp_path: Path,
    memory: Path,
    monkeypatch: pytest.MonkeyPatch,
    interfaces: list[Path],
    stack: str,
    host: str,
) -> None:
    run = real(stack, monkeypatch)
    run.cells[0].host = host
    cell = measured(run, tmp_path, memory)
    assert (cell.status, cell.error) == (Status.complete, None)
    found = cell.conditions
    assert found is not None
    assert found.link_there_bytes is not None
    assert found.link_back_bytes is not None
    assert min(found.link_there_bytes, found.link_back_bytes) > cell.count * cell.payload_bytes
    assert [one.exists() for one in interfaces] == [False]


def test_traffic_reaches_its_rate_both_ways(
    tmp_path: Path, memory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = real("raw", monkeypatch, traffic_mbps=2.0, duration="1s")
    cell = measured(run, tmp_path, memory)
    assert (cell.status, cell.error) == (Status.complete, None)
    found = cell.conditions
    assert found is not None
    assert found.traffic_there_mbps is not None
    assert found.traffic_back_mbps is not None
    assert min(found.traffic_there_mbps, found.traffic_back_mbps) >= traffic.LEAST * 2
    assert found.messages_there_bytes is not None
    assert found.link_there_bytes is not None
    assert found.messages_there_bytes < found.link_there_bytes


def test_messages_have_a_queue_of_their_own(
    tmp_path: Path, memory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = real("raw", monkeypatch, traffic_mbps=2.0)
    run.cells[0].queue = "own"
    cell = measured(run, tmp_path, memory)
    assert (cell.status, cell.error) == (Status.complete, None)
    assert cell.conditions is not None
    first, everything = cell.conditions.first_there_bytes, cell.conditions.link_there_bytes
    assert first is not None
    assert everything is not None
    assert cell.count * cell.payload_bytes <= first < everything


def test_messages_that_wait_with_others_fail_a_cell_with_a_queue_of_their_own(
    tmp_path: Path, memory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = real("raw", monkeypatch)
    run.cells[0].queue = "own"
    commands = shaping.commands
    monkeypatch.setattr(shaping, "commands", lambda *asked: commands(*asked)[:-1])  # no filter
    cell = measured(run, tmp_path, memory)
    assert cell.status is Status.failed
    assert cell.error is not None
    assert cell.error.what == "the messages had no queue of their own"


def test_messages_without_their_mark_fail_a_cell_with_a_queue_of_their_own(
    tmp_path: Path, memory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = real("raw", monkeypatch)
    run.cells[0].queue = "own"
    arguments = programs._arguments

    def unmarked(cell: Cell, one: programs.Program, options: dict[str, object]) -> list[str]:
        return arguments(cell, one, {key: it for key, it in options.items() if key != "dscp"})

    monkeypatch.setattr(programs, "_arguments", unmarked)
    cell = measured(run, tmp_path, memory)
    assert cell.status is Status.failed
    assert cell.error is not None
    assert cell.error.what == "the messages had no queue of their own"
    assert f"DSCP {shaping.DSCP}" in (cell.error.fix or "")


def test_traffic_below_its_rate_fails_its_cell(
    tmp_path: Path, memory: Path, on_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = real("raw", monkeypatch, traffic_mbps=2.0, duration="1s")
    iperf3 = subprocess.run(["which", "iperf3"], capture_output=True, text=True).stdout.strip()
    program(on_path, traffic.IPERF3, SLOW.format(python=sys.executable, iperf3=iperf3))
    cell = measured(run, tmp_path, memory)
    assert cell.status is Status.failed
    assert cell.error is not None
    assert cell.error.what == "the traffic did not reach 2 Mbit/s"


def test_traffic_that_does_not_start_fails_its_cell(
    folder: Path, memory: Path, on_path: Path
) -> None:
    run = linked(traffic_mbps=2.0)
    program(on_path, traffic.IPERF3, IDLE)
    cell = measured(run, folder, memory, HOPELESS)
    assert cell.status is Status.failed
    assert cell.error is not None
    assert cell.error.what == "the traffic did not start"


def test_a_second_host_that_cannot_be_made_fails_its_cell(
    folder: Path, memory: Path, on_path: Path, interfaces: list[Path]
) -> None:
    run = linked()
    program(on_path, "tc", "#!/bin/sh\necho unknown qdisc >&2\nexit 2\n")
    cell = measured(run, folder, memory)
    assert cell.status is Status.failed
    assert cell.error is not None
    assert "unknown qdisc" in cell.error.what
    assert [one.exists() for one in interfaces] == [False]


def test_the_second_host_reaches_itself(tmp_path: Path) -> None:
    needs(host="here,namespace")
    to_itself = (
        "import socket, sys\n"
        "one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
        "one.bind((sys.argv[1], 0)); one.settimeout(20)\n"
        "one.sendto(b'x', one.getsockname()); one.recv(1)"
    )
    wants = namespace.Wants(bits_per_s=10**8)
    with namespace.link(tmp_path, "0123456789", 250, wants) as link:
        command = link.inside([sys.executable, "-c", to_itself, link.addresses[1]])
        assert subprocess.run(command, check=False).returncode == 0


@pytest.mark.parametrize("wrong", [0, 1])
def test_what_a_link_cannot_have_is_named_with_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, interfaces: list[Path], wrong: int
) -> None:
    needs(host="here,namespace")
    good = ["tc", "qdisc", "show"]
    shapes = [good, good]
    shapes[wrong] = ["tc", "qdisc", "add", "nonsense"]
    monkeypatch.setattr(shaping, "commands", lambda *_: shapes)
    wants = namespace.Wants(bits_per_s=10**8)
    with (
        pytest.raises(Failure, match="cannot have a limited rate: ") as caught,
        namespace.link(tmp_path, "0123456789", 250, wants),
    ):
        pass
    assert (caught.value.remedy or "").endswith("by hand: tc qdisc add nonsense")
    assert not interfaces[0].exists()


def test_a_killed_tool_leaves_no_process_and_no_link(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    needs(host="here,namespace", traffic_mbps=2.0, load="stress 1")
    on_a_disk(tmp_path)
    if "raw" not in INSTALLED:
        pytest.skip("the stack raw is not installed")
    monkeypatch.setattr(remains, "orphans", lambda: iter(()))  # those of other tests are left alone
    words = ["measure", "pingpong", "--stack", "raw", "--transport", "udp", "--duration", "600s"]
    words += ["--host", "here,namespace", "--traffic", "2Mbps", "--load", "stress 1"]
    out = tmp_path / "out"
    tool = subprocess.Popen(
        [sys.executable, "-m", "takt", *words, "--out", str(out)],
        env={**os.environ, "TAKT_PREFIX": BUILT},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    family: list[int] = []

    def measuring() -> bool:
        nonlocal family
        family = usage.family([tool.pid])
        return any("probe_raw" in title(pid) and "ping" in title(pid) for pid in family[1:])

    try:
        assert until(measuring)
        interfaces = (scratch_of(out) / namespace.JOURNAL).read_text().split()
        assert Path("/sys/class/net", interfaces[0]).exists()
        tool.kill()
        tool.wait()
        assert until(lambda: all(map(gone, family)))
        assert until(lambda: not Path("/sys/class/net", interfaces[0]).exists())

        def clean() -> bool:  # the undertaker may still be at it
            remains.clean(dry_run=False, temporary=tmp_path)
            return not (out / scratch.LOADED).exists()

        assert until(clean)
    finally:
        tool.kill()
        tool.wait()
        if (out / scratch.LOCK).exists():
            shutil.rmtree(scratch_of(out), ignore_errors=True)
        for pid in family:
            if not gone(pid):
                os.kill(pid, signal.SIGKILL)


def title(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def scratch_of(run: Path) -> Path:
    return Path((run / scratch.LOCK).read_text(encoding="utf-8").strip())


def test_only_links_of_dead_runs_are_removed(tmp_path: Path) -> None:
    needs(host="here,namespace")
    with namespace.link(tmp_path, "0123abcd", 1, namespace.Wants(10_000_000)) as made:
        (tmp_path / namespace.JOURNAL).write_text(f"lo\n../lo\n{made.interface}\n")
        assert namespace.left_in(tmp_path, remove_it=False) == ["takt0123abcd"]
        assert Path("/sys/class/net/takt0123abcd").exists()
        assert namespace.left_in(tmp_path, remove_it=True) == ["takt0123abcd"]
        assert not Path("/sys/class/net/takt0123abcd").exists()
    assert Path("/sys/class/net/lo").exists()
    assert namespace.left_in(tmp_path / "absent", remove_it=True) == []
