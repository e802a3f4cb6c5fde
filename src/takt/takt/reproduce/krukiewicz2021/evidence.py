# SPDX-License-Identifier: Apache-2.0
"""What was measured at a point, over all of its runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from statistics import mean, median

from takt.bench.model import Table
from takt.reproduce.krukiewicz2021.points import Point
from takt.reproduce.model import Figures
from takt.schedule.metrics import Metrics
from takt.schedule.metrics.model import Freshness, Spread

COLUMNS = ("min", "q1", "median", "q3", "max", "mean", "sd")


class Missing(Exception):
    """No run of the point is there, or its trace does not tell."""


class Evidence:
    """The metrics of the executions, and the tables of the executor's overhead."""

    def __init__(self, metrics: Mapping[Point, list[Metrics]], overhead: list[Table]) -> None:
        self.points = list(metrics)
        self._metrics = metrics
        self._overhead = {table.table: table for table in overhead}

    def miss_ratio(self, point: Point) -> float:
        """Section 5.1: misses / executions of each callback, on average; the mean of the runs."""
        ratios = [one.mean_miss_ratio for one in self._of(point) if one.mean_miss_ratio is not None]
        if not ratios:
            raise Missing(f"no deadline was due in {point.name}")
        return mean(ratios)

    def old_data(self, point: Point) -> float:
        """Section 5.4.3: share of executions on old data, over all nodes; the mean of the runs."""
        return mean(self._freshness(point, lambda one: one.mean_ratio))

    def on_old_data(self, point: Point) -> int:
        """Executions on old data, in all runs."""
        return int(sum(self._freshness(point, lambda one: one.on_old_data)))

    def age(self, point: Point) -> Spread:
        """Section 5.5: the age of the data that the listener used; each figure's median, in µs.

        Minimum and maximum are those of all runs.
        """
        return self._spread(point, "listener.listen")

    def violations(self, point: Point) -> int:
        """Uses of data above the constraint, as the executor counted them."""
        return sum(age.violations for one in self._of(point) for age in one.data_age)

    def stolen_ms(self, point: Point) -> float:
        """CPU time that the hypervisor took from the cores in all runs."""
        return sum(sum(one.stolen_ms.values()) for one in self._of(point))

    def overhead_mean(self, table: str, executor: str) -> float:
        """Tables 5.6 to 5.8: the mean overhead, in µs."""
        if table not in self._overhead:
            raise Missing(f"table {table} was not measured")
        return self._overhead[table].measured[executor]["mean"]

    def _spread(self, point: Point, callback: str) -> Spread:
        found = [
            age.age_us
            for one in self._of(point)
            for age in one.data_age
            if age.callback == callback and age.age_us is not None
        ]
        if not found:
            raise Missing(f"no data was used in {point.name}")
        middle = {
            name: median(getattr(one, name) for one in found)
            for name in Spread.model_fields
            if name not in {"min", "max", "count"}
        }
        return Spread(
            count=sum(one.count for one in found),
            min=min(one.min for one in found),
            max=max(one.max for one in found),
            **middle,
        )

    def _freshness(self, point: Point, value: Callable[[Freshness], float]) -> list[float]:
        found = [value(one.freshness) for one in self._of(point) if one.freshness is not None]
        if not found:
            raise Missing(f"no callback told what it used in {point.name}")
        return found

    def _of(self, point: Point) -> list[Metrics]:
        if not self._metrics.get(point):
            raise Missing(f"{point.name} was not executed")
        return self._metrics[point]


def in_ms(spread: Spread) -> Figures:
    """The columns of tables 5.12 to 5.14."""
    return {f"{name}_ms": round(getattr(spread, name) / 1000, 2) for name in COLUMNS}
