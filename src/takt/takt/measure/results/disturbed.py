# SPDX-License-Identifier: Apache-2.0
"""What to say of CPU time that other programs took while cells were measured."""

from __future__ import annotations

from collections.abc import Iterable

from takt.measure.results.model import Cell
from takt.pages import text


def sentence(cells: Iterable[Cell]) -> str | None:
    """How many cells were disturbed, and by how much; None where none was."""
    every = [cell for cell in cells if cell.others_seconds is not None]
    disturbed = [cell for cell in every if cell.disturbed]
    if not disturbed:
        return None
    seconds = sum(cell.others_seconds or 0.0 for cell in disturbed)
    lasted = sum(cell.seconds for cell in disturbed)
    taken = f"{text.duration(seconds * 1e6)} of CPU time"
    share = f"{seconds / lasted:.0%} of one CPU" if lasted else "all of it"
    repeated = sum(cell.repeated for cell in disturbed)
    again = f" {text.number_of(repeated, 'repeat')} did not help." if repeated else ""
    return (
        f"Disturbed: other programs took {taken} ({share}) during {len(disturbed)} of "
        f"{len(every)} measurements. Their latencies may be longer than on an idle machine.{again}"
    )
