# SPDX-License-Identifier: Apache-2.0
"""Executors for people: one table each, newest reports."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from takt.top.model import Executor, Task

STALE_S = 3.0  # without a report
_STYLES = {"ok": "", "warn": "yellow", "error": "bold red", "stale": "dim"}
_COLUMNS: dict[str, Callable[[Task], str]] = {
    "completed": lambda task: str(task.completed),
    "misses": lambda task: str(task.deadline_misses),
    "skipped": lambda task: str(task.skipped),
    "worst\nresponse µs": lambda task: f"{task.worst_response_us:,.0f}",
    "worst\nlateness µs": lambda task: f"{task.worst_lateness_us:,.0f}",
}
_WHERE_ANY: dict[str, Callable[[Task], float]] = {
    "worst data\nage µs": lambda task: task.worst_age_us,
    "data\ntoo old": lambda task: task.age_violations,
    "over\nbudget": lambda task: task.budget_overruns,
    "messages\nlost": lambda task: task.lost_arrivals,
    "early\nreleases": lambda task: task.early_releases,
}


@dataclass
class _Seen:
    """The newest report of one executor, and the one before for rates."""

    now: Executor
    before: Executor | None
    at: float  # CLOCK_MONOTONIC here, s


@dataclass
class Board:
    """Gathers reports and draws them."""

    clock: Callable[[], float] = time.monotonic
    _seen: dict[str, _Seen] = field(default_factory=dict)

    def take(self, reports: Iterable[Executor]) -> None:
        """New reports."""
        for report in reports:
            former = self._seen.get(report.node)
            self._seen[report.node] = _Seen(report, former.now if former else None, self.clock())

    @property
    def empty(self) -> bool:
        """Whether nothing has come yet."""
        return not self._seen

    def draw(self) -> RenderableType:
        """All executors."""
        return Group(*(self._draw(seen) for _, seen in sorted(self._seen.items())))

    def _draw(self, seen: _Seen) -> RenderableType:
        executor = seen.now
        age = self.clock() - seen.at
        stale = age > STALE_S
        columns = dict(_COLUMNS)
        for name, value in _WHERE_ANY.items():
            if any(value(task) for task in executor.tasks):
                columns[name] = _written(value)
        title = Text(f"{executor.node}   scenario {executor.scenario or '–'}", style="bold")
        if stale:
            title.append(f"   no report for {age:.0f} s: it has ended?", style="bold red")
        elif executor.level != "ok":
            title.append(f"   {executor.message}", style=_STYLES[executor.level])
        table = Table(title=title, title_justify="left", box=None, pad_edge=False)
        table.add_column("\ntask", overflow="fold", min_width=12)
        rates = _rates(seen)
        if rates:
            table.add_column("\njobs/s", justify="right", no_wrap=True)
        for name in columns:
            heading = name if "\n" in name else f"\n{name}"
            table.add_column(heading, justify="right", no_wrap=True)
        table.add_column("\nnow", no_wrap=True)
        for task in executor.tasks:
            table.add_row(
                Text(task.name),
                *([rates.get(task.name, "–")] if rates else []),
                *(value(task) for value in columns.values()),
                task.level,
                style="dim" if stale else _STYLES[task.level],
            )
        lines = [
            Text(f"{task.name}: {task.message}", style=_STYLES[task.level])
            for task in executor.tasks
            if task.level != "ok" and not stale
        ]
        lines += [Text(f"not obtained: {one}", style="yellow") for one in executor.shortfalls]
        return Group(table, *lines, "")


def _written(value: Callable[[Task], float]) -> Callable[[Task], str]:
    return lambda task: f"{value(task):,.0f}"


def _rates(seen: _Seen) -> dict[str, str]:
    """Jobs a second between the last two reports."""
    if seen.before is None or seen.now.stamp_ns <= seen.before.stamp_ns:
        return {}
    seconds = (seen.now.stamp_ns - seen.before.stamp_ns) / 1e9
    former = {task.name: task.completed for task in seen.before.tasks}
    return {
        task.name: f"{(task.completed - former[task.name]) / seconds:,.0f}"
        for task in seen.now.tasks
        if task.completed >= former.get(task.name, task.completed + 1)
    }
