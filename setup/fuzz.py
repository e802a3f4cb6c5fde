# SPDX-License-Identifier: Apache-2.0
"""libFuzzer over the parsers of takt_core, with Clang, which is where libFuzzer lives."""

from __future__ import annotations

import shutil
from pathlib import Path

from setup.distributions import ROOT, STATE

BUILD = STATE / "build-fuzz"
NEW = BUILD / "new"  # what libFuzzer finds; the corpus itself stays as it is
CMAKE = str(STATE / "venv" / "bin" / "cmake")
CORE = ROOT / "src" / "takt_core"
HARNESS = CORE / "test" / "fuzz"
COMPILERS = ("clang++-16", "clang++")  # see system_packages.py
INPUTS = {"application": 50_000, "trace": 100_000}  # of each parser; the same in every run
CONFIGURE = [
    "-GNinja",
    "-DBUILD_TESTING=ON",
    "-DCMAKE_BUILD_TYPE=RelWithDebInfo",
    "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O1 -g1 -DNDEBUG",
    "-DTAKT_SANITIZE=address;undefined;fuzzer-no-link",
]
# Seconds of the wall: beside other stages an input waits for a core.
BOUNDS = ["-timeout=300", "-rss_limit_mb=1024", "-max_len=4096"]
SHOWN = ["-verbosity=0", "-print_final_stats=1"]


def commands() -> list[list[str]]:
    """Everything that was found before, then so many new inputs of each parser."""
    built = builds()
    if not built:
        print(f"left out: none of {', '.join(COMPILERS)} is installed")
        return []
    shutil.rmtree(NEW, ignore_errors=True)  # the same inputs in every run
    return [*built, *runs([], 1)]


def builds() -> list[list[str]]:
    """Compiles the fuzzers; nothing where Clang is missing."""
    compiler = next(filter(shutil.which, COMPILERS), None)
    if compiler is None:
        return []
    targets = [f"--target={program(parser).name}" for parser in INPUTS]
    return [
        [CMAKE, "-S", str(CORE), "-B", str(BUILD), *CONFIGURE, f"-DCMAKE_CXX_COMPILER={compiler}"],
        [CMAKE, "--build", str(BUILD), *targets],
    ]


def runs(length: list[str], seed: int) -> list[list[str]]:
    """Each parser for as long as ``length`` says in libFuzzer's words; empty: INPUTS."""
    for parser in INPUTS:
        (NEW / parser).mkdir(parents=True, exist_ok=True)
    return [
        [
            str(program(parser)),
            f"-dict={HARNESS / 'dictionary'}",
            *(length or [f"-runs={inputs}"]),
            f"-seed={seed}",
            f"-artifact_prefix={BUILD}/{parser}-",  # what broke it; belongs into the corpus
            *BOUNDS,
            *SHOWN,
            str(NEW / parser),
            str(HARNESS / "corpus" / parser),
        ]
        for parser, inputs in INPUTS.items()
    ]


def program(parser: str) -> Path:
    """The fuzzer of one parser."""
    return BUILD / "test" / "fuzz" / f"takt_core_fuzz_{parser}"
