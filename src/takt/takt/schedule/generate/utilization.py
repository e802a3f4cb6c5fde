# SPDX-License-Identifier: Apache-2.0
"""Divides a utilization among tasks, uniformly over all ways to do so; many sets at once.

- UUniFast (Bini & Buttazzo 2005): no bound on a single task.
- UUniFast-Discard (Davis & Burns 2009): draws again until no task is above the bound.
- fixed sum: the same distribution without drawing again, as randfixedsum (Emberson, Stafford &
  Davis 2010) has it. Here each task's share is drawn given the sum of those before it, whose
  distribution is a convolution of uniform ones.
"""

from __future__ import annotations

import numpy as np

from takt.errors import TaktError
from takt.statistics import Floats

GRID = 4096  # points of a tabulated distribution
PATIENCE = 1000  # draws for one accepted set before UUniFast-Discard gives up


def uunifast(count: int, tasks: int, total: float, rng: np.random.Generator) -> Floats:
    """Utilizations of `count` sets, one a row."""
    exponents = 1.0 / np.arange(tasks - 1, 0, -1)
    left = np.empty((count, tasks + 1))
    left[:, 0] = total
    left[:, 1:tasks] = total * np.cumprod(rng.random((count, tasks - 1)) ** exponents, axis=1)
    left[:, tasks] = 0
    return left[:, :-1] - left[:, 1:]


def uunifast_discard(
    count: int, tasks: int, total: float, most: float, rng: np.random.Generator
) -> Floats:
    """Utilizations of at most `most` each; raises TaktError when next to none are."""
    accepted = np.empty((count, tasks))
    done = drawn = 0
    while done < count:
        batch = uunifast(max(64, min(4 * (count - done), 100_000)), tasks, total, rng)
        drawn += len(batch)
        kept = batch[batch.max(axis=1) <= most][: count - done]
        accepted[done : done + len(kept)] = kept
        done += len(kept)
        if drawn > PATIENCE * (done + 100):
            raise TaktError(
                f"UUniFast-Discard keeps {done} of {drawn} sets of {tasks} tasks with utilization"
                f" {total:g} and at most {most:g} each",
                where="utilization_generator",
                fix="use fixed-sum: the same distribution without discarding",
            )
    return accepted


def fixed_sum(
    count: int, tasks: int, total: float, most: float, rng: np.random.Generator
) -> Floats:
    """Utilizations of at most `most` each that sum to `total` (at most `tasks * most`)."""
    if (
        total > tasks * most / 2
    ):  # what is missing to `most` has the same distribution, and less sum
        return most - _fixed_sum(count, tasks, tasks * most - total, most, rng)
    return _fixed_sum(count, tasks, total, most, rng)


def _fixed_sum(
    count: int, tasks: int, total: float, most: float, rng: np.random.Generator
) -> Floats:
    shares = np.zeros((count, tasks))
    if total <= 0:
        return shares
    sums = np.full(count, total)  # of the tasks that are not drawn yet
    tables = _distributions(tasks - 1, total, most)
    for task in range(tasks - 1, 0, -1):
        x, log_f = tables[task - 1]  # of the sum of the `task` tasks before this one
        high = _at(x, log_f, sums)
        low = _at(x, log_f, sums - most)
        level = low + rng.random(count) * (high - low)
        with np.errstate(divide="ignore"):
            before = np.exp(np.interp(np.log(level), log_f, np.log(x)))
        before = np.clip(before, np.maximum(sums - most, 0), np.minimum(sums, task * most))
        shares[:, task] = sums - before
        sums = before
    shares[:, 0] = sums
    return shares


def _distributions(most_tasks: int, total: float, most: float) -> list[tuple[Floats, Floats]]:
    """The distribution function of the sum of 1, 2, … uniform shares, up to `total`: x, log F.

    Between the points log F is linear in log x, which is exact where no bound is felt (F is a power
    of x there, however small).
    """
    x = np.linspace(0, total, GRID + 1)[1:]
    function = np.minimum(x / most, 1.0)
    tables = [(x, np.log(function))]
    for _ in range(1, most_tasks):
        integral = _integral(x, function)
        shifted = _at(x, np.log(integral), x - most)
        # Rounding may break the order by a last digit where the function is flat.
        function = np.maximum.accumulate(np.minimum((integral - shifted) / most, 1.0))
        tables.append((x, np.log(function)))
    return tables


def _integral(x: Floats, function: Floats) -> Floats:
    """From 0 to each x, of a function that is a power of x between the points."""
    power = np.diff(np.log(function)) / np.diff(np.log(x))
    pieces = np.diff(x * function) / (power + 1)
    first = x[0] * function[0] / (power[0] + 1)
    return np.cumsum(np.concatenate(([first], pieces)))


def _at(x: Floats, log_values: Floats, where: Floats) -> Floats:
    """Values between the points; 0 at and below 0, and the first piece's power above it."""
    log_x = np.log(x)
    inside = np.maximum(where, x[0] * 1e-9)
    log_where = np.log(inside)
    values = np.interp(log_where, log_x, log_values)
    power = (log_values[1] - log_values[0]) / (log_x[1] - log_x[0])
    values = np.where(inside < x[0], log_values[0] + power * (log_where - log_x[0]), values)
    return np.where(where > 0, np.exp(values), 0.0)
