# SPDX-License-Identifier: Apache-2.0
"""Mends a prefix of ROS 2 wheels so that plain C++ programs can be built and run against it.

The wheels carry paths of the machine that built them, Python libraries that C++ programs must not
load, and run-time paths that are wrong once installed. Every fix can be repeated without harm, and
is done under another name: who is killed half-way leaves each file as it was, or fixed.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sysconfig
from pathlib import Path

FIXING = ".takt-fixing"  # the file in work
GENERATOR_PY = re.compile(r"lib\w+__rosidl_generator_py\.so")


def fix(prefix: Path) -> None:
    """Mends the wheels below ``prefix``; run by the Python of that virtual environment."""
    site_packages = Path(sysconfig.get_path("purelib"))
    fix_cmake_paths(prefix, site_packages)
    fix_libraries(prefix, site_packages)


def fix_cmake_paths(prefix: Path, site_packages: Path) -> None:
    """Replaces paths of the build machine in the CMake configurations."""
    import numpy

    # In the folder of Fast DDS's wheel, which until Jazzy was called ros_fastrtps.
    tinyxml2 = sorted(site_packages.glob("ros_*.libs/libtinyxml2-*.so*"))
    replacements = [
        (
            re.compile(
                r"/opt/python/cp\d+-cp\d+/lib/python[\d.]+/site-packages/numpy/_?core/include"
            ),
            numpy.get_include(),
        ),
        (
            re.compile(r"/opt/python/cp\d+-cp\d+/include/python[\d.]+"),
            sysconfig.get_path("include"),
        ),
        (re.compile(r"/usr/lib64/libtinyxml2\.so"), str(tinyxml2[0]) if tinyxml2 else "tinyxml2"),
        # Tracing is compiled in against a version of LTTng that no current distribution has.
        (re.compile(r'"lttng-ust;dl'), '"dl'),
    ]
    for file in (prefix / "share").rglob("*.cmake"):
        text = file.read_text(encoding="utf-8")
        fixed = text
        for pattern, replacement in replacements:
            fixed = pattern.sub(replacement, fixed)
        if fixed != text:
            new = file.with_name(FIXING)
            new.write_text(fixed, encoding="utf-8")
            new.replace(file)


def fix_libraries(prefix: Path, site_packages: Path) -> None:
    """Gives every library a run-time path relative to itself, and cuts its need of Python."""
    vendored = sorted(site_packages.glob("ros_*.libs"))
    relative = os.path.relpath(site_packages, prefix / "lib")
    rpath = ":".join(["$ORIGIN", *(f"$ORIGIN/{relative}/{folder.name}" for folder in vendored)])
    for library in sorted((prefix / "lib").glob("lib*.so*")):
        if library.is_symlink():
            continue
        command = ["--force-rpath", "--set-rpath", rpath]
        if not GENERATOR_PY.fullmatch(library.name):
            for needed in patchelf(prefix, "--print-needed", str(library)).split():
                if GENERATOR_PY.fullmatch(needed):
                    command += ["--remove-needed", needed]
        fix_library(prefix, library, *command)
    for folder in vendored:
        for library in sorted(folder.glob("*.so*")):
            fix_library(prefix, library, "--force-rpath", "--set-rpath", "$ORIGIN")


def fix_library(prefix: Path, library: Path, *how: str) -> None:
    """Lets patchelf write another file, which then takes the library's place."""
    new = library.with_name(FIXING)
    patchelf(prefix, *how, "--output", str(new), str(library))
    shutil.copymode(library, new)
    new.replace(library)


def patchelf(prefix: Path, *arguments: str) -> str:
    """Runs the prefix's patchelf and returns what it prints; raises where it fails."""
    return subprocess.run(
        [str(prefix / "bin" / "patchelf"), *arguments], check=True, capture_output=True, text=True
    ).stdout


if __name__ == "__main__":
    import sys

    fix(Path(sys.prefix))
