# SPDX-License-Identifier: Apache-2.0
"""``./takt test --abi [OLD [NEW]]``: compares the binary interfaces of two commits' libraries.

OLD is the newest tag without a word, or the commit before NEW where there is none; NEW is HEAD.
abidiff compares what the public headers show: a function, a type's layout or a virtual table that
changed or is gone is incompatible, what was added is not. An incompatible change is allowed with
another SONAME, so that programs of the old library do not load the new one.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from setup.distributions import ROOT, STATE
from setup.release.environment import ReleaseError, call, compiling

FOLDER = STATE / "abi"
TOOL = "abidiff"  # of Debian's abigail-tools
USAGE = "usage: ./takt test --abi [OLD [NEW]], two commits"
# In the order in which each needs the ones before it.
LIBRARIES = ("takt_core", "takt_rcl", "takt_rclcpp")
# abidiff's exit code is a sum of these.
WENT_WRONG, CHANGED = 1 | 2, 4 | 8
# What it says of types of the inside, which the headers only name, is of no use to anybody.
PUBLIC_ALONE = ("--no-added-syms", "--drop-private-types")
# As it comes from the compiler: what is inlined is still described. Nothing but the library.
BUILD = (
    *("-GNinja", "-DCMAKE_BUILD_TYPE=None", "-DCMAKE_CXX_FLAGS=-g -O0", "-DBUILD_TESTING=OFF"),
    "-DCMAKE_DISABLE_FIND_PACKAGE_nanobind=ON",
)
WITHOUT_AMENT = "-DCMAKE_DISABLE_FIND_PACKAGE_ament_cmake=ON"


class AbiError(Exception):
    """What could not be compared, and what to do about it."""


@dataclass(frozen=True)
class Library:
    """A shared library with debug information, and the public headers that it was built with."""

    file: Path
    headers: Path


@dataclass(frozen=True)
class Comparison:
    """Whether programs of the old library work with the new one, and abidiff's words if not."""

    compatible: bool
    message: str = ""
    sonames: tuple[str, str] = ("", "")

    @property
    def allowed(self) -> bool:
        """Also where it is incompatible and the new library says so by its SONAME."""
        return self.compatible or self.sonames[0] != self.sonames[1]


def main(arguments: Sequence[str]) -> int:
    """0: compatible, or announced by another SONAME; 1: not; 2: not compared."""
    try:
        old, new = commits(arguments)
        if shutil.which(TOOL) is None:
            raise AbiError(f"{TOOL} is not installed\n  fix: apt install abigail-tools")
        failed = [name for name in LIBRARIES if not compared(name, old, new)]
    except (AbiError, ReleaseError) as error:
        print(f"takt test: {error}", file=sys.stderr)
        return 2
    print(f"\nincompatible: {', '.join(failed)}" if failed else "\nnone is incompatible")
    return 1 if failed else 0


def commits(words: Sequence[str]) -> tuple[str, str]:
    """The two commits, by their hashes; raises AbiError."""
    if len(words) > 2 or any(one.startswith("-") for one in words):
        raise AbiError(USAGE)
    new = resolved(words[1] if len(words) == 2 else "HEAD")
    before = git("describe", "--tags", "--abbrev=0", f"{new}^") or f"{new}^"
    return resolved(words[0] if words else before), new


def resolved(name: str) -> str:
    """The hash of a commit; raises AbiError."""
    found = git("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
    if not found:
        raise AbiError(f"there is no commit {name!r}\n  {USAGE}")
    return found


def git(*words: str) -> str:
    """What it says; nothing where it fails."""
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True)
    return "" if done.returncode else done.stdout.strip()


def compared(name: str, old: str, new: str) -> bool:
    """Builds and compares one library and says how that ended; raises AbiError, ReleaseError."""
    between = f"{old[:8]} to {new[:8]}"
    if reason := left_out(name, old, new):
        print(f"{name}: left out: {reason}", flush=True)
        return True
    result = compare(*(built(name, commit) for commit in (old, new)))
    if result.compatible:
        print(f"{name}, {between}: compatible", flush=True)
    elif result.allowed:
        print(result.message)
        from_to = " to ".join(result.sonames)
        print(f"{name}, {between}: incompatible, announced by its SONAME: {from_to}", flush=True)
    else:
        print(result.message)
        print(f"{name}, {between}: INCOMPATIBLE, its SONAME is still {result.sonames[0]}")
        print("  fix: undo that, or raise the version in package.xml and CMakeLists.txt")
    return result.allowed


def left_out(name: str, *of: str) -> str:
    """Why a library cannot be compared here; empty where it can."""
    for commit in of:
        if not git("ls-tree", commit, f"src/{name}/CMakeLists.txt"):
            return f"{commit[:8]} does not have it"
    if name != "takt_core" and not (STATE / "install" / "lib" / f"lib{name}.so").exists():
        return "the last build did not find what it needs"
    return ""


def compare(old: Library, new: Library) -> Comparison:
    """What changed that a program of the old library sees; raises AbiError."""
    headers = ["--headers-dir1", str(old.headers), "--headers-dir2", str(new.headers)]
    command = [TOOL, *PUBLIC_ALONE, *headers, str(old.file), str(new.file)]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace")
    if done.returncode < 0 or done.returncode & WENT_WRONG:
        raise AbiError(f"{TOOL} did not compare: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    names = (soname(old.file), soname(new.file))
    return Comparison(not done.returncode & CHANGED, done.stdout.strip(), names)


def soname(file: Path) -> str:
    """The name by which programs ask for it."""
    message = subprocess.run(
        ["readelf", "--dynamic", "--wide", str(file)], capture_output=True, text=True, check=True
    )
    found = re.search(r"\(SONAME\).*\[(.*)\]", message.stdout)
    return found[1] if found else file.name


def built(name: str, commit: str) -> Library:
    """The library of a commit; a second comparison finds it. Raises ReleaseError."""
    folder = FOLDER / commit[:16]
    prefix, compiled = folder / "installed", folder / f"{name}-made"
    library = Library(prefix / "lib" / f"lib{name}.so", prefix / "include" / name)
    if not compiled.exists():
        source, build = folder / "source" / name, folder / f"build-{name}"
        exported(name, commit, source)
        environment = compiling([STATE / "venv" / "bin"])
        print(f"  {name} of {commit[:8]} …", flush=True)
        # The rest of the core, its benches and its Python module, is not built.
        core = name == "takt_core"
        options = [*BUILD, *([WITHOUT_AMENT] if core else of_ros(prefix))]
        parts = [["--component", one] for one in ("runtime", "development")] if core else [[]]
        steps: list[tuple[str, list[object]]] = [
            ("configure", ["-S", source, "-B", build, *options]),
            ("build", ["--build", build, *(["--target", name] if core else [])]),
            *(("install", ["--install", build, "--prefix", prefix, *one]) for one in parts),
        ]
        for what, words in steps:
            call(f"{name} of {commit[:8]}: {what}", in_underlay(["cmake", *words]), environment)
        shutil.rmtree(build)
        compiled.touch()
    return library


def exported(name: str, commit: str, source: Path) -> None:
    """The folder of a package as the commit has it."""
    shutil.rmtree(source, ignore_errors=True)
    source.mkdir(parents=True)
    packed = subprocess.run(
        ["git", "archive", f"{commit}:src/{name}"], cwd=ROOT, capture_output=True, check=True
    )
    subprocess.run(["tar", "-x", "-C", str(source)], input=packed.stdout, check=True)


def of_ros(prefix: Path) -> list[str]:
    """What finds the commit's own core before that of the workspace; the wheels; no examples."""
    ros = STATE / "ros"
    options = [f"-Dtakt_core_DIR={prefix / 'share/takt_core/cmake'}", "-DTAKT_MEASURE_ONLY=ON"]
    if ros.exists():
        python = ros / "bin" / "python"
        options += [f"-DTAKT_ROS_WHEELS={ros}", f"-DPython3_EXECUTABLE={python}"]
    return options


def in_underlay(command: Sequence[object]) -> list[object]:
    """The command where packages of ROS 2 are found, if there are any."""
    setup = STATE / "setup.sh"
    if not setup.exists():
        return list(command)
    return ["bash", "-c", '. "$0" && exec "$@"', setup, *command]
