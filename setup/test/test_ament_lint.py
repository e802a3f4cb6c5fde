# SPDX-License-Identifier: Apache-2.0
"""The linters of ament that Takt holds: lint_cmake, and xmllint with the schema of package.xml.

The others would say again, or otherwise, what is looked at already: uncrustify and cpplint lay out
by another style than clang-format, cppcheck finds what clang-tidy finds, flake8 and pep257 are
rules of ruff, and copyright wants a whole notice where files have an SPDX line (test_manifests.py).
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from setup.distributions import ROOT

PACKAGES = sorted(file.parent for file in ROOT.glob("src/*/package.xml"))


def lint(linter: str, *paths: Path) -> subprocess.CompletedProcess[str]:
    program = shutil.which(linter)
    if program is None:
        pytest.skip(f"there is no {linter} (on Debian: python3-{linter.replace('_', '-')})")
    # With the system's Python, whose package it is.
    clean = {"PATH": "/usr/bin:/bin"}
    return subprocess.run(
        [program, *map(str, paths)], env=clean, cwd=ROOT, text=True, capture_output=True
    )


def test_cmake_files_pass_lint_cmake() -> None:
    done = lint("ament_lint_cmake", *PACKAGES)
    assert done.returncode == 0, done.stdout + done.stderr


def test_manifests_follow_the_schema() -> None:
    done = lint("ament_xmllint", *(package / "package.xml" for package in PACKAGES))
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("is valid") == len(PACKAGES)


def test_a_package_that_does_not_is_found(tmp_path: Path) -> None:
    manifest = tmp_path / "package.xml"
    text = (PACKAGES[0] / "package.xml").read_text(encoding="utf-8")
    manifest.write_text(text.replace("<license>", "<licence>").replace("</license>", "</licence>"))
    assert lint("ament_xmllint", manifest).returncode == 1
    (tmp_path / "CMakeLists.txt").write_text("IF (A)\n  message( hello)\nENDIF ()\n")
    assert lint("ament_lint_cmake", tmp_path).returncode == 1
