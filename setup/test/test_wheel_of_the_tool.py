# SPDX-License-Identifier: Apache-2.0
"""The Python wheel of the tool (setup/wheel): what it asks for, and that it works alone."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from setup.distributions import ROOT
from setup.pretended import SITE
from setup.release import wheel

FOLDER = ROOT / "setup" / "wheel"
PIP_NAMES = {"yaml": "PyYAML"}


def test_it_depends_on_what_the_manifest_says() -> None:
    """The manifest is held to what the tool imports (test_manifests.py)."""
    text = (ROOT / "src" / "takt" / "package.xml").read_text(encoding="utf-8")
    keys = [str(tag.text) for tag in ElementTree.fromstring(text) if tag.tag == "exec_depend"]  # noqa: S314 - ours
    names = {key.removeprefix("python3-") for key in keys if key.startswith("python3-")}
    (without_keys,) = re.findall(r"has no keys for ([\w, ]+)\. How", text)
    names |= set(re.split(r", | and ", without_keys))
    (listed,) = re.findall(
        r"^dependencies = \[\n(.*?)^\]",
        (FOLDER / "pyproject.toml").read_text(encoding="utf-8"),
        re.DOTALL | re.MULTILINE,
    )
    asked = set(re.findall(r'"([\w.]+)', listed))
    assert asked == {PIP_NAMES.get(name, name) for name in names}


@pytest.fixture(scope="module")
def venv(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh environment in which pip has installed the wheel and what it asks for."""
    wheel_folder = tmp_path_factory.mktemp("wheel")
    built = wheel.make()
    environment = {name: text for name, text in os.environ.items() if name != "PYTHONPATH"}
    pip = [str(wheel_folder / "venv" / "bin" / "pip"), "install", "--quiet"]
    for command in (
        [sys.executable, "-m", "venv", str(wheel_folder / "venv")],
        [*pip, str(built)],
    ):
        done = subprocess.run(command, env=environment, text=True, capture_output=True)
        assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return wheel_folder / "venv"


def call(venv: Path, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The tool as a user who has no clone calls it."""
    return subprocess.run(
        [venv / "bin" / "takt", *arguments],
        cwd=folder,
        env={"PATH": "/usr/bin:/bin", "HOME": str(folder)},
        text=True,
        capture_output=True,
    )


@pytest.mark.release
@pytest.mark.timeout(5400)
def test_it_has_a_tag_of_the_systems_on_which_it_runs(venv: Path) -> None:
    (folder,) = (venv / SITE).glob("takt-*.dist-info")
    tags = re.findall(r"^Tag: (\S+)$", (folder / "WHEEL").read_text(), re.MULTILINE)
    python = f"cp3{sys.version_info.minor}"
    assert tags
    assert all(re.match(rf"{python}-{python}-manylinux", one) for one in tags), tags


@pytest.mark.release
@pytest.mark.timeout(5400)
@pytest.mark.parametrize(
    ("arguments", "code", "printed"),
    [
        (["--version"], 0, "takt 0.1.0"),
        (["analyse", "docking.app.yaml"], 0, "radar.scan"),
        (["simulate", "docking.app.yaml"], 0, "guard.brake"),
        (["reproduce", "no-such-paper"], 2, "gutierrez2018"),
        (["measure", "wakeup", "--stack", "rcl"], 2, "the stack rcl is not installed"),
        (["execute", "docking.app.yaml"], 1, "is not installed"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_it_works_alone(
    venv: Path, tmp_path: Path, arguments: list[str], code: int, printed: str
) -> None:
    """Where it needs programs of the workspace it says so."""
    shutil.copy(ROOT / "examples" / "docking.app.yaml", tmp_path)
    done = call(venv, tmp_path, *arguments)
    assert done.returncode == code, done.stdout + done.stderr
    assert printed in " ".join((done.stdout + done.stderr).split())
    assert (venv / SITE / "takt" / "experiments" / "quick.yaml").is_file()


@pytest.mark.release
@pytest.mark.timeout(5400)
def test_it_measures_what_needs_no_ros(venv: Path, tmp_path: Path) -> None:
    words = ["--stack", "raw", "--duration", "1s", "--json"]
    done = call(venv, tmp_path, "measure", "wakeup", *words)
    assert done.returncode == 0, done.stdout + done.stderr
    cells = json.loads(done.stdout)["cells"]
    assert {(cell["stack"], cell["kind"]) for cell in cells} == {("raw", "wakeup")}
    assert all(cell["count"] > 0 for cell in cells)


@pytest.mark.release
@pytest.mark.timeout(5400)
def test_the_doctor_looks_at_the_machine(venv: Path, tmp_path: Path) -> None:
    done = call(venv, tmp_path, "doctor", "--json")
    assert done.returncode in {0, 1}, done.stderr  # a verdict about this machine
    assert json.loads(done.stdout)["findings"]
