# SPDX-License-Identifier: Apache-2.0
"""The system packages that the set-up needs, each with the file that proves its presence."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
import sysconfig
from pathlib import Path


def missing_packages(development: bool) -> list[str]:
    """The Debian and Ubuntu packages whose content is not found on this machine."""
    version = (
        f"python3.{sys.version_info.minor}"
        if not sys.executable.startswith("/usr/bin")
        else "python3"
    )
    present = {
        "g++": shutil.which("g++"),
        f"{version}-venv": has_module("ensurepip"),
        f"{version}-dev": Path(sysconfig.get_path("include"), "Python.h").exists(),
        "libcli11-dev": Path("/usr/include/CLI/CLI.hpp").exists(),
        "nlohmann-json3-dev": Path("/usr/include/nlohmann/json.hpp").exists(),
    }
    if "ROS_DISTRO" not in os.environ:
        present["libssl-dev"] = Path("/usr/include/openssl/ssl.h").exists()  # Fast DDS's CMake
    if development:
        present["libgtest-dev"] = Path("/usr/include/gtest/gtest.h").exists()
        # What of takt_rclcpp needs no rclcpp; without it nothing of it is built.
        present["libyaml-cpp-dev"] = Path("/usr/include/yaml-cpp/yaml.h").exists()
        present["rt-tests"] = shutil.which("cyclictest")
        present["stress-ng"] = shutil.which("stress-ng")
        present["iperf3"] = shutil.which("iperf3")
        present["babeltrace2"] = shutil.which("babeltrace2")
        present["iproute2"] = shutil.which("tc")
        # On Ubuntu the package only forwards to a snap; the browser tests then say that they skip.
        if (
            Path("/etc/debian_version").exists()
            and "ubuntu" not in Path("/etc/os-release").read_text(encoding="utf-8").lower()
        ):
            present["chromium"] = shutil.which("chromium")
            # Newer than Debian's default, which does not compile libstdc++'s ranges.
            present["clang-16"] = shutil.which("clang++-16")
            present["libclang-rt-16-dev"] = Path("/usr/lib/llvm-16/lib/clang/16/lib/linux").exists()
    return [package for package, found in present.items() if not found]


def has_module(name: str) -> bool:
    return importlib.util.find_spec(name) is not None
