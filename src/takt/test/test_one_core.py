# SPDX-License-Identifier: Apache-2.0
"""Ordinary tests run beside each other, a spinning one by itself, and it gets its turn."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import one_core
import pytest

HERE = Path(__file__).parent
PROGRAM = """
import sys, pathlib, one_core
with getattr(one_core, sys.argv[1])(pathlib.Path(sys.argv[2])):
    print("in", flush=True)
    sys.stdin.read(1)
"""


def start(how: str, folder: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, how, str(folder)],
        cwd=HERE,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def end(*processes: subprocess.Popen[str]) -> list[bool]:
    """Each may leave as soon as it came in; whether it came in."""
    for one in processes:
        assert one.stdin is not None
        one.stdin.write("x")
        one.stdin.flush()
    return [one.communicate()[0] == "in\n" and one.returncode == 0 for one in processes]


def test_readers_are_beside_each_other_and_queue_behind_a_writer(tmp_path: Path) -> None:
    with one_core.shared(tmp_path):
        assert end(start("shared", tmp_path)) == [True]
        others = [start("exclusive", tmp_path), start("shared", tmp_path)]
    assert end(*others) == [True, True]


def test_a_writer_excludes_others(tmp_path: Path) -> None:
    with one_core.exclusive(tmp_path):
        others = [start("shared", tmp_path), start("exclusive", tmp_path)]
        for one in others:
            with pytest.raises(subprocess.TimeoutExpired):
                one.wait(0.5)
    assert end(*others) == [True, True]
