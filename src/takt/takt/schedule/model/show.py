# SPDX-License-Identifier: Apache-2.0
"""A modelled application for people."""

from __future__ import annotations

from rich.console import Console

from takt.pages.row_table import of_cells
from takt.pages.text import count
from takt.schedule.model import writers
from takt.schedule.model.document import Modelled
from takt.schedule.model.tail import TailEstimate


def show(console: Console, modelled: Modelled) -> None:
    """Prints a row for each callback, and where the file is."""
    rows = [
        (
            one.callback,
            count(one.jobs),
            *map(_time, (one.period_us, one.best_us, one.longest_us, one.wcet_us)),
        )
        for one in modelled.callbacks
    ]
    console.print(of_cells(("callback", "jobs", "period", "shortest", "longest", "wcet"), rows))
    console.print("execution times are observed, not a worst case", soft_wrap=True)
    for one in modelled.callbacks:
        if one.tail:
            console.print(
                f"tail of {one.callback}: {_tail(one.tail)}", markup=False, soft_wrap=True
            )
    for topic in modelled.topics:
        console.print(f"topic {topic.topic}:", markup=False, soft_wrap=True)
        for note in writers.notes(topic):
            console.print(f"  {note}", markup=False, soft_wrap=True)
    for chain in modelled.chains:
        path = " > ".join(chain.callbacks)
        console.print(
            f"chain {chain.chain}: {path}; longest observed latency {_time(chain.longest_us)}",
            markup=False,
            soft_wrap=True,
        )
    text = f"{modelled.application}: next, run takt analyse with these times"
    console.print(text, markup=False, soft_wrap=True)


def _tail(tail: TailEstimate) -> str:
    level, low, high = map(_time, (tail.level_us, tail.low_us, tail.high_us))
    rare = f"one job in {count(tail.once_in_jobs)} above {level}"
    return f"{rare}, estimated (95 %: {low} to {high})"


def _time(time_us: float | None) -> str:
    if time_us is None:
        return "-"
    return f"{time_us / 1000:.6g} ms" if time_us >= 1000 else f"{time_us:.6g} µs"
