# SPDX-License-Identifier: Apache-2.0
"""The Python wheel of the tool (setup/wheel): what it asks for, and that it works alone."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from setup.distributions import ROOT, STATE
from setup.pretended import SITE

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
    """A fresh environment with the wheel; what it depends on is lent by the tool's own."""
    made = tmp_path_factory.mktemp("wheel")
    environment = {name: text for name, text in os.environ.items() if name != "PYTHONPATH"}
    environment["PATH"] = f"{STATE / 'venv' / 'bin'}:{environment['PATH']}"
    if shutil.which("ccache"):
        environment |= {"CMAKE_CXX_COMPILER_LAUNCHER": "ccache", "CCACHE_BASEDIR": str(ROOT)}
        environment |= {"CCACHE_NOHASHDIR": "1", "CCACHE_SLOPPINESS": "pch_defines,time_macros"}
    pip = [str(STATE / "venv" / "bin" / "python"), "-m", "pip"]
    # Of the same depth as the launcher's, for ccache; an ended build goes on.
    build = f"--config-settings=build-dir={STATE / 'build-wheel' / 'core'}"
    for command in (
        [*pip, "wheel", "--no-deps", "--no-build-isolation", build, "-w", str(made), str(FOLDER)],
        [sys.executable, "-m", "venv", str(made / "venv")],
    ):
        done = subprocess.run(command, env=environment, text=True, capture_output=True)
        assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    (wheel,) = made.glob("takt-*.whl")
    install = [str(made / "venv" / "bin" / "pip"), "install", "--no-index", "--no-deps", str(wheel)]
    subprocess.run(install, check=True, env=environment, capture_output=True)
    lent = made / "venv" / SITE / "lent.pth"
    lent.write_text(f"{STATE / 'venv' / SITE}\n")
    return made / "venv"


@pytest.mark.installation
@pytest.mark.timeout(3600)
@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["--version"], 0, "takt 0.1.0"),
        (["analyse", "docking.app.yaml"], 0, "radar.scan"),
        (["simulate", "docking.app.yaml"], 0, "guard.brake"),
        (["reproduce", "no-such-paper"], 2, "gutierrez2018"),
        (["measure", "wakeup"], 2, "the stack raw is not installed"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_it_works_alone(
    venv: Path, tmp_path: Path, arguments: list[str], code: int, told: str
) -> None:
    """Where it needs programs of the workspace it says so."""
    shutil.copy(ROOT / "examples" / "docking.app.yaml", tmp_path)
    done = subprocess.run(
        [venv / "bin" / "takt", *arguments],
        cwd=tmp_path,
        env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)},
        text=True,
        capture_output=True,
    )
    assert done.returncode == code, done.stdout + done.stderr
    assert told in done.stdout + done.stderr
    assert (venv / SITE / "takt" / "experiments" / "published").is_dir()
