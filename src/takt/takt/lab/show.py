# SPDX-License-Identifier: Apache-2.0
"""The comparison as a table; every table says what its times are."""

from __future__ import annotations

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from takt.lab.model import Lab


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


def _table(lab: Lab, what: str) -> Table:
    table = Table(title=f"{what}: µs of {lab.numbers}", box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("kernel")
    table.add_column("")
    for name in ("count", "min", "avg", "p99", "max"):
        table.add_column(name, justify="right", no_wrap=True)
    for kernel in lab.kernels:
        for one in sorted(kernel.latencies, key=lambda found: found.load):  # idle before loaded
            if one.what == what:
                values = (one.min_us, one.avg_us, one.p99_us, one.max_us)
                name = f"{kernel.release} {kernel.preemption}"
                table.add_row(name, one.load, str(one.count), *(f"{each:.1f}" for each in values))
    return table
