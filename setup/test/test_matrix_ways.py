# SPDX-License-Identifier: Apache-2.0
"""How single systems of the matrix are tried: what is read of what other programs print."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[2]))
from setup import compilers, unpacked
from setup.matrix import (
    by_chroot,
    by_compiler,
    by_emulator,
    by_installation,
    by_python,
    by_wheels,
    entries,
)
from setup.matrix.trial import Failed, LeftOut, Trial, plain_environment

CTEST = """
{percent}% tests passed, {failed} tests failed out of 40

Total Test time (real) =   3.21 sec
"""
FAILURES = """
The following tests FAILED:
\t  7 - os.Clock.SleepsUntil (Failed)
\t 12 - executor.life_fuzz_1 (Timeout)
Errors while running CTest
"""


def program(path: Path, text: str) -> Path:
    """One that runs a shell's lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def test_what_ctest_counts_is_the_result() -> None:
    outcome = by_emulator.judge(CTEST.format(percent=100, failed=0), 43, "GCC 14")
    assert (outcome.result, outcome.passed, outcome.excluded) == ("passed", 40, 3)


def test_failing_tests_are_named() -> None:
    outcome = by_emulator.judge(CTEST.format(percent=95, failed=2) + FAILURES, 40, "GCC 14")
    assert (outcome.result, outcome.passed, outcome.failed) == ("failed", 38, 2)
    assert "os.Clock.SleepsUntil, executor.life_fuzz_1" in outcome.detail


def test_warnings_are_reported_without_the_folders_of_the_machine() -> None:
    line = "{}include/vector.h:45:30: warning: out of the bounds of a/b [-Warray-bounds=]"
    printed = f"[1/2] Building\n{line.format('/home/user/takt/')}\n{line.format('/')}\n"
    assert by_emulator.warned(printed) == (
        "2 warnings, the first: vector.h:45:30: warning: out of the bounds of a/b [-Warray-bounds=]"
    )
    assert by_emulator.warned("[1/2] Building\n") == ""


def test_without_a_count_nothing_has_passed() -> None:
    with pytest.raises(Failed, match="No tests were found"):
        by_emulator.judge("No tests were found!!!", 0, "GCC 14")


def test_an_unchanged_toolchain_builds_nothing_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unpacked, "refusal", lambda: "")
    monkeypatch.setattr(unpacked, "system", lambda folder, _: folder / "system")
    (tmp_path / "system").mkdir()
    how = entries.ByEmulator(kind="emulator", architecture="aarch64")
    file = by_emulator.prepare(how, tmp_path)
    assert "CMAKE_SYSTEM_PROCESSOR aarch64" in file.read_text()
    written = file.stat().st_mtime_ns
    assert by_emulator.prepare(how, tmp_path).stat().st_mtime_ns == written


def test_a_check_is_judged_by_its_measurements_not_by_its_verdict() -> None:
    cells = [{"count": 5}, {"count": 7}]
    assert "2 measurements" in by_wheels.complete(json.dumps({"verdict": "no", "cells": cells}))
    for printed, detail in (
        (json.dumps({"cells": [*cells, {"count": 0}]}), "1 of 3"),
        (json.dumps({"cells": []}), "0 of 0"),
        ("error: no compiler", "no compiler"),
    ):
        with pytest.raises(Failed, match=detail):
            by_wheels.complete(printed)


def test_the_tests_of_all_stages_are_counted_together() -> None:
    printed = CTEST.format(percent=95, failed=2) + (
        "........ [100%]\n4 failed, 120 passed, 3 skipped, 1 error in 12.30s\n"
        "=== python: FAILED in 20 s\n2 passed in 0.31s\n1 failed in 61.20s (0:01:01)\n"
    )
    assert by_wheels.counts(printed) == (38 + 120 + 2, 2 + 5 + 1)
    twice = f"{printed}\nThe last lines of what failed:\n{printed}"
    assert by_wheels.counts(twice) == by_wheels.counts(printed)
    assert by_wheels.counts("no tests ran in 0.01s") == (0, 0)


@pytest.mark.parametrize("distribution", ["kilted", "jazzy"])
def test_the_version_of_wheels_is_that_of_the_lock(distribution: str) -> None:
    how = entries.ByWheels(kind="wheels", distribution=distribution)
    assert by_wheels.versions(how).startswith("ros-rcl ")


def test_a_sourced_installation_leaves_the_wheels_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROS_DISTRO", "kilted")
    how = entries.ByWheels(kind="wheels", distribution="kilted")
    with pytest.raises(LeftOut, match="sourced: kilted"):
        by_wheels.tried(how, Trial(tmp_path / "trial"))


def test_a_python_that_does_not_start_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(tmp_path / "bin" / "python3.12", "echo 'not installed' >&2; exit 127")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "pyenv"))
    assert by_python.interpreter("3.12") is None
    there = program(tmp_path / "pyenv/versions/3.12.1/bin/python3.12", "echo 3.12")
    assert by_python.interpreter("3.12") == there
    how = entries.ByPython(kind="python", version="3.10", tests=["x"])
    program(tmp_path / "bin" / "python3.10", "echo 3.9")
    with pytest.raises(LeftOut, match=r"no python3\.10"):
        by_python.tried(how, Trial(tmp_path / "trial"))


def test_pytests_last_line_is_counted() -> None:
    printed = "2 passed in the middle\n==== 3 failed, 120 passed, 4 skipped in 12.3s ====\n"
    counted = [by_python.last(one, printed) for one in (by_python.PASSED, by_python.SKIPPED)]
    assert counted == [120, 4]
    assert by_python.last(by_python.FAILED, printed) == 3
    assert by_python.last(by_python.PASSED, "no tests ran in 0.1s") == 0
    assert by_python.last(by_python.FAILED, "2 failed in 0.1s") == 2


def test_without_root_no_system_is_created(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    with pytest.raises(LeftOut, match="needs root"):
        by_chroot.tried(entries.ByChroot(kind="chroot", suite="trixie"), Trial(tmp_path / "trial"))


def test_ubuntu_is_looked_for_beside_the_mirror_of_debian(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, str]] = []

    def has(mirror: str, suite: str) -> bool:
        asked.append((mirror, suite))
        return False

    monkeypatch.setattr(unpacked, "mirror_of_debian", lambda: "http://mirror.example/pub/debian/")
    monkeypatch.setattr(by_chroot, "obstacle", lambda: "")
    monkeypatch.setattr(by_chroot, "has", has)
    how = entries.ByChroot(kind="chroot", of="ubuntu", suite="noble")
    with pytest.raises(LeftOut, match="no Ubuntu noble beside it"):
        by_chroot.tried(how, Trial(tmp_path / "trial"))
    assert asked == [("http://mirror.example/pub/ubuntu", "noble")]


def test_the_tests_of_an_installation_are_counted_and_left_out_where_no_wheels_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    how, trial = entries.ByInstallation(kind="installation"), Trial(tmp_path / "trial")
    monkeypatch.setattr(by_installation, "STATE", tmp_path)
    monkeypatch.delenv("ROS_DISTRO", raising=False)
    with pytest.raises(LeftOut, match="no wheels"):
        by_installation.tried(how, trial)
    (tmp_path / "ros").mkdir()
    program(tmp_path / "venv" / "bin" / "python", "echo 1 failed, 2 passed in 9.5s")
    done = by_installation.tried(how, trial)
    assert (done.result, done.passed, done.failed) == ("failed", 2, 1)
    program(tmp_path / "venv" / "bin" / "python", "echo 3 skipped in 0.5s")
    with pytest.raises(Failed, match="no test ran"):
        by_installation.tried(how, trial)


def test_a_compiler_that_cannot_be_had_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compilers, "major", lambda _: None)
    monkeypatch.setattr(unpacked, "refusal", lambda: "this is no Debian")
    how = entries.ByCompiler(kind="compiler", family="clang", version=19, tests=["stats"])
    with pytest.raises(LeftOut, match="this is no Debian"):
        by_compiler.tried(how, Trial(tmp_path / "trial"))


@pytest.mark.parametrize(
    ("error", "ending"), [(unpacked.FetchError, LeftOut), (unpacked.UnpackError, Failed)]
)
def test_packages_that_do_not_come_leave_a_compiler_out(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    error: type[Exception],
    ending: type[Exception],
) -> None:
    def stopped(*_: object) -> Path:
        raise error("it does not come from a mirror:\nmore words")

    monkeypatch.setattr(compilers, "major", lambda _: None)
    monkeypatch.setattr(unpacked, "refusal", lambda: "")
    monkeypatch.setattr(unpacked, "system", stopped)
    how = entries.ByCompiler(kind="compiler", family="gcc", version=13, tests=["stats"])
    with pytest.raises(ending, match="it does not come from a mirror"):
        by_compiler.tried(how, Trial(tmp_path / "trial"))


def test_a_trial_does_not_inherit_what_the_launcher_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TAKT_ROS", "jazzy")
    monkeypatch.setenv("PYTHONPATH", "/somewhere")
    monkeypatch.setenv("HOME", "/home")
    environment = plain_environment()
    assert environment["HOME"] == "/home"
    assert not {"TAKT_ROS", "PYTHONPATH"} & environment.keys()
