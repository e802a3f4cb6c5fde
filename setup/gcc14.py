# SPDX-License-Identifier: Apache-2.0
"""The sources compiled by GCC 14 against its own library, and a few tests linked and run with it.

Usage: .takt/venv/bin/python setup/gcc14.py, after a build with tests. Where the machine's compiler
is older, GCC comes from Debian 13: its packages are only unpacked below ``.takt/gcc14``, and each
call sees them as ``/usr`` in a mount namespace of its own, for which no root is needed.
"""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import shutil
import sys
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))
from setup import unpacked
from setup.reasons import reasons

ROOT = Path(__file__).resolve().parent.parent
STATE = ROOT / ".takt" / "gcc14"
PACKAGES = ("takt_core", "takt_rcl", "takt_probes", "takt_runner")
RUN = ("sched", "stats")  # tests of the core that are linked and run
OTHERS = ("ros1", "cyclonedds")  # whose headers are this machine's system's
# CI is to end in time where ccache has nothing yet; the next run goes on from there.
BUDGET_S = 240.0
LIBRARIES = ("-lgtest_main", "-lgtest", "-lpthread")
# What the build's own compiler made, and what only matters to optimised code.
DROPPED = ("-O2", "-c", "-Winvalid-pch")


@dataclass(frozen=True)
class Source:
    """A file as the build compiles it."""

    file: Path
    folder: Path
    options: list[str]
    target: str  # its object's path in the build

    @property
    def object(self) -> Path:
        """Where this compiler's object goes."""
        name = hashlib.sha256(f"{self.folder}/{self.target}".encode()).hexdigest()[:16]
        return STATE / "objects" / f"{name}.o"


def commands() -> list[list[str]]:
    """Everything compiled by GCC 14 with its own standard library, and some of it run."""
    return [[sys.executable, __file__]]


def main() -> int:
    try:
        compiler = unpacked.compiler(STATE)
        if isinstance(compiler, str):
            print(f"left out: {compiler}")
            return 0
        sources = [one for package in PACKAGES for one in read(package)]
        compiler.sees(ROOT, *outside(sources))
        (STATE / "objects").mkdir(exist_ok=True)
        print(compiler.call(["g++", "--version"]).stdout.splitlines()[0], flush=True)
        wrong = compiled(compiler, sources) or run(compiler, sources)
    except unpacked.UnpackError as error:
        print(f"takt: {error}", file=sys.stderr)
        return 1
    return 1 if wrong else 0


def read(package: str) -> list[Source]:
    """All sources of a package that was built with its tests."""
    database = ROOT / ".takt" / "build" / package / "compile_commands.json"
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
        file = Path(entry["file"])
        ours = file.suffix == ".cpp" and file.is_relative_to(ROOT / "src")
        if ours and not any(name in str(file.relative_to(ROOT)) for name in OTHERS):
            folder = Path(entry["directory"])
            found.append(Source(file, folder, own_headers(options), words[at + 1]))
    return found


def own_headers(options: list[str]) -> list[str]:
    """Precompiled headers are another compiler's: the same headers are read as text."""
    made = list(options)
    for i, option in enumerate(options):
        header = Path(option)
        if header.name == "cmake_pch.hxx":
            text = header.read_text(encoding="utf-8")
            copy = STATE / f"headers-{hashlib.sha256(text.encode()).hexdigest()[:8]}.hpp"
            if not copy.exists():
                copy.write_text(text, encoding="utf-8")
            made[i] = str(copy)
    return made


def outside(sources: Iterable[Source]) -> set[Path]:
    """Folders of headers that are neither ours nor a part of the unpacked system."""
    words = [one.options for one in sources]
    named = {one[i + 1] for one in words for i, word in enumerate(one) if word == "-isystem"}
    named |= {word[2:] for one in words for word in one if word.startswith("-I")}
    folders = {Path(one) for one in named if Path(one).is_dir()}
    for one in [one for one in folders if one.name.startswith("python3")]:  # Debian divides it
        folders |= set(one.parent.glob(f"*-linux-gnu/{one.name}"))
    return {one for one in folders if not one.is_relative_to(ROOT)}


def compiled(compiler: unpacked.Compiler, sources: list[Source]) -> int:
    """Compiles what fits into the time, the tests that are run first; how many are wrong."""
    until = time.monotonic() + BUDGET_S
    cached = ["ccache"] if compiler.cached else []

    def compile_one(one: Source) -> str | None:
        """Nothing where the time is over, else what the compiler said."""
        if time.monotonic() > until:
            return None
        done = compiler.call(
            [*cached, "g++", *one.options, "-O0", "-c", "-o", str(one.object), str(one.file)],
            one.folder,
        )
        failed = f"\n{one.file}:0: error: exit code {done.returncode}" if done.returncode else ""
        return done.stderr + ("" if " error: " in done.stderr else failed)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        said = list(pool.map(compile_one, sorted(sources, key=lambda one: not is_run(one))))
    later = said.count(None)
    wrong = [one for one in said if one and " error: " in one]
    warnings = [one for one in said if one and " warning: " in one]
    print(f"{len(said) - later} of {len(said)} files compiled, {len(wrong)} do not compile")
    if later:
        print(f"left out: {later} files, as {BUDGET_S:.0f} s are over")
    for text in warnings:
        print("\n".join(line for line in text.splitlines() if " warning: " in line))
    if wrong:
        print(reasons("\n".join(wrong)))
    return len(wrong)


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
        if missing := [one for one in objects if not Path(one).exists()]:
            print(f"left out: the tests of {subject}, as {len(missing)} files were not compiled")
            continue
        program = str(STATE / f"{subject}_test")
        done = compiler.call(["g++", *objects, *LIBRARIES, "-o", program])
        if not done.returncode:
            done = compiler.call([program, "--gtest_brief=1"])
        print(done.stdout.strip())
        if done.returncode:
            failed += 1
            print(f"the tests of {subject} fail with GCC 14:\n{reasons(done.stderr)}")
    return failed


if __name__ == "__main__":
    if shutil.which("nice"):
        os.nice(10)  # beside another stage
    sys.exit(main())
