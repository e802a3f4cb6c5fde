# SPDX-License-Identifier: Apache-2.0
"""Tries another architecture: takt_core is built for it, its unit tests run in QEMU's user mode.

The compiler, its library and QEMU are Debian 13's, unpacked and not installed. GoogleTest is built
first, for it lies there as sources only.
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

from setup import unpacked
from setup.distributions import ROOT, STATE
from setup.matrix.entries import ByEmulator
from setup.matrix.trial import Failed, LeftOut, Outcome, Trial, plain_environment
from setup.reasons import reasons

BIN = STATE / "venv" / "bin"
VERSION = 14  # of GCC
COUNTED = re.compile(r"(\d+)% tests passed, (\d+) tests failed out of (\d+)")
FAILING = re.compile(r"^\s+\d+ - (\S.*?) \((?:Failed|Timeout|SEGFAULT|.*[a-z])\)", re.MULTILINE)
# An emulated test is slower by a factor of ten, and the machine has other things to do.
LIMIT = "1200"
WITHOUT = "-DCMAKE_DISABLE_FIND_PACKAGE_ament_cmake=ON"


def tried(how: ByEmulator, trial: Trial) -> Outcome:
    """Builds and tests; raises LeftOut where Debian's packages cannot be had."""
    tools = prepare(how, trial.folder)
    build = trial.folder / "build"
    options = ["-GNinja", f"-DCMAKE_TOOLCHAIN_FILE={tools}", "-DCMAKE_BUILD_TYPE=Release"]
    system = trial.folder / "system"
    google, installed = trial.folder / "googletest", trial.folder / "installed"
    cmake, environment = BIN / "cmake", environ()

    def call(what: str, *words: str | Path) -> str:
        return trial.call(what, [cmake, *words], environment=environment).stdout

    if not (installed / "lib").exists():
        sources = system / "usr" / "src" / "googletest"
        place = f"-DCMAKE_INSTALL_PREFIX={installed}"
        call("GoogleTest: configure", "-S", sources, "-B", google, *options, place)
        call("GoogleTest: build", "--build", google, "--target", "install")
    core = ROOT / "src" / "takt_core"
    call("takt_core: configure", "-S", core, "-B", build, *options, WITHOUT)
    printed = call("takt_core: build", "--build", build, "--", "-k", "0")
    if detail := warned(printed):
        raise Failed(detail)
    tests = ["--test-dir", build, "--timeout", LIMIT, "--output-on-failure", "--parallel", "2"]
    excluded = "|".join(one.tests for one in how.excluded)
    without = ["--exclude-regex", excluded] if excluded else []
    listed = trial.call("tests", [BIN / "ctest", "--test-dir", build, "--show-only"])
    every = int(listed.stdout.rpartition("Total Tests:")[2] or 0)
    command = [BIN / "ctest", *tests, *without]
    done = trial.call("unit tests", command, environment=environment, well=(0, 8))
    return judge(done.stdout, every, version(system))


def warned(printed: str) -> str:
    """The number of warnings and the first one, without the folders of this machine; or nothing."""
    warnings = [line for line in printed.splitlines() if " warning: " in line]
    if not warnings:
        return ""
    first = re.sub(r"^/\S*/", "", warnings[0])
    return f"{len(warnings)} warnings, the first: {first}"


def judge(printed: str, every: int, tools: str) -> Outcome:
    """What CTest counted."""
    found = COUNTED.search(printed)
    if not found:
        raise Failed(f"CTest counted nothing:\n{reasons(printed)}")
    failed, run = int(found[2]), int(found[3])
    names = FAILING.findall(printed.partition("The following tests FAILED:")[2])
    what = f"takt_core built; failing: {', '.join(names)}" if failed else "takt_core built"
    return Outcome("failed" if failed else "passed", what, tools, run - failed, failed, every - run)


def prepare(how: ByEmulator, folder: Path) -> Path:
    """The unpacked system and CMake's file about it."""
    if tools := unpacked.refusal():
        raise LeftOut(tools)
    packages = [f"g++-{how.architecture}-linux-gnu", "qemu-user", "googletest"]
    try:
        system = unpacked.system(folder, [*packages, "nlohmann-json3-dev", "libcli11-dev"])
    except unpacked.FetchError as error:
        raise LeftOut(str(error).splitlines()[0]) from None
    started = start(system, how.architecture)
    # Its own folder is the compiler's to search: headers of this machine are another system's.
    text = f"""set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR {how.architecture})
set(CMAKE_C_COMPILER {started / "cc"})
set(CMAKE_CXX_COMPILER {started / "c++"})
set(CMAKE_AR {started / "ar"})
set(CMAKE_RANLIB {started / "ranlib"})
set(CMAKE_CROSSCOMPILING_EMULATOR
  "{system / "usr" / "bin" / f"qemu-{how.architecture}"};-L;{system / "usr" / machine(how)}")
set(CMAKE_FIND_ROOT_PATH {system} {folder / "installed"})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
"""
    file = folder / "toolchain.cmake"
    if not file.exists() or file.read_text(encoding="utf-8") != text:
        file.write_text(text, encoding="utf-8")  # else everything would be built anew
    return file


def machine(how: ByEmulator) -> str:
    """How GNU calls it."""
    return f"{how.architecture}-linux-gnu"


def start(system: Path, architecture: str) -> Path:
    """Scripts that start the compiler for the other architecture."""
    usr, gnu, folder = system / "usr", f"{architecture}-linux-gnu", system / "started"
    parts = usr / "libexec" / "gcc-cross" / gnu / str(VERSION)
    programs: dict[str, list[str | Path]] = {
        name: [parts / name] for name in ("cc1", "cc1plus", "collect2")
    }
    programs |= {name: [usr / "bin" / f"{gnu}-{name}"] for name in ("as", "ld", "ar", "ranlib")}
    where = (f"--sysroot={system}", f"-B{folder}")
    for name, program in (("cc", "gcc"), ("c++", "g++")):
        programs[name] = [usr / "bin" / f"{gnu}-{program}-{VERSION}", *where]
    return unpacked.start(system, programs)


def environ() -> dict[str, str]:
    """Where Ninja is; and ccache, where it is, which must not take scripts for compilers."""
    cached = {} if shutil.which("ccache") is None else {"CMAKE_CXX_COMPILER_LAUNCHER": "ccache"}
    return (
        plain_environment()
        | {"PATH": f"{BIN}:{os.environ['PATH']}"}
        | {"CCACHE_COMPILERCHECK": "%compiler% --version"}
        | cached
    )


def version(system: Path) -> str:
    """Of the compiler and of QEMU."""
    tools = [
        unpacked.call([str(system / "started" / "c++"), "--version"]).stdout,
        unpacked.call([str(system / "usr" / "bin" / "qemu-aarch64"), "--version"]).stdout,
    ]
    return ", ".join(one.splitlines()[0] for one in tools if one)
