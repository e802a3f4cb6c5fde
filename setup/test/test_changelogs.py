# SPDX-License-Identifier: Apache-2.0
"""Each package has a CHANGELOG.rst of the form that catkin_prepare_release takes (REP 132)."""

from __future__ import annotations

import pytest
from catkin_pkg.changelog import Changelog as Parsed
from catkin_pkg.changelog import populate_changelog_from_rst
from catkin_pkg.cli.tag_changelog import get_forthcoming_label, rename_section
from setup.distributions import ROOT

PACKAGES = sorted(file.parent.name for file in ROOT.glob("src/*/package.xml"))


# catkin_pkg asks docutils for what that will no longer have.
pytestmark = pytest.mark.filterwarnings("default")


def text(package: str) -> str:
    return (ROOT / "src" / package / "CHANGELOG.rst").read_text(encoding="utf-8")


def parsed(package: str, rst: str) -> Parsed:
    """As catkin_pkg reads it: it knows versions only, and leaves out what is forthcoming."""
    changelog = Parsed(package)
    populate_changelog_from_rst(changelog, rst)
    return changelog


@pytest.mark.parametrize("package", PACKAGES)
def test_it_is_the_package_s_and_says_what_is_forthcoming(package: str) -> None:
    assert text(package).splitlines()[1] == f"Changelog for package {package}"
    assert get_forthcoming_label(text(package)) == "Forthcoming"


@pytest.mark.parametrize("package", PACKAGES)
def test_a_release_takes_all_of_it(package: str) -> None:
    """What catkin_prepare_release does: it gives what is forthcoming a version."""
    forthcoming = get_forthcoming_label(text(package))
    released = parsed(package, rename_section(text(package), forthcoming, "0.1.0 (2026-01-31)"))
    ((version, date, content),) = released.foreach_version()
    assert (version, date.isoformat()[:10]) == ("0.1.0", "2026-01-31")
    assert sum(len(bullets.bullets) for bullets in content) == text(package).count("\n* ")
