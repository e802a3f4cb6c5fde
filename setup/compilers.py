# SPDX-License-Identifier: Apache-2.0
"""Compilers of a certain version: this machine's own, or Debian 13's, which are only unpacked."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from setup import unpacked
from setup.unpacked import MACHINE

LIBRARIES = ("libgtest-dev", "nlohmann-json3-dev", "libcli11-dev", "libssl-dev")
# Clang has no standard library of its own here: as on Debian it takes that of GCC.
NEWEST_LIBRARY = 14


@dataclass(frozen=True)
class Wanted:
    """A compiler by its family, ``gcc`` or ``clang``, and version."""

    family: str
    version: int

    @property
    def name(self) -> str:
        """What people call it."""
        return f"{'GCC' if self.family == 'gcc' else 'Clang'} {self.version}"

    @property
    def packages(self) -> list[str]:
        """Debian's packages of it and of what it compiles against."""
        if self.family == "gcc":
            return [f"g++-{self.version}", *LIBRARIES]
        return [f"clang-{self.version}", f"libstdc++-{NEWEST_LIBRARY}-dev", *LIBRARIES]


@dataclass(frozen=True)
class Compiler:
    """A compiler on this machine's own system or on an unpacked one.

    Its programs are started by the loader of their own system, with the libraries of that: so
    nothing is installed or mounted, and what they read and write is where this machine has it.
    """

    wanted: Wanted
    system: Path | None = None

    @property
    def quick(self) -> tuple[str, ...]:
        """No code is kept; collecting GCC's garbage takes longer than the memory is worth."""
        heap = ("--param=ggc-min-heapsize=1000000",) if self.wanted.family == "gcc" else ()
        return ("-O0", *heap)

    def headers(self) -> list[Path]:
        """Where the standard library and those of other packages are, that one first."""
        usr = (self.system or Path("/")) / "usr"
        library = max((usr / "include" / "c++").iterdir(), key=lambda one: int(one.name))
        include = usr / "include"
        return [library, include / MACHINE / "c++" / library.name, include, include / MACHINE]

    def complete(self, folder: Path) -> None:
        """Debian divides Python's headers, and the one part includes the other by its full name."""
        if self.system is None or not folder.name.startswith("python3"):
            return
        for other in folder.parent.glob(f"{MACHINE}/{folder.name}"):
            link = self.system / "usr" / "include" / MACHINE / folder.name
            link.unlink(missing_ok=True)
            link.symlink_to(other)

    def compile(
        self, options: Sequence[str], folder: Path = Path("/")
    ) -> subprocess.CompletedProcess[str]:
        """Calls it in a folder."""
        program = own(self.wanted) if self.system is None else str(self.system / "started" / "c++")
        return unpacked.call([program, *options], folder)

    def run(self, command: Sequence[str]) -> subprocess.CompletedProcess[str]:
        """Runs what it has linked."""
        start = [] if self.system is None else unpacked.loader(self.system)
        return unpacked.call([*start, *command])


def compiler(state: Path, wanted: Wanted) -> Compiler | str:
    """The compiler, or why there can be none; raises UnpackError."""
    if major(own(wanted)) == wanted.version:
        return Compiler(wanted)
    if refused := unpacked.refusal():
        return refused
    system = unpacked.system(state, wanted.packages)
    start(system, wanted)
    return Compiler(wanted, system)


def own(wanted: Wanted) -> str:
    """What it is called where it is installed."""
    return "g++" if wanted.family == "gcc" else f"clang++-{wanted.version}"


def major(program: str) -> int | None:
    """The version of a compiler; none where it is not there."""
    if shutil.which(program) is None:
        return None
    done = subprocess.run([program, "-dumpversion"], capture_output=True, text=True)
    return int(done.stdout.split(".")[0])


def start(system: Path, wanted: Wanted) -> None:
    """Scripts that start the compiler and what it calls."""
    usr, version, folder = system / "usr", wanted.version, system / "started"
    programs: dict[str, list[str | Path]] = {
        name: [usr / "bin" / f"{MACHINE}-{name}"] for name in ("as", "ld")
    }
    if wanted.family == "gcc":
        parts = usr / "libexec" / "gcc" / MACHINE / str(version)
        programs |= {name: [parts / name] for name in ("cc1plus", "collect2")}
        called: list[str | Path] = [usr / "bin" / f"{MACHINE}-g++-{version}"]
    else:
        # It looks for its own parts beside the program that runs, which is the loader.
        llvm = usr / "lib" / f"llvm-{version}"
        resources = llvm / "lib" / "clang" / str(version)
        called = [llvm / "bin" / "clang", "--driver-mode=g++", f"-resource-dir={resources}"]
    programs["c++"] = [*called, f"--sysroot={system}", f"-B{folder}"]
    unpacked.start(system, programs)
