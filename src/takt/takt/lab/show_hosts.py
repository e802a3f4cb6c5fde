# SPDX-License-Identifier: Apache-2.0
"""The tests between two guests as tables; each says what its times are."""

from __future__ import annotations

from rich.console import Console

from takt.lab.hosts_model import Hosts
from takt.pages.row_table import of_cells


def show(console: Console, found: Hosts) -> None:
    """Prints one row a test and round, one a thread of the kernel, then the answer."""
    rows = [
        (
            one.test,
            one.sent,
            one.late,
            one.lost,
            *map(_whole, (one.p50_us, one.p99_us, one.max_us)),
            *map(_tenths, (one.traffic_there_mbps, one.traffic_back_mbps)),
        )
        for one in found.tests
    ]
    headings = ("test", "sent", "late", "lost", "p50", "p99", "max", "there", "back")
    deadline = f"late after {found.deadline_us / 1000:g} ms"
    title = f"{found.kernel} twice: µs of {found.numbers}, {deadline}; traffic in Mbit/s"
    console.print(of_cells(headings, rows, title=title))
    threads = [
        (f"{one.test} {thread.host}", thread.thread, thread.scheduling, *map(_tenths, times))
        for one in found.tests
        for thread in one.threads
        for times in [(thread.ran_ms, thread.waited_ms)]
    ]
    columns = ("test", "thread", "scheduling", "ran", "waited")
    words = ["thread", "scheduling"]
    console.print(of_cells(columns, threads, words=words, title="the kernel's threads: ms"))
    for one in found.tests:
        if one.fault:
            console.print(f"{one.cell}: {one.fault}", style="red", markup=False, soft_wrap=True)
    console.print(found.headline, markup=False, soft_wrap=True)
    console.print(f"results: {found.results}", markup=False, soft_wrap=True)


def _whole(value: float | None) -> str | None:
    return None if value is None else f"{value:.0f}"


def _tenths(value: float | None) -> str | None:
    return None if value is None else f"{value:.1f}"
