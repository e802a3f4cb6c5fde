# SPDX-License-Identifier: Apache-2.0
"""What users build compiled by GCC 14 against its own library, and a few tests linked and run.

Usage: .takt/venv/bin/python setup/gcc14.py [--tests], after a build with tests; ``--tests``
compiles those that are not run, too. Where the machine's compiler is older, GCC comes from Debian
13: its packages are only unpacked below ``.takt/gcc14``. No code is made of what is not linked, and
headers are precompiled; nothing is left out because it takes long.
"""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import sys
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

sys.path.append(str(Path(__file__).resolve().parents[1]))
from setup import distributions, precompiled, unpacked
from setup.reasons import reasons

ROOT = Path(__file__).resolve().parent.parent
STATE = distributions.STATE / "gcc14"
PACKAGES = ("takt_core", "takt_rcl", "takt_probes", "takt_runner")
RUN = ("sched", "stats")  # tests of the core that are linked and run
OTHERS = ("ros1", "cyclonedds")  # whose headers are this machine's system's
LIBRARIES = ("-lgtest_main", "-lgtest", "-lpthread")
# What the build's own compiler made, and what only matters to code that is kept.
DROPPED = ("-c", "-O0", "-O2", "-fPIC", "-Winvalid-pch")
# Collecting garbage takes longer than the memory is worth.
QUICK = ("-O0", "--param=ggc-min-heapsize=1000000")
# What precompiled headers of the library depend on; one that does not fit is a warning.
LANGUAGE = ("-std=", "-Wpedantic", "-DNDEBUG", "-DGTEST_HAS_PTHREAD")
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
    def object(self) -> Path:
        """Where this compiler's object goes."""
        return STATE / "objects" / f"{digest(f'{self.folder}/{self.target}')}.o"

    @property
    def language(self) -> tuple[str, ...]:
        """The options that it must share with a precompiled header."""
        return tuple(one for one in self.options if one.startswith(LANGUAGE))


def commands() -> list[list[str]]:
    """What users build, compiled by GCC 14 with its own standard library, and some tests run."""
    return [[sys.executable, __file__]]


def main(arguments: Sequence[str] = ()) -> int:
    try:
        compiler = unpacked.compiler(STATE)
        if isinstance(compiler, str):
            print(f"left out: {compiler}")
            return 0
        sources = [one for package in PACKAGES for one in read(package)]
        if "--tests" not in arguments:
            built = [one for one in sources if is_run(one) or "test" not in inside(one).parts]
            print(f"left out: {len(sources) - len(built)} tests; --tests compiles them, too")
            sources = built
        for folder in {Path(word) for one in sources for word in one.options}:
            compiler.complete(folder)
        print(version(compiler), flush=True)
        wrong = compiled(compiler, sources) or run(compiler, sources)
    except unpacked.UnpackError as error:
        print(f"takt: {error}", file=sys.stderr)
        return 1
    return 1 if wrong else 0


def version(compiler: unpacked.Compiler) -> str:
    """What it calls itself; raises UnpackError where it cannot even do that."""
    done = compiler.compile(["--version"])
    if done.returncode:
        raise unpacked.UnpackError(
            f"the compiler does not start: {reasons(done.stderr)}\n"
            f"  remedy: remove {STATE} and run this stage again"
        )
    return done.stdout.splitlines()[0]


def read(package: str) -> list[Source]:
    """All sources of a package that was built with its tests."""
    database = STATE.parent / "build" / package / "compile_commands.json"
    try:
        entries = json.loads(database.read_text(encoding="utf-8"))
    except OSError as error:
        raise unpacked.UnpackError(
            f"{database}: {error.strerror}\n  remedy: build first: ./takt test style"
        ) from None
    found = []
    for entry in entries:
        words = shlex.split(entry["command"])
        at = words.index("-o")
        options = [one for one in words[1:at] + words[at + 2 : -1] if one not in DROPPED]
        if "-include" in options:  # a precompiled header, which is another compiler's
            first = options.index("-include")
            del options[first : first + 2]
        file = Path(entry["file"])
        if file.suffix == ".cpp" and file.is_relative_to(ROOT / "src"):
            found.append(Source(file, Path(entry["directory"]), tuple(options), words[at + 1]))
    left = [one for one in found if any(name in str(inside(one)) for name in OTHERS)]
    if left:
        names = ", ".join(sorted(one.file.name for one in left))
        print(f"left out: {names}, whose headers this machine's own system has")
    return [one for one in found if one not in left]


def compiled(compiler: unpacked.Compiler, sources: list[Source]) -> int:
    """Compiles all of them, those that are run first; how many are wrong."""
    headers = precompile(compiler, sources)

    def compile_one(one: Source) -> str:
        made = ["-c", "-o", str(one.object)] if is_run(one) else ["-fsyntax-only"]
        given = ["-Winvalid-pch", *headers.get(one, ()), *one.options, *QUICK, *made]
        done = compiler.compile([*given, str(one.file)], one.folder)
        failed = f"\n{one.file}:0: error: exit code {done.returncode}" if done.returncode else ""
        return done.stderr + ("" if " error: " in done.stderr else failed)

    (STATE / "objects").mkdir(exist_ok=True)
    said = at_once(compile_one, sorted(sources, key=lambda one: not is_run(one)))
    wrong = [one for one in said if " error: " in one]
    warnings = [line for one in said for line in one.splitlines() if " warning: " in line]
    print(f"{len(said)} files compiled, {len(wrong)} do not compile, {len(warnings)} warnings")
    if warnings:
        print("\n".join(dict.fromkeys(warnings)))
    if wrong:
        print(reasons("\n".join(wrong)))
    return len(wrong) + len(warnings)


def precompile(
    compiler: unpacked.Compiler, sources: Iterable[Source]
) -> dict[Source, tuple[str, ...]]:
    """Makes the headers of the library that sources share; how each source includes its own."""
    library = precompiled.Library(compiler.headers())
    alike: dict[tuple[str, ...], dict[Source, precompiled.Headers]] = {}
    for one in sources:
        own = [Path(word[2:]) for word in one.options if word.startswith("-I")]
        named = precompiled.named(one.file, own, ROOT / "src")
        alike.setdefault(one.language, {})[one] = named
    shared = {
        source: (headers, language)
        for language, wanted in alike.items()
        for source, headers in precompiled.shared(wanted, library).items()
        if headers
    }
    (STATE / "headers").mkdir(exist_ok=True)

    def make(key: tuple[precompiled.Headers, tuple[str, ...]]) -> Path:
        headers, language = key
        text = "".join(f"#include <{one}>\n" for one in sorted(headers))
        header = STATE / "headers" / f"{digest(f'{language} {text}')}.hpp"
        header.write_text(text, encoding="utf-8")
        made = ["-x", "c++-header", "-o", f"{header}.gch"]
        done = compiler.compile([*language, *QUICK, *made, str(header)])
        if done.returncode:
            raise unpacked.UnpackError(
                f"the headers {', '.join(sorted(headers))} are not precompiled:\n"
                f"{reasons(done.stderr)}\n  remedy: remove {STATE} and run this stage again"
            )
        return header

    keys = list(dict.fromkeys(shared.values()))
    made = dict(zip(keys, at_once(make, keys), strict=True))
    print(f"{len(made)} headers precompiled for {len(shared)} files", flush=True)
    return {source: ("-include", str(made[key])) for source, key in shared.items()}


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


def is_run(source: Source) -> bool:
    """Whether it is a part of the core's library or of the tests that are run."""
    parts = ("takt_core", *(f"takt_core_{subject}_test" for subject in RUN))
    return any(f"CMakeFiles/{part}.dir/" in source.target for part in parts)


def run(compiler: unpacked.Compiler, sources: list[Source]) -> int:
    """Links and runs the tests; how many programs fail."""
    failed = 0
    for subject in RUN:
        objects = [
            str(one.object)
            for one in sources
            for part in ("takt_core", f"takt_core_{subject}_test")
            if f"CMakeFiles/{part}.dir/" in one.target
        ]
        program = str(STATE / f"{subject}_test")
        done = compiler.compile([*objects, *LIBRARIES, "-o", program])
        if not done.returncode:
            done = compiler.run([program, "--gtest_brief=1"])
        print(done.stdout.strip())
        if done.returncode:
            failed += 1
            print(f"the tests of {subject} fail with GCC 14:\n{reasons(done.stderr)}")
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
