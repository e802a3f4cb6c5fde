# SPDX-License-Identifier: Apache-2.0
"""``within``: measured in the domain of a system that runs, whose CPU time is no disturbance."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from command_line import takt
from test_real_probes import INSTALLED
from test_real_probes import measured as really_measured
from test_run import Quiet, measured, prepared

from takt.errors import TaktError
from takt.measure.conditions.within import Within
from takt.measure.experiment.file import Source, check
from takt.measure.experiment.key import key_of
from takt.measure.report.html import write_report
from takt.measure.results.model import Cell, Conditions, Status
from takt.network import ros_system
from takt.network.domain import PORT_BASE, PORTS_PER_DOMAIN, own_domain
from takt.reproduce.experiment import _within
from takt.reproduce.model import Request
from takt.reproduce.published import read_published

# Holds the ports of the participant of this id, says so, and computes while there is input.
_NODE = """
import socket, sys, threading
port = int(sys.argv[1])
held = []
for one in (port, port + 1):
    held.append(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
    held[-1].bind(("127.0.0.1", one))
print("ready", flush=True)
threading.Thread(target=lambda: [None for _ in iter(lambda: sum(range(1000)), None)],
                 daemon=True).start()
sys.stdin.read()
"""
Start = Callable[[int], "subprocess.Popen[str]"]


pytestmark = pytest.mark.usefixtures("prefix")


@pytest.fixture
def domain() -> Iterator[int]:
    with own_domain() as number:
        yield number


@pytest.fixture
def start(domain: int) -> Iterator[Start]:
    """Starts a node of the domain with a participant id."""
    with contextlib.ExitStack() as ended:

        def node(participant: int) -> subprocess.Popen[str]:
            port = PORT_BASE + PORTS_PER_DOMAIN * domain + 10 + 2 * participant
            command = [sys.executable, "-c", _NODE, str(port)]
            process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
            ended.enter_context(process)
            ended.callback(process.kill)
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            return process

        yield node


def cell_within(domain: int) -> Cell:
    # The plan wants a system that runs; this cell is for one that may be gone.
    return prepared().cells[0].model_copy(update={"within": domain})


def test_the_processes_of_a_domain_hold_its_ports(domain: int, start: Start) -> None:
    assert ros_system.processes(domain) == {}
    assert ros_system.participants(domain) == 0
    nodes = [start(0), start(4)]
    assert ros_system.processes(domain).keys() == {one.pid for one in nodes}
    assert ros_system.participants(domain) == 5
    nodes[0].kill()
    nodes[0].wait()
    assert ros_system.processes(domain).keys() == {nodes[1].pid}


def test_a_cell_says_which_processes_it_was_measured_within(
    folder: Path, memory: Path, domain: int, start: Start
) -> None:
    node = start(0)
    (cell,) = measured(folder, memory, within=domain).cells
    assert (cell.status, cell.error, cell.within) == (Status.complete, None, domain)
    assert cell.conditions is not None
    (found,) = cell.conditions.system
    assert (found.pid, found.ended) == (node.pid, False)
    assert found.cpu is not None
    assert found.cpu > 0


def test_the_report_names_the_processes_of_the_system(
    folder: Path, memory: Path, domain: int, start: Start
) -> None:
    start(0)
    start(1)
    run = measured(folder, memory, within=["none", domain])
    write_report(folder, run, folder / "report.html")
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert f"within the system of ROS domain {domain}" in page
    assert re.search(r"<td>2 × python[^<]*% of a CPU each</td>", page)


def test_the_cpu_time_of_the_system_is_counted_and_never_less_than_before(
    domain: int, start: Start
) -> None:
    node = start(0)
    system = Within(domain)
    before = system.spent()
    while system.spent() <= before:  # it computes
        assert node.poll() is None
        time.sleep(0.01)
    spent = system.spent()
    node.kill()
    node.wait()
    assert system.spent() >= spent


def test_a_system_that_has_ended_fails_the_cell_and_one_process_of_it_is_noted(
    domain: int, start: Start
) -> None:
    first, second = start(0), start(1)
    system, cell = Within(domain), cell_within(domain)
    system.begin()
    first.kill()
    first.wait()
    system.end()
    found = Conditions()
    system.record(found)
    assert {one.pid: one.ended for one in found.system} == {first.pid: True, second.pid: False}
    assert system.fault(cell) is None

    second.kill()
    second.wait()
    system.end()
    fault = system.fault(cell)
    assert fault is not None
    assert f"domain {domain} did not run" in fault.what
    assert "ended during the measurement" in fault.why


def test_a_system_that_is_gone_before_the_cell_fails_it(domain: int) -> None:
    system = Within(domain)
    system.begin()
    system.end()
    fault = system.fault(cell_within(domain))
    assert fault is not None
    assert fault.why == "no process uses this domain"


def test_a_plan_without_a_running_system_is_refused(domain: int) -> None:
    with pytest.raises(TaktError, match=f"uses ROS domain {domain}") as refused:
        prepared(within=domain)
    assert f"ROS_DOMAIN_ID={domain}" in str(refused.value.fix)


def test_a_machine_with_a_running_system_is_not_idle(domain: int, start: Start) -> None:
    start(0)
    with pytest.raises(TaktError, match="not idle"):
        prepared(within=domain, load="idle")


@pytest.mark.parametrize("value", [-1, 102, True, "robot", 1.5, [0, 102]])
def test_what_is_no_domain_is_refused(value: Any) -> None:
    with pytest.raises(TaktError, match="not none, nor a ROS domain from 0 to 101"):
        prepared(within=value)


def test_a_cell_within_a_system_is_another_point() -> None:
    outside = prepared().cells[0]
    beside = cell_within(7)
    assert key_of(beside) == f"{key_of(outside)}-within_7"
    assert Cell.model_validate_json(beside.model_dump_json()).within == 7


def test_a_file_keeps_what_it_asks_for() -> None:
    block = {"kind": "wakeup", "stack": "raw", "within": ["none", 0]}
    document = {"name": "x", "measurements": [block]}
    experiment = check(document, Source())
    again = experiment.model_dump(mode="json", exclude_none=True)
    assert again["measurements"][0]["within"] == ["none", 0]
    assert check(again, Source()) == experiment


def test_all_measurements_of_a_paper_are_within_the_system_and_its_page_says_so() -> None:
    document = {"name": "x", "measurements": [{"kind": "wakeup", "stack": "raw"}] * 2}
    found = _within(check(document, Source()), 5)
    assert [block.within for block in found.measurements] == [[5], [5]]

    fields: dict[str, Any] = {"findings": [], "tables": [], "figures": []}
    outcome = read_published("ye2023").outcome(
        Request(within=5), Path("x"), unfinished=[], **fields
    )
    assert "ROS domain 5" in outcome.deviations[-1].here


def test_a_paper_without_measurements_refuses_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert takt(["reproduce", "krukiewicz2021", "--within", "5"]) == 2
    assert "krukiewicz2021 has no measurements" in capsys.readouterr().err


def test_a_suite_without_a_running_system_is_refused_once_and_at_its_option(
    domain: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    option, out = ["--within", str(domain)], ["--out", str(tmp_path / "run")]
    assert takt(["reproduce", "ye2023", *option, *out]) == 2
    error = capsys.readouterr().err
    assert error.count("uses ROS domain") == 1
    assert f"--within {domain}: no process" in error
    assert not (tmp_path / "run").exists()


def test_real_nodes_measure_beside_a_running_node(tmp_path: Path, domain: int) -> None:
    if "rcl" not in INSTALLED:
        pytest.skip("the stack rcl is not installed")
    result = tmp_path / "robot.json"
    command = [
        str(INSTALLED["rcl"].probe_of("subscriber")),
        *("pubsub", "--role", "subscriber", "--result", str(result), "--transport", "udp"),
        *("--period-ns", "10000000", "--count", "100000", "--time-limit-ns", "600000000000"),
        *("--topic", "robot/image", "--payload-bytes", "64"),
    ]
    environment = {"ROS_DOMAIN_ID": str(domain), "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST"}
    (tmp_path / "run").mkdir()
    with subprocess.Popen(command, env=os.environ | environment) as robot:
        try:
            while not ros_system.processes(domain):
                assert robot.poll() is None
                time.sleep(0.01)
            run = really_measured(
                tmp_path / "run",
                Quiet(),
                kind="pingpong",
                stack="rcl",
                transport=["udp", "shm"],
                within=domain,
            )
        finally:
            robot.terminate()
    for cell in run.cells:
        assert (cell.status, cell.error) == (Status.complete, None)
        assert cell.conditions is not None
        assert [one.pid for one in cell.conditions.system] == [robot.pid]
