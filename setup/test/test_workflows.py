# SPDX-License-Identifier: Apache-2.0
"""The workflows, ours and the one to copy: actionlint passes, and no shell step is untried."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from setup.distributions import ROOT, STATE, WHEELS
from setup.pretended import COLCON, Installation

OURS = ROOT / ".github" / "workflows" / "ci.yml"
TO_COPY = ROOT / "examples" / "ci" / "takt.yml"
# What a run of it measures: a line of the experiment that a user would write.
LATENCY = """
name: latency
repetitions: 3
duration: 600ms
measurements:
  - {kind: wakeup, stack: raw, rate: 1kHz, scheduling: other}
"""
# Every job, and the test here that runs its steps.
TRIED = {
    (OURS, "clone"): "test_all_tests_are_what_ci_runs",
    (OURS, "ros"): "test_the_steps_on_an_installation",
    (TO_COPY, "deadlines"): "test_the_steps_of_the_deadlines",
    (TO_COPY, "latency"): "test_the_steps_of_the_latency",
}


def jobs(workflow: Path) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(workflow.read_text(encoding="utf-8"))["jobs"]
    return found


def steps(workflow: Path, job: str) -> dict[str, str]:
    """Its shell steps, by their names."""
    return {step["name"]: step["run"] for step in jobs(workflow)[job]["steps"] if "run" in step}


def perform(script: str, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """As GitHub runs a step whose shell is bash: ended by the first failure, in a pipe too."""
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
        cwd=folder,
        env={**os.environ, **variables},
        stdin=subprocess.DEVNULL,
        text=True,
        capture_output=True,
    )


@pytest.mark.parametrize("workflow", [OURS, TO_COPY], ids=lambda file: file.name)
def test_actionlint_passes(workflow: Path) -> None:
    actionlint = shutil.which("actionlint")
    if actionlint is None:
        pytest.skip("there is no actionlint: go install github.com/rhysd/actionlint/cmd/actionlint")
    done = subprocess.run([actionlint, workflow], cwd=ROOT, text=True, capture_output=True)
    assert done.returncode == 0, done.stdout


def test_every_job_with_shell_steps_is_tried() -> None:
    there = {(file, job) for file in (OURS, TO_COPY) for job in jobs(file) if steps(file, job)}
    assert there == set(TRIED)
    assert {name for name in TRIED.values() if name not in globals()} == set()
    for file, job in there:
        unnamed = [one for one in jobs(file)[job]["steps"] if "run" in one and "name" not in one]
        assert unnamed == []


def test_all_tests_are_what_ci_runs() -> None:
    assert steps(OURS, "clone") == {"all tests": "bash .ci/run"}
    assert "./takt test --all" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A user's, with Takt as a submodule: here its launcher only starts the tool."""
    shutil.copy(ROOT / "examples" / "docking.app.yaml", tmp_path / "robot.app.yaml")
    (tmp_path / "latency.yaml").write_text(LATENCY)
    (tmp_path / "takt").mkdir()
    launcher = tmp_path / "takt" / "takt"
    launcher.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m takt "$@"\n')
    launcher.chmod(0o755)
    return tmp_path


@pytest.mark.thorough
def test_the_steps_of_the_deadlines(repository: Path) -> None:
    for name, script in steps(TO_COPY, "deadlines").items():
        done = perform(script, repository)
        assert done.returncode == 0, f"{name}: {done.stdout}{done.stderr}"
    late = (repository / "robot.app.yaml").read_text().replace("wcet: 1.5ms", "wcet: 5.5ms")
    (repository / "robot.app.yaml").write_text(late)
    assert perform(steps(TO_COPY, "deadlines")["bounds"], repository).returncode == 1


@pytest.mark.thorough
def test_the_steps_of_the_latency(
    repository: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    runner = tmp_path_factory.mktemp("runner")
    for state in ("old", "new"):
        shutil.copytree(repository, runner / state)
    for name, script in steps(TO_COPY, "latency").items():
        done = perform(script, runner)
        # A shared machine may well be slower the second time.
        expected = {0, 1} if name == "compare" else {0}
        assert done.returncode in expected, f"{name}: {done.stdout}{done.stderr}"
    assert "raw-wakeup" in done.stdout


@pytest.mark.installation
@pytest.mark.timeout(5400)
def test_the_steps_on_an_installation(tmp_path: Path) -> None:
    """In a copy of this repository, on the wheels dressed as an installation."""
    if not (STATE / "ros").is_dir():
        pytest.skip("no wheels to dress as an installation")
    installation = Installation(tmp_path)
    clone = tmp_path / "clone"
    files = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.split("\0")
    for file in filter(None, files):
        (clone / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / file, clone / file, follow_symlinks=False)
    colcon = tmp_path / "bin" / "colcon"  # which the images of ROS 2 have
    colcon.parent.mkdir()
    colcon.symlink_to(COLCON)
    there = {"ROS_DISTRO": WHEELS, "PYTHONPATH": ""}
    there["PATH"] = f"{installation.environment()['PATH']}:{colcon.parent}"
    for name, script in steps(OURS, "ros").items():
        placed = script.replace("/opt/ros/$ROS_DISTRO", str(installation.prefix))
        assert placed != script
        environment = installation.environment(**there)
        done = subprocess.run(
            ["bash", "-eo", "pipefail", "-c", placed],
            cwd=clone,
            env=environment,
            stdin=subprocess.DEVNULL,
            text=True,
            capture_output=True,
        )
        assert done.returncode == 0, f"{name}: {done.stdout[-2000:]}{done.stderr[-4000:]}"
    assert not (clone / ".takt" / "ros").exists()
    assert (clone / "results" / "check" / "report.html").exists()
