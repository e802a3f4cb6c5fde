# SPDX-License-Identifier: Apache-2.0
"""Asks the core."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from takt.errors import TaktError
from takt.schedule.analysis.model import Analysis

if TYPE_CHECKING:
    import takt_core


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
