# SPDX-License-Identifier: Apache-2.0
"""The experiments that come with Takt."""

from __future__ import annotations

from pathlib import Path

from takt.errors import Failure

PUBLISHED = "published"


def experiments() -> Path:
    """The folder with the papers' experiments: of the source tree, or of an installation."""
    here = Path(__file__).resolve()
    names = ("experiments", "share/takt/experiments")
    for place in (parent / name for parent in here.parents for name in names):
        if (place / PUBLISHED).is_dir():
            return place
    raise Failure("the papers' experiments are not installed", where=str(here.parents[3]))
