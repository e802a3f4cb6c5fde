# SPDX-License-Identifier: Apache-2.0
"""The workflows, ours and the one to copy: actionlint passes, and no shell step is untried."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from setup.distributions import ROOT, STATE, WHEELS
from setup.pretended import COLCON, Installation

OURS = ROOT / ".github" / "workflows" / "ci.yml"
TO_COPY = ROOT / "examples" / "ci" / "takt.yml"
GATE = ROOT / "examples" / "ci" / "gate.yml"
# What a run of it measures: a line of the experiment that a user would write.
LATENCY = """
name: latency
repetitions: 3
duration: 600ms
measurements:
  - {kind: wakeup, stack: raw, rate: 1kHz, scheduling: other}
"""
# On the core of examples/docking.app.yaml, until it is killed, but for a limited time.
TAKES_THE_CORE = """
import os, time
try:
    os.sched_setaffinity(0, {1})
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(99))
except OSError:
    raise SystemExit(1)
print("ready", flush=True)
end = time.monotonic() + 900
while time.monotonic() < end:
    until = time.monotonic() + 0.02
    while time.monotonic() < until:
        pass
    time.sleep(0.1)
"""
# Every job, and the test here that runs its steps.
TRIED = {
    (OURS, "clone"): "test_all_tests_are_what_ci_runs",
    (OURS, "ros"): "test_the_steps_on_an_installation",
    (TO_COPY, "deadlines"): "test_the_steps_of_the_deadlines",
    (TO_COPY, "latency"): "test_the_steps_of_the_latency",
    (GATE, "simulated"): "test_a_slower_callback_turns_the_gate_red",
    (GATE, "executed"): "test_the_steps_of_the_executed_gate",
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


@pytest.mark.parametrize("workflow", [OURS, TO_COPY, GATE], ids=lambda file: file.name)
def test_actionlint_passes(workflow: Path) -> None:
    actionlint = shutil.which("actionlint")
    if actionlint is None:
        pytest.skip("there is no actionlint: go install github.com/rhysd/actionlint/cmd/actionlint")
    done = subprocess.run([actionlint, workflow], cwd=ROOT, text=True, capture_output=True)
    assert done.returncode == 0, done.stdout


def test_every_job_with_shell_steps_is_tried() -> None:
    there = {
        (file, job) for file in (OURS, TO_COPY, GATE) for job in jobs(file) if steps(file, job)
    }
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


class Robot:
    """A git repository with the workflow of the gate, and a baseline that was committed."""

    LIMITS = "callbacks: {guard.brake: {response: 8ms}}\n"
    BASELINE = "not_worse_than: {baseline: robot.baseline.json, by: 10%}\n"

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.git("init", "--quiet")
        self.write("robot.limits.yaml", self.LIMITS + self.BASELINE)
        self.write("machine.limits.yaml", "callbacks: {guard.brake: {late: 100%}}\n")
        workflow = folder / ".github" / "workflows" / "gate.yml"
        workflow.parent.mkdir(parents=True)
        shutil.copy(GATE, workflow)
        self.step("simulated", "simulate")
        command = "takt/takt gate robot.takttrace --limits robot.limits.yaml"
        done = perform(f"{command} --write-baseline robot.baseline.json", folder)
        assert done.returncode == 0, done.stdout + done.stderr
        self.commit("a robot, its limits and its baseline")

    def git(self, *words: str) -> None:
        who = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
        subprocess.run(["git", *who, *words], cwd=self.folder, check=True)

    def write(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text, encoding="utf-8")

    def commit(self, message: str) -> None:
        self.git("add", "--all", ".")
        self.git("commit", "--quiet", "--message", message)

    def step(self, job: str, name: str) -> subprocess.CompletedProcess[str]:
        """As GitHub performs it in a checkout of the last commit."""
        workflow = self.folder / ".github" / "workflows" / "gate.yml"
        summary = str(self.folder / "summary.md")
        actions = {"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": summary}
        return perform(steps(workflow, job)[name], self.folder, **actions, DURATION="2s")

    def gated(self, job: str = "simulated") -> subprocess.CompletedProcess[str]:
        """All steps of a job at the last commit; that of the gate."""
        self.git("clean", "--quiet", "--force", "-d")
        first, gate, summary = (self.step(job, name) for name in steps(GATE, job))
        assert first.returncode == 0, first.stdout + first.stderr
        assert summary.returncode == 0
        return gate


@pytest.fixture
def robot(repository: Path) -> Robot:
    return Robot(repository)


@pytest.mark.thorough
def test_an_unchanged_robot_is_green(robot: Robot) -> None:
    done = robot.gated()
    assert done.returncode == 0, done.stdout + done.stderr
    assert "::" not in done.stdout
    summary = (robot.folder / "summary.md").read_text(encoding="utf-8")
    assert "| guard.brake | response | 8 ms |" in summary


def test_a_slower_callback_turns_the_gate_red(robot: Robot) -> None:
    text = (robot.folder / "robot.app.yaml").read_text(encoding="utf-8")
    assert "wcet: 1.5ms" in text
    robot.write("robot.app.yaml", text.replace("wcet: 1.5ms", "wcet: 1.8ms"))  # every limit is met
    robot.commit("a better radar")
    done = robot.gated()
    assert done.returncode == 1
    assert "::error title=radar.scan, execution p50::1.200 times the baseline" in done.stdout
    robot.write("robot.app.yaml", text.replace("wcet: 2ms", "wcet: 9ms"))
    robot.write("robot.limits.yaml", robot.LIMITS)
    robot.commit("a thorough guard, without a baseline")
    done = robot.gated()
    assert done.returncode == 1
    assert "::error title=guard.brake, response::" in done.stdout


@pytest.mark.thorough
def test_what_the_data_do_not_decide_is_a_warning(robot: Robot) -> None:
    robot.write("robot.limits.yaml", robot.LIMITS.replace("8ms", "8ms, late: 0.1%"))
    robot.commit("a share that 2 s of jobs do not decide")
    done = robot.gated()
    assert done.returncode == 0, done.stdout + done.stderr
    assert "::warning title=guard.brake, response::" in done.stdout
    assert "::error" not in done.stdout


@pytest.mark.thorough
def test_the_steps_of_the_executed_gate(robot: Robot) -> None:
    done = robot.gated("executed")
    # On a shared machine, the radar may miss its deadline.
    assert done.returncode in {0, 1}, done.stdout + done.stderr
    assert "on 3 repetitions" in done.stdout
    assert "guard.brake" in (robot.folder / "gate.xml").read_text(encoding="utf-8")


@pytest.fixture
def load() -> Iterator[None]:
    """A program that takes the robot's core for 20 ms, again and again, above every priority."""
    if os.geteuid() != 0:
        pytest.skip("needs root: a higher priority, and the kernel's record of who had the core")
    with subprocess.Popen(
        [sys.executable, "-IS", "-c", TAKES_THE_CORE], stdout=subprocess.PIPE, text=True
    ) as program:
        if program.stdout is None or program.stdout.readline() != "ready\n":
            program.kill()
            pytest.skip("this machine gives no real-time priority, or has no CPU 1")
        yield
        program.kill()


@pytest.mark.thorough
def test_no_limit_fails_by_what_other_programs_on_the_robots_core_delay(
    robot: Robot, load: None
) -> None:
    robot.write("machine.limits.yaml", robot.LIMITS)
    robot.commit("a limit that the load breaks")
    done = robot.gated("executed")
    if any(b"held_refused=p" in one.read_bytes() for one in robot.folder.rglob("*.takttrace")):
        pytest.skip("the kernel does not say who had the core")
    # On a shared machine, the hypervisor takes the core as well, and no program is named for that.
    assert done.returncode in {0, 1}, done.stdout + done.stderr
    count = r"([\d,]+)"
    found = re.findall(
        rf"^::(error|warning) .*?::{count} of .*?(?:, {count} of them disturbed)?$",
        done.stdout,
        re.MULTILINE,
    )
    assert any(disturbed for _, _, disturbed in found)
    for level, *counts in found:
        exceeding, disturbed = (int(one.replace(",", "") or 0) for one in counts)
        assert level == "warning" or disturbed < exceeding


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
