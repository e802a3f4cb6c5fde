# SPDX-License-Identifier: Apache-2.0
"""Draws many synthetic applications at once, as arrays; and says each of them in the flat form.

The rules are those of Krukiewicz-Gacek 2021, section 5.2: every node has one timer; each period is
used by as many nodes as any other; publishers and subscribers are a share of the nodes, and nobody
reads its own topic; priorities are rate-monotonic or random; a deadline is the period or a multiple
of the worst-case execution time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from takt.schedule.generate import periods, utilization
from takt.schedule.generate.parameters import Thesis

Integers = NDArray[np.int64]
HIGHEST = 98
NOBODY = -1


@dataclass(frozen=True)
class Sets:
    """Applications of the same parameters, one a row; node k is `node{k+1}`. Times in ns."""

    parameters: Thesis
    period: Integers
    wcet: Integers
    best: Integers  # shortest execution times
    deadline: Integers
    priority: Integers
    writes: NDArray[np.bool_]
    reads: Integers  # the node whose topic it reads, or NOBODY

    def __len__(self) -> int:
        return len(self.period)

    def utilization(self) -> NDArray[np.float64]:
        """Of each application."""
        total: NDArray[np.float64] = (self.wcet / self.period).sum(axis=1)
        return total


def draw(wanted: Thesis, count: int, rng: np.random.Generator) -> Sets:
    """`count` applications; the same generator state gives the same ones."""
    period = _periods(wanted, count, rng)
    share = _utilizations(wanted, count, rng)
    # Rounded down, so that rounding never makes a set of utilization 1 infeasible.
    wcet = np.maximum(1, np.floor(share * period).astype(np.int64))
    writes, reads = _data(wanted, count, rng)
    deadline = _deadlines(wanted, period, wcet, rng)
    priority = _priorities(wanted, period, rng)
    # The last to be drawn, so that everything else is the same whatever it is.
    best = _best_case(wanted, wcet, rng)
    return Sets(wanted, period, wcet, best, deadline, priority, writes, reads)


def _periods(wanted: Thesis, count: int, rng: np.random.Generator) -> Integers:
    if wanted.periods == "automotive":
        return periods.automotive(count, wanted.nodes, rng)
    if wanted.periods == "log-uniform":
        least, most = wanted.periods_range
        return periods.log_uniform(count, wanted.nodes, least, most, rng)
    return periods.equal(count, wanted.nodes, wanted.periods, rng)


def _utilizations(wanted: Thesis, count: int, rng: np.random.Generator) -> NDArray[np.float64]:
    tasks, total, most = wanted.nodes, wanted.utilization, wanted.most
    generator = wanted.utilization_generator
    if generator == "uunifast" or (generator is None and most >= total):
        return utilization.uunifast(count, tasks, total, rng)
    if generator == "uunifast-discard":
        return utilization.uunifast_discard(count, tasks, total, most, rng)
    return utilization.fixed_sum(count, tasks, total, most, rng)


def _deadlines(
    wanted: Thesis, period: Integers, wcet: Integers, rng: np.random.Generator
) -> Integers:
    if wanted.deadlines != "wcet":
        return period
    low, high = wanted.deadlines_wcet[0], wanted.deadlines_wcet[-1]
    most = np.minimum(high, period / wcet)  # restriction 6: not above the period
    multiplier = low + rng.random(period.shape) * np.maximum(most - low, 0)
    return np.minimum(period, np.ceil(wcet * multiplier).astype(np.int64))


def _best_case(wanted: Thesis, wcet: Integers, rng: np.random.Generator) -> Integers:
    low, high = wanted.best_case[0], wanted.best_case[-1]
    share = low + rng.random(wcet.shape) * (high - low) if low < high else low
    return np.maximum(1, np.floor(share * wcet).astype(np.int64))


def _priorities(wanted: Thesis, period: Integers, rng: np.random.Generator) -> Integers:
    count, tasks = period.shape
    if wanted.priorities == "random":
        if tasks > HIGHEST:
            return rng.integers(1, HIGHEST + 1, period.shape)
        order = rng.permuted(np.tile(np.arange(1, HIGHEST + 1), (count, 1)), axis=1)
        return np.ascontiguousarray(order[:, :tasks])
    order = np.argsort(period, axis=1, kind="stable")
    ascending = np.take_along_axis(period, order, axis=1)
    rank = np.zeros_like(period)
    rank[:, 1:] = np.cumsum(np.diff(ascending, axis=1) > 0, axis=1)
    # More than 98 different periods: neighbours share a priority.
    spread = np.maximum(rank.max(axis=1, keepdims=True), HIGHEST - 1)
    priority = np.empty_like(period)
    np.put_along_axis(priority, order, HIGHEST - rank * (HIGHEST - 1) // spread, axis=1)
    return priority


def _data(
    wanted: Thesis, count: int, rng: np.random.Generator
) -> tuple[NDArray[np.bool_], Integers]:
    """Who publishes, and whom each subscriber reads: anybody but itself."""
    nodes, publishers, subscribers = wanted.nodes, wanted.publishers, wanted.subscribers
    order = rng.permuted(np.tile(np.arange(nodes), (count, 1)), axis=1)
    writes = np.zeros((count, nodes), dtype=np.bool_)
    np.put_along_axis(writes, order[:, :publishers], values=True, axis=1)
    reads = np.full((count, nodes), NOBODY, dtype=np.int64)
    place = np.arange(nodes - subscribers, nodes)  # in the order; publishers stand in front
    itself = place < publishers
    chosen = (rng.random((count, subscribers)) * (publishers - itself)).astype(np.int64)
    chosen += itself & (chosen >= place)
    np.put_along_axis(
        reads, order[:, nodes - subscribers :], np.take_along_axis(order, chosen, axis=1), axis=1
    )
    return writes, reads


def documents(sets: Sets, names: list[str]) -> Iterator[dict[str, Any]]:
    """The flat form of each (takt/application/parse.hpp)."""
    size = sets.parameters.message_size or 0
    columns = (
        *(sets.period, sets.deadline, sets.priority, sets.best, sets.wcet),
        *(sets.reads, sets.writes),
    )
    for name, *row in zip(names, *(column.tolist() for column in columns), strict=True):
        writes = row[-1]
        yield {
            "version": 1,
            "name": name,
            "policy": sets.parameters.policy,
            "callbacks": [
                _callback(node, *one) for node, one in enumerate(zip(*row, strict=True), 1)
            ],
            "topics": [
                {"name": f"topic{node}", "bytes": size}
                for node, written in enumerate(writes, 1)
                if written
            ],
        }


def _callback(
    node: int,
    period: int,
    deadline: int,
    priority: int,
    best: int,
    worst: int,
    reads: int,
    writes: bool,
) -> dict[str, Any]:
    return {
        "name": f"node{node}.run",
        "node": f"node{node}",
        "period": period,
        "deadline": deadline,
        "priority": priority,
        "execution": {
            "best": best,
            "worst": worst,
            "quantiles": [worst] if best == worst else [best, worst],
        },
        "reads": [] if reads == NOBODY else [{"topic": f"topic{reads + 1}"}],
        "writes": [f"topic{node}"] if writes else [],
    }
