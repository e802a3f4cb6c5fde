# SPDX-License-Identifier: Apache-2.0
"""The comparison as a table; every table says what its times are."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from takt.judge.show import STYLES
from takt.lab.model import Lab
from takt.pages.row_table import RowTable, of_cells
from takt.statistics.judgement import Outcome


def show(console: Console, lab: Lab) -> None:
    """Prints one row a kernel and load, then the verdict."""
    for what in dict.fromkeys(one.what for kernel in lab.kernels for one in kernel.latencies):
        console.print(_table(lab, what))
    for kernel in lab.kernels:
        for one in kernel.trials:
            colour = "green" if one.holds else "red"
            console.print(f"{one.trial}: {one.why}", style=colour, markup=False, soft_wrap=True)
        for fault in kernel.faults:
            console.print(f"{kernel.kernel}: {fault}", style="red", markup=False, soft_wrap=True)
        for row in kernel.latencies:
            if row.outcome is not Outcome.meets:
                said = f"{kernel.kernel}, {row.what}, {row.load}: {'; '.join(row.reasons)}"
                console.print(said, style=STYLES[row.outcome], markup=False, soft_wrap=True)
    colour = STYLES[lab.verdict.outcome]
    console.print(lab.verdict.headline, style=colour, markup=False, soft_wrap=True)
    console.print(f"Loaded by {lab.load}.", style="dim", markup=False, soft_wrap=True)
    console.print(f"results: {lab.results}", markup=False, soft_wrap=True)


def _table(lab: Lab, what: str) -> RowTable[Sequence[object]]:
    rows = [
        (
            f"{kernel.release} {kernel.preemption}",
            one.load,
            one.count,
            one.outcome.value,
            *map(_figure, (one.min_us, one.avg_us, one.p99_us, one.max_us)),
        )
        for kernel in lab.kernels
        for one in sorted(kernel.latencies, key=lambda found: found.load)  # idle before loaded
        if one.what == what
    ]
    headings = ("kernel", "", "count", "outcome", "min", "avg", "p99", "max")
    return of_cells(headings, rows, words=["", "outcome"], title=f"{what}: µs of {lab.numbers}")


def _figure(value: float | None) -> str | None:
    return None if value is None else f"{value:.1f}"
