# SPDX-License-Identifier: Apache-2.0
"""What is locked can be installed, also after newer versions have appeared."""

from __future__ import annotations

import re
from importlib.metadata import distributions
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

LOCK = Path(__file__).resolve().parents[1] / "requirements" / "dev.txt"
PINNED = re.compile(r"^([A-Za-z0-9._-]+)(?:\[([^]]*)\])?==", re.MULTILINE)


def test_what_is_asked_for_with_extras_is_locked_with_them() -> None:
    """pip of Debian 12 takes `coverage==7` for no pin of `coverage[toml]`: it looks for the newest
    one, and refuses it for its missing hash."""
    locked: dict[str, set[str]] = {}
    for name, extras in PINNED.findall(LOCK.read_text(encoding="utf-8")):
        locked.setdefault(canonicalize_name(name), set()).update(
            extra.strip() for extra in extras.split(",") if extra
        )
    asked = {
        (canonicalize_name(need.name), extra)
        for distribution in distributions()
        for need in map(Requirement, distribution.requires or ())
        if need.extras and (need.marker is None or need.marker.evaluate({"extra": ""}))
        for extra in need.extras
    }
    assert asked, "nothing here asks for extras: this test sees nothing"
    stripped = {f"{name}[{extra}]" for name, extra in asked if extra not in locked.get(name, ())}
    assert stripped == set(), "run setup/requirements/lock.sh, which keeps extras"
