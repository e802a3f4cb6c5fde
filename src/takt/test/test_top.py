# SPDX-License-Identifier: Apache-2.0
"""``takt top``: what executors report, as it arrives; against a stand-in and a real executor."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import Takt
from rich.console import Console

from takt.network import stacks
from takt.schedule.top.model import Executor, executors
from takt.schedule.top.show import Board

COUNTS = (
    "releases", "completed", "skipped", "lost_arrivals", "early_releases", "deadline_misses",
    "budget_overruns", "age_violations", "delivered",
)  # fmt: skip
TIMES = ("worst_response_us", "worst_lateness_us", "worst_age_us", "worst_cpu_time_us")


def task(name: str, level: int = 0, **values: float) -> dict[str, Any]:
    known = dict.fromkeys(COUNTS, "0") | dict.fromkeys(TIMES, "0.000")
    known |= {key: str(value) for key, value in values.items()}
    return {
        "level": level,
        "name": name,
        "message": "in time" if level == 0 else "2 deadlines missed",
        "hardware_id": "takt",
        "values": [list(pair) for pair in known.items()],
    }


def message(*status: dict[str, Any], stamp_ns: int = 10**9) -> dict[str, Any]:
    head = {
        "level": 1,
        "name": "/robot: executor",
        "message": "without all real-time settings",
        "hardware_id": "takt",
        "values": [["tasks", "1"], ["scenario", "docking"], ["lost_trace_events", "3"],
                   ["not_granted", "SCHED_FIFO: no"], ["shortfall", "mlockall: no"]],
    }  # fmt: skip
    return {"stamp_ns": stamp_ns, "status": [head, *status]}


def drawn(board: Board, width: int = 80) -> str:
    console = Console(width=width, record=True, file=open(os.devnull, "w"))  # noqa: PTH123, SIM115
    with console.file:
        console.print(board.draw())
        return console.export_text()


def test_reports_of_others_are_left_out() -> None:
    other = {"level": 2, "name": "motor: heat", "message": "hot", "hardware_id": "m", "values": []}
    (robot,) = executors(message(other, task("/robot: brake", deadline_misses=2)))
    assert (robot.node, robot.scenario, robot.lost_trace_events) == ("/robot", "docking", 3)
    assert robot.not_granted == ["SCHED_FIFO: no", "mlockall: no"]
    assert [(one.name, one.deadline_misses) for one in robot.tasks] == [("brake", 2)]


def test_a_task_may_be_called_executor() -> None:
    (robot,) = executors(message(task("/robot: executor", completed=7)))
    assert [(one.name, one.completed) for one in robot.tasks] == [("executor", 7)]
    assert robot.scenario == "docking"


def limit(name: str, level: int = 0, **values: object) -> dict[str, Any]:
    known: dict[str, object] = {
        "subject": "stop", "quantity": "latency", "topic": "", "limit_us": "20000.000",
        "allowed": "0.010000", "checked": "100", "exceeded": "3", "worst_us": "31000.000",
    }  # fmt: skip
    return {
        "level": level,
        "name": f"/robot: limit: {name}",
        "message": "in order" if level == 0 else "3 of 10 exceeded the limit",
        "hardware_id": "takt",
        "values": [[key, str(value)] for key, value in (known | values).items()],
    }


def test_limits_stand_below_the_tasks() -> None:
    (robot,) = executors(message(task("/robot: brake"), limit("stop latency", level=2)))
    assert [one.name for one in robot.tasks] == ["brake"]
    assert [(one.name, one.level, one.exceeded) for one in robot.limits] == [
        ("stop latency", "error", 3)
    ]
    board = Board()
    board.take([robot])
    shown = drawn(board)
    assert "stop latency: 3 of 10 exceeded the limit" in shown
    assert "20\u202f000" in shown
    assert "31\u202f000" in shown
    assert "1.000%" in shown


def test_a_task_may_be_called_like_a_limit() -> None:
    (robot,) = executors(message(task("/robot: limit: speed", completed=7)))
    assert [(one.name, one.completed) for one in robot.tasks] == [("limit: speed", 7)]
    assert robot.limits == []


def test_a_status_of_takt_without_its_values_is_an_error() -> None:
    broken = task("/robot: brake")
    broken["values"] = []
    with pytest.raises(ValueError, match="releases"):
        executors(message(broken))


def test_rates_are_those_between_two_reports_and_silence_is_reported() -> None:
    now = [100.0]
    board = Board(clock=lambda: now[0])
    board.take(executors(message(task("/robot: brake", completed=40), stamp_ns=10**9)))
    assert "jobs/s" not in drawn(board)
    board.take(executors(message(task("/robot: brake", 2, completed=240), stamp_ns=3 * 10**9)))
    text = drawn(board)
    assert "jobs/s" in text
    assert " 100 " in text
    assert "brake: 2 deadlines missed" in text
    assert "not granted: mlockall: no" in text
    assert "no report" not in text
    now[0] += 3600
    assert "no report for 3600 s" in drawn(board)


def test_columns_of_what_no_task_has_are_left_out() -> None:
    board = Board()
    board.take(executors(message(task("/robot: brake"))))
    assert "budget" not in drawn(board)
    board.take(executors(message(task("/robot: brake", budget_overruns=1))))
    assert "budget" in drawn(board)


def test_skipped_releases_stand_beside_lost_messages() -> None:
    board = Board()
    board.take(executors(message(task("/robot: brake", skipped=321, lost_arrivals=654))))
    row = next(line.split() for line in drawn(board).splitlines() if line.startswith("brake"))
    assert row[row.index("321") + 1] == "654"


@pytest.mark.parametrize("width", [40, 80, 200])
def test_no_terminal_is_too_narrow_for_a_column(width: int) -> None:
    busy = dict.fromkeys(("age_violations", "budget_overruns", "lost_arrivals"), 12345)
    board = Board()
    board.take(executors(message(task("/robot: brake_for_what_comes", 2, **busy))))
    text = drawn(board, width)
    for word in ("error", "misses", "too old", "budget", "lost"):
        assert word in text
    assert text.count("12345") == 3
    assert all(len(line) <= width for line in text.splitlines())


@pytest.fixture
def reader(prefix: Path) -> Path:
    """In place of diagnostics_to_json: prints what the file beside it holds, then waits."""
    folder = prefix / "lib" / "takt_runner"
    folder.mkdir(parents=True)
    program = folder / "diagnostics_to_json"
    program.write_text(f'#!/bin/sh\ncat "{folder}/lines"\nexec sleep 600\n')
    program.chmod(0o755)
    (folder / "lines").write_text("")
    return folder / "lines"


def test_once_prints_the_first_report_as_one_document(takt: Takt, reader: Path) -> None:
    lines = [{"publishers": 1}, message(task("/robot: brake", completed=5))]
    reader.write_text("".join(json.dumps(line) + "\n" for line in lines))
    document = takt.json("top", "--once")
    assert (document["exit_code"], document["schema_version"]) == (0, 2)
    (executor,) = document["executors"]
    assert Executor.model_validate(executor).tasks[0].completed == 5


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("nonsense\n", "output that this tool does not understand"),
        ('{"stamp_ns": 1}\n', "output that this tool does not understand"),
    ],
)
def test_another_language_is_exit_code_1(
    takt: Takt, reader: Path, line: str, expected: str
) -> None:
    reader.write_text(line)
    done = takt("top", "--once")
    assert (done.returncode, done.stdout) == (1, "")
    assert expected in done.stderr
    assert "Traceback" not in done.stderr


def test_a_reader_that_dies_is_reported_with_its_words(takt: Takt, reader: Path) -> None:
    program = reader.with_name("diagnostics_to_json")
    program.write_text("#!/bin/sh\necho 'no rmw here' >&2\nexit 1\n")
    done = takt("top", "--once")
    assert done.returncode == 1
    assert "no rmw here" in done.stderr


def test_a_reader_that_is_not_installed_is_reported(takt: Takt) -> None:
    done = takt("top")
    assert done.returncode == 2
    assert "diagnostics_to_json is not installed" in done.stderr


def test_json_without_once_is_wrong_use(takt: Takt, reader: Path) -> None:
    done = takt("top", "--json")
    assert (done.returncode, "add --once" in done.stderr) == (2, True)


def test_with_no_publisher_it_says_what_is_missing_and_goes_on(
    takt: Takt, reader: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm")  # a dumb one shows nothing before the end
    reader.write_text('{"publishers": 0}\n')
    shown, terminal = pty.openpty()  # to which it draws at once
    process = takt.start("top", stdout=terminal)
    os.close(terminal)
    text = ""
    while "/diagnostics has no publisher" not in text or "takt::Diagnostics" not in text:
        text += os.read(shown, 4096).decode()  # an error once it has ended
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    threading.Thread(target=drain, args=[shown]).start()  # it may have more to draw
    _, err = process.communicate(timeout=150)
    assert (process.returncode, err) == (0, "")


def drain(terminal: int) -> None:
    """Until nobody writes any more."""
    with contextlib.suppress(OSError):
        while os.read(terminal, 4096):
            pass
    os.close(terminal)


def installed(package: str, name: str) -> Path:
    """A real program of the workspace, where it is built."""
    for folder in stacks.prefixes():
        path = folder / "lib" / package / name
        if path.exists():
            return path
    pytest.skip(f"{name} is not installed")


@pytest.fixture
def watched(ros_domain: None) -> Iterator[subprocess.Popen[bytes]]:
    """The example that reports, in a domain of its own."""
    installed("takt_runner", "diagnostics_to_json")
    with subprocess.Popen([installed("takt_rcl", "diagnostics")]) as process:
        yield process
        process.send_signal(signal.SIGTERM)


def test_a_real_executor_reports(watched: subprocess.Popen[bytes], tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "takt", "top", "--once", "--json"],
        capture_output=True,
        text=True,
        timeout=150,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)},
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    (executor,) = json.loads(done.stdout)["executors"]
    assert executor["node"] == "/watched"
    assert [one["name"] for one in executor["tasks"]] == ["steady", "slow"]
    for one in executor["tasks"]:
        assert one["releases"] >= one["completed"] + one["skipped"]
        assert one["worst_response_us"] >= one["worst_lateness_us"]
    assert watched.poll() is None
