# SPDX-License-Identifier: Apache-2.0
"""Each package declares its quality in the terms of REP-2004, and what can be looked at is so."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from setup.distributions import ROOT

FOLDERS = sorted(file.parent for file in ROOT.glob("src/*/package.xml"))
# REP-2004's requirements, and who may rely on what.
SUBJECTS = [
    "version policy",
    "public API",
    "change control",
    "documentation",
    "licence",
    "tests",
    "linters",
    "performance",
    "dependencies",
    "platforms",
    "security",
]
# A share of lines and of branches, what ran the tests, the command that measured it, and when.
SHARE = r"\d+\.\d % of \d[\d ]*"
COVERAGE = (
    rf"Coverage: {SHARE} lines and {SHARE} branches by (?:GoogleTest|pytest) "
    r"\(`\./takt test --coverage (\w+)`, \d{4}-\d\d-\d\d\)"
)
# Why there is no figure.
NOT_MEASURED = {
    "takt_interfaces": "there is no code",
}


def rows(package: Path) -> dict[str, str]:
    text = (package / "QUALITY_DECLARATION.md").read_text(encoding="utf-8")
    return dict(re.findall(r"^\| ([\w ]+) \| (.+) \|$", text, re.MULTILINE))


@pytest.mark.parametrize("package", FOLDERS, ids=lambda folder: folder.name)
def test_it_speaks_of_every_subject(package: Path) -> None:
    text = (package / "QUALITY_DECLARATION.md").read_text(encoding="utf-8")
    assert text.startswith(f"# Quality declaration: {package.name}\n")
    assert re.search(r"\*\*quality level \d\*\*", text)
    assert list(rows(package)) == SUBJECTS


@pytest.mark.parametrize("package", FOLDERS, ids=lambda folder: folder.name)
def test_it_names_a_figure_of_coverage_and_the_command_that_measured_it(package: Path) -> None:
    cell = rows(package)["tests"]
    if reason := NOT_MEASURED.get(package.name):
        assert cell.endswith(f"Coverage: {reason}")
    else:
        assert [package.name] == re.findall(f"{COVERAGE}$", cell)


@pytest.mark.parametrize("package", FOLDERS, ids=lambda folder: folder.name)
def test_its_dependencies_are_those_of_the_manifest(package: Path) -> None:
    root = ElementTree.parse(package / "package.xml").getroot()  # noqa: S314 - our own file
    asked = {str(tag.text) for tag in root if tag.tag in {"depend", "exec_depend"}}
    named = set(re.findall(r"[\w.-]*\w", rows(package)["dependencies"]))
    assert asked - named == set()
    ours = {name for name in named if (ROOT / "src" / name / "package.xml").exists()}
    assert ours <= asked


@pytest.mark.parametrize("package", FOLDERS, ids=lambda folder: folder.name)
def test_what_it_points_to_is_there(package: Path) -> None:
    text = (package / "QUALITY_DECLARATION.md").read_text(encoding="utf-8")
    links = [link for link in re.findall(r"\]\(([^)]+)\)", text) if "://" not in link]
    assert links
    assert [link for link in links if not (package / link).exists()] == []
    headers = re.findall(r"`(include/[\w/]+)`", text)
    assert [folder for folder in headers if not (package / folder).is_dir()] == []
