# SPDX-License-Identifier: Apache-2.0
"""The wheels dressed as an installation of ROS 2: /opt/ros/DISTRO elsewhere, with ``setup.bash``.

The prefix has the folders of the wheels, as links, but for what an installation does not have:
a Python of its own. Its set-up files are ament's, made from the templates in the wheels, as a build
of ROS 2 makes them; ROS_DISTRO comes, as there, from a package ``ros_environment``.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from setup.distributions import ROOT, STATE, WHEELS

OF_PYTHON = ("python", "pip", "activate", "Activate")
# In place of what `rosdep install` and `pip install` bring: the tool's environment and nanobind.
SITE = Path(f"lib/python3.{sys.version_info.minor}/site-packages")
VARIABLES = {"ROS_VERSION": "2", "ROS_PYTHON_VERSION": "3", "ROS_DISTRO": WHEELS}
TEMPLATES = """
import sys
from pathlib import Path
from ament_package import templates

prefix = Path(sys.argv[1])
known = {
    "CMAKE_INSTALL_PREFIX": str(prefix),
    "ament_package_PYTHON_EXECUTABLE": sys.argv[2],
    "SKIP_PARENT_PREFIX_PATH": "1",
}
for name in templates.get_prefix_level_template_names():
    file = templates.get_prefix_level_template_path(name)
    text = templates.configure_file(file, known) if name.endswith(".in") else file.read_text()
    (prefix / name.removesuffix(".in")).write_text(text)
"""


class Installation:
    """A pretended installation below a folder, and shells in which it is sourced."""

    def __init__(self, folder: Path) -> None:
        self.prefix = folder / "opt" / "ros" / WHEELS
        wheels = STATE / "ros"
        link(wheels, self.prefix, ["include", "tools"])
        link(wheels / "lib", self.prefix / "lib")
        (self.prefix / "lib64").symlink_to("lib")  # some wheels were built with it
        for vendored in (wheels / SITE).glob("ros_*.libs"):  # there they come from the system
            link(vendored, self.prefix / "lib")
        link(wheels / "share", self.prefix / "share")
        link(wheels / "bin", self.prefix / "bin")
        for one in (self.prefix / "bin").iterdir():
            if one.name.startswith(OF_PYTHON):
                one.unlink()
        shutil.copy2(Path(__file__).with_name("ros2_stand_in.py"), self.prefix / "bin" / "ros2")
        self.add_ros_environment()
        self.python = Path(sys.base_prefix, "bin", "python3")
        subprocess.run(
            [wheels / "bin" / "python", "-c", TEMPLATES, self.prefix, self.python], check=True
        )

    def add_ros_environment(self) -> None:
        """The package from which ROS_DISTRO comes; its share folder is the only one of its own."""
        share = self.prefix / "share"
        index = share / "ament_index" / "resource_index" / "packages"
        where = index.resolve()
        (share / "ament_index").unlink()
        link(where.parents[1], share / "ament_index", [])
        link(where.parent, index.parent)
        index.unlink()
        link(where, index)
        package = share / "ros_environment"
        (package / "environment").mkdir(parents=True)
        (index / "ros_environment").touch()
        (package / "package.dsv").write_text(
            "".join(f"source;share/ros_environment/environment/{name}.dsv\n" for name in VARIABLES)
        )
        for name, value in VARIABLES.items():
            (package / "environment" / f"{name}.dsv").write_text(f"set;{name};{value}\n")

    def environment(self, **more: str) -> dict[str, str]:
        """Of a user who has just logged in, and has what the tool needs besides ROS 2."""
        tool = STATE / "venv"
        there = {
            "HOME": os.environ["HOME"],
            "PATH": f"{self.python.parent}:/usr/local/bin:/usr/bin:/bin",
            "PYTHONPATH": str(tool / SITE),
            "nanobind_ROOT": str(tool / SITE / "nanobind" / "cmake"),
        }
        if shutil.which("ccache"):
            # All that a path differs in is the temporary folder.
            there |= {f"CMAKE_{one}_COMPILER_LAUNCHER": "ccache" for one in ("C", "CXX")}
            there |= {"CCACHE_BASEDIR": "/", "CCACHE_NOHASHDIR": "1"}
            there["CCACHE_SLOPPINESS"] = "pch_defines,time_macros"
        return there | more

    def run(
        self, script: str, cwd: Path, *arguments: object, **more: str
    ) -> subprocess.CompletedProcess[str]:
        """In a new bash in which the installation is sourced."""
        sourced = f'. "{self.prefix}/setup.bash" && {script}'
        return subprocess.run(
            ["bash", "-c", sourced, "bash", *map(str, arguments)],
            cwd=cwd,
            env=self.environment(**more),
            stdin=subprocess.DEVNULL,
            text=True,
            capture_output=True,
        )


def link(there: Path, here: Path, names: list[str] | None = None) -> None:
    """Makes ``here`` a folder of links to what is ``there``; to some of it where names say so."""
    here.mkdir(parents=True, exist_ok=True)
    for one in there.iterdir():
        if (names is None or one.name in names) and not (here / one.name).exists():
            (here / one.name).symlink_to(one)


def workspace(folder: Path) -> Path:
    """A colcon workspace with this repository's packages, as the how-to has it."""
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "takt").symlink_to(ROOT / "src")
    return folder


COLCON = STATE / "venv" / "bin" / "colcon"
