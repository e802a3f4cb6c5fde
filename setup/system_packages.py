# SPDX-License-Identifier: Apache-2.0
"""The system packages that the set-up needs, each with the file that proves its presence."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
import sysconfig
from pathlib import Path

from setup import distributions

# Debian's PATH of an ordinary user names none of these.
OF_ROOT = ("/usr/local/sbin", "/usr/sbin", "/sbin")


def missing_packages(development: bool) -> list[str]:
    """The Debian and Ubuntu packages whose content is not found on this machine."""
    version = (
        f"python3.{sys.version_info.minor}"
        if not sys.executable.startswith("/usr/bin")
        else "python3"
    )
    present: dict[str, object] = {
        "g++": shutil.which("g++"),
        f"{version}-venv": has_module("ensurepip"),
        f"{version}-dev": Path(sysconfig.get_path("include"), "Python.h").exists(),
        "libcli11-dev": Path("/usr/include/CLI/CLI.hpp").exists(),
        "nlohmann-json3-dev": Path("/usr/include/nlohmann/json.hpp").exists(),
    }
    if distributions.prefix():
        present["libssl-dev"] = Path("/usr/include/openssl/ssl.h").exists()  # Fast DDS's CMake
    if development:
        present["libgtest-dev"] = Path("/usr/include/gtest/gtest.h").exists()
        # What of takt_rclcpp needs no rclcpp; without it nothing of it is built.
        present["libyaml-cpp-dev"] = Path("/usr/include/yaml-cpp/yaml.h").exists()
        present |= of_some_tests()
    return [package for package, found in present.items() if not found]


def of_some_tests() -> dict[str, object]:
    """Without them a few tests skip, and say so: a system that has no such package does without."""
    programs = {
        "abigail-tools": "abidiff",
        "rt-tests": "cyclictest",
        "stress-ng": "stress-ng",
        "iperf3": "iperf3",
        "babeltrace2": "babeltrace2",
        "iproute2": "tc",
        "python3-ament-lint-cmake": "ament_lint_cmake",
        "python3-ament-xmllint": "ament_xmllint",
    }
    present: dict[str, object] = {name: _program(one) for name, one in programs.items()}
    system = Path("/etc/os-release").read_text(encoding="utf-8").lower()
    # On Ubuntu the package only forwards to a snap; the browser tests then say that they skip.
    if Path("/etc/debian_version").exists() and "ubuntu" not in system:
        present["chromium"] = shutil.which("chromium")
        # Debian 12's default does not compile libstdc++'s ranges; later ones do (fuzz.py).
        version = "-16" if "bookworm" in system else ""
        present[f"clang{version}"] = shutil.which(f"clang++{version}")
        runtimes = Path("/usr/lib").glob(f"llvm{version or '-*'}/lib/clang/*/lib/linux")
        present[f"libclang-rt{version}-dev"] = any(runtimes)
    return present


def _program(name: str) -> str | None:
    return shutil.which(name) or shutil.which(name, path=os.pathsep.join(OF_ROOT))


def has_module(name: str) -> bool:
    return importlib.util.find_spec(name) is not None
