# SPDX-License-Identifier: Apache-2.0
"""What the how-to of ``takt gate`` says works when it is pasted, in the order of the page."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs" / "how-to" / "gate-a-robot-in-ci.md"
JUDGED = {0, 1, 3}  # a shared machine decides which
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def pasted(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """A line of a block, in a shell; shorter executions show the same."""
    script = re.sub(r"--duration \d+s", "--duration 300ms", line)
    return subprocess.run(
        ["bash", "-ec", script],
        cwd=folder,
        env={**os.environ, "GITHUB_ACTIONS": ""},
        stdin=subprocess.DEVNULL,
        text=True,
        capture_output=True,
    )


@pytest.mark.thorough
def test_what_the_how_to_says_works_when_it_is_pasted(tmp_path: Path, app_runner: None) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    launcher = tmp_path / "takt"
    launcher.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m takt "$@"\n')
    launcher.chmod(0o755)
    commands, files = 0, 0
    for language, text in BLOCK.findall(PAGE.read_text(encoding="utf-8")):
        if language == "yaml":
            (name,) = re.findall(r"^# (\S+\.limits\.yaml)$", text, re.MULTILINE)
            (tmp_path / name).write_text(text, encoding="utf-8")
            files += 1
        elif not language:
            for line in text.splitlines():
                done = pasted(line, tmp_path)
                expected = JUDGED if "takt gate" in line else {0}
                assert done.returncode in expected, f"{line}: {done.stdout}{done.stderr}"
                commands += 1
    assert (commands, files) == (9, 3)
    assert (tmp_path / "gate" / "junit.xml").exists()
    assert (tmp_path / "robot.baseline.json").exists()
