# SPDX-License-Identifier: Apache-2.0
"""Installed headers: each compiles by itself, and a class is the same in debug and release builds.

A program and the library that it links are compiled apart, one of them perhaps with NDEBUG: where
the layout of a class depends on it, they overwrite each other's memory.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

import pytest

SOURCES = Path(__file__).resolve().parents[2]
sys.path.append(str(SOURCES.parent))
from setup import compilers, precompiled  # noqa: E402

BUILD = SOURCES.parent / os.environ.get("TAKT_STATE", ".takt") / "build"
FOLDERS = {
    "takt_core": ["include"],
    "takt_rcl": ["include"],
    "takt_rclcpp": ["include", "peers/include"],
    "takt_runner": ["baseline/include"],
}
# Where it is built, all that the headers need is there.
SOURCE = {"takt_rclcpp": "scheduling_executor.cpp"}
PACKAGES = [
    pytest.param(one, marks=[] if one == "takt_core" else pytest.mark.thorough) for one in FOLDERS
]
# Also of whom a class of ours may be derived from.
_CLASS = re.compile(r"^Class ((?:takt|rclcpp)::.+)\n   size=(\d+) align=(\d+)", re.MULTILINE)


def headers(package: str) -> list[str]:
    """As they are included."""
    found: list[str] = []
    for folder in FOLDERS[package]:
        place = SOURCES / package / folder
        found += [str(one.relative_to(place)) for one in place.rglob("*.hpp")]
    return sorted(found)


def compiler(package: str) -> list[str]:
    """What compiles a source of the package, without its names and its NDEBUG."""
    database = BUILD / package / "compile_commands.json"
    if not database.exists():
        pytest.skip(f"{package} is not built here")
    entries = json.loads(database.read_text(encoding="utf-8"))
    wanted = f"/{package}/src/{SOURCE.get(package, '')}"
    entry = next((one for one in entries if wanted in one["file"]), None)
    if entry is None:
        pytest.skip(f"what {package} is for is not installed here")
    words = shlex.split(entry["command"])
    start = next(place for place, word in enumerate(words) if word.endswith(("c++", "g++")))
    kept = [words[start], *(f"-I{SOURCES / package / one}" for one in FOLDERS[package])]
    for word, following in zip(words[start:], words[start + 1 :], strict=False):
        if word in ("-isystem", "-I"):
            kept += [word, following]
        elif word.startswith(("-I", "-std=")) or (word.startswith("-D") and word != "-DNDEBUG"):
            kept.append(word)
    return [*kept, "-Wall", "-Wextra", "-Werror", "-fsyntax-only"]


def compiled(command: list[str], source: Path, *more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*command, *more, str(source)], capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("package", PACKAGES)
def test_a_class_has_the_same_layout_with_and_without_ndebug(package: str, tmp_path: Path) -> None:
    command = compiler(package)
    source = tmp_path / "all.cpp"
    source.write_text("".join(f"#include <{one}>\n" for one in headers(package)))

    def layouts(*more: str) -> dict[str, tuple[str, str]]:
        dump = tmp_path / f"classes{len(more)}"
        done = compiled(command, source, f"-fdump-lang-class={dump}", *more)
        assert done.returncode == 0, done.stderr
        return {name: (size, align) for name, size, align in _CLASS.findall(dump.read_text())}

    with ThreadPoolExecutor(2) as both:
        debug, release = both.map(lambda more: layouts(*more), [[], ["-DNDEBUG"]])
    assert len(release) > 1
    assert debug == release


def precompile(package: str, command: list[str], folder: Path) -> dict[str, list[str]]:
    """Most of what the headers include, once for several, and no more than each includes anyway."""
    own = [Path(word[2:]) for word in command if word.startswith("-I")]
    others = [Path(place) for word, place in pairwise(command) if word == "-isystem"]
    system = compilers.Compiler(compilers.Wanted("gcc", 0)).headers()
    library = precompiled.Library([*system, *own, *others])
    places = {one: next(place / one for place in own if (place / one).is_file())
              for one in headers(package)}  # fmt: skip
    named = {one: precompiled.named(file, own, SOURCES) for one, file in places.items()}
    shared = precompiled.shared(named, library)
    files: dict[precompiled.Headers, Path] = {}
    for number, several in enumerate(one for one in set(shared.values()) if one):
        file = folder / f"shared{number}.hpp"
        file.write_text("".join(f"#include <{one}>\n" for one in sorted(several)))
        done = compiled(command[:-1], file, "-x", "c++-header", "-o", f"{file}.gch")
        if not done.returncode:  # otherwise a header says by itself what is wrong
            files[several] = file
    return {one: ["-include", str(files[several])] for one, several in shared.items()
            if several in files}  # fmt: skip


@pytest.mark.thorough
@pytest.mark.parametrize("package", FOLDERS)
def test_each_header_compiles_by_itself(package: str, tmp_path: Path) -> None:
    command = compiler(package)
    shared = precompile(package, command, tmp_path)

    def by_itself(header: str) -> str:
        source = tmp_path / f"{header.replace('/', '_')}.cpp"
        source.write_text(f"#include <{header}>\n#include <{header}>\n")
        return compiled(command, source, *shared.get(header, [])).stderr

    with ThreadPoolExecutor(2) as both:
        faults = [fault for fault in both.map(by_itself, headers(package)) if fault]
    assert faults == []
