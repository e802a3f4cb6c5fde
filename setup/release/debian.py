# SPDX-License-Identifier: Apache-2.0
"""Debian packages, for the release of this machine: the C++ library, its headers, the tool.

Usage: .takt/venv/bin/python setup/release/debian.py; they go to .takt/release/debian. The tool is
its wheel, unpacked into /usr/lib/takt with the locked Python packages that it imports: several of
them are in no release of Debian. So `apt install ./takt_*.deb` is all that a user does.
"""

from __future__ import annotations

import gzip
import platform
import re
import shutil
import sys
from datetime import datetime, timezone
from importlib import metadata
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2]))
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from setup.distributions import ROOT, STATE
from setup.release import wheel
from setup.release.environment import FOLDER, ReleaseError, call, compiling
from setup.steps import SetupError

SOURCE = ROOT / "setup" / "release" / "deb"
LOCK = ROOT / "setup" / "requirements" / "tool.txt"
PACKAGES = ("libtakt-core0.1", "libtakt-core-dev", "takt")
VERSION = "0.1.0"
COPYRIGHT = """Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: takt

Files: *
Copyright: 2026 The Takt developers
License: Apache-2.0
 On Debian systems the text is in /usr/share/common-licenses/Apache-2.0.
"""
BUNDLED = """Comment:
 Below /usr/lib/takt lie Python packages of others, as their projects distribute
 them. The licence of each is in its folder *.dist-info there.
"""


def locked(names: set[str], lock: str) -> str:
    """The parts of a lock file that are of these packages."""
    blocks = re.split(r"^(?=[A-Za-z0-9])", lock, flags=re.MULTILINE)
    chosen = [one for one in blocks if canonicalize_name(re.split(r"[=\[]", one)[0]) in names]
    if missing := names - {canonicalize_name(re.split(r"[=\[]", one)[0]) for one in chosen}:
        raise ReleaseError(f"not locked in {LOCK}: {', '.join(sorted(missing))}")
    return "".join(chosen)


def imported(asked: list[str]) -> set[str]:
    """The names of packages and of all that they ask for, as they are installed here."""
    found: set[str] = set()
    left = [Requirement(one) for one in asked]
    while left:
        need = left.pop()
        name = canonicalize_name(need.name)
        if name in found or (need.marker and not need.marker.evaluate({"extra": ""})):
            continue
        found.add(name)
        left += map(Requirement, metadata.requires(name) or ())
    return found


def dependencies(pyproject: str) -> list[str]:
    """What the wheel asks for."""
    block = re.findall(r"^dependencies = \[\n(.*?)^\]", pyproject, re.DOTALL | re.MULTILINE)[0]
    return re.findall(r'"([^"]+)"', block)


def tool(tree: Path, built: Path) -> None:
    """The tree below /usr that has the wheel and all that it imports; raises ReleaseError."""
    shutil.rmtree(tree, ignore_errors=True)
    packages = tree / "lib" / "takt"
    names = imported(dependencies((wheel.SOURCE / "pyproject.toml").read_text(encoding="utf-8")))
    chosen = FOLDER / "tool.txt"
    chosen.write_text(locked(names, LOCK.read_text(encoding="utf-8")), encoding="utf-8")
    python, environment = STATE / "venv" / "bin" / "python", compiling([])
    pip = [python, "-m", "pip", "install", "--no-deps", "--no-compile", "--target", packages]
    lock = ["--require-hashes", "--only-binary=:all:", "--requirement", chosen]
    call("what the tool imports", [*pip, *lock], environment)
    call("the tool", [*pip, "--no-index", built], environment)
    shutil.rmtree(packages / "bin", ignore_errors=True)  # programs of this machine's Python
    (tree / "bin").mkdir()
    shutil.copy(SOURCE / "takt", tree / "bin" / "takt")
    for one in tree.rglob("*"):  # whatever umask it was made under
        one.chmod(0o755 if one.is_dir() or one.stat().st_mode & 0o100 else 0o644)


def documents(folder: Path) -> None:
    """What every package of Debian has below /usr/share/doc."""
    shutil.rmtree(folder, ignore_errors=True)
    when = datetime.now(timezone.utc).strftime("%a, %d %b %Y %H:%M:%S +0000")
    for package in PACKAGES:
        (folder / package).mkdir(parents=True)
        text = COPYRIGHT + (BUNDLED if package == "takt" else "")
        (folder / package / "copyright").write_text(text, encoding="utf-8")
        changes = (
            f"takt ({VERSION}) unstable; urgency=medium\n\n  * Built from a clone.\n\n"
            f" -- Takt developers <takt@example.com>  {when}\n"
        )
        packed = gzip.compress(changes.encode(), 9, mtime=0)
        (folder / package / "changelog.gz").write_bytes(packed)


def make() -> list[Path]:
    """The packages; raises ReleaseError and SetupError."""
    built = wheel.make()
    tree, papers, control = FOLDER / "tool", FOLDER / "documents", FOLDER / "debian"
    tool(tree, built)
    documents(papers)
    build = STATE / "build-debian" / "core"
    environment = compiling([STATE / "venv" / "bin"])
    python = f"3.{sys.version_info.minor}"
    settings = {
        "CMAKE_BUILD_TYPE": "Release",
        "CMAKE_CXX_FLAGS_RELEASE": "-O2 -DNDEBUG",  # as the launcher builds it
        "TAKT_TOOL": tree,
        "TAKT_DOCUMENTS": papers,
        "TAKT_PYTHON": python,
        "TAKT_GLIBC": platform.libc_ver()[1],
    }
    options = [f"-D{name}={value}" for name, value in settings.items()]
    configure = ["cmake", "-GNinja", "-S", SOURCE, "-B", build, *options]
    call("the library: configure", configure, environment)
    call("the library", ["cmake", "--build", build, "--target", "takt_core"], environment)
    shutil.rmtree(control, ignore_errors=True)
    call("the packages", ["cpack", "-B", control], environment, build)
    return sorted(control.glob("*.deb"))


def main() -> int:
    try:
        print(*make(), sep="\n")
    except (ReleaseError, SetupError) as error:
        print(f"takt: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
