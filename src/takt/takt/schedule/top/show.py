# SPDX-License-Identifier: Apache-2.0
"""Executors for people: one table each, newest reports."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from rich.console import Group, RenderableType
from rich.text import Text

from takt.pages import text
from takt.pages.row_table import Columns, RowTable
from takt.schedule.top.model import Executor, Limit, Task

STALE_S = 3.0  # without a report
_STYLES = {"ok": "", "warn": "yellow", "error": "bold red", "stale": "dim"}
_ALWAYS: Columns[Task] = {
    "completed": lambda task: task.completed,
    "misses": lambda task: task.deadline_misses,
    "releases\nskipped": lambda task: task.skipped,
    "messages\nlost": lambda task: task.lost_arrivals,
    "response\nworst µs": lambda task: text.fixed(task.worst_response_us),
    "lateness\nworst µs": lambda task: text.fixed(task.worst_lateness_us),
}
_WHERE_ANY: Columns[Task] = {
    "data age\nworst µs": lambda task: task.worst_age_us and text.fixed(task.worst_age_us),
    "too old\nor no data": lambda task: task.age_violations,
    "over\nbudget": lambda task: task.budget_overruns,
    "early\nreleases": lambda task: task.early_releases,
}
_LIMITS: Columns[Limit] = {
    "now": lambda limit: limit.level,
    "checked": lambda limit: limit.checked,
    "exceeded": lambda limit: limit.exceeded,
    "allowed": lambda limit: f"{limit.allowed:.3%}",
    "limit\nµs": lambda limit: text.fixed(limit.limit_us) if limit.limit_us else "",
    "worst\nµs": lambda limit: text.fixed(limit.worst_us) if limit.worst_us else "",
}


@dataclass
class _Observed:
    """The newest report of one executor, and the one before for rates."""

    now: Executor
    before: Executor | None
    at: float  # CLOCK_MONOTONIC here, s


@dataclass
class Board:
    """Gathers reports and draws them."""

    clock: Callable[[], float] = time.monotonic
    _observed: dict[str, _Observed] = field(default_factory=dict)

    def take(self, reports: Iterable[Executor]) -> None:
        """New reports."""
        for report in reports:
            former = self._observed.get(report.node)
            self._observed[report.node] = _Observed(
                report, former.now if former else None, self.clock()
            )

    @property
    def empty(self) -> bool:
        """Whether nothing has come yet."""
        return not self._observed

    def draw(self) -> RenderableType:
        """All executors."""
        return Group(*(self._draw(observed) for _, observed in sorted(self._observed.items())))

    def _draw(self, observed: _Observed) -> RenderableType:
        executor = observed.now
        age = self.clock() - observed.at
        stale = age > STALE_S
        title = Text(f"{executor.node}   scenario {executor.scenario or '–'}", style="bold")
        if stale:
            title.append(f"   no report for {age:.0f} s: it has ended?", style="bold red")
        elif executor.level != "ok":
            title.append(f"   {executor.message}", style=_STYLES[executor.level])
        rates = _rates(observed)
        now: Columns[Task] = {"now": lambda task: task.level}
        speed: Columns[Task] = {"jobs/s": lambda task: rates.get(task.name)} if rates else {}
        table = RowTable(
            heading="task",
            rows=executor.tasks,
            name=lambda task: task.name,
            always={**now, **speed, **_ALWAYS},
            where_any=_WHERE_ANY,
            style=lambda task: "dim" if stale else _STYLES[task.level],
        )
        limits = RowTable(
            heading="limit",
            rows=executor.limits,
            name=lambda limit: limit.name,
            always=_LIMITS,
            style=lambda limit: "dim" if stale else _STYLES[limit.level],
        )
        both: list[Task | Limit] = [*executor.tasks, *executor.limits]
        lines = [
            Text(f"{one.name}: {one.message}", style=_STYLES[one.level])
            for one in both
            if one.level != "ok" and not stale
        ]
        lines += [Text(f"not granted: {one}", style="yellow") for one in executor.not_granted]
        return Group(title, table, *([limits] if executor.limits else []), *lines, "")


def _rates(observed: _Observed) -> dict[str, str]:
    """Jobs a second between the last two reports."""
    if observed.before is None or observed.now.stamp_ns <= observed.before.stamp_ns:
        return {}
    seconds = (observed.now.stamp_ns - observed.before.stamp_ns) / 1e9
    former = {task.name: task.completed for task in observed.before.tasks}
    return {
        task.name: text.fixed((task.completed - former[task.name]) / seconds)
        for task in observed.now.tasks
        if task.completed >= former.get(task.name, task.completed + 1)
    }
