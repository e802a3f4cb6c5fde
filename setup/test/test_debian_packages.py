# SPDX-License-Identifier: Apache-2.0
"""Debian packages (setup/release/debian.py): what goes into them, and that they work elsewhere."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from setup.distributions import ROOT
from setup.matrix.trial import LeftOut
from setup.release import debian, system, wheel
from setup.release.environment import ReleaseError
from setup.release.system import System

# A program of a user's own, with what the library's headers and its CMake package give.
PROJECT = """
cmake_minimum_required(VERSION 3.22)
project(consumer LANGUAGES CXX)
find_package(takt_core 0.1 REQUIRED)
add_executable(consumer main.cpp)
target_link_libraries(consumer PRIVATE takt_core::takt_core)
"""
MAIN = """
#include <cstdio>
#include <takt/sched/error.hpp>
#include <takt/sched/policies.hpp>

int main() {
  try {
    takt::sched::parse_policy("no such policy");
  } catch (const takt::sched::ScheduleError& error) {
    std::puts(error.problem().c_str());
    return 0;
  }
  return 1;
}
"""
LOCK = """numpy==2.0 ; python_version < '3.11' \\
    --hash=sha256:1
numpy==2.1 ; python_version >= '3.11' \\
    --hash=sha256:2
typing-extensions==4 \\
    --hash=sha256:3
"""


def test_only_what_the_tool_imports_is_taken_from_the_lock_with_its_hashes() -> None:
    chosen = debian.locked({"numpy"}, LOCK)
    assert chosen == LOCK.partition("typing")[0]


def test_what_is_not_locked_is_refused() -> None:
    with pytest.raises(ReleaseError, match=r"not locked .* scipy"):
        debian.locked({"numpy", "scipy"}, LOCK)


def test_the_tool_asks_for_nothing_that_the_build_alone_needs() -> None:
    text = (wheel.SOURCE / "pyproject.toml").read_text(encoding="utf-8")
    names = debian.imported(debian.dependencies(text))
    assert {"numpy", "pyarrow", "pydantic-core", "duckdb"} <= names
    assert names & {"colcon-core", "cmake", "ninja", "pytest"} == set()
    assert debian.locked(names, debian.LOCK.read_text(encoding="utf-8"))


def test_its_version_is_that_of_the_manifests() -> None:
    manifest = (ROOT / "src" / "takt" / "package.xml").read_text(encoding="utf-8")
    assert f"<version>{debian.VERSION}</version>" in manifest
    minor = re.match(r"\d+\.\d+", debian.VERSION)
    assert minor
    assert debian.PACKAGES[0] == f"libtakt-core{minor[0]}"


@pytest.fixture(scope="module")
def packages() -> list[Path]:
    if reason := system.possible():
        pytest.skip(reason)
    return debian.make()


@pytest.fixture(scope="module")
def installed(packages: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[System]:
    """A fresh system in which apt has installed them and what they ask for."""
    root = tmp_path_factory.mktemp("system") / "root"
    try:
        root_system = System(root)
    except LeftOut as reason:
        pytest.skip(str(reason))
    for package in packages:
        shutil.copy(package, root / "opt")
    root_system.well("apt-get", "--quiet", "update")
    options = ["--yes", "--quiet", "--no-install-recommends"]
    names = [f"/opt/{package.name}" for package in packages]
    root_system.well("apt-get", "install", *options, *names)
    (root / "opt" / "consumer").mkdir()
    (root / "opt" / "consumer" / "CMakeLists.txt").write_text(PROJECT)
    (root / "opt" / "consumer" / "main.cpp").write_text(MAIN)
    shutil.copy(ROOT / "examples" / "docking.app.yaml", root / "opt")
    yield root_system
    shutil.rmtree(root, ignore_errors=True)


@pytest.mark.release
@pytest.mark.timeout(5400)
def test_there_are_three(packages: list[Path]) -> None:
    assert [one.name.partition("_")[0] for one in packages] == sorted(debian.PACKAGES)


@pytest.mark.release
@pytest.mark.timeout(5400)
@pytest.mark.parametrize(
    ("arguments", "printed"),
    [
        (["--version"], "takt 0.1.0"),
        (["analyse", "/opt/docking.app.yaml"], "radar.scan"),
        (["simulate", "/opt/docking.app.yaml"], "guard.brake"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_the_tool_works_there(installed: System, arguments: list[str], printed: str) -> None:
    assert printed in installed.well("takt", *arguments)


@pytest.mark.release
@pytest.mark.timeout(5400)
def test_it_measures_there(installed: System) -> None:
    words = ["--stack", "raw", "--duration", "1s", "--json", "--out", "/tmp/run"]
    cells = json.loads(installed.well("takt", "measure", "wakeup", *words))["cells"]
    assert {cell["stack"] for cell in cells} == {"raw"}
    assert all(cell["count"] > 0 for cell in cells)


@pytest.mark.release
@pytest.mark.timeout(5400)
def test_a_program_of_a_user_is_built_with_the_library(installed: System) -> None:
    names = ["g++", "cmake", "make"]
    installed.well("apt-get", "install", "--yes", "--quiet", "--no-install-recommends", *names)
    installed.well("cmake", "-S", "/opt/consumer", "-B", "/opt/consumer/build")
    installed.well("cmake", "--build", "/opt/consumer/build")
    assert "there is no such policy" in installed.well("/opt/consumer/build/consumer")


@pytest.mark.release
@pytest.mark.timeout(5400)
def test_lintian_finds_no_error_in_the_library(installed: System, packages: list[Path]) -> None:
    """Of the tool's package the errors are those of the Python packages that it brings."""
    installed.well("apt-get", "install", "--yes", "--quiet", "--no-install-recommends", "lintian")
    for package in packages:
        if package.name.startswith("lib"):
            done = installed.run("lintian", "--tag-display-limit=0", f"/opt/{package.name}")
            errors = [line for line in done.stdout.splitlines() if line.startswith("E:")]
            assert errors == [], done.stdout


@pytest.mark.release
@pytest.mark.timeout(5400)
def test_nothing_of_the_tool_stays_when_it_is_removed(installed: System) -> None:
    """The last one: it takes away what the others look at."""
    installed.well("apt-get", "remove", "--yes", "--quiet", "takt")
    assert not (installed.root / "usr" / "lib" / "takt").exists()
