# SPDX-License-Identifier: Apache-2.0
"""The stages of ``./takt test``: each is a list of commands, all of which must end well."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass

from setup import compiled, documentation, sanitized
from setup import fuzz as fuzzers
from setup.distributions import ROOT, STATE

BIN = STATE / "venv" / "bin"
# More than cores: many tests wait for processes. A file stays together, for its fixtures; the order
# is that of conftest.py, the longest first, so that none is alone at the end. The slowest are told,
# so that it is seen where the time of the stage goes.
PARALLEL = ["--numprocesses=4", "--dist=loadfile", "--no-loadscope-reorder", "--durations=10"]
# Takes a core from everything else on the machine, and so from every test beside it.
WHOLE_MACHINE = "src/takt/test/test_exclusive_cores_real.py"
# GoogleTests: one with real-time threads, which mostly waits (RESOURCE_LOCK in the packages'
# CMakeLists.txt), and one without beside it.
TESTS_AT_ONCE = "2"
# What waits for real time, and has been seen under another policy or with another seed.
EVERY_POLICY = (
    "^executor[.](life_fuzz_1000000$|Policies/(Life|Data|Scenario).*/(edf|np_edf|np_fp)( |$)"
    "|Policies/Inversion.*/(rm|dm|np_|p_))"
)
# Packages whose public headers have a Doxygen comment on every entity.
DOCUMENTED = ("takt_core", "takt_rcl", "takt_rclcpp")

Commands = list[list[str]]


@dataclass(frozen=True)
class Stage:
    """A part of the suite; ``always``: also without ``--all``.

    ``beside``: the stage with which it begins, where that one runs, too. From there on it takes the
    time that all others leave, one such stage after the other; so it compiles or checks, and waits
    for no real time. ``until``: the stage that needs what it has made.
    """

    commands: Callable[[], Commands]
    always: bool
    beside: str = ""
    until: str = ""

    @property
    def what(self) -> str:
        """What it looks at, in a line."""
        return (self.commands.__doc__ or "").strip()


def stacks() -> Commands:
    """Stacks, and a lab, that not every machine has: without them tests would be left out.

    Not Zenoh: cargo builds it for some ten minutes, so its tests run only where it was asked for.
    """
    parts = ["ros1", "cyclictest", "cyclonedds", "lab"]
    parts += (
        ["rustdds", "iceoryx2", "ethercat"] if shutil.which("cargo") else []
    )  # Debian's own is too old
    return [[str(BIN / "python"), "-m", "takt", "setup", *parts, "--yes"]]


def style() -> Commands:
    """Formatting and linting of everything that git knows; comments of public C++ headers."""
    public = tracked(*(f"src/{package}/include/*.hpp" for package in DOCUMENTED))
    return [
        [str(BIN / "ruff"), "check", "--quiet", "."],
        [str(BIN / "ruff"), "format", "--check", "--quiet", "."],
        [str(BIN / "clang-format"), "--dry-run", "-Werror", *tracked("*.hpp", "*.cpp")],
        [str(BIN / "python"), "setup/cpp_comments.py", *public],
    ]


def types() -> Commands:
    """Mypy strict over the tool and the set-up."""
    return [[str(BIN / "mypy"), "src/takt/takt", "setup"]]


def cpp() -> Commands:
    """GoogleTest through CTest, all packages beside each other."""
    folder = sanitized.together(STATE / "tests", sorted((STATE / "build").iterdir()))
    return [
        [*sanitized.ctest(folder), "--parallel", TESTS_AT_ONCE, "--exclude-regex", EVERY_POLICY]
    ]


def rust() -> Commands:
    """The crates: formatting; the simulated EtherCAT segment, with a million mutated frames."""
    cargo = shutil.which("cargo")
    if cargo is None:
        return []
    manifests = [str(one) for one in sorted(ROOT.glob("src/*/Cargo.toml"))]
    formatted = [[cargo, "fmt", "--check", "--manifest-path", one] for one in manifests]
    tested = [
        [
            *(cargo, "test", "--quiet", "--locked"),
            f"--manifest-path={ROOT / 'src' / crate / 'Cargo.toml'}",
            f"--target-dir={STATE / 'build' / crate}",
        ]
        for crate in ("takt_c", "takt_ethercat")  # the others are tested as their probes
    ]
    return [*formatted, *tested]


def python() -> Commands:
    """pytest: the tool, the probes as processes, interoperation, the report in a real browser."""
    tests = ROOT / "src" / "takt" / "test"
    kept = (tests / "__pycache__", STATE / "pycache" / tests.relative_to("/"))
    # In a new clone: what this compiles, none of the workers compiles again.
    first = [] if any(one.exists() for one in kept) else [[*pytest(), "--collect-only", "-q"]]
    return [
        *first,
        [*pytest(), *PARALLEL, "-m", "not thorough", f"--ignore={WHOLE_MACHINE}"],
        [*pytest(), WHOLE_MACHINE],
    ]


def thorough() -> Commands:
    """GoogleTest under every policy; pytest: long campaigns, many faults, ROS 1."""
    core = sanitized.ctest(STATE / "build" / "takt_core")
    files = marked("thorough")
    return [
        [*core, "--tests-regex", EVERY_POLICY],
        [*pytest(), *PARALLEL, "-m", "thorough", *files],
    ]


def tidy() -> Commands:
    """clang-tidy over the C++ sources."""
    return [[str(BIN / "python"), "setup/tidied.py"]]


def instrumented() -> Commands:
    """Compiled for the sanitizers, while other tests wait for real time."""
    return sanitized.builds()


def sanitizers() -> Commands:
    """The tests of takt_core, takt_rcl and, where rclcpp is, takt_rclcpp under sanitizers."""
    return sanitized.commands()


def gcc14() -> Commands:
    """The libraries compiled by GCC 14 with its own; some tests, which it runs."""
    return compiled.commands()


def site() -> Commands:
    """The documentation as a site, without a warning."""
    return documentation.commands()


def fuzz() -> Commands:
    """libFuzzer over what takt_core reads: all that it found before, and many new inputs."""
    return fuzzers.commands()


# Beside the others first what one of them needs, then what is done on one core; what is left in the
# end takes all of them.
STAGES = {
    stage.commands.__name__: stage
    for stage in (
        Stage(style, always=True),
        Stage(types, always=True, beside="cpp"),
        Stage(instrumented, always=False, beside="cpp", until="sanitizers"),
        Stage(fuzz, always=False, beside="cpp"),
        Stage(tidy, always=False, beside="cpp"),
        Stage(cpp, always=True),
        Stage(stacks, always=False),
        Stage(rust, always=False),
        Stage(gcc14, always=False, beside="python"),
        Stage(python, always=True),
        Stage(thorough, always=False),
        Stage(sanitizers, always=False),
        Stage(site, always=False),  # a first time it holds the set-up's lock
    )
}


def pytest() -> list[str]:
    return [str(BIN / "python"), "-m", "pytest", "--quiet"]


def marked(marker: str) -> list[str]:
    """The files of pytest's tests that have the marker: each worker only imports these."""
    files = tracked("setup/test/test_*.py", "src/*/test_*.py")
    return [one for one in files if marker in (ROOT / one).read_text(encoding="utf-8")]


def tracked(*patterns: str) -> list[str]:
    command = ["git", "ls-files", "--", *patterns]
    return subprocess.run(
        command, cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.split()
