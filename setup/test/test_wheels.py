# SPDX-License-Identifier: Apache-2.0
"""The wheels of ROS 2 are fixed whole or not at all, so that a set-up that was killed goes on."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from setup import wheels

CUT_SHORT = """#!/bin/sh
case $1 in --print-needed) exit 0 ;; esac
while [ $# -gt 0 ]; do case $1 in --output) file=$2 ;; esac; last=$1; shift; done
echo half > "${file:-$last}"
exit 1
"""
WHOLE = CUT_SHORT.replace("half", "fixed").replace("exit 1", "exit 0")


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """In a prefix with a patchelf that is killed half-way."""
    for folder in ("bin", "lib"):
        (tmp_path / folder).mkdir()
    patchelf = tmp_path / "bin" / "patchelf"
    patchelf.write_text(CUT_SHORT)
    patchelf.chmod(0o755)
    file = tmp_path / "lib" / "libone.so"
    file.write_text("whole")
    file.chmod(0o755)
    return file


def test_an_interrupted_fix_leaves_the_library_unchanged(library: Path) -> None:
    prefix = library.parents[1]
    with pytest.raises(subprocess.CalledProcessError):
        wheels.fix_libraries(prefix, prefix / "site-packages")
    assert library.read_text() == "whole"
    (prefix / "bin" / "patchelf").write_text(WHOLE)
    wheels.fix_libraries(prefix, prefix / "site-packages")
    assert library.read_text() == "fixed\n"
    assert library.stat().st_mode & 0o777 == 0o755
    assert list(library.parent.iterdir()) == [library]
