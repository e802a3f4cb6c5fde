# SPDX-License-Identifier: Apache-2.0
"""``ament_add_takt_gate()``: a package of a user's own has a test that runs and gates its robot."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
STATE = ROOT / os.environ.get("TAKT_STATE", ".takt")
FUNCTION = ROOT / "src/takt_runner/cmake/ament_add_takt_gate.cmake"
PROJECT = """
cmake_minimum_required(VERSION 3.16)
project(robot NONE)
find_package(ament_cmake REQUIRED)
include(CTest)
include({function})
{calls}
ament_package()
"""
APPLICATION = """
cpus: [1]
policy: fp
nodes:
  a:
    slow: {timer: 20ms, wcet: 4ms, priority: 40}
    fast: {timer: 20ms, wcet: 2ms, deadline: 7ms, priority: 10}
"""


@pytest.fixture
def cmake() -> str:
    if not (STATE / "ros" / "share" / "ament_cmake").is_dir():
        pytest.skip("no wheels with ament")
    found = shutil.which("cmake")
    if found is None:
        pytest.skip("no cmake")
    return found


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """Three descriptions and a program ``takt`` that is this tool."""
    folder = tmp_path / "robot"
    folder.mkdir()
    (folder / "package.xml").write_text(
        "<package format='3'><name>robot</name><version>0.1.0</version><description>A robot."
        "</description><maintainer email='a@example.com'>a</maintainer><license>Apache-2.0"
        "</license></package>"
    )
    (folder / "robot.app.yaml").write_text(APPLICATION)
    (folder / "slower.app.yaml").write_text(APPLICATION.replace("wcet: 4ms", "wcet: 6ms"))
    rare = "callbacks:\n  a.fast: {response: 7ms, late: 0.1%}\n"
    (folder / "rare.limits.yaml").write_text(rare)
    program = tmp_path / "takt"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m takt "$@"\n')
    program.chmod(0o755)
    return folder


def configured(
    cmake: str, package: Path, calls: str, *more: str, function: Path = FUNCTION
) -> subprocess.CompletedProcess[str]:
    text = PROJECT.format(function=function, calls=calls)
    (package / "CMakeLists.txt").write_text(text)
    program = f"-DTAKT_PROGRAM={package.parent / 'takt'}" if function == FUNCTION else "-DX="
    python = f"-DPython3_EXECUTABLE={STATE / 'ros/bin/python'}"
    prefix = f"-DCMAKE_PREFIX_PATH={STATE / 'ros'}"
    words = ["-S", package, "-B", package / "build", "-Wno-dev", program, python, prefix, *more]
    return subprocess.run([cmake, *words], text=True, capture_output=True)


def ctest(package: Path, name: str) -> tuple[int, dict[str, str]]:
    """The exit code of its test, and the outcome of each limit in the JUnit result."""
    done = subprocess.run(
        ["ctest", "--output-on-failure", "-R", f"^{name}$"],
        cwd=package / "build",
        text=True,
        capture_output=True,
    )
    file = package / f"build/test_results/robot/{name}.xunit.xml"
    found = {}
    for case in ET.parse(file).iter("testcase"):  # noqa: S314 - of our own making
        kinds = [child.tag for child in case]
        found[str(case.get("name"))] = kinds[0] if kinds else "passed"
    assert found, done.stdout
    return done.returncode, found


def test_a_package_has_a_test_that_meets_fails_or_is_skipped(cmake: str, package: Path) -> None:
    more = "DURATION 1s SIMULATE"
    rare = f"LIMITS rare.limits.yaml {more}"
    calls = [
        f"ament_add_takt_gate(robot.app.yaml {more})",
        f"ament_add_takt_gate(slower.app.yaml {more})",
        f"ament_add_takt_gate(robot.app.yaml NAME rare {rare})",
        f"ament_add_takt_gate(robot.app.yaml NAME strict {rare} UNDECIDED_FAILS)",
    ]
    done = configured(cmake, package, "\n".join(calls))
    assert done.returncode == 0, done.stdout + done.stderr
    limit = "a.fast, response"
    code, found = ctest(package, "gate_robot")
    assert (code, found[limit]) == (0, "passed")
    code, found = ctest(package, "gate_slower")
    assert (code != 0, found[limit]) == (True, "failure")
    code, found = ctest(package, "rare")
    assert (code, found[limit]) == (0, "skipped")
    code, found = ctest(package, "strict")
    assert (code != 0, found[limit]) == (True, "skipped")
    colcon = STATE / "venv" / "bin" / "colcon"
    if colcon.exists():
        command = [colcon, "test-result", "--test-result-base", "build/test_results"]
        done = subprocess.run(command, cwd=package, text=True, capture_output=True)
        assert "1 failure" in done.stdout
        assert "2 skipped" in done.stdout


def test_repetitions_are_executed_and_judged_together(
    cmake: str, package: Path, app_runner: None
) -> None:
    (package / "lenient.limits.yaml").write_text(
        "callbacks: {a.fast: {late: 100%}, a.slow: {late: 100%}}\n"
    )
    calls = "ament_add_takt_gate(robot.app.yaml DURATION 300ms REPETITIONS 2 "
    configured(cmake, package, calls + "LIMITS lenient.limits.yaml)")
    _, found = ctest(package, "gate_robot")
    assert "a.fast, response" in found
    traces = package / "build/takt_gate/gate_robot/traces"
    assert sorted(one.name for one in traces.iterdir()) == ["1.takttrace", "2.takttrace"]


@pytest.mark.parametrize(
    ("call", "more", "message"),
    [
        ("robot.app.yaml LIMIT robot.limits.yaml", [], "unknown argument"),
        ("robot.app.yaml LIMITS none.yaml", [], "no such file"),
        ("none.app.yaml", [], "no such file"),
        ("robot.app.yaml SIMULATE APPROACH baseline0", [], "has no APPROACH"),
        ("robot.app.yaml REPETITIONS none", [], "is not a number of at least 1"),
        ("robot.app.yaml", ["-DTAKT_PROGRAM=TAKT_PROGRAM-NOTFOUND"], "takt was not found"),
    ],
)
def test_wrong_calls_end_the_configuration(
    cmake: str,
    package: Path,
    monkeypatch: pytest.MonkeyPatch,
    call: str,
    more: list[str],
    message: str,
) -> None:
    if more:
        monkeypatch.setenv("AMENT_PREFIX_PATH", "")
        folder = package.parent / "bin"  # what configuring needs, and no takt
        folder.mkdir()
        for name in ("make", "ninja", "sh", "uname"):
            if path := shutil.which(name):
                (folder / name).symlink_to(path)
        monkeypatch.setenv("PATH", str(folder))
    done = configured(cmake, package, f"ament_add_takt_gate({call})", *more)
    assert done.returncode != 0
    assert message in " ".join(done.stderr.split())


def test_the_launcher_of_the_clone_is_found(cmake: str, package: Path) -> None:
    clone = package.parent / "clone"
    installed = clone / ".takt/install/share/takt_runner/cmake"
    shutil.copytree(FUNCTION.parent, installed)
    shutil.copy(package.parent / "takt", clone / "takt")
    call = "ament_add_takt_gate(robot.app.yaml SIMULATE)"
    done = configured(cmake, package, call, function=installed / FUNCTION.name)
    assert done.returncode == 0, done.stderr
    cache = (package / "build" / "CMakeCache.txt").read_text(encoding="utf-8")
    assert f"TAKT_PROGRAM:FILEPATH={clone / 'takt'}" in cache


def test_takt_runner_exports_the_function_and_its_script() -> None:
    text = (ROOT / "src/takt_runner/CMakeLists.txt").read_text(encoding="utf-8")
    assert "CONFIG_EXTRAS cmake/ament_add_takt_gate.cmake" in text
    assert (
        "install(FILES cmake/run_takt_gate.cmake DESTINATION share/${PROJECT_NAME}/cmake)" in text
    )
