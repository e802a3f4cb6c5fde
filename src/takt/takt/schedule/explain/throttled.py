# SPDX-License-Identifier: Apache-2.0
"""For how long the kernel may have throttled a process: its budget of a period was used up.

A trace does not show when the periods of a reservation (SCHED_DEADLINE) or of a quota begin. But
who is throttled has computed for a whole budget since the begin of its period, and waits for at
most period - budget for the next one. So the time that its jobs computed, from one period before
its release on, bounds for how long it was throttled, and so does what the kernel counted of a quota
while it was executed. The bound of the analysis knows of this time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from takt.documents.units import format_duration
from takt.machine.cpu_quota import Throttled
from takt.schedule.application.kernel_scheduling import scheduling_text
from takt.schedule.explain.account import Part
from takt.schedule.explain.jobs import Job
from takt.schedule.explain.model import ShareKind
from takt.schedule.explain.recent import Recent
from takt.schedule.explain.urgency import Urgency
from takt.schedule.trace import quotas
from takt.schedule.trace.file import Names

_SLOP = 20_000  # ns by which the clock of a thread and the kernel's account may differ


@dataclass(frozen=True)
class _Budget:
    """What the kernel gives a process in each period; ns."""

    process: str
    text: str
    runtime: int
    period: int
    cut: bool  # what is left of it may be cut when the process wakes up
    tasks: frozenset[int]
    counted: Throttled | None  # by the kernel, of the whole execution


class Throttling:
    """By the processes of the application that a trace carries."""

    def __init__(
        self,
        names: Names,
        flat: dict[str, Any] | None,
        recent: Recent,
        urgency: Urgency,
        *,
        recording: bool,
    ) -> None:
        """``recording``: the trace lacks what executors computed between callbacks."""
        self._recording = recording
        self._recent = recent
        self._urgency = urgency
        self._budgets = {
            task: budget for budget in _budgets(names, flat or {}) for task in budget.tasks
        }

    def at_most(self, job: Job, since: int, until: int) -> int:
        """For how long its process may have been throttled between two times, in ns."""
        budget = self._budgets.get(job.task)
        if budget is None:
            return 0
        used = self._computed(budget, since, until)
        most = (used + _SLOP) // budget.runtime * (budget.period - budget.runtime)
        return min(until - since, most, budget.counted.ns if budget.counted else most)

    def named(self, parts: Sequence[Part], job: Job) -> list[Part]:
        """The parts of a response, where throttling takes what nothing else explains of it.

        First what processes had that the kernel prefers it to: they only ran because of that.
        """
        left = self.at_most(job, job.release or 0, job.end or 0)
        if not left:
            return list(parts)
        found = 0
        kept = []
        for part in sorted(parts, key=lambda one: self._rank(one, job)):
            taken = min(left, part.ns) if self._rank(part, job) < _NOT else 0
            left -= taken
            found += taken
            kept.append(replace(part, ns=part.ns - taken))
        kept.append(Part(ShareKind.throttled, None, found))
        return sorted((part for part in kept if part.ns), key=lambda part: -part.ns)

    def evidence(self, part: Part, job: Job) -> str:
        """What the trace tells of the budget of a job's process; empty: it has none."""
        budget = self._budgets.get(job.task)
        throttled = part.kind is ShareKind.throttled
        if budget is None or not (throttled or part.kind is ShareKind.not_scheduled):
            return ""
        used = self._computed(budget, job.release or 0, job.end or 0)
        text = (
            f"process {budget.process} has a {budget.text}, and computed for {used / 1e6:.3f} ms "
            f"since {format_duration(budget.period)} before the release"
        )
        counted = budget.counted
        if throttled or (counted and not counted.times):
            return f"{text}; {quotas.sentence(budget.process, counted)}" if counted else text
        most = self.at_most(job, job.release or 0, job.end or 0)
        if most:
            longest = f"{most / 1e6:.3f} ms"
            return f"{text}: it was throttled for at most {longest}, a share of its own"
        if budget.cut:
            return (
                f"{text}: that is no whole budget, but the kernel may have cut it when the process "
                "woke up, and no trace shows this"
            )
        if self._recording:
            return (
                f"{text}: that is no whole budget, but a recording does not show what its executor "
                "computed between callbacks"
            )
        return f"{text}: that is no whole budget, so it was not throttled"

    def _computed(self, budget: _Budget, since: int, until: int) -> int:
        return self._recent.computed(budget.tasks, since - budget.period, until)

    def _rank(self, part: Part, job: Job) -> int:
        """In which order throttling explains them; _NOT: not at all."""
        if part.task is not None and self._urgency.is_below(part.task, job.task):
            return 0
        mine = part.task is None or self._budgets.get(part.task) is self._budgets.get(job.task)
        return (
            {ShareKind.not_scheduled: 1, ShareKind.late: 2}.get(part.kind, _NOT) if mine else _NOT
        )


_NOT = 3


def _budgets(names: Names, flat: dict[str, Any]) -> list[_Budget]:
    """Of the processes that have one, as far as the kernel granted it."""
    found = []
    refused = names.not_granted()
    counted = quotas.measured(names)
    for process in flat.get("processes", []):
        name = process["name"]
        one = process.get("reservation") or process.get("quota")
        if one is None or any(text.startswith(f"process '{name}' under ") for text in refused):
            continue
        callbacks = {
            each["name"] for each in flat.get("callbacks", []) if each.get("process") == name
        }
        reserved = "reservation" in process
        runtime = int(one["runtime" if reserved else "budget"])
        found.append(
            _Budget(
                name,
                scheduling_text(process) if reserved else f"quota ({scheduling_text(process)})",
                runtime,
                int(one["period"]),
                reserved and one["deadline"] < one["period"],
                frozenset(task for task, of in names.tasks.items() if of in callbacks),
                counted.get(name),
            )
        )
    return found
