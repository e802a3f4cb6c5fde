# SPDX-License-Identifier: Apache-2.0
"""takt spin: a compiled program does the same under Takt's executor as under each of rclcpp's.

Runs where rclcpp was there at the build; ./takt test builds the program with the other C++ tests.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from takt.errors import Failure
from takt.network import stacks

try:
    SPUN = stacks.program("spun")
    LIBRARY = stacks.program("libtakt_spin.so")
except Failure:
    pytest.skip("takt_rclcpp is not built with rclcpp and its tests", allow_module_level=True)

# What one thread of rclcpp does, in any of its executors with one.
SAME = {
    "messages": "heard 20, in order: 1\n",
    "intra": "heard 20, in order: 1\n",
    "parameters": "set: 1\nspeed: 7\n",
    "added": "rounds: 3\n",
    "groups": "groups: 1\ncalls: 5, of the node: 0, groups left: 0\n",
    "again": "spin_some: 1\nspun elsewhere\n",
    "future": "success 42\ncancelled\n",
    "early": "heard: 1, asked: 1\n",
    "throws": "from spin(): of the callback\n",
    "two": "heard 20, in order: 1\n",
    "twice": "refused\nrefused\nis spinning: 1\nis spinning: 0\n",
    "alone": "overlaps: 0\n",
    "shutdown": "ok: 0\n",
}
SINGLE = ("single", "events", "derived")
OTHERS = [name for name in SAME if name != "alone"]  # several threads may overlap


@pytest.fixture(autouse=True)
def _domain_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROS_DOMAIN_ID", str(100 + os.getpid() % 100))
    monkeypatch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")


def spin(*command: str | Path, options: tuple[str, ...] = ("--executor", "takt")) -> dict[str, Any]:
    """The document, with what the program printed and what was said beside it."""
    with tempfile.NamedTemporaryFile("r") as printed:
        # With --json it would go to standard error, among the words of takt spin.
        program = ["bash", "-c", 'exec "$@" > "$0"', printed.name, *map(str, command)]
        words = [sys.executable, "-m", "takt", "spin", *options, "--json", "--", *program]
        done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
        document = json.loads(done.stdout) if done.stdout else {}
        said = {"exit": done.returncode, "printed": printed.read(), "stderr": done.stderr}
    return {**said, **document}


@pytest.mark.parametrize("scenario", SAME)
@pytest.mark.parametrize("executor", SINGLE)
def test_executors_of_one_thread(executor: str, scenario: str) -> None:
    document = spin(SPUN, executor, scenario)
    assert document["printed"] == SAME[scenario], document["stderr"]
    if scenario == "future":  # spin_until_future_complete() is rclcpp's own
        assert document["executors"] == []
        return
    assert document["exit"] == 0
    assert {one["threads"] for one in document["executors"]} == {1}
    # As rclcpp does it: no callback within another one, none beside it.
    assert {one["policy"] for one in document["executors"]} == {"np-fp"}
    assert all(len(one["cores"]) == 1 for one in document["executors"])


@pytest.mark.parametrize("scenario", OTHERS)
@pytest.mark.parametrize("executor", ["multi", "cbg"])
def test_executors_of_several_threads(executor: str, scenario: str) -> None:
    if (executor, scenario) == ("cbg", "future"):
        pytest.skip("rclcpp's own EventsCBGExecutor does not end there")
    document = spin(SPUN, executor, scenario)
    assert document["printed"] == SAME[scenario], document["stderr"]
    assert {one["policy"] for one in document["executors"]} <= {"fp"}


def test_rclcpp_spin_has_an_executor_too() -> None:
    document = spin(SPUN, "-", "free")
    assert document["printed"] == "spun\n"
    (one,) = document["executors"]
    assert (one["executor"], one["nodes"]) == ("SingleThreadedExecutor", ["/node"])


def test_each_process_says_what_it_replaced() -> None:
    document = spin("bash", "-c", f"{SPUN} single messages & {SPUN} multi shutdown; wait")
    lines = [one for one in document["stderr"].splitlines() if one.startswith("takt spin: ")]
    assert len(lines) == 2
    for one in document["executors"]:
        (line,) = (line for line in lines if f"[{one['process']}]" in line)
        assert one["executor"] in line
        assert ", ".join(one["nodes"]) in line


def test_an_executor_class_of_the_program_stays_as_it_is() -> None:
    document = spin(SPUN, "own", "messages")
    assert document["printed"] == SAME["messages"]
    assert document["executors"] == []
    assert "stays as it is" in document["stderr"]
    assert document["exit"] == 1


@pytest.mark.parametrize(
    ("executor", "of"), [("single", "SingleThreadedExecutor"), ("events", "EventsExecutor")]
)
def test_loops_that_stay_with_rclcpp_are_named_once(executor: str, of: str) -> None:
    document = spin(SPUN, executor, "again")  # calls spin(), then spin_some() again and again
    assert [one["executor"] for one in document["kept"]] == [f"spin_some() of {of}"]
    assert document["stderr"].count("stays with rclcpp") == 1
    assert document["executors"]
    assert spin(SPUN, executor, "messages")["kept"] == []


@pytest.mark.parametrize("executor", [*SINGLE, "multi"])
def test_ctrl_c_ends_spin_and_the_program_goes_on(executor: str) -> None:
    environment = {**os.environ, "LD_PRELOAD": str(LIBRARY), "TAKT_SPIN_EXECUTOR": "takt"}
    process = subprocess.Popen(
        [SPUN, executor, "interrupted"],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    printed, words = process.communicate(timeout=300)
    assert printed == "spin() has returned\n"
    assert process.returncode == 0
    assert "spins under Takt's executor" in words


def test_the_timing_file_holds_for_all_processes(tmp_path: Path) -> None:
    file = tmp_path / "robot.timing.yaml"
    file.write_text(
        "policy: edf\ncallbacks:\n  - {node: /talker, kind: timer, deadline: 5ms}\n"
        "  - {node: /nobody, priority: 3}\nthreads:\n  - {name: nothing, priority: 2}\n",
        encoding="utf-8",
    )
    options = ("--executor", "takt", "--timing", str(file))
    script = f"{SPUN} single messages && {SPUN} single shutdown"
    document = spin("bash", "-c", script, options=options)
    assert [one["policy"] for one in document["executors"]] == ["edf", "edf"]
    # The second program has no talker; that is nobody's fault.
    assert len(document["notes"]) == 2
    assert f"{file}:4" in document["notes"][0]
    assert "'nothing'" in document["notes"][1]


def test_a_timing_that_does_not_fit_leaves_the_executor_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "robot.timing.yaml"
    file.write_text("callbacks:\n  - {node: /talker, kind: timer, cpu: 4000}\n", encoding="utf-8")
    document = spin(
        SPUN, "single", "messages", options=("--executor", "takt", "--timing", str(file))
    )
    assert document["printed"] == SAME["messages"]
    assert "stays as it is" in document["stderr"]
    assert document["kept"][0]["executor"] == "SingleThreadedExecutor"
    assert document["exit"] == 1


def test_another_version_of_rclcpp_is_refused_with_both_versions(tmp_path: Path) -> None:
    maps = subprocess.run(["ldd", SPUN], capture_output=True, text=True, check=True).stdout
    (path,) = (line.split()[2] for line in maps.splitlines() if "librclcpp.so" in line)
    (tmp_path / "lib").mkdir()
    other = tmp_path / "lib" / "librclcpp.so"
    other.symlink_to(path)
    (tmp_path / "share" / "rclcpp").mkdir(parents=True)
    package = tmp_path / "share" / "rclcpp" / "package.xml"
    package.write_text("<package>\n  <version>16.0.1</version>\n</package>\n", encoding="utf-8")
    environment = {
        **os.environ,
        "LD_PRELOAD": f"{LIBRARY}:{other}",
        "TAKT_SPIN_EXECUTOR": "takt",
    }
    done = subprocess.run(
        [SPUN, "single", "messages"], env=environment, capture_output=True, text=True, check=False
    )
    assert done.stdout == SAME["messages"]
    assert "rclcpp 16.0.1" in done.stderr
    assert "stay as they are" in done.stderr


def test_a_program_without_rclcpp_loads_nothing_of_it() -> None:
    words = "import os; print(open('/proc/self/maps').read())"
    document = spin(sys.executable, "-c", words)
    assert "libtakt_spin.so" in document["printed"]
    assert "librclcpp" not in document["printed"]


def test_the_recorder_sees_callbacks_under_takt(tmp_path: Path) -> None:
    if "libtakt_record.so" not in _libraries():
        pytest.skip("takt_record is not built")
    tool = [sys.executable, "-m", "takt"]
    inner = [*tool, "spin", "--executor", "takt", "--", str(SPUN), "single", "messages"]
    command = [*tool, "record", "-o", str(tmp_path / "out"), "--json", "--", *inner]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    document = json.loads(done.stdout[done.stdout.index("{\n") :])
    calls = {one["callback"]: one["calls"] for one in document["callbacks"]}
    assert calls["listener.subscription:/numbers"] == 20
    assert calls["talker.timer0"] >= 20
    assert "spins under Takt's executor" in done.stderr


def _libraries() -> str:
    try:
        return stacks.program("libtakt_record.so").name
    except Failure:
        return ""
