# SPDX-License-Identifier: Apache-2.0
"""What is locked can be installed, also after newer versions have appeared."""

from __future__ import annotations

import re
import sysconfig
from importlib.metadata import distributions

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from setup.distributions import ROOT, STATE, WHEELS

# An environment's lock, and its folder: what each package there asks for stands in it.
LOCKS = {"dev": "venv", f"ros-{WHEELS}": "ros"}
PINNED = re.compile(r"^([A-Za-z0-9._-]+)(?:\[([^]]*)\])?==", re.MULTILINE)


@pytest.mark.parametrize("name", LOCKS)
def test_what_is_asked_for_with_extras_is_locked_with_them(name: str) -> None:
    """pip of Debian 12 takes `coverage==7` for no pin of `coverage[toml]`: it looks for the newest
    one, and refuses it for its missing hash."""
    folder = STATE / LOCKS[name]
    if not folder.exists():
        pytest.skip(f"there is no {folder}")
    packages = sysconfig.get_path("purelib", vars={"base": str(folder)})
    text = (ROOT / "setup" / "requirements" / f"{name}.txt").read_text(encoding="utf-8")
    locked: dict[str, set[str]] = {}
    for package, extras in PINNED.findall(text):
        locked.setdefault(canonicalize_name(package), set()).update(
            extra.strip() for extra in extras.split(",") if extra
        )
    there = list(distributions(path=[packages]))
    assert {canonicalize_name(one.name) for one in there} & set(locked), f"nothing in {packages}"
    asked = {
        (canonicalize_name(need.name), extra)
        for distribution in there
        for need in map(Requirement, distribution.requires or ())
        if need.extras and (need.marker is None or need.marker.evaluate({"extra": ""}))
        for extra in need.extras
    }
    if name == "dev":
        assert asked, "nothing here asks for extras: this test sees nothing"
    stripped = {f"{name}[{extra}]" for name, extra in asked if extra not in locked.get(name, ())}
    assert stripped == set(), "run setup/requirements/lock.sh, which keeps extras"
