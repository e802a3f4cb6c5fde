# SPDX-License-Identifier: Apache-2.0
"""``./takt test --coverage [PACKAGE…]``: how many lines and branches the tests execute.

C++ by GCC, gcovr and the package's GoogleTests, the tool by pytest-cov; both without the tests that
need ``--all``. A figure goes into the package's QUALITY_DECLARATION.md if all tests passed, at the
latest when run again: counting slows down what waits for real time. It takes long: everything is
built once more, below ``.takt/coverage``.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

from setup import sanitized, stages
from setup.distributions import ROOT, STATE
from setup.release.environment import ReleaseError, call, compiling

FOLDER = STATE / "coverage"
CPP = ("takt_core", "takt_rcl", "takt_rclcpp", "takt_record", "takt_probes", "takt_runner")
PYTHON = ("takt",)
# A package's own code; not tests, benches, examples.
CODE = ("baseline", "include", "spin", "src")
# Counted by threads of all cores; optimised as little as lets the tests of analysis end.
FLAGS = "-O1 -g1 -DNDEBUG --coverage -fprofile-update=atomic"
# Code of a template or of an inline function is in many objects: it is executed where one did it.
COUNTED = (
    "--exclude-throw-branches",
    "--merge-mode-functions=merge-use-line-min",
    *("-j", str(os.cpu_count())),
)
JOBS = ("--parallel", os.cpu_count())
TESTS_FAILED = 1  # of pytest: the tests ran
CELL = re.compile(r"^(\| tests \| .*Coverage: ).*( \|)$", re.MULTILINE)
# The tool starts itself and forks; what is killed has told nothing.
SETTINGS = """[run]
source = {source}
branch = true
data_file = {folder}/data
parallel = true
sigterm = true
patch = subprocess, fork, _exit
disable_warnings = no-data-collected, module-not-imported, module-not-measured
"""


class CoverageError(Exception):
    """What could not be measured."""


@dataclass(frozen=True)
class Figure:
    """Executed and executable lines, branches taken and all, and the program that ran the tests.

    Branches of C++ that the compiler adds for exceptions do not count; nor do those of templates
    before GCC 14, whose gcov tells gcovr too little of them.
    """

    executed: int
    lines: int
    taken: int
    branches: int
    by: str

    def text(self, package: str, day: str) -> str:
        """As a quality declaration has it."""
        parts = [f"{share(self.executed, self.lines)} lines"]
        if self.branches:
            parts.append(f"{share(self.taken, self.branches)} branches")
        document = f"{' and '.join(parts)} by {self.by}"
        return f"{document} (`./takt test --coverage {package}`, {day})"


def share(part: int, whole: int) -> str:
    """For example ``81.0 % of 12 345``."""
    number = f"{whole:,}".replace(",", " ")
    return f"{100 * part / whole:.1f} % of {number}"


def main(arguments: Sequence[str]) -> int:
    """0: all measured; 1: tests failed; 2: wrong use, or a build that failed."""
    names = list(arguments) or [one for one in (*CPP, *PYTHON) if not left_out(one)]
    try:
        for name in names:
            if name not in (*CPP, *PYTHON):
                there = ", ".join((*CPP, *PYTHON))
                raise CoverageError(f"no package {name!r} with tests to measure: {there}")
            if reason := left_out(name):
                raise CoverageError(f"{name}: {reason}")
        failed = [name for name in names if not measured(name)]
    except (CoverageError, ReleaseError) as error:
        print(f"takt test: {error}", file=sys.stderr)
        return 2
    if failed:
        print(f"\ntests failed, no figure was written: {', '.join(failed)}")
    return 1 if failed else 0


def left_out(name: str) -> str:
    """Why a package cannot be measured here; empty where it can."""
    if name in {"takt_core", *PYTHON} or (STATE / "install" / "lib" / name).exists():
        return ""
    built = (STATE / "install" / "lib" / f"lib{name}.so").exists()
    return "" if built else "the last build did not find what it needs"


def measured(name: str) -> bool:
    """Runs the tests of a package; its figure goes into its declaration."""
    figure = of_python(name) if name in PYTHON else of_cpp(name)
    if figure is None:
        return False
    text = figure.text(name, datetime.now(timezone.utc).date().isoformat())
    print(f"{name}: {text}", flush=True)
    declare(ROOT / "src" / name / "QUALITY_DECLARATION.md", text)
    return True


def declare(file: Path, text: str) -> None:
    """Replaces the figure; raises CoverageError where there is no place for it."""
    document, count = CELL.subn(lambda found: found[1] + text + found[2], file.read_text("utf-8"))
    if count != 1:
        raise CoverageError(f"{file} has no row 'tests' that ends with 'Coverage: …'")
    file.write_text(document, encoding="utf-8")


def of_cpp(name: str) -> Figure | None:
    """Builds the tests, runs and counts them; nothing where one failed."""
    source, build = ROOT / "src" / name, FOLDER / name / "build"
    environment = compiling([stages.BIN])
    # It would find objects without what they count into.
    environment = {key: it for key, it in environment.items() if not key.endswith("_LAUNCHER")}
    settings = {"CMAKE_BUILD_TYPE": "None", "CMAKE_CXX_FLAGS": FLAGS, "BUILD_TESTING": "ON"}
    settings["CMAKE_DISABLE_FIND_PACKAGE_nanobind"] = "ON"
    if name != "takt_core" and (ros := STATE / "ros").exists():
        settings |= {"TAKT_ROS_WHEELS": str(ros), "Python3_EXECUTABLE": str(ros / "bin/python")}
    options = [f"-D{key}={value}" for key, value in settings.items()]
    print(f"{name}: builds its tests below {build} …", flush=True)
    configure: list[object] = ["-GNinja", "-S", source, "-B", build, *options]
    call(f"{name}: configure", in_underlay([stages.BIN / "cmake", *configure]), environment)
    words: list[object] = ["--build", build, *JOBS, "--target", *targets(build)]
    call(f"{name}: build", in_underlay([stages.BIN / "cmake", *words]), environment)
    for counted_before in build.rglob("*.gcda"):
        counted_before.unlink()
    print(f"{name}: runs them …", flush=True)
    tests = [*sanitized.ctest(build), "--quiet", "--parallel", stages.TESTS_AT_ONCE]
    tests += ["--exclude-regex", stages.EVERY_POLICY, "--repeat", "until-pass:2"]
    if subprocess.run(in_underlay(tests), cwd=ROOT).returncode:
        return None
    return counted(build, source)


def targets(build: Path) -> list[str]:
    """What its tests start: those of the examples start the examples; of each configured folder."""
    folders = [
        one.parent.relative_to(build)
        for part in ("examples", "test")
        for one in sorted((build / part).rglob("cmake_install.cmake"))
    ]
    return [f"{one}/all" for one in folders]


def counted(build: Path, source: Path) -> Figure:
    """What gcovr counts of a package's own code, that of objects that never ran too."""
    report = build / "coverage.json"
    own = [f"--filter={re.escape(str(source / one))}/" for one in CODE]
    command = [stages.BIN / "gcovr", "--root", source, *own, *COUNTED, "--json-summary", report]
    call("what was executed", [*command, build], dict(os.environ), build)
    document = json.loads(report.read_text(encoding="utf-8"))
    if not document["line_total"]:
        raise CoverageError(f"gcovr counted no line of {source}; the compiler must be GCC")
    lines = (document["line_covered"], document["line_total"])
    return Figure(*lines, document["branch_covered"], document["branch_total"], by="GoogleTest")


def of_python(name: str) -> Figure | None:
    """Runs the stage of Python's tests with pytest-cov; nothing where one failed."""
    return with_pytest(ROOT / "src" / name / name, FOLDER / name, stages.python)


def with_pytest(
    source: Path, folder: Path, commands: Callable[[], list[list[str]]], root: Path = ROOT
) -> Figure | None:
    """Runs commands of pytest, one after the other, and counts them together."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    settings, report = folder / "settings", folder / "report.json"
    settings.write_text(SETTINGS.format(source=source, folder=folder), encoding="utf-8")
    # A report of each is overwritten by the next one's, which has all that came before.
    options = ["--cov", f"--cov-config={settings}", "--cov-append", f"--cov-report=json:{report}"]
    options += ["-o", f"cache_dir={folder / 'cache'}"]

    def passes(command: list[str]) -> bool:
        code = subprocess.run([*command, *options], cwd=root, stdin=subprocess.DEVNULL).returncode
        if code == TESTS_FAILED and "--last-failed" not in command:
            return passes([*command, "--last-failed", "--numprocesses=0"])
        return not code

    if not all(passes(one) for one in commands()):
        return None
    totals = json.loads(report.read_text(encoding="utf-8"))["totals"]
    lines = (totals["covered_lines"], totals["num_statements"])
    return Figure(*lines, totals["covered_branches"], totals["num_branches"], by="pytest")


def in_underlay(command: Sequence[object]) -> list[str]:
    """The command where packages of ROS 2 and Takt are found."""
    words = [str(one) for one in command]
    setup = STATE / "setup.sh"
    return ["bash", "-c", '. "$0" && exec "$@"', str(setup), *words] if setup.exists() else words
