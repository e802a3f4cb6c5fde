# SPDX-License-Identifier: Apache-2.0
"""What is summed over the jobs of each callback, and the parts of an explanation made of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

import takt_core

from takt.pages.text import listed
from takt.schedule.explain.model import AgainstBounds, CallbackLate, ShareKind
from takt.schedule.trace.file import Trace


@dataclass
class Sums:
    """Of the jobs of one callback; ns."""

    executions: int = 0
    overdue: int = 0
    misses: Counter[ShareKind] = field(default_factory=Counter)
    partly: int = 0  # misses whose cause takes less than the lateness
    disturbed: int = 0
    ns: Counter[ShareKind] = field(default_factory=Counter)
    response: int = 0
    above: Counter[ShareKind | None] = field(default_factory=Counter)
    overheads: int = 0  # the most that a bound did not count


@dataclass(frozen=True)
class Totals:
    """Of all callbacks that are counted."""

    callbacks: list[tuple[str, Sums]]
    bounds: Mapping[str, int | None]  # ns; None: the analysis gives none
    overheads: Mapping[str, int]  # ns; those that the bounds count

    def by_cause(self) -> dict[ShareKind, int]:
        """Misses, the most frequent cause first."""
        found: Counter[ShareKind] = Counter()
        for _, sums in self.callbacks:
            found.update(sums.misses)
        return dict(found.most_common())

    def late(self) -> list[CallbackLate]:
        """The callbacks that have late jobs."""
        return [
            CallbackLate(
                callback=name,
                executions=sums.executions,
                misses=sums.misses.total(),
                disturbed=sums.disturbed,
                partly=sums.partly,
                by_cause=dict(sums.misses.most_common()),
                us_by_kind={kind: ns / 1000 for kind, ns in sums.ns.most_common()},
                response_us=sums.response / 1000,
                bound_us=None if (bound := self.bounds.get(name)) is None else bound / 1000,
                above=sums.above.total(),
            )
            for name, sums in self.callbacks
            if sums.misses or sums.above
        ]

    def against_bounds(self) -> AgainstBounds | None:
        """How the responses stand to their bounds; None where there are none."""
        bounded = [sums for name, sums in self.callbacks if self.bounds.get(name) is not None]
        if not bounded:
            return None
        above: Counter[ShareKind | None] = Counter()
        for sums in bounded:
            above.update(sums.above)
        unexplained = above.pop(None, 0)
        return AgainstBounds(
            overheads=bool(self.overheads),
            overheads_us={name: ns / 1000 for name, ns in self.overheads.items()},
            responses=sum(sums.executions for sums in bounded),
            above=above.total() + unexplained,
            by_cause={kind: count for kind, count in above.most_common() if kind is not None},
            unexplained=unexplained,
        )

    def remarks(self, trace: Trace, application: takt_core.Declared | None) -> list[str]:
        """What a reader must know of the bounds."""
        lines = []
        if application is None:
            lines.append(
                "the trace does not contain its application: declared execution times and "
                "bounds are unknown"
            )
        elif self.bounds and application.switches:
            lines.append(
                "each bound is the largest of all scenarios, and holds while no job of another "
                "one is left"
            )
        known = set(trace.names.tasks.values())
        absent = [one.name for one in application.callbacks if one.active] if application else []
        if absent := [name for name in absent if name not in known]:
            are = "is" if len(absent) == 1 else "are"
            lines.append(f"{listed(absent)} {are} not in the trace")
        without = [name for name, _ in self.callbacks if self.bounds.get(name, 0) is None]
        if without:
            lines.append(f"no bound for {', '.join(without)}: takt analyse gives the reason")
        above = any(sums.above for _, sums in self.callbacks)
        if trace.source == "executor" and not self.overheads and above:
            took = max(sums.overheads for _, sums in self.callbacks)
            lines.append(
                "the bounds ignore overheads: dispatching, waking and messages explain up "
                f"to {took / 1e6:.3f} ms of an excess; include them with --overheads FILE, a "
                "trace of takt execute, or printed by takt bench overheads --json"
            )
        return lines
