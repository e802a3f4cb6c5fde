# SPDX-License-Identifier: Apache-2.0
"""A recording for people."""

from __future__ import annotations

from rich.console import Console

from takt.machine.system import format_cpu_list
from takt.pages.row_table import of_cells
from takt.pages.text import count
from takt.schedule.record.document import RecordDocument, RecordedThread

MOST_NODES = 3  # of a process in the table


def show(console: Console, document: RecordDocument) -> None:
    """Prints a row for each process and for each callback, and what comes next."""
    processes = [
        (
            one.program.split(" ")[0].rsplit("/", 1)[-1],
            str(one.process),
            _nodes(one.nodes),
            count(one.events),
            count(one.dropped),
            _scheduling(one.threads),
        )
        for one in document.processes
    ]
    if processes:
        console.print(
            of_cells(
                ("program", "process", "nodes", "events", "missing", "callbacks run as"), processes
            )
        )
    callbacks = [
        (
            one.callback,
            "-" if one.period_ms is None else f"{one.period_ms:g} ms",
            count(one.calls),
            "-" if one.rate_hz is None else f"{one.rate_hz:.4g} Hz",
            f"{one.median_us:.4g} µs",
            f"{one.longest_us:.4g} µs",
        )
        for one in document.callbacks
    ]
    if callbacks:
        console.print(
            of_cells(("callback", "period", "calls", "rate", "median", "longest"), callbacks)
        )
        console.print("median and longest: CPU time of a call", soft_wrap=True)
    if processes:
        text = f"{document.folder}"
        if callbacks:
            text += f": next, takt model {document.folder}"
        console.print(text, markup=False, soft_wrap=True)


def _scheduling(threads: list[RecordedThread]) -> str:
    """``fifo 80 on 1``, of the threads with callbacks."""
    each = {
        f"{one.policy} {one.priority}" if one.priority else one.policy: one.cpus
        for one in threads
        if one.calls
    }
    return ", ".join(f"{rank} on {format_cpu_list(cpus)}" for rank, cpus in each.items()) or "-"


def _nodes(nodes: list[str]) -> str:
    text = ", ".join(nodes[:MOST_NODES])
    more = len(nodes) - MOST_NODES
    return f"{text} and {more} more" if more > 0 else text or "-"
