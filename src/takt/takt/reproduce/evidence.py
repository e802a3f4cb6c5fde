# SPDX-License-Identifier: Apache-2.0
"""For papers whose experiments are an experiment file: its measured points, each with its runs.

Points are chosen by what was asked of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from statistics import fmean, median
from typing import Any, TypeVar

import numpy as np

from takt.measure.experiment.plan import estimate
from takt.measure.results.model import Cell, Run, Status
from takt.reproduce.judgement import undecidable
from takt.reproduce.published import read_published
from takt.reproduce.quantity import Check
from takt.reproduce.rare import Counts
from takt.reproduce.runs import OfRun, Value
from takt.reproduce.scatter import Missing, Order

Own = TypeVar("Own", bound="Evidence")


@dataclass
class Measured:
    """A run, or the plan of one, and what is known of its cells so far."""

    run: Run
    folder: Path
    planned: bool = False
    found: dict[object, list[str]] = field(default_factory=dict)
    values: dict[object, Any] = field(default_factory=dict)

    @cached_property
    def undisturbed(self) -> Measured:
        """Without the disturbed runs; itself where no run was disturbed."""
        cells = [cell for cell in self.run.cells if not cell.disturbed]
        if len(cells) == len(self.run.cells):
            return self
        return replace(self, run=self.run.model_copy(update={"cells": cells}), found={})

    def stands(self, cell: Cell) -> bool:
        """Whether it stands for one of the paper's."""
        return True

    def unless_asked(self) -> dict[str, Any]:
        """What points are like that nobody asks about."""
        return {}

    def sampled(self, cell: Cell) -> bool:
        """Whether there are samples of it, or will be."""
        return self.planned or cell.statistics is not None

    @cached_property
    def points(self) -> dict[str, list[Cell]]:
        """The runs of each point that came to an end, with samples or without."""
        points: dict[str, list[Cell]] = {}
        for cell in self.run.cells:
            ended = self.sampled(cell) or cell.status in {Status.complete, Status.failed}
            if ended and self.stands(cell):
                points.setdefault(cell.key, []).append(cell)
        return points


class Evidence:
    """One stack's part of a run."""

    def __init__(self, measured: Measured, stack: str, order: Order | None = None) -> None:
        self.measured, self.stack, self._order = measured, stack, order
        self._asked: dict[str, list[Cell]] = {}
        self._groups: dict[object, int] = {}
        self._grouped: dict[str, Cell] = {}

    def drawn(self, order: Order | None) -> Evidence:
        """Nothing asked yet; with an order, the runs of each point that this says."""
        return type(self)(self.measured, self.stack, order)

    @property
    def undisturbed(self: Own) -> Own:  # noqa: PYI019 - Self is new in Python 3.11
        """The same without disturbed runs; itself where no run was disturbed."""
        rest = self.measured.undisturbed
        return self if rest is self.measured else type(self)(rest, self.stack, self._order)

    @property
    def disturbed(self) -> int:
        """Disturbed runs of the stack, or of all where the evidence is of no single one."""
        cells = self.measured.run.cells
        own = [cell for cell in cells if cell.stack == self.stack] or cells
        return sum(cell.disturbed for cell in own)

    @property
    def asked(self) -> set[str]:
        """The points of which something was asked."""
        return {*self._asked, *(cell.key for cell in self._grouped.values())}

    @property
    def runs(self) -> int:
        """The fewest runs of a point, or points where these are what is drawn."""
        return min([*map(len, self._asked.values()), *self._groups.values()])

    @property
    def seconds(self) -> float:
        """How long all that was asked for took to measure."""
        asked = [cell for runs in self._asked.values() for cell in runs]
        return sum(one.seconds or estimate(one) for one in (*asked, *self._grouped.values()))

    def keys(self, *, failed: bool = False, **asked: Any) -> list[str]:
        """The points of this stack that were asked like this; a tuple stands for any of its values.

        Raises Missing where there is none.
        """
        wanted = {"stack": self.stack, **self.measured.unless_asked(), **asked}
        query = (failed, *sorted(wanted.items(), key=str))
        if query not in self.measured.found:
            self.measured.found[query] = [
                key
                for key, cells in self.measured.points.items()
                if _fits(cells[0], wanted) and (failed or any(map(self.measured.sampled, cells)))
            ]
        if not (found := self.measured.found[query]):
            words = " ".join(f"{name}={value}" for name, value in asked.items() if name != "stack")
            raise Missing(f"no samples of {words} by {wanted['stack']}")
        return found

    def cells(self, **asked: Any) -> list[Cell]:
        """All measured runs of the points that were asked like this."""
        failed = bool(asked.get("failed"))
        return [cell for key in self.keys(**asked) for cell in self.point(key, failed=failed)]

    def point(self, key: str, *, failed: bool = False) -> list[Cell]:
        """The runs of a point, as they were drawn."""
        if key not in self._asked:
            every = self.measured.points[key]
            runs = [cell for cell in every if failed or self.measured.sampled(cell)]
            if self._order is not None:
                runs = [runs[place] for place in self._order.integers(len(runs), size=len(runs))]
            self._asked[key] = runs
        return self._asked[key]

    def value(self, cell: Cell, of: OfRun[Value], *more: object) -> Value:
        """What a run amounts to; computed once."""
        known = self.measured.values
        if (what := (cell.id, of, more)) not in known:
            known[what] = of(cell, self.measured.folder, *more)
        found: Value = known[what]
        return found

    def mean(self, of: OfRun[float], *more: object, **asked: Any) -> float:
        """The mean over the points of the mean over their runs."""
        failed = bool(asked.get("failed"))
        return fmean(
            fmean(self.value(cell, of, *more) for cell in self.point(key, failed=failed))
            for key in self.keys(**asked)
        )

    def median(self, of: OfRun[float], *more: object, **asked: Any) -> float:
        """The median over the runs of all points."""
        return median(self.value(cell, of, *more) for cell in self.cells(**asked))

    def counts(self, of: OfRun[Counts], *more: object, **asked: Any) -> list[Counts]:
        """Cases and of how many, of each run of all points."""
        return [self.value(cell, of, *more) for cell in self.cells(**asked)]

    def apart(self, of: OfRun[float], alike: Sequence[str], **asked: Any) -> float:
        """How far runs of the same point differ: (highest - lowest) / mean, the median of points.

        ``alike`` are the attributes in which runs of a point agree. Here points are drawn, not
        runs: a run that is drawn twice does not differ from itself.
        """
        groups: dict[tuple[object, ...], list[float]] = {}
        for key in self.keys(**asked):
            for cell in self.measured.points[key]:
                if self.measured.sampled(cell):
                    point = tuple(getattr(cell, name) for name in alike)
                    groups.setdefault(point, []).append(self.value(cell, of))
                    self._grouped[cell.id] = cell
        several = [values for values in groups.values() if len(values) > 1]
        if not several:
            raise Missing("a point has one run only: two at least show how far runs differ")
        self._groups[of, tuple(alike)] = len(several)
        found = [(max(one) - min(one)) / fmean(one) for one in several]
        if self._order is not None:
            found = [found[place] for place in self._order.integers(len(found), size=len(found))]
        return float(np.median(found))


class Planned(Evidence):
    """What a plan will measure: every rare thing happened not once, every other number is 1."""

    def value(self, cell: Cell, of: OfRun[Value], *more: object) -> Value:
        """1, whatever was asked."""
        one: Any = 1.0
        return one  # type: ignore[no-any-return]

    def counts(self, of: OfRun[Counts], *more: object, **asked: Any) -> list[Counts]:
        """No case in all the samples that there will be; of failed runs themselves, in the runs."""
        if asked.get("failed"):
            return [(0, 1) for _ in self.cells(**asked)]
        return [
            (0, sum(count for _, count in cell.series) * cell.subscribers)
            for cell in self.cells(**asked)
        ]


def _fits(cell: Cell, wanted: dict[str, Any]) -> bool:
    for name, value in wanted.items():
        own = tuple(cell.cpu) if name == "cpu" else getattr(cell, name)
        if own != value and (name == "cpu" or not isinstance(value, tuple) or own not in value):
            return False
    return True


def too_short_for(
    paper: str, measured: Measured, asked: Iterable[tuple[str, Mapping[str, Check[Evidence]]]]
) -> list[str]:
    """The findings that a plan is too short for; ``asked``: stacks, and what is judged of them."""
    published = read_published(paper)
    values = {name: claim.values for name, claim in published.findings.items()}
    found = [undecidable(checks, values, Planned(measured, stack)) for stack, checks in asked]
    return list(dict.fromkeys(name for names in found for name in names))
