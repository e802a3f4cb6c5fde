# SPDX-License-Identifier: Apache-2.0
"""The comparison as a table; every table says what its times are."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from takt.lab.model import Lab
from takt.pages.row_table import RowTable, of_cells


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
    colour = {True: "green", False: "red", None: "yellow"}[lab.verdict.holds]
    console.print(lab.verdict.headline, style=colour, markup=False, soft_wrap=True)
    console.print(f"Loaded by {lab.load}.", style="dim", markup=False, soft_wrap=True)
    console.print(f"results: {lab.results}", markup=False, soft_wrap=True)


def _table(lab: Lab, what: str) -> RowTable[Sequence[object]]:
    rows = [
        (
            f"{kernel.release} {kernel.preemption}",
            one.load,
            one.count,
            *(f"{each:.1f}" for each in (one.min_us, one.avg_us, one.p99_us, one.max_us)),
        )
        for kernel in lab.kernels
        for one in sorted(kernel.latencies, key=lambda found: found.load)  # idle before loaded
        if one.what == what
    ]
    headings = ("kernel", "", "count", "min", "avg", "p99", "max")
    return of_cells(headings, rows, words=[""], title=f"{what}: µs of {lab.numbers}")
