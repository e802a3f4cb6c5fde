# SPDX-License-Identifier: Apache-2.0
"""The workspace on an installation of ROS 2: its packages by colcon, and ``ros2 takt``.

The installation is pretended (setup/pretended.py), and so is ``ros2``, which no wheel has: what
finds the verb's entry point and hands it its arguments is setup/ros2_stand_in.py.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from setup.distributions import ROOT, STATE, WHEELS
from setup.pretended import COLCON, Installation, workspace

from takt.cli.main import every

PACKAGES = {manifest.parent.name for manifest in (ROOT / "src").glob("*/package.xml")}
OTHERS = sorted(PACKAGES - {"takt"})
SOURCED = '. install/setup.bash && exec "$@"'

pytestmark = pytest.mark.skipif(
    not (STATE / "ros").is_dir(), reason="no wheels to dress as an installation"
)


class Workspace:
    """A workspace that was built, and commands in it as a user gives them."""

    def __init__(self, installation: Installation, folder: Path, *options: str) -> None:
        self.installation = installation
        self.folder = workspace(folder)
        self.build = self.installation.run('exec "$@"', self.folder, COLCON, "build", *options)

    def call(self, *command: str) -> subprocess.CompletedProcess[str]:
        """A command after ``source install/setup.bash``."""
        return self.installation.run(SOURCED, self.folder, *command)


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Installation:
    return Installation(tmp_path_factory.mktemp("root"))


@pytest.fixture(scope="module")
def tool(installation: Installation, tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """The package of the tool alone: it is built in seconds."""
    chosen = ["--packages-select", "takt", "--packages-ignore", *OTHERS]
    tool_workspace = Workspace(installation, tmp_path_factory.mktemp("tool"), *chosen)
    assert tool_workspace.build.returncode == 0, (
        tool_workspace.build.stdout + tool_workspace.build.stderr
    )
    return tool_workspace


def test_it_is_sourced_as_an_installation(installation: Installation, tmp_path: Path) -> None:
    said = installation.run('echo "$ROS_DISTRO $ROS_VERSION $AMENT_PREFIX_PATH"', tmp_path)
    assert said.stdout == f"{WHEELS} 2 {installation.prefix}\n", said.stderr
    talked = installation.run("python3 -c 'import rclpy; print(rclpy.__file__)'", tmp_path)
    assert talked.stdout.startswith(str(installation.prefix)), talked.stderr


@pytest.mark.thorough
def test_cmake_finds_all_that_the_client_library_needs(
    installation: Installation, tmp_path: Path
) -> None:
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.16)\nproject(user C CXX)\n"
        "find_package(rcl REQUIRED)\nfind_package(std_msgs REQUIRED)\n"
    )
    done = installation.run("cmake -Wno-dev -S . -B build", tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.thorough
def test_ros2_run_and_ros2_takt_are_the_tool(tool: Workspace) -> None:
    for command in (["ros2", "run", "takt", "takt"], ["ros2", "takt"]):
        done = tool.call(*command, "--version")
        assert (done.stdout, done.returncode) == ("takt 0.1.0\n", 0), done.stderr


@pytest.mark.thorough
def test_the_verb_has_every_command(tool: Workspace) -> None:
    said = tool.call("ros2", "takt", "--help")
    assert said.returncode == 0, said.stderr
    assert [name for name in every() if f" {name} " not in said.stdout] == []
    assert tool.call("ros2", "takt", "-h").stdout == said.stdout
    assert "takt measure" in tool.call("ros2", "takt", "measure", "--help").stdout


@pytest.mark.thorough
def test_the_verb_gives_options_to_the_tool_and_its_exit_code_back(tool: Workspace) -> None:
    found = tool.call("ros2", "takt", "doctor", "--json")
    findings = json.loads(found.stdout)["findings"]
    assert found.returncode == tool.call("ros2", "run", "takt", "takt", "doctor").returncode
    assert findings
    for wrong in (["no-such-command"], ["--no-such-option"], ["doctor", "--no-such-option"]):
        refused = tool.call("ros2", "takt", *wrong)
        assert (refused.stdout, refused.returncode) == ("", 2)
        assert "No such" in refused.stderr


@pytest.mark.thorough
def test_the_verb_runs_in_the_environment_that_is_active(tool: Workspace, tmp_path: Path) -> None:
    """ros2 itself has the system's Python in its first line."""
    active = tmp_path / "python3"
    active.write_text('#!/bin/sh\necho "the active one: $*"\n')
    active.chmod(0o755)
    system, ros2 = tool.installation.python, tool.installation.prefix / "bin" / "ros2"
    path = f'PATH="{tmp_path}:$PATH"'
    said = tool.call(
        "bash", "-c", f'{path} exec "$@"', "bash", str(system), str(ros2), "takt", "check"
    )
    assert said.stdout == "the active one: -m takt check\n", said.stderr


@pytest.mark.thorough
def test_without_the_core_it_says_what_is_to_be_built(tool: Workspace) -> None:
    done = tool.call("ros2", "takt", "compare", "a", "b")
    assert done.returncode == 1, done.stderr
    assert "takt_core is built without its Python module" in " ".join(done.stderr.split())


@pytest.fixture(scope="module")
def whole(
    installation: Installation, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Workspace]:
    """Everything, by a ``colcon build`` without an option of ours."""
    folder = tmp_path_factory.mktemp("whole")
    yield Workspace(installation, folder, "--cmake-args", "-DBUILD_TESTING=OFF")
    shutil.rmtree(folder, ignore_errors=True)  # gigabytes


@pytest.mark.installation
@pytest.mark.timeout(5400)
def test_a_plain_build_has_all_packages(whole: Workspace) -> None:
    assert whole.build.returncode == 0, whole.build.stdout + whole.build.stderr
    assert f"Summary: {len(PACKAGES)} packages finished" in whole.build.stdout
    done = whole.call("ros2", "takt", "simulate", str(ROOT / "examples" / "docking.app.yaml"))
    assert done.returncode == 0, done.stderr
    ran = whole.call("ros2", "run", "takt_runner", "app_runner", "--help")
    assert ran.returncode == 0, ran.stderr


@pytest.mark.installation
@pytest.mark.timeout(5400)
def test_a_check_measures_with_what_was_built(whole: Workspace, tmp_path: Path) -> None:
    done = whole.call("ros2", "takt", "check", "--json", "--out", str(tmp_path / "out"))
    assert done.returncode in {0, 1}, done.stderr  # a verdict, for or against this machine
    document = json.loads(done.stdout)
    assert {"rcl", "raw"} <= {cell["stack"] for cell in document["cells"]}
    assert (tmp_path / "out" / "report.html").exists()
