# SPDX-License-Identifier: Apache-2.0
"""What depends on what among the packages of the workspace."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import pytest
from setup.distributions import ROOT, STATE

UNDERLAY = STATE / "setup.sh"
FOR_USERS = {"build_depend", "build_export_depend", "buildtool_depend", "depend", "exec_depend"}


def needed(package: str) -> set[str]:
    """The package, and those of this workspace that building against it builds too."""
    manifest = ROOT / "src" / package / "package.xml"
    if not manifest.exists():
        return set()
    tags = ElementTree.parse(manifest).getroot()  # noqa: S314 - our own file
    names = {str(tag.text) for tag in tags if tag.tag in FOR_USERS}
    return {package}.union(*map(needed, names))


def test_a_robot_needs_the_core_and_the_client_library_only() -> None:
    assert needed("takt_rcl") == {"takt_core", "takt_rcl"}


def test_the_client_library_is_configured_without_messages_of_experiments(tmp_path: Path) -> None:
    if not UNDERLAY.exists():
        pytest.skip("takt_rcl is not built here")
    wheels = STATE / "ros"
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [
            *("bash", "-c", '. "$0" && exec cmake "$@"', UNDERLAY),
            *("-S", ROOT / "src" / "takt_rcl", "-B", tmp_path, "-DBUILD_TESTING=OFF"),
            *("-DCMAKE_DISABLE_FIND_PACKAGE_takt_interfaces=ON", "-Wno-dev"),
            *([f"-DTAKT_ROS_WHEELS={wheels}"] if wheels.exists() else []),
        ],
        env=environment,
        text=True,
        capture_output=True,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("package", ["takt_core", "takt_rcl", "takt_rclcpp"])
def test_doxygen_documents_the_headers_of_each_library(package: str, tmp_path: Path) -> None:
    """It fails on what it cannot parse or resolve; what lacks a comment fails elsewhere."""
    doxygen = shutil.which("doxygen")
    folder = ROOT / "src" / package
    settings = (folder / "Doxyfile").read_text(encoding="utf-8")
    keys = dict(line.split("=", 1) for line in settings.splitlines() if not line.startswith("#"))
    assert {key.strip(): value.strip() for key, value in keys.items()}["PROJECT_NAME"] == package
    if doxygen is None:
        pytest.skip("there is no doxygen")
    settings += f"OUTPUT_DIRECTORY = {tmp_path}\n"
    done = subprocess.run(
        [doxygen, "-"], cwd=folder, input=settings, text=True, capture_output=True, check=True
    )
    found = [line for line in done.stderr.splitlines() if "warning:" in line]
    assert not [line for line in found if "obsolete" not in line]
    assert (tmp_path / "html" / "index.html").exists()
