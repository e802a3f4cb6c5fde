# SPDX-License-Identifier: Apache-2.0
"""Asks the core."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from takt.documents.reading import read_json
from takt.documents.units import LONGEST
from takt.errors import TaktError, shortened
from takt.schedule.analysis.model import Analysis

if TYPE_CHECKING:
    import takt_core

OVERHEADS = (
    "dispatch",
    "preemption",
    "release",
    "publish",
    "publish_per_kib",
    "deliver",
    "deliver_per_kib",
)


def analyse(
    flat: dict[str, Any],
    where: str,
    progress: Callable[[int, int], object] | None = None,
    *,
    proposals: bool = True,
) -> Analysis:
    """The analysis of an application in its flat form; ``where`` names it in errors.

    ``progress`` is called while it lasts, with how many callbacks are done and how many there are.
    ``proposals``: whether to look for what would guarantee more, where something is not guaranteed.
    """
    import takt_core

    try:
        document = takt_core.analyse(json.dumps(flat), proposals=proposals, progress=progress)
    except takt_core.Error as error:
        raise refused(error, where) from None
    return Analysis.model_validate(document)


def refused(error: takt_core.Error, where: str) -> TaktError:
    """What the core refuses, as an error of the file that it was written in."""
    return TaktError(f"{error.where}: {error.problem}", where=where, fix=error.fix or None)


def read_overheads(path: Path, key: str = "upper") -> dict[str, int]:
    """The overheads in a document of ``./takt bench overheads --json``, in ns."""
    example = "takt bench overheads --json > overheads.json"
    document = read_json(path, fix=example)
    values = document.get(key) if isinstance(document, dict) else None
    if not isinstance(values, dict):
        raise TaktError(f"key {key!r} is missing", where=str(path), fix=example)
    unknown = sorted(set(values) - set(OVERHEADS))
    if unknown:
        raise TaktError(
            f"unknown overhead {unknown[0]!r} below {key!r}",
            where=str(path),
            fix=f"the overheads are {', '.join(OVERHEADS)}, in ns",
        )
    for name, value in values.items():
        if (
            isinstance(value, bool)
            or not isinstance(value, int | float)
            or not 0 <= value <= LONGEST
        ):
            raise TaktError(
                f"{key}.{name} must be a time in ns, not {shortened(repr(value), 80)}",
                where=str(path),
                fix=example,
            )
    return {name: -int(-value // 1) for name, value in values.items()}
