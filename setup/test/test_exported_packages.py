# SPDX-License-Identifier: Apache-2.0
"""Each package is released alone: a release repository holds its folder and nothing beside it.

So each must configure, with its tests, from an export of its own folder. Its dependencies are those
that the launcher installed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from setup.distributions import ROOT, STATE

PACKAGES = sorted(file.parent.name for file in ROOT.glob("src/*/package.xml"))
# The ones that need no generator of messages are configured in a second or two.
QUICK = {"takt", "takt_core"}
UNDERLAY = STATE / "setup.sh"

pytestmark = pytest.mark.skipif(
    not (STATE / "ros").is_dir(), reason="no wheels with which packages are configured"
)


def export(package: str, folder: Path) -> Path:
    """What `git archive HEAD:src/PACKAGE` has, as it is in the working tree."""
    source, target = ROOT / "src" / package, folder / package
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "."]
    listed = subprocess.run(command, cwd=source, check=True, capture_output=True, text=True)
    for name in filter(None, listed.stdout.split("\0")):
        if (source / name).is_symlink() or (source / name).exists():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source / name, target / name, follow_symlinks=False)
    return target


def cmake(*words: str | Path) -> subprocess.CompletedProcess[str]:
    """In a shell in which Takt and its ROS 2 are sourced, as an underlay."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(
        ["bash", "-c", '. "$0" && exec cmake "$@"', UNDERLAY, *words],
        env=environment,
        text=True,
        capture_output=True,
    )


def configure(source: Path, build: Path, *options: str) -> subprocess.CompletedProcess[str]:
    wheels = f"-DTAKT_ROS_WHEELS={STATE / 'ros'}"
    python = STATE / "ros" / "bin" / "python"
    interpreter = [f"-DPython3_EXECUTABLE={python}", f"-DPython_EXECUTABLE={python}"]
    return cmake("-S", source, "-B", build, "-Wno-dev", wheels, *interpreter, *options)


@pytest.mark.parametrize(
    "package",
    [pytest.param(name, marks=() if name in QUICK else pytest.mark.thorough) for name in PACKAGES],
)
def test_it_is_configured_from_its_own_folder(package: str, tmp_path: Path) -> None:
    source = export(package, tmp_path)
    done = configure(source, tmp_path / "build", "-DBUILD_TESTING=ON")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("package", PACKAGES)
def test_none_of_its_links_leaves_its_folder(package: str, tmp_path: Path) -> None:
    source = export(package, tmp_path)
    links = [one for one in source.rglob("*") if one.is_symlink()]
    assert [one for one in links if not one.resolve().is_relative_to(source.resolve())] == []
    assert [one for one in links if not one.exists()] == []


def test_the_tool_alone_brings_the_experiments_of_the_papers(tmp_path: Path) -> None:
    source, build, prefix = export("takt", tmp_path), tmp_path / "build", tmp_path / "installed"
    done = configure(source, build, f"-DCMAKE_INSTALL_PREFIX={prefix}")
    assert done.returncode == 0, done.stdout + done.stderr
    for words in (("--build", build), ("--install", build)):
        done = cmake(*words)
        assert done.returncode == 0, done.stdout + done.stderr
    there = {one.name for one in (ROOT / "experiments").glob("*.yaml")}
    installed = prefix / "share" / "takt" / "experiments"
    assert there
    assert {one.name for one in installed.glob("*.yaml")} == there
    papers = {one.parent.name for one in (source / "takt" / "reproduce").glob("*/published.yaml")}
    assert len(papers) > 1
    assert {one.parent.name for one in prefix.rglob("reproduce/*/published.yaml")} == papers
