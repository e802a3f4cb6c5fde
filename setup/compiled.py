# SPDX-License-Identifier: Apache-2.0
"""What users build compiled by another compiler, and a few tests linked and run.

Usage: .takt/venv/bin/python setup/compiled.py [--tests], after a build with tests: the libraries by
GCC 14, where the machine's own is older; ``--tests`` compiles all that there is. The matrix
compiles what users build, with GCC 14 and others (matrix/by_compiler.py). No code is made of what
is not linked, and headers are precompiled.
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import sys
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Literal, TypeVar

sys.path.append(str(Path(__file__).resolve().parents[1]))
from setup import compile_commands, compilers, distributions, precompiled
from setup.compilers import Compiler, Wanted
from setup.reasons import reasons
from setup.unpacked import UnpackError

ROOT = Path(__file__).resolve().parent.parent
BUILD = distributions.STATE / "build"
STATE = distributions.STATE / "matrix"  # a folder for each compiler
NEWER = Wanted("gcc", 14)
PACKAGES = ("takt_core", "takt_rcl", "takt_probes", "takt_runner")
OF_LIBRARIES = ("takt_core/src", "takt_rcl/src")  # what the packages of users are linked with
OTHERS = ("ros1", "cyclonedds")  # whose headers are this machine's system's
RUN = ("sched", "stats")  # tests of the core that are linked and run
# What these need nothing of in the core's library, so that it is only parsed.
NOT_LINKED = {"analysis", "application", "executor", "sim"}
# Debian builds GoogleTest with its newest GCC, so it needs the C++ library that programs run with;
# an older GCC brings an older one to link with.
LIBRARIES = ("-lgtest_main", "-lgtest", "-lpthread", "-l:libstdc++.so.6")
# What the build's own compiler made, and what only matters to code that is kept.
DROPPED = re.compile(r"-c|-O\d|-fPIC|--param=.*")
PASSED = re.compile(r"\[  PASSED  \] (\d+) test")
FAILED = re.compile(r"\[  FAILED  \] (\d+) test")
Extent = Literal["libraries", "what users build", "all"]
Given = TypeVar("Given")
Made = TypeVar("Made")


@dataclass(frozen=True)
class Source:
    """A file as the build compiles it."""

    file: Path
    folder: Path
    options: tuple[str, ...]
    target: str  # its object's path in the build

    @property
    def places(self) -> list[Path]:
        """Where the compiler looks for headers: ours, then others."""
        own = [one[2:] for one in self.options if one.startswith("-I")]
        others = [place for word, place in pairwise(self.options) if word == "-isystem"]
        return [Path(one) for one in (*own, *others)]

    @property
    def language(self) -> tuple[Path, tuple[str, ...]]:
        """What it must share with a precompiled header: one that does not fit is a warning."""
        return self.folder, self.options


@dataclass(frozen=True)
class Task:
    """One compiler, the folder for what it makes, and the core's tests that are run."""

    compiler: Compiler
    folder: Path
    tests: Sequence[str]

    def object(self, source: Source) -> Path:
        """Where its object of a file goes."""
        return self.folder / "objects" / f"{digest(f'{source.folder}/{source.target}')}.o"

    def runs(self, source: Source) -> bool:
        """Whether it is linked: a part of the core's library or of the tests that are run."""
        parts = ("takt_core", *(f"takt_core_{subject}_test" for subject in self.tests))
        whole = NOT_LINKED & set(self.tests)
        linked = whole or not NOT_LINKED & set(source.file.parts)
        return bool(linked) and any(f"CMakeFiles/{part}.dir/" in source.target for part in parts)


@dataclass(frozen=True)
class Result:
    """What came of it, in numbers."""

    version: str
    files: int
    wrong: int  # files that do not compile, warnings, programs of tests that fail
    passed: int = 0  # tests
    failed: int = 0


def commands() -> list[list[str]]:
    """The libraries, compiled by GCC 14 with its own standard library, and some tests run."""
    return [[sys.executable, __file__]]


def main(arguments: Sequence[str] = ()) -> int:
    own = compilers.major("g++")
    if own is None or own >= NEWER.version:
        print(f"left out: the build itself has GCC {own}" if own else "left out: there is no g++")
        return 0
    try:
        extent: Extent = "all" if "--tests" in arguments else "libraries"
        result = tried(NEWER, STATE / "gcc-14", RUN, extent)
    except UnpackError as error:
        print(f"takt: {error}", file=sys.stderr)
        return 1
    if isinstance(result, str):
        print(f"left out: {result}")
        return 0
    return 1 if result.wrong else 0


def tried(
    wanted: Wanted, folder: Path, tests: Sequence[str], extent: Extent = "what users build"
) -> Result | str:
    """Compiles, links and runs it all, or tells why that compiler cannot be had."""
    compiler = compilers.compiler(folder, wanted)
    if isinstance(compiler, str):
        return compiler
    task = Task(compiler, folder, tests)
    every = [one for package in PACKAGES for one in read(package)]
    sources = [one for one in every if task.runs(one) or belongs(one, extent)]
    if left := len(every) - len(sources):
        print(f"left out: {left} files beside {extent}; --tests compiles them, too")
    for include in {Path(word) for one in sources for word in one.options}:
        compiler.complete(include)
    release = version(task)
    print(release, flush=True)
    errors, warnings = compiled(task, sources)
    if errors:
        return Result(release, len(sources), errors + warnings)
    result = run(task, sources, release)
    return replace(result, wrong=result.wrong + warnings)


def belongs(source: Source, extent: Extent) -> bool:
    """Whether it is a part of that."""
    if extent == "libraries":
        return any(inside(source).is_relative_to(one) for one in OF_LIBRARIES)
    return extent == "all" or "test" not in inside(source).parts


def version(task: Task) -> str:
    """What the compiler calls itself; raises UnpackError where it cannot even do that."""
    done = task.compiler.compile(["--version"])
    if done.returncode:
        raise UnpackError(
            f"the compiler does not start: {reasons(done.stderr)}\n"
            f"  fix: remove {task.folder} and do this again"
        )
    return done.stdout.splitlines()[0]


def read(package: str) -> list[Source]:
    """All sources of a package that was built with its tests."""
    build = BUILD / package
    found = []
    try:
        for entry in compile_commands.entries(build):
            words = shlex.split(entry.command)
            at = words.index("-o")
            given = [one for one in words[1:at] + words[at + 2 : -1] if not DROPPED.fullmatch(one)]
            if entry.source.suffix == ".cpp" and entry.source.is_relative_to(ROOT / "src"):
                found.append(Source(entry.source, entry.folder, tuple(given), entry.output))
    except OSError as error:
        raise UnpackError(
            f"{error.filename}: {error.strerror}\n  fix: build first: ./takt test style"
        ) from None
    left = [one for one in found if any(name in str(inside(one)) for name in OTHERS)]
    if left:
        names = ", ".join(sorted(one.file.name for one in left))
        print(f"left out: {names}, whose headers this machine's own system has")
    return [one for one in found if one not in left]


def compiled(task: Task, sources: list[Source]) -> tuple[int, int]:
    """Compiles all of them, those that are run first: files with errors, and warnings."""
    headers, said_of_headers = precompile(task, sources)

    def compile_one(one: Source) -> str:
        outputs = ["-c", "-o", str(task.object(one))] if task.runs(one) else ["-fsyntax-only"]
        quick = task.compiler.quick
        given = ["-Winvalid-pch", *headers.get(one, ()), *one.options, *quick, *outputs]
        done = task.compiler.compile([*given, str(one.file)], one.folder)
        failed = f"\n{one.file}:0: error: exit code {done.returncode}" if done.returncode else ""
        return done.stderr + ("" if " error: " in done.stderr else failed)

    (task.folder / "objects").mkdir(parents=True, exist_ok=True)
    said = at_once(compile_one, sorted(sources, key=lambda one: not task.runs(one)))
    wrong = [one for one in said if " error: " in one]
    lines = "\n".join([*said_of_headers, *said]).splitlines()
    warnings = [line for line in lines if " warning: " in line]
    print(f"{len(said)} files compiled, {len(wrong)} do not compile, {len(warnings)} warnings")
    if warnings:
        print("\n".join(dict.fromkeys(warnings)))
    if wrong:
        print(reasons("\n".join(wrong)))
    return len(wrong), len(warnings)


def precompile(
    task: Task, sources: Iterable[Source]
) -> tuple[dict[Source, tuple[str, ...]], list[str]]:
    """Makes the headers that sources share: how each source includes its own, and the warnings."""
    alike: dict[tuple[Path, tuple[str, ...]], list[Source]] = {}
    for one in sources:
        alike.setdefault(one.language, []).append(one)
    shared: dict[Source, precompiled.Headers] = {}
    for several in alike.values():
        places = several[0].places
        library = precompiled.Library([*task.compiler.headers(), *places])
        wanted = {one: precompiled.named(one.file, places, ROOT / "src") for one in several}
        shared |= precompiled.shared(wanted, library)
    folder = task.folder / "headers"
    folder.mkdir(parents=True, exist_ok=True)
    users: dict[tuple[precompiled.Headers, tuple[Path, tuple[str, ...]]], list[Source]] = {}
    for one, headers in shared.items():
        if headers:
            users.setdefault((headers, one.language), []).append(one)

    def make(key: tuple[precompiled.Headers, tuple[Path, tuple[str, ...]]]) -> tuple[Path, str]:
        headers, (place, options) = key
        text = "".join(f"#include <{one}>\n" for one in sorted(headers))
        header = folder / f"{digest(f'{place} {options} {text}')}.hpp"
        header.write_text(text, encoding="utf-8")
        outputs = ["-x", "c++-header", "-o", f"{header}.gch"]
        done = task.compiler.compile([*options, *task.compiler.quick, *outputs, str(header)], place)
        if done.returncode:  # the sources say what is wrong, each by itself
            Path(f"{header}.gch").unlink(missing_ok=True)
        return header, "" if done.returncode else done.stderr

    done = dict(zip(users, at_once(make, users), strict=True))
    print(f"{len(done)} headers precompiled for {sum(map(len, users.values()))} files", flush=True)
    includes: dict[Source, tuple[str, ...]] = {
        source: ("-include", str(done[key][0]))
        for key, several in users.items()
        for source in several
    }
    return includes, [said for _, said in done.values()]


def at_once(function: Callable[[Given], Made], arguments: Iterable[Given]) -> list[Made]:
    """As many as there are cores."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(function, arguments))


def digest(text: str) -> str:
    """A name for a file."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def inside(source: Source) -> Path:
    """Where it lies among the packages."""
    return source.file.relative_to(ROOT / "src")


def run(task: Task, sources: list[Source], version: str) -> Result:
    """Links and runs the tests."""
    wrong = passed = failed = 0
    for subject in task.tests:
        objects = [
            str(task.object(one))
            for one in filter(task.runs, sources)
            for part in ("takt_core", f"takt_core_{subject}_test")
            if f"CMakeFiles/{part}.dir/" in one.target
        ]
        program = str(task.folder / f"{subject}_test")
        done = task.compiler.compile([*objects, *LIBRARIES, "-o", program])
        if not done.returncode:
            done = task.compiler.run([program, "--gtest_brief=1"])
        print(done.stdout.strip())
        passed += count(PASSED, done.stdout)
        failed += count(FAILED, done.stdout)
        if done.returncode:
            wrong += 1
            name = task.compiler.wanted.name
            print(f"the tests of {subject} fail with {name}:\n{reasons(done.stderr)}")
    return Result(version, len(sources), wrong, passed, failed)


def count(kind: re.Pattern[str], printed: str) -> int:
    """How many tests GoogleTest said."""
    return sum(int(one) for one in kind.findall(printed)[:1])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
