# SPDX-License-Identifier: Apache-2.0
"""What cores provided, as tables of a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pyarrow as pa

from takt.measure.report.own import OwnTable
from takt.measure.results.model import Cell
from takt.measure.results.supply import CoreSupply
from takt.measure.statistics import core_supply
from takt.pages import text

_MEANING = (
    "In each window, no stretch provided less than the rate after the delay. 99 % of the windows "
    "began at most so late. supply.yaml has the same for takt analyse --supply."
)


def supply_tables(folder: Path, by_key: Mapping[str, Sequence[Cell]]) -> list[OwnTable]:
    """A row for each core that was watched; none where samples are gone."""
    cells = [cell for group in by_key.values() for cell in group]
    try:
        found = core_supply.of_cells(cells, folder)
    except (OSError, pa.ArrowException, KeyError):
        return []  # removed or damaged: the samples' own charts say so
    if not found:
        return []
    heads = ("Core", "Windows", "Provided", "Worst window", "Longest gap", "Rate", "Delay", "Late")
    return [OwnTable("Supply of each core", _MEANING, heads, [_row(one) for one in found])]


def _row(one: CoreSupply) -> list[str]:
    return [
        str(one.cpu),
        f"{text.count(one.windows)} of {text.duration(one.window_us)}",
        f"{one.mean_share:.2%}",
        f"{one.least_share:.2%}",
        text.duration(one.longest_gap_us),
        text.ABSENT if one.rate is None else f"{one.rate:.4f}",
        text.duration(one.delay_us),
        text.duration(one.latency_us),
    ]
