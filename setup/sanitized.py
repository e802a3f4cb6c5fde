# SPDX-License-Identifier: Apache-2.0
"""takt_core, takt_rcl and takt_rclcpp under AddressSanitizer and ThreadSanitizer."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from setup.distributions import ROOT, STATE
from setup.workspace import QUICK_COMPILER

BIN = STATE / "venv" / "bin"
CORE = ROOT / "src" / "takt_core"
RCL = ROOT / "src" / "takt_rcl"
RCLCPP = ROOT / "src" / "takt_rclcpp"
# Random task sets, in parts of those that are usual: their bounds are looked at without sanitizers.
FEWER_ROUNDS = ["env", "TAKT_TEST_ROUNDS=0.25"]
# What has threads for ThreadSanitizer to look at.
THREADED = ("executor", "executor_ends", "os", "trace")
OPTIONS = ["-GNinja", "-DBUILD_TESTING=ON", "-DCMAKE_BUILD_TYPE=RelWithDebInfo"]
# Sanitizers slow the compiler down more than most tests: no optimisation, lines only.
QUICKLY_BUILT = f"-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O0 -g1 -DNDEBUG {QUICK_COMPILER}"
# The core's own tests compute for minutes without any: optimised as little as possible.
QUICKLY_RUN = f"-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O1 -g1 -DNDEBUG {QUICK_COMPILER}"
# Tests without threads or time: one a core. The others are disturbed by each other's threads.
COMPUTING = "^(analysis|application|joins|lanes|locks|sched|segments|sim|stats)[.]"
# What computes for seconds where other tests run the same code: it looks at values alone.
VALUES = (
    "BusyPath|LongRounds|are_exceeded$|exhaustive.*[.]sees|losses_of_several|no_offset_of_small"
    "|JoinsOfRobots.are_within|robots_supply.nothing"
)
SPREAD = ["--parallel", str(os.cpu_count()), "--tests-regex", COMPUTING, "--exclude-regex", VALUES]
RCL_THREADED = ("executors", "waiting")
# Not those that count allocations, which a sanitizer makes itself, nor zero_copy: Fast DDS lends
# memory that begins four bytes behind what a double needs.
RCL_TESTS = (*RCL_THREADED, "diagnostics", "executor_errors", "topics")
# Not those of rclcpp's own executors and of parts of ROS 2 that not everybody has, nor what starts
# other programs.
RCLCPP_TESTS = (
    *("asking_back", "churn", "clocks", "diagnostics", "features", "groups", "housekeeping"),
    *("leaving", "life", "names", "reads", "reentrant", "scenarios", "scheduling", "spinning"),
    *("strategies", "timing", "waiting"),
)
# Random lives of tasks and of nodes, below the build folder of their package.
CORE_LIVES = Path("test/takt_core_life_fuzz")
RCLCPP_LIVES = Path("test/fuzz/takt_rclcpp_life_fuzz")
QUICK_LIVES = ["--seconds", "10", "--seed", "1"]
# Longer than several tests wait before they say what they waited for in vain.
LIMIT = "600"


def commands() -> list[list[str]]:
    """Both sanitizers, one after the other: built, where that is not done, and tested."""
    return [command for part in _parts() for command in (*part.build, *part.tests)]


def builds() -> list[list[str]]:
    """What ``commands`` builds, without the tests."""
    return [command for part in _parts() for command in part.build]


class Part(NamedTuple):
    """A package under a sanitizer."""

    build: list[list[str]]
    tests: list[list[str]]


def _parts() -> list[Part]:
    return [
        _core("address;undefined"),
        _of_ros(RCL, "address;undefined", RCL_TESTS),
        *_rclcpp("address;undefined"),
        _core("thread", THREADED),
        _of_ros(RCL, "thread", RCL_THREADED),
        *_rclcpp("thread"),
    ]


def lives(sanitizer: str, seconds: int, seed: int) -> Part:
    """The random lives for so many seconds: those of tasks, and of nodes where rclcpp is."""
    parts = [_core(sanitizer, THREADED), *_rclcpp(sanitizer)]
    folder = _folder(sanitizer)
    programs = [(CORE, folder / CORE_LIVES), (RCLCPP, folder / RCLCPP.name / RCLCPP_LIVES)]
    each = seconds // len(parts)
    how = ["--seconds", str(each), "--seed", str(seed)]
    return Part(
        [command for part in parts for command in part.build],
        [
            [*_environment(package, sanitizer), str(program), *how]
            for package, program in programs[: len(parts)]
        ],
    )


def ctest(folder: Path) -> list[str]:
    """The tests of a build folder."""
    program = str(BIN / "ctest")
    return [program, "--test-dir", str(folder), "--output-on-failure", "--timeout", "900"]


def together(folder: Path, builds: list[Path]) -> Path:
    """A folder with the tests of all these build folders, for one CTest."""
    tested = [one for one in builds if (one / "CTestTestfile.cmake").exists()]
    folder.mkdir(exist_ok=True)
    lines = [f'subdirs("{one}")\n' for one in tested]
    (folder / "CTestTestfile.cmake").write_text("".join(lines), encoding="utf-8")
    return folder


def _core(sanitizer: str, parts: tuple[str, ...] = ()) -> Part:
    """The core, all of it without ``parts``; installed for takt_rcl."""
    folder = _folder(sanitizer)
    configure = [
        *OPTIONS,
        QUICKLY_BUILT if parts else QUICKLY_RUN,
        f"-DTAKT_SANITIZE={sanitizer}",
        f"-DCMAKE_INSTALL_PREFIX={folder / 'install'}",
    ]
    names = [*(f"takt_core_{name}_test" for name in parts), "takt_core_life_fuzz"]
    targets = [f"--target={name}" for name in names] if parts else []
    plain = STATE / "build" / "takt_core"  # the tests that only compute are compiled there
    if not parts and (plain / "test").exists():
        configure.append(f"-DTAKT_TEST_OBJECTS={plain}")
    tests = [["--tests-regex", f"^({'|'.join(parts)})[.]"]]
    if not parts:
        tests = [SPREAD, ["--exclude-regex", COMPUTING]]
    return Part(
        [
            [str(BIN / "cmake"), "-S", str(CORE), "-B", str(folder), *configure],
            [str(BIN / "cmake"), "--build", str(folder), *targets],
            [str(BIN / "cmake"), "--install", str(folder)],
        ],
        [
            [*_without_priorities(sanitizer), *FEWER_ROUNDS, *ctest(folder), *which]
            for which in tests
        ],
    )


def _rclcpp(sanitizer: str) -> list[Part]:
    """Where the last build found rclcpp."""
    if not (STATE / "install" / "lib" / "libtakt_rclcpp.so").exists():
        return []
    return [_of_ros(RCLCPP, sanitizer, RCLCPP_TESTS)]


def _of_ros(package: Path, sanitizer: str, tests: tuple[str, ...]) -> Part:
    """A package on the sanitized core; its compiler options come from there."""
    core = _folder(sanitizer)
    folder, ros = core / package.name, STATE / "ros"
    configure = [
        *OPTIONS,
        QUICKLY_BUILT,
        f"-Dtakt_core_DIR={core / 'install/share/takt_core/cmake'}",
        *([f"-DTAKT_ROS_WHEELS={ros}"] if ros.exists() else []),
    ]
    programs = [[str(folder / "test" / f"test_{name}"), "--gtest_brief=1"] for name in tests]
    targets = [f"--target=test_{name}" for name in tests]
    if package == RCLCPP:
        programs.append([str(folder / RCLCPP_LIVES), *QUICK_LIVES])
        targets.append(f"--target={RCLCPP_LIVES.name}")
    return Part(
        [
            _in_underlay(["cmake", "-S", str(package), "-B", str(folder), *configure]),
            _in_underlay(["cmake", "--build", str(folder), *targets]),
        ],
        [[*_environment(package, sanitizer), "timeout", LIMIT, *program] for program in programs],
    )


def _environment(package: Path, sanitizer: str) -> list[str]:
    """In which a package's programs run."""
    # It stops at the first report, as AddressSanitizer does.
    options = "TSAN_OPTIONS=report_mutex_bugs=0 detect_deadlocks=0 halt_on_error=1"
    suppressions = package / "test" / "thread_sanitizer.supp"
    if suppressions.exists():
        options += f" suppressions={suppressions}"
    if package == RCLCPP:  # rclcpp, between us and the middleware, counts by its locks alone
        options += " ignore_noninstrumented_modules=1"
    return [*_without_priorities(sanitizer), "env", options]


def _without_priorities(sanitizer: str) -> list[str]:
    """ThreadSanitizer's own locks spin and know no priorities: FIFO threads may keep one."""
    if sanitizer != "thread" or os.geteuid() != 0:
        return []
    return ["setpriv", "--bounding-set=-sys_nice", "--inh-caps=-sys_nice"]


def _folder(sanitizer: str) -> Path:
    return STATE / f"build-{sanitizer.split(';', maxsplit=1)[0]}"


def _in_underlay(command: list[str]) -> list[str]:
    """The command where packages of ROS 2 and Takt are found."""
    return ["bash", "-c", '. "$0" && exec "$@"', str(STATE / "setup.sh"), *command]
