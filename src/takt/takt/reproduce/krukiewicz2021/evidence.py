# SPDX-License-Identifier: Apache-2.0
"""What was measured at a point, over all of its runs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from statistics import fmean, median
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from takt.bench.model import Table
from takt.reproduce.krukiewicz2021.points import LISTENER, LISTENER_MS, PRODUCER, Point
from takt.reproduce.model import Figures, rounded
from takt.reproduce.rare import Counts
from takt.reproduce.scatter import Missing, Order
from takt.schedule.metrics import Metrics
from takt.schedule.metrics.model import Freshness, Spread

ROUND_S = 2.5  # of the overhead: an executor started, measured for a second, ended
Value = TypeVar("Value")
COLUMNS = ("min", "q1", "median", "q3", "max", "mean", "sd")


class Evidence:
    """The metrics of the executions, and the tables of the executor's overhead."""

    def __init__(
        self,
        metrics: Mapping[Point, Sequence[Metrics]],
        overhead: list[Table],
        order: Order | None = None,
    ) -> None:
        self.points = metrics.keys()
        self._metrics, self._overhead, self._order = metrics, overhead, order
        self._asked: dict[tuple[Point, str], Sequence[Metrics]] = {}
        self._silent: dict[tuple[Point, str], str] = {}
        self._rounds: dict[str, NDArray[np.int64]] = {}

    def drawn(self, order: Order | None) -> Evidence:
        """The same, nothing asked yet; with an order, the runs of each point that this says."""
        found = Evidence(self._metrics, self._overhead, order)
        found._silent = self._silent
        return found

    def silent(self, points: Collection[Point]) -> list[str]:
        """The runs of these points that have nothing of what was asked; they do not count."""
        return [words for (point, _), words in self._silent.items() if point in points]

    @property
    def runs(self) -> int:
        """The fewest runs of a point that was asked for."""
        asked = [len(runs) for runs in self._asked.values()]
        return min([*asked, *(len(rounds) for rounds in self._rounds.values())])

    @property
    def seconds(self) -> float:
        """How long all that was asked for was executed, or measured."""
        executed = sum(one.duration_ms / 1000 for runs in self._asked.values() for one in runs)
        return executed + sum(map(len, self._rounds.values())) * ROUND_S

    def miss_ratio(self, point: Point) -> float:
        """Section 5.1: misses / executions of each callback, on average; the mean of the runs."""
        runs = self._of(point, "deadline", lambda one: one.mean_miss_ratio is not None)
        return fmean(one.mean_miss_ratio or 0.0 for one in runs)

    def missed(self, point: Point) -> list[Counts]:
        """The same as cases of executions, run by run.

        A mean over callbacks is known as well as a share of as many executions as they would have
        if each had as few as the one with the fewest; it may be a little better known.
        """
        runs = self._of(point, "deadline", lambda one: one.mean_miss_ratio is not None)
        return [
            _as_counts(one.mean_miss_ratio or 0.0, [each.executions for each in one.callbacks])
            for one in runs
        ]

    def old_data(self, point: Point) -> float:
        """Section 5.4.3: share of executions on old data, over all nodes; the mean of the runs."""
        return fmean(self._freshness(point, lambda one: one.mean_ratio))

    def old(self, point: Point) -> list[Counts]:
        """The same as cases of executions, run by run, as of the missed ones."""
        return self._freshness(
            point, lambda one: _as_counts(one.mean_ratio, [node.executions for node in one.nodes])
        )

    def on_old_data(self, point: Point) -> int:
        """Executions on old data, in all runs."""
        return int(sum(self._freshness(point, lambda one: one.on_old_data)))

    def on_old_data_of(self, point: Point) -> list[Counts]:
        """The same and all executions, run by run."""
        found = self._freshness(point, lambda one: one)
        return [(one.on_old_data, sum(node.executions for node in one.nodes)) for one in found]

    def too_old(self, point: Point) -> list[Counts]:
        """The listener's uses of data above the constraint, and all of its uses, run by run."""
        return [
            (age.violations, age.age_us.count)
            for run in self._with_ages(point, LISTENER)
            for age in run.data_age
            if age.callback == LISTENER and age.age_us is not None
        ]

    def older(self, point: Point, limit_us: float) -> list[Counts]:
        """Uses of data older than a limit, by a run's quantiles, and all of its uses."""
        return [(_above(one, limit_us), one.count) for one in self._ages(point, LISTENER)]

    def age(self, point: Point) -> Spread:
        """Section 5.5: the age of the data that the listener used; each figure's median, in µs.

        Minimum and maximum are those of all runs.
        """
        return self._spread(point, LISTENER)

    def others(self, point: Point) -> Figures:
        """What became of the generated callbacks beside the critical pair, over all runs.

        Of the responses the mean of the callbacks' means, and of their 99th percentiles, in ms.
        """
        there = [
            one
            for run in self._of(point)
            for one in run.callbacks
            if one.callback not in {PRODUCER, LISTENER}
        ]
        responses = [one.response_us for one in there if one.response_us is not None]
        if not responses:
            raise Missing(f"no job ended in {point.name}")
        executions = sum(one.executions for one in there)
        return rounded(
            {
                "mean_response_ms": fmean(one.mean for one in responses) / 1000,
                "p99_response_ms": fmean(one.p99 for one in responses) / 1000,
                "miss_percent": 100 * sum(one.misses for one in there) / executions,
                "skipped": sum(one.skipped for one in there),
            }
        )

    def stolen_ms(self, point: Point) -> float:
        """CPU time that the hypervisor took from the core in all runs."""
        return sum(sum(one.stolen_ms.values()) for one in self._of(point))

    def all_stolen_ms(self) -> float:
        """The same of all points."""
        return sum(self.stolen_ms(point) for point in self.points if self._metrics[point])

    def overhead_mean(self, table: str, executor: str) -> float:
        """Tables 5.6 to 5.8: the mean overhead, in µs, the median over the rounds.

        The executors took turns, so a drawn round is the same one of both.
        """
        known = next((one for one in self._overhead if one.table == table), None)
        if known is None or not known.rounds.get(executor):
            raise Missing(f"table {table} was not measured")
        values = np.array([one["mean"] for one in known.rounds[executor]])
        if table not in self._rounds:
            chosen = np.arange(len(values))
            if self._order is not None:
                chosen = self._order.integers(len(values), size=len(values))
            self._rounds[table] = chosen
        return float(np.median(values[self._rounds[table]]))

    def _ages(self, point: Point, callback: str) -> list[Spread]:
        return [
            age.age_us
            for one in self._with_ages(point, callback)
            for age in one.data_age
            if age.callback == callback and age.age_us is not None
        ]

    def _with_ages(self, point: Point, callback: str) -> Sequence[Metrics]:
        def has(one: Metrics) -> bool:
            return any(a.callback == callback and a.age_us is not None for a in one.data_age)

        return self._of(point, "data", has)

    def _spread(self, point: Point, callback: str) -> Spread:
        found = self._ages(point, callback)
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

    def _freshness(self, point: Point, value: Callable[[Freshness], Value]) -> list[Value]:
        runs = self._of(point, "recorded use of data", lambda one: one.freshness is not None)
        return [value(one.freshness) for one in runs if one.freshness is not None]

    def _of(
        self, point: Point, what: str = "", has: Callable[[Metrics], bool] = lambda _: True
    ) -> Sequence[Metrics]:
        """The runs that have what is asked of them, as they were drawn; the others are named."""
        if (point, what) not in self._asked:
            every = self._metrics.get(point)
            if not every:
                raise Missing(f"{point.name} was not executed")
            runs = [one for one in every if has(one)]
            if not runs:
                raise Missing(f"no run of {point.name} has any {what}")
            if len(runs) < len(every):
                without = len(every) - len(runs)
                self._silent[point, what] = (
                    f"{without} of {len(every)} runs of {point.name} without any {what}"
                )
            if self._order is not None:
                runs = [runs[place] for place in self._order.integers(len(runs), size=len(runs))]
            self._asked[point, what] = runs
        return self._asked[point, what]


class Planned(Evidence):
    """What a plan will execute: every rare thing happened not once, every other number is 1."""

    def __init__(self, seconds: Mapping[Point, float], order: Order | None = None) -> None:
        super().__init__(dict.fromkeys(seconds, ()), [], order)
        self._seconds = seconds  # of all runs of a point
        self.asked: set[Point] = set()

    def miss_ratio(self, point: Point) -> float:
        """A share of misses."""
        return self._one(point)

    def missed(self, point: Point) -> list[Counts]:
        """None of all executions."""
        return self.on_old_data_of(point)

    def old_data(self, point: Point) -> float:
        """A share of executions on old data."""
        return self._one(point)

    def old(self, point: Point) -> list[Counts]:
        """None of all executions."""
        return self.on_old_data_of(point)

    def on_old_data(self, point: Point) -> int:
        """None of them."""
        return int(self._one(point)) - 1

    def on_old_data_of(self, point: Point) -> list[Counts]:
        """None of all releases."""
        self._one(point)
        rate = sum(1000 / period for period in point.periods) / len(point.periods)
        return [(0, int(self._seconds[point] * point.nodes * rate))]

    def too_old(self, point: Point) -> list[Counts]:
        """None of all uses."""
        self._one(point)
        return [(0, int(self._seconds[point] * 1000 / LISTENER_MS))]

    def older(self, point: Point, limit_us: float) -> list[Counts]:
        """All of them."""
        return [(uses, uses) for _, uses in self.too_old(point)]

    def age(self, point: Point) -> Spread:
        """An age."""
        return Spread(**dict.fromkeys(Spread.model_fields, self._one(point)))

    def overhead_mean(self, table: str, executor: str) -> float:
        """An overhead: these are measured at every scale."""
        return 1.0

    def _one(self, point: Point) -> float:
        if point not in self.points:
            raise Missing(f"{point.name} is skipped")
        self.asked.add(point)
        return 1.0


def _as_counts(share: float, executions: Sequence[int]) -> Counts:
    """A mean of the shares of several, each of its executions, as one share."""
    there = [one for one in executions if one]
    of = len(there) * min(there, default=0)
    return share * of, of


def _above(spread: Spread, limit: float) -> int:
    """How many values are above a limit; they are spread evenly between the quantiles."""
    shares = {"min": 1.0, "q1": 0.75, "median": 0.5, "q3": 0.25, "p99": 0.01, "max": 0.0}
    known = [getattr(spread, name) for name in shares]
    share = float(np.interp(limit, known, list(shares.values())))
    return max(int(spread.max > limit), round(share * spread.count))


def in_ms(spread: Spread) -> Figures:
    """The columns of tables 5.12 to 5.14."""
    return {f"{name}_ms": round(getattr(spread, name) / 1000, 2) for name in COLUMNS}
