# SPDX-License-Identifier: Apache-2.0
"""Chain sets of PiCAS's published schedulability test (text, a row a callback).

Columns: period of the chain's timer (0 for the other callbacks), execution time, chain, place in
the chain, a priority that its test does not use, core, executor, priority in PiCAS's order; ms
(Choi et al. 2021, section VII-C). Executors with one thread each: the first has the highest
priority, callbacks of one exclude each other. A chain is schedulable if its latency is at most its
period.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from takt.schedule.importing.imported import (
    Given,
    Imported,
    application,
    descending,
    execution,
    time_ns,
    wrong,
)

COLUMNS = 8
UNIT = 1_000_000  # ns


@dataclass(frozen=True)
class Row:
    """A callback; ns, ordinals from 1."""

    line: int
    period: int
    worst: int
    chain: int
    place: int
    core: int
    executor: int
    priority: int

    @property
    def name(self) -> str:
        """In the app.yaml."""
        return f"chain_{self.chain}.callback_{self.place}"

    @property
    def topic(self) -> str:
        """That it publishes for the next of its chain."""
        return f"chain_{self.chain}_{self.place}"


def read(file: Path, text: str, given: Given) -> list[Imported]:
    """Every set of the file; raises TaktError for rows that are no chains."""
    notes = [
        "cores: counted from 0, from 1 in the file",
        "max_latency: the period of the chain, as in PiCAS's test",
    ]
    sets = _sets(_rows(file, text, given.unit or UNIT))
    return [Imported(_application(file, rows), list(notes)) for rows in sets]


def _rows(file: Path, text: str, unit: int) -> Iterator[Row]:
    for line, row in enumerate(text.splitlines(), 1):
        words = row.split()
        if not words:
            continue
        if len(words) != COLUMNS:
            raise wrong(file, line, f"{len(words)} columns; a callback has {COLUMNS}")
        period, worst = (
            time_ns(one, unit, file, line, what)
            for one, what in zip(words, ("period", "execution time"), strict=False)
        )
        try:
            ordinals = [int(float(one)) for one in words[2:]]
        except (ValueError, OverflowError):
            raise wrong(
                file, line, "chain, place, core, executor or priority is no number"
            ) from None
        if min(ordinals) < 1:
            raise wrong(file, line, "chains, places, cores, executors and priorities count from 1")
        chain, place, _, core, executor, priority = ordinals
        yield Row(line, period, worst, chain, place, core, executor, priority)


def _sets(rows: Iterator[Row]) -> Iterator[list[Row]]:
    """A set begins with the first callback of chain 1."""
    found: list[Row] = []
    for row in rows:
        if found and (row.chain, row.place) == (1, 1):
            yield found
            found = []
        found.append(row)
    if found:
        yield found


def _application(file: Path, rows: list[Row]) -> dict[str, Any]:
    chains: dict[int, list[Row]] = {}
    for row in rows:
        chain = chains.setdefault(row.chain, [])
        if row.place != len(chain) + 1 or (row.period > 0) != (row.place == 1):
            raise wrong(
                file,
                row.line,
                "a chain begins with its timer, and its callbacks follow in their order, with "
                "period 0",
            )
        chain.append(row)
    order = sorted(rows, key=lambda row: (row.executor, -row.priority))
    levels = dict(zip(order, descending(len(order), file), strict=True))
    last = {one[-1] for one in chains.values()}
    return application(
        (_callback(row, levels[row], row in last) for row in rows),
        "fp",
        sorted({row.core - 1 for row in rows}),
        topics=[{"name": row.topic} for row in rows if row not in last],
        chains=[
            {
                "name": f"chain_{number}",
                "callbacks": [one.name for one in chain],
                "max_latency": chain[0].period,
            }
            for number, chain in chains.items()
        ],
    )


def _callback(row: Row, priority: int, last: bool) -> dict[str, Any]:
    before = f"chain_{row.chain}_{row.place - 1}"
    return {
        "name": row.name,
        **({"period": row.period} if row.place == 1 else {"trigger": before}),
        "execution": execution(row.worst, row.worst),
        "priority": priority,
        "group": f"executor_{row.executor}",
        "cpu": row.core - 1,
        **({} if last else {"writes": [row.topic]}),
    }
