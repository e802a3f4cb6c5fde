# SPDX-License-Identifier: Apache-2.0
"""The whole test suite: style, types, C++ with and without sanitizers, Python, browser.

Usage: ./takt test [STAGE…], for example ``./takt test style python``; all stages without a name.
Every stage runs even where an earlier one failed; the exit code is 1 if any of them did.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
STATE = ROOT / ".takt"
BIN = STATE / "venv" / "bin"
CORE = ROOT / "src" / "takt_core"
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
    """clang-tidy over takt_core's sources, one process a core."""
    sources = STATE / "tidy-sources"
    sources.write_text("\n".join(tracked("src/takt_core/src/*.cpp")), encoding="utf-8")
    spread = ["xargs", f"--arg-file={sources}", f"--max-procs={os.cpu_count()}", "--max-args=2"]
    database = STATE / "build" / "takt_core"
    return [[*spread, str(BIN / "clang-tidy"), "--quiet", "-p", str(database)]]


def cpp() -> list[list[str]]:
    """GoogleTest through CTest; of the core only what sanitizers cannot run."""
    return [
        ctest(folder)
        for folder in sorted((STATE / "build").iterdir())
        if (folder / "CTestTestfile.cmake").exists()
    ]


def sanitizers() -> list[list[str]]:
    """The core's tests under AddressSanitizer with UndefinedBehaviorSanitizer, ThreadSanitizer."""
    commands = []
    # Only some parts have threads for ThreadSanitizer to look at.
    threaded = ("executor", "os", "trace")
    for sanitizer, parts in (("address;undefined", ()), ("thread", threaded)):
        folder = STATE / f"build-{sanitizer.split(';')[0]}"
        # Sanitizers slow the compiler down more than the tests: no optimisation, lines only.
        flags = "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O0 -g1 -DNDEBUG"
        configure = ["-GNinja", "-DBUILD_TESTING=ON", f"-DTAKT_SANITIZE={sanitizer}", flags]
        names = [*(f"takt_core_{name}_test" for name in parts), "takt_core_life_fuzz"]
        targets = [f"--target={name}" for name in names] if parts else []
        only = ["--tests-regex", f"^({'|'.join(parts)})[.]"] if parts else []
        commands += [
            [str(BIN / "cmake"), "-S", str(CORE), "-B", str(folder), *configure],
            [str(BIN / "cmake"), "--build", str(folder), *targets],
            [*ctest(folder), *only],
        ]
    return commands


def python() -> list[list[str]]:
    """pytest: the tool, the probes as processes, interoperation, the report in a real browser."""
    return [[str(BIN / "python"), "-m", "pytest", "--quiet", *PARALLEL]]


STAGES: dict[str, Callable[[], list[list[str]]]] = {
    stage.__name__: stage for stage in (style, types, tidy, cpp, sanitizers, python)
}


def main(names: list[str]) -> int:
    unknown = [name for name in names if name not in STAGES]
    if unknown:
        print(
            f"takt test: no stage {unknown[0]!r}; stages are {', '.join(STAGES)}", file=sys.stderr
        )
        return 2
    chosen = names or list(STAGES)
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
