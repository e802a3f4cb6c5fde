# SPDX-License-Identifier: Apache-2.0
"""The link of a cell and its traffic: proved while it is measured, and gone afterwards."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path

import pytest
from conditioned import HOPELESS, IDLE, linked, measured, needs, program, real

from takt.errors import Failure
from takt.measure.conditions import declared, traffic
from takt.measure.results.model import Cell, Status
from takt.measure.run import programs
from takt.network import namespace, shaping

AF_XDP = 44  # linux/socket.h
# Passes everything on but the rate, of which it takes a tenth.
SLOW = """#!{python}
import os, sys
words = sys.argv[1:]
if "--bitrate" in words:
    at = words.index("--bitrate") + 1
    words[at] = str(int(words[at]) // 10)
os.execv("{iperf3}", ["iperf3", *words])
"""


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


@pytest.mark.parametrize("rate", [0.0, 2.0])
def test_messages_over_af_xdp_are_carried_by_the_link(
    tmp_path: Path, memory: Path, monkeypatch: pytest.MonkeyPatch, rate: float
) -> None:
    try:
        socket.socket(AF_XDP, socket.SOCK_RAW).close()
    except OSError as error:
        pytest.skip(f"no AF_XDP here: {error}")
    run = real("raw", monkeypatch, traffic_mbps=rate)
    run.cells[0].transport = "xdp"
    cell = measured(run, tmp_path, memory)
    assert (cell.status, cell.error) == (Status.complete, None)
    found = cell.conditions
    assert found is not None
    assert found.messages_there_bytes is not None  # the kernel's IPv4 counts none of them
    assert found.messages_there_bytes > cell.count * cell.payload_bytes


def test_a_kernel_that_cannot_send_at_set_times_is_refused_before_anything_is_measured(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    needs(host="here,namespace")
    cell = Cell.model_construct(
        kind="pingpong", host="here,namespace", load="none", transport="txtime"
    )
    try:
        for said in ("Error: Specified qdisc kind is unknown.", ""):
            done = subprocess.CompletedProcess([], 2 if said else 0, "", said)
            monkeypatch.setattr(namespace, "output", lambda *_, done=done: done)
            namespace.lacking_times.cache_clear()
            lacks = list(declared.lacking(cell))
            assert [key for key, _, _ in lacks] == (["transport"] if said else [])
            assert all(said in what and "CONFIG_NET_SCH_ETF" in fix for _, what, fix in lacks)
    finally:
        namespace.lacking_times.cache_clear()


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


@pytest.mark.parametrize("filtered", [True, False])
def test_limited_traffic_has_half_of_the_link_and_more_fails_its_cell(
    tmp_path: Path, memory: Path, monkeypatch: pytest.MonkeyPatch, *, filtered: bool
) -> None:
    run = real("raw", monkeypatch, traffic_mbps=3.0, duration="1s")
    run.cells[0].queue, run.cells[0].link_mbps = "limited", 4.0
    commands = shaping.commands
    if not filtered:
        monkeypatch.setattr(shaping, "commands", lambda *asked: commands(*asked)[:-1])
    cell = measured(run, tmp_path, memory)
    assert cell.conditions is not None
    rates = (cell.conditions.traffic_there_mbps, cell.conditions.traffic_back_mbps)
    assert all(one is not None and (one <= traffic.MOST * 2) == filtered for one in rates)
    error = cell.error.what if cell.error else None
    assert error == (None if filtered else "the traffic exceeded 2 Mbit/s")


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
    assert cell.error.what == "the messages had no dedicated queue"


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
    assert cell.error.what == "the messages had no dedicated queue"
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


def test_a_second_host_that_cannot_be_created_fails_its_cell(
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
        "one.bind((sys.argv[1], 0)); one.settimeout(150)\n"
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
        pytest.raises(Failure, match="failed at a limited rate: ") as caught,
        namespace.link(tmp_path, "0123456789", 250, wants),
    ):
        pass
    assert (caught.value.fix or "").endswith("by hand: tc qdisc add nonsense")
    assert not interfaces[0].exists()


def test_only_links_of_dead_runs_are_removed(tmp_path: Path) -> None:
    needs(host="here,namespace")
    scratch = tmp_path / "takt-0-0123abcd"
    with namespace.link(tmp_path, "0123abcd", 1, namespace.Wants(10_000_000)):
        for other in ("takt-0-0123abce", "lo", "../lo", "takt-0-lo"):
            assert namespace.left_by(tmp_path / other, remove_it=True) == []
        assert namespace.left_by(scratch, remove_it=False) == ["takt0123abcd"]
        assert Path("/sys/class/net/takt0123abcd").exists()
        assert namespace.left_by(scratch, remove_it=True) == ["takt0123abcd"]
        assert not Path("/sys/class/net/takt0123abcd").exists()
    assert Path("/sys/class/net/lo").exists()
    assert namespace.left_by(scratch, remove_it=True) == []
