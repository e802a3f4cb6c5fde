# SPDX-License-Identifier: Apache-2.0
"""The whole test suite: style, types, C++ with and without sanitizers, Python, browser.

Usage: ./takt test [--all | STAGE…], for example ``./takt test style python``. Without a name all
stages but the long ones (fuzz), with --all these, too.
Every stage runs even where an earlier one failed; the exit code is 1 if any of them did.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
STATE = ROOT / ".takt"
BIN = STATE / "venv" / "bin"
CORE = ROOT / "src" / "takt_core"
RCL = ROOT / "src" / "takt_rcl"
# More than cores: many tests wait for processes. A file stays together, for its fixtures.
PARALLEL = ["--numprocesses=3", "--dist=loadfile", "--durations=10"]


def style() -> list[list[str]]:
    """Formatting and linting of everything that git knows."""
    cpp = tracked("*.hpp", "*.cpp")
    return [
        [str(BIN / "ruff"), "check", "--quiet", "."],
        [str(BIN / "ruff"), "format", "--check", "--quiet", "."],
        [str(BIN / "clang-format"), "--dry-run", "-Werror", *cpp],
    ]


def types() -> list[list[str]]:
    """Mypy strict over the tool and the set-up."""
    return [[str(BIN / "mypy"), "src/takt/takt", "setup"]]


def tidy() -> list[list[str]]:
    """clang-tidy over the sources of takt_core and takt_rcl, one process a core."""
    commands = []
    for package in (CORE, RCL):
        sources = STATE / f"tidy-{package.name}"
        sources.write_text("\n".join(tracked(f"src/{package.name}/src/*.cpp")), encoding="utf-8")
        spread = ["xargs", f"--arg-file={sources}", f"--max-procs={os.cpu_count()}", "--max-args=2"]
        database = STATE / "build" / package.name
        commands.append([*spread, str(BIN / "clang-tidy"), "--quiet", "-p", str(database)])
    return commands


def cpp() -> list[list[str]]:
    """GoogleTest through CTest; of the core only what sanitizers cannot run."""
    return [
        ctest(folder)
        for folder in sorted((STATE / "build").iterdir())
        if (folder / "CTestTestfile.cmake").exists()
    ]


def sanitizers() -> list[list[str]]:
    """The tests of takt_core and takt_rcl under AddressSanitizer and ThreadSanitizer."""
    commands = []
    # Only some parts have threads for ThreadSanitizer to look at.
    threaded = ("executor", "os", "trace")
    for sanitizer, parts in (("address;undefined", ()), ("thread", threaded)):
        folder = STATE / f"build-{sanitizer.split(';')[0]}"
        configure = [
            *SANITIZED,
            f"-DTAKT_SANITIZE={sanitizer}",
            f"-DCMAKE_INSTALL_PREFIX={folder / 'install'}",
        ]
        names = [*(f"takt_core_{name}_test" for name in parts), "takt_core_life_fuzz"]
        targets = [f"--target={name}" for name in names] if parts else []
        only = ["--tests-regex", f"^({'|'.join(parts)})[.]"] if parts else []
        commands += [
            [str(BIN / "cmake"), "-S", str(CORE), "-B", str(folder), *configure],
            [str(BIN / "cmake"), "--build", str(folder), *targets],
            [*ctest(folder), *only],
            [str(BIN / "cmake"), "--install", str(folder)],
            *sanitized_rcl(folder, RCL_TESTS_THREADED if parts else RCL_TESTS),
        ]
    return commands


# Sanitizers slow the compiler down more than the tests: no optimisation, lines only.
SANITIZED = [
    "-GNinja",
    "-DBUILD_TESTING=ON",
    "-DCMAKE_BUILD_TYPE=RelWithDebInfo",
    "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O0 -g1 -DNDEBUG",
]
RCL_TESTS_THREADED = ("delivery", "executor", "executor_life", "waiting")
# Not those that count allocations, which a sanitizer makes itself, nor zero_copy: Fast DDS lends
# memory that begins four bytes behind what a double needs.
RCL_TESTS = (
    *RCL_TESTS_THREADED,
    *("callback", "context", "diagnostics", "executor_errors", "intra_process", "loan"),
    *("message_callback", "node", "publication", "pubsub", "qos", "sample_time"),
)


def sanitized_rcl(core: Path, tests: tuple[str, ...]) -> list[list[str]]:
    """takt_rcl on the sanitized core in that folder; its compiler options come from there."""
    folder = core / "takt_rcl"
    ros = STATE / "ros"
    configure = [
        *SANITIZED,
        f"-Dtakt_core_DIR={core / 'install/share/takt_core/cmake'}",
        *([f"-DTAKT_ROS_WHEELS={ros}"] if ros.exists() else []),
    ]
    suppressions = RCL / "test" / "thread_sanitizer.supp"
    options = f"TSAN_OPTIONS=suppressions={suppressions} report_mutex_bugs=0 detect_deadlocks=0"
    return [
        in_underlay(["cmake", "-S", str(RCL), "-B", str(folder), *configure]),
        in_underlay(
            ["cmake", "--build", str(folder), *(f"--target=test_{name}" for name in tests)]
        ),
        *(
            [
                "env",
                options,
                "timeout",
                "120",
                str(folder / "test" / f"test_{name}"),
                "--gtest_brief=1",
            ]
            for name in tests
        ),
    ]


def in_underlay(command: list[str]) -> list[str]:
    """The command where packages of ROS 2 and Takt are found."""
    return ["bash", "-c", '. "$0" && exec "$@"', str(STATE / "setup.sh"), *command]


def python() -> list[list[str]]:
    """pytest: the tool, the probes as processes, interoperation, the report in a real browser."""
    return [[str(BIN / "python"), "-m", "pytest", "--quiet", *PARALLEL]]


def fuzz() -> list[list[str]]:
    """libFuzzer over what takt_core reads: all that it found before, and so many new inputs."""
    if shutil.which(FUZZING_COMPILER) is None:
        print(f"skipped: {FUZZING_COMPILER} is not installed")
        return []
    folder, harness = STATE / "build-fuzz", CORE / "test" / "fuzz"
    new = folder / "new"  # what libFuzzer finds; the corpus itself stays as it is
    shutil.rmtree(new, ignore_errors=True)
    for parser in FUZZED:
        (new / parser).mkdir(parents=True)
    targets = {parser: f"takt_core_fuzz_{parser}" for parser in FUZZED}
    configure = [
        *SANITIZED,
        "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O1 -g1 -DNDEBUG",  # it is the parser that has to run
        f"-DCMAKE_CXX_COMPILER={FUZZING_COMPILER}",
        "-DTAKT_SANITIZE=address;undefined;fuzzer-no-link",
    ]
    bounds = ["-seed=1", "-timeout=10", "-rss_limit_mb=1024", "-max_len=4096"]
    shown = ["-verbosity=0", "-print_final_stats=1"]
    return [
        [str(BIN / "cmake"), "-S", str(CORE), "-B", str(folder), *configure],
        [
            str(BIN / "cmake"),
            "--build",
            str(folder),
            *(f"--target={one}" for one in targets.values()),
        ],
        *(
            [
                str(folder / "test" / "fuzz" / target),
                f"-dict={harness / 'dictionary'}",
                f"-runs={FUZZED[parser]}",
                f"-artifact_prefix={folder}/{parser}-",
                *bounds,
                *shown,
                str(new / parser),
                str(harness / "corpus" / parser),
            ]
            for parser, target in targets.items()
        ),
    ]


FUZZING_COMPILER = "clang++-16"  # libFuzzer is Clang's
FUZZED = {"application": 50_000, "trace": 100_000}  # inputs of each parser

STAGES: dict[str, Callable[[], list[list[str]]]] = {
    stage.__name__: stage for stage in (style, types, tidy, cpp, sanitizers, python, fuzz)
}
LONG = {"fuzz"}


def main(names: list[str]) -> int:
    everything = names == ["--all"]
    names = [] if everything else names
    unknown = [name for name in names if name not in STAGES]
    if unknown:
        print(
            f"takt test: no stage {unknown[0]!r}; stages are {', '.join(STAGES)}", file=sys.stderr
        )
        return 2
    chosen = names or [name for name in STAGES if everything or name not in LONG]
    failed = []
    for name in chosen:
        started = time.monotonic()
        print(f"\n=== {name}: {(STAGES[name].__doc__ or '').strip()}", flush=True)
        results = [run(command) for command in STAGES[name]()]  # all of them, also after a failure
        passed = all(results)
        seconds = time.monotonic() - started
        print(f"=== {name}: {'passed' if passed else 'FAILED'} in {seconds:.0f} s", flush=True)
        if not passed:
            failed.append(name)
    print(f"\nFailed stages: {', '.join(failed)}" if failed else "\nAll stages passed.")
    print(f"{len(chosen) - len(failed)} passed, {len(failed)} failed")
    return 1 if failed else 0


def run(command: list[str]) -> bool:
    # The launcher put the built Python modules on PYTHONPATH; mypy has a variable of its own.
    environment = {
        **os.environ,
        "PATH": f"{BIN}:{os.environ['PATH']}",
        "MYPYPATH": os.environ.get("PYTHONPATH", ""),
    }
    code = subprocess.run(command, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL).returncode
    if code:
        print(f"--- exit code {code}: {' '.join(command)[:300]}", flush=True)
    return code == 0


def ctest(folder: Path) -> list[str]:
    return [
        str(BIN / "ctest"),
        "--test-dir",
        str(folder),
        "--output-on-failure",
        "--timeout",
        "120",
    ]


def tracked(*patterns: str) -> list[str]:
    command = ["git", "ls-files", "--", *patterns]
    return subprocess.run(
        command, cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.split()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
