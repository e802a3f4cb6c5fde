# SPDX-License-Identifier: Apache-2.0
"""clang-tidy over the C++ sources, several of a target as one unit.

Usage: .takt/venv/bin/python setup/tidied.py, after a build. Most of clang-tidy's time goes into
headers, which the sources of a unit share. Sources that do not compile together, since they give
the same name to something of their own, are looked at one by one. A unit hides that a source forgot
a header: the stage ``gcc14`` compiles each by itself.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))
from setup import compile_commands
from setup.compile_commands import Entry
from setup.distributions import ROOT, STATE

BIN = STATE / "venv" / "bin"
FOLDERS = {
    "takt_core": ["src"],
    "takt_rcl": ["src"],
    "takt_record": ["src"],
    "takt_runner": ["baseline", "bench", "examples", "src", "tools"],
}
MOST = 18  # sources of a unit
# What CMake compiles together of takt_core: takt_compile_together() and a short form of it.
GROUP = re.compile(r"^ *(takt_compile_)?together\((\w+) (\w+)\s+([\w./\s]+)\)", re.MULTILINE)
# Behind a source; the next one may include the same again.
BETWEEN = "#undef TAKT_NEXT_SOURCE\n"
EXCERPT = re.compile(r"^( *)(\d+)( \|.*)$", re.DOTALL)
CLASH = "[clang-diagnostic-error"


def main() -> int:
    """The exit code is 1 if any source has a finding."""
    units = [one for package in FOLDERS for one in prepared(package)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = list(pool.map(lambda unit: findings(*unit), units))
    print("".join(dict.fromkeys(found)).strip())
    print(f"{sum(len(files) for _, files in units)} sources, {len(units)} units")
    return 1 if any(found) else 0


def prepared(package: str) -> list[tuple[Path, list[Path]]]:
    """Units of a package, each with its sources; their commands in a database of its own."""
    folder = database_of(package)
    folder.mkdir(exist_ok=True)
    wanted = [ROOT / one for one in tracked(package)]
    built: dict[Path, Entry] = {}
    for entry in compile_commands.entries(STATE / "build" / package):
        built.setdefault(entry.source, entry)
    known = [built[one] for one in wanted if one in built]
    units: list[tuple[Path, list[Path]]] = []
    database = [entry.as_json() for entry in known]
    for number, files in enumerate(divided(known, named_groups(ROOT / "src" / package))):
        unit = files[0]
        if len(files) > 1:
            # Their text, not includes: several checks look at no more than the file itself.
            unit = folder / f"unit_{number}.cpp"
            texts = [f"{one.read_text(encoding='utf-8')}{BETWEEN}" for one in files]
            unit.write_text("".join(texts), encoding="utf-8")
            database.append(with_folders(built[files[0]].of(unit), files).as_json())
        units.append((unit, files))
    text = json.dumps(database, indent=1)
    (folder / "compile_commands.json").write_text(text, encoding="utf-8")
    return units


def named_groups(package: Path) -> dict[Path, str]:
    """The group of each source that CMake compiles together with others in some build."""
    found: dict[Path, str] = {}
    for file in [package / "CMakeLists.txt", *package.glob("cmake/*_as_a_whole.cmake")]:
        for long, first, second, names in GROUP.findall(file.read_text(encoding="utf-8")):
            # The target and the group, or the group and the folder.
            group, shown = (second, "{}") if long else (first, f"src/{second}/{{}}.cpp")
            found |= dict.fromkeys((package / shown.format(one) for one in names.split()), group)
    return found


def divided(known: Iterable[Entry], groups: Mapping[Path, str]) -> list[list[Path]]:
    """The sources of each target, in the groups that there are, the others by their folders."""
    alike: dict[tuple[str, str], list[Path]] = {}
    for entry in known:
        group = groups.get(entry.source, f"{entry.source.parent.name}/")
        alike.setdefault((entry.target, group), []).append(entry.source)
    return [
        files[first : first + MOST]
        for files in alike.values()
        for first in range(0, len(files), MOST)
    ]


def with_folders(entry: Entry, files: Iterable[Path]) -> Entry:
    """What the sources include from beside them is found."""
    compiler, options = entry.command.split(" ", 1)
    folders = "".join(f"-iquote {one} " for one in dict.fromkeys(file.parent for file in files))
    return entry._replace(command=f"{compiler} {folders}{options}")


def findings(unit: Path, files: Sequence[Path]) -> str:
    """What clang-tidy finds in the sources of a unit."""
    found = tidied(unit)
    if len(files) == 1:
        return found
    if CLASH in found:
        print(f"one by one: {' '.join(one.name for one in files)}", flush=True)
        return "".join(map(tidied, files))
    return in_sources(found, unit, files)


def in_sources(found: str, unit: Path, files: Sequence[Path]) -> str:
    """The findings in a unit as those in its sources."""
    lines = [
        (file, number)
        for file in files
        for number, _ in enumerate(f"{file.read_text(encoding='utf-8')}{BETWEEN}".splitlines(), 1)
    ]
    shown = []
    here = False  # whether the excerpts are of the unit
    for line in found.splitlines(keepends=True):
        words, excerpt = line.removeprefix(f"{unit}:"), EXCERPT.match(line)
        if words != line:
            at, _, rest = words.partition(":")
            file, number = lines[int(at) - 1]
            shown.append(f"{file}:{number}:{rest}")
        elif excerpt and here:
            number = lines[int(excerpt[2]) - 1][1]
            shown.append(f"{number:{len(excerpt[1] + excerpt[2])}}{excerpt[3]}")
        else:
            shown.append(line)
        here = words != line or (here and line.startswith(" "))
    return "".join(shown)


def tidied(source: Path) -> str:
    """What clang-tidy says of a file."""
    package = next(one for one in FOLDERS if one in source.parts or f"tidied-{one}" in source.parts)
    database = str(database_of(package))
    command = [str(BIN / "clang-tidy"), "--quiet", "-p", database, str(source)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, errors="replace")
    if not done.returncode:
        return ""
    return done.stdout or f"{source}: clang-tidy: exit code {done.returncode}\n{done.stderr}"


def database_of(package: str) -> Path:
    """Where its units are, and how they are compiled."""
    return STATE / f"tidied-{package}"


def tracked(package: str) -> list[str]:
    """The sources of a package that git knows."""
    patterns = [f"src/{package}/{folder}/*.cpp" for folder in FOLDERS[package]]
    command = ["git", "ls-files", "--", *patterns]
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    return done.stdout.split()


if __name__ == "__main__":
    sys.exit(main())
