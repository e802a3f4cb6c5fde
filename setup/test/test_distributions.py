# SPDX-License-Identifier: Apache-2.0
"""ROS 2 of one's choice from wheels: each has its folder, and what is not there is refused."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from setup import distributions, wheels, workspace
from setup.distributions import ROOT
from setup.levels import LEVELS

from takt.doctor.fingerprint import distribution_of

REQUIREMENTS = ROOT / "setup" / "requirements"
LOCKS = {one.stem.removeprefix("ros-"): one for one in REQUIREMENTS.glob("ros-*.txt")}
SAY = """#!/bin/sh
echo "${TAKT_ROS-none} $TAKT_STATE ${TAKT_PREFIX#"$ROOT"/} ${TAKT_ROS_WHEELS-none}"
shift 2
echo "$*"
"""


class Clone:
    """A clone whose set-up only notes that it was asked for; its tool says what it was given."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.asked = folder / "asked"
        shutil.copy(ROOT / "takt", folder / "takt")
        (folder / "src" / "takt").mkdir(parents=True)
        (folder / "setup" / "requirements").mkdir(parents=True)
        for lock in LOCKS.values():
            shutil.copy(lock, folder / "setup" / "requirements")
        (folder / "say").write_text(SAY)
        (folder / "say").chmod(0o755)
        (folder / "setup" / "bootstrap.py").write_text(
            "import os, pathlib, sys\n"
            "root = pathlib.Path(__file__).resolve().parents[1]\n"
            "state = root / os.environ['TAKT_STATE']\n"
            "(state / 'venv/bin').mkdir(parents=True, exist_ok=True)\n"
            "python = state / 'venv/bin/python'\n"
            "python.exists() or python.symlink_to(root / 'say')\n"
            "with (root / 'asked').open('a') as file:\n"
            "    print(os.environ['TAKT_STATE'], os.environ.get('TAKT_ROS'), file=file)\n"
            "(state / 'ready').write_text(sys.argv[1] + '\\n')\n"
        )

    def start(self, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", self.folder / "takt", *arguments],
            env={"PATH": "/usr/bin:/bin", "ROOT": str(self.folder), **variables},
            text=True,
            capture_output=True,
        )

    def set_up(self) -> list[str]:
        """What was set up until now."""
        return self.asked.read_text().splitlines() if self.asked.exists() else []


@pytest.fixture
def clone(tmp_path: Path) -> Clone:
    return Clone(tmp_path)


@pytest.mark.parametrize(
    ("arguments", "left"),
    [
        (["check", "--ros", "jazzy"], "check"),
        (["--ros", "jazzy", "check", "--out", "a b"], "check --out a b"),
        (["check", "--ros=jazzy", "--", "--ros", "x"], "check -- --ros x"),
        (["--ros", "jazzy"], ""),
    ],
)
def test_the_launcher_takes_the_choice_and_gives_the_rest_to_the_tool(
    clone: Clone, arguments: list[str], left: str
) -> None:
    done = clone.start(*arguments)
    state = ".takt/jazzy"
    said = f"jazzy {state} {state}/install {clone.folder}/{state}/ros\n{left}\n"
    assert (done.stdout, done.returncode) == (said, 0), done.stderr
    assert clone.set_up() == [f"{state} jazzy"]


def test_two_of_them_do_not_disturb_each_other(clone: Clone) -> None:
    for _ in range(2):
        assert clone.start("check").stdout.startswith("kilted .takt .takt/install ")
        assert clone.start("check", "--ros", "jazzy").stdout.startswith("jazzy .takt/jazzy ")
        assert clone.start("check", TAKT_ROS="jazzy").stdout.startswith("jazzy .takt/jazzy ")
        assert clone.start("check", "--ros", "kilted", TAKT_ROS="jazzy").stdout.startswith("kilted")
    assert clone.set_up() == [".takt kilted", ".takt/jazzy jazzy"]


@pytest.mark.parametrize(
    "arguments", [["--ros", "humble"], ["--ros="], ["--ros"], ["--ros", "../ros-jazzy"]]
)
def test_an_unknown_name_is_refused_with_the_known_ones(clone: Clone, arguments: list[str]) -> None:
    done = clone.start("check", *arguments)
    assert (done.stdout, done.returncode, clone.set_up()) == ("", 2, [])
    what, fix = done.stderr.splitlines()
    assert what.endswith(f"there are: {', '.join(sorted(LOCKS))}")
    assert fix.startswith("  fix: name one of these, or none, ")
    assert "source an installation" in fix


def test_wheels_are_not_asked_for_beside_an_installation(clone: Clone) -> None:
    for asked in ({"TAKT_ROS": "jazzy"}, {}):
        arguments = [] if asked else ["--ros", "kilted"]
        done = clone.start("check", *arguments, ROS_DISTRO="kilted", **asked)
        assert (done.stdout, done.returncode, clone.set_up()) == ("", 2, [])
        assert "an installation of ROS 2 is sourced: kilted" in done.stderr
    done = clone.start("check", ROS_DISTRO="jazzy", TAKT_ROS_WHEELS="/of/others")
    assert done.stdout == "none .takt .takt/install none\ncheck\n"


def machine(clone: Clone, name: str) -> dict[str, str]:
    """The variables of a machine of another architecture."""
    uname = clone.folder / "bin" / "uname"
    uname.parent.mkdir(exist_ok=True)
    uname.write_text(f"#!/bin/sh\necho {name}\n")
    uname.chmod(0o755)
    return {"PATH": f"{uname.parent}:/usr/bin:/bin"}


def test_without_wheels_for_the_machine_what_needs_no_ros_is_set_up(clone: Clone) -> None:
    without = "none .takt/none .takt/none/install none\ncheck\n"
    assert clone.start("check", "--ros", "none").stdout == without
    assert clone.start("check", **machine(clone, "aarch64")).stdout == without
    assert clone.start("check", **machine(clone, "x86_64")).stdout.startswith("kilted .takt ")
    sourced = clone.start("check", ROS_DISTRO="jazzy", **machine(clone, "aarch64"))
    assert sourced.stdout == "none .takt .takt/install none\ncheck\n"  # "none": not set
    refused = clone.start("check", "--ros", "none", ROS_DISTRO="jazzy")
    assert (refused.stdout, refused.returncode) == ("", 2)
    assert "says none, but an installation of ROS 2 is sourced: jazzy" in refused.stderr


def test_without_ros_packages_that_need_it_are_not_built(monkeypatch: pytest.MonkeyPatch) -> None:
    def ignored(level: str) -> list[str]:
        words = workspace.command(ROOT, ROOT / ".takt", level, "", None)
        assert "--packages-up-to=takt_probes" not in words
        begin = words.index("--packages-ignore") + 1
        return words[begin : words.index(next(one for one in words if "--executor" in one))]

    monkeypatch.delenv("ROS_DISTRO", raising=False)
    monkeypatch.setattr(distributions, "WHEELS", "none")
    packages = {one.parent.name for one in ROOT.glob("src/*/package.xml")}
    for level in LEVELS:
        assert packages - set(ignored(level)) == {"takt_core", "takt_probes"}
    text = workspace.progress("Starting >>> takt_core\n[1/2] x\n", 100, "check")
    assert text == "takt_core, package 1 of 2, step 1 of 2, about 256 s left"
    monkeypatch.setenv("ROS_DISTRO", "kilted")
    assert not distributions.without_ros()
    assert "--packages-ignore" not in workspace.command(ROOT, ROOT / ".takt", "tool", "", None)


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_has_the_ros_that_it_is_called_after(name: str) -> None:
    (version,) = re.findall(r"^ros-rcl==(\S+)", LOCKS[name].read_text(), re.MULTILINE)
    assert distribution_of(version) == name


@pytest.mark.parametrize("wheel", ["ros_fastdds", "ros_fastrtps"])
def test_tinyxml2_is_that_of_the_wheel_of_fast_dds(
    tmp_path: Path, wheel: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = tmp_path / "site-packages"
    library = site / f"{wheel}.libs" / "libtinyxml2-0a1b.so.9"
    library.parent.mkdir(parents=True)
    library.touch()
    file = tmp_path / "share" / "fastrtps-targets.cmake"
    file.parent.mkdir()
    file.write_text("set(LIBRARIES /usr/lib64/libtinyxml2.so)")
    numpy: Any = type("numpy", (), {"get_include": staticmethod(lambda: "")})
    monkeypatch.setitem(__import__("sys").modules, "numpy", numpy)
    wheels.fix_cmake_paths(tmp_path, site)
    assert file.read_text() == f"set(LIBRARIES {library})"
