# SPDX-License-Identifier: Apache-2.0
"""In which order a reader wants to see measurements: what is against the run comes first."""

from __future__ import annotations

from collections.abc import Sequence

from takt.measure.report.model import Measurement, Variant
from takt.measure.results.outcome import deadline_of


def worst_first(measurements: Sequence[Measurement]) -> list[Measurement]:
    """By the greatest share of late responses, of absent samples, then by the slowest response.

    The slowest response counts against its deadline; what is equal keeps its order.
    """
    return sorted(measurements, key=lambda one: max(map(_badness, one.variants)), reverse=True)


def _badness(variant: Variant) -> tuple[float, float, float]:
    found = variant.statistics
    absent = variant.absent / max(1, variant.total("count") + variant.absent)
    if found is None:
        return 0.0, absent, 0.0
    if any(deadline_of(cell) is None for cell in variant.cells):
        return 0.0, absent, 0.0
    late = found.exceedance.exceeded / max(1, found.exceedance.count)
    deadline = max((cell.deadline_us for cell in variant.cells), default=0.0)
    return late, absent, found.response.max_us / deadline if deadline else 0.0
