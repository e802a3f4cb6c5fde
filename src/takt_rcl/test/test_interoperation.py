# SPDX-License-Identifier: Apache-2.0
"""takt_rcl and rclpy in two processes: 1,000 messages each way, none lost, none changed.

The C++ side are the examples, as a user would start them. Found through the environment, which
CTest sets; else in the installation of this work tree:
TAKT_RCL_EXAMPLES: the folder of the examples; TAKT_ROS_PYTHON: a Python that has rclpy.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "takt"))
from takt.network import transport  # noqa: E402
from takt.network.domain import own_domain  # noqa: E402

STATE = HERE.parents[2] / os.environ.get("TAKT_STATE", ".takt")
EXAMPLES = Path(os.environ.get("TAKT_RCL_EXAMPLES", STATE / "install" / "lib" / "takt_rcl"))
COUNT = 1000
HELLOS = [f"hello {index}" for index in range(COUNT)]
PATIENCE_S = 150
# Tests may run side by side, so each process has its own names, and each test its own domain.
NAMESPACE = ["--ros-args", "-r", f"__ns:=/takt_{os.getpid()}"]


@pytest.fixture(autouse=True)
def domain(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """With Takt's own profile, so that no process crashes at its end (takt.network.transport)."""
    profile = tmp_path / "fastdds.xml"
    profile.write_text(transport.profile("process", 0), encoding="utf-8")
    for name, value in transport.fast_dds(profile).items():
        monkeypatch.setenv(name, value)
    with own_domain() as number:
        monkeypatch.setenv("ROS_DOMAIN_ID", str(number))
        yield


def ros_python() -> str:
    of_wheels = STATE / "ros" / "bin" / "python"
    return os.environ.get(
        "TAKT_ROS_PYTHON", str(of_wheels) if of_wheels.exists() else sys.executable
    )


def environment() -> dict[str, str]:
    """This environment, on this host only, without what rclpy's wheel adds to it for itself."""
    variables = dict(os.environ)
    if variables.pop("_ROS_WHEELS_BOOTSTRAP_COMPLETE", None):
        variables.pop("LD_LIBRARY_PATH", None)
    variables["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
    return variables


@contextmanager
def started(command: list[str]) -> Iterator[subprocess.Popen[str]]:
    """Runs a program that is ended with the test, however that ends."""
    with subprocess.Popen(
        [*command, *NAMESPACE],
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()


def example(name: str, *arguments: str) -> list[str]:
    path = EXAMPLES / name
    assert path.exists(), f"{path} is missing: build takt_rcl, or set TAKT_RCL_EXAMPLES"
    return [str(path), *arguments]


def peer(task: str) -> list[str]:
    return [ros_python(), str(HERE / "interoperation_peer.py"), task, str(COUNT)]


def output_of(process: subprocess.Popen[str]) -> str:
    output, errors = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0, errors
    return output


def test_rclpy_hears_every_message_of_a_takt_talker() -> None:
    with (
        started(peer("listen")) as listening,
        started(example("talker", str(COUNT), "1")) as talking,
    ):
        assert output_of(talking) == ""
        received = json.loads(output_of(listening))["received"]
    assert received == [[hello] for hello in HELLOS]


def test_a_takt_listener_hears_every_message_of_rclpy() -> None:
    with (
        started(example("listener", str(COUNT))) as listening,
        started(peer("talk")) as talking,
    ):
        output_of(talking)
        heard = output_of(listening)
    assert heard.splitlines() == HELLOS


@pytest.mark.parametrize("kind", ["text", "bytes"])
def test_every_message_comes_back_unchanged_through_a_takt_echo(kind: str) -> None:
    with (
        started(example("echo")) as echo,
        started(peer(f"echo-{kind}")) as asking,
    ):
        result = json.loads(output_of(asking))
        echo.send_signal(signal.SIGINT)
        assert output_of(echo) == ""
    assert len(result["sent"]) == COUNT
    assert result["received"] == result["sent"]


@pytest.mark.parametrize(
    ("command", "wrong"),
    [
        (["talker", "ten"], "messages: 'ten'"),
        (["talker", "10", "-5"], "period: '-5'"),
        (["listener", "10x"], "messages: '10x'"),
        (["echo", "--ros-args", "-r", "no-rule", "--"], "no-rule"),
    ],
)
def test_an_example_says_what_is_wrong_with_its_arguments(command: list[str], wrong: str) -> None:
    with started(example(*command)) as process:
        _, errors = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 1
    assert wrong in errors


@pytest.mark.parametrize("name", ["talker", "listener", "echo"])
@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_an_example_in_good_order(name: str, stop: signal.Signals) -> None:
    with started(example(name)) as process:
        wait_until_handled(process.pid, stop)
        process.send_signal(stop)
        assert output_of(process) == ""


def wait_until_handled(pid: int, number: signal.Signals) -> None:
    """Waits until the process has a handler for the signal."""
    limit = time.monotonic() + PATIENCE_S
    while time.monotonic() < limit:
        for line in Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines():
            if line.startswith("SigCgt:") and int(line.split()[1], 16) & 1 << (number - 1):
                return
        signal.sigtimedwait([], 0.01)
    pytest.fail(f"no handler for {number.name}")
