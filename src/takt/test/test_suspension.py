# SPDX-License-Identifier: Apache-2.0
"""Bounds of callbacks that suspend themselves against the published test for them.

J.-J. Chen, G. Nelissen, W.-H. Huang, "A unifying response time analysis framework for dynamic
self-suspending tasks", ECRTS 2016: theorem 1 with the three vectors of its section 5, from the
equations.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

takt_core = pytest.importorskip("takt_core", reason="the C++ workspace is not built")

from takt.schedule.generate.utilization import uunifast  # noqa: E402

TASKS = 10


@dataclass
class Task:
    """One task; times are in nanoseconds."""

    computes: int
    waits: int
    period: int
    response: int = 0

    @property
    def share(self) -> float:
        return self.computes / self.period


def response(own: Task, above: list[Task], blocks: list[bool]) -> int | None:
    """Equation 4: the least t that is not below the sum; none above the period."""
    own_and_below = [sum(a.waits for a, b in zip(above, blocks, strict=True) if b)]
    for task, blocking in zip(above, blocks, strict=True):
        own_and_below.append(own_and_below[-1] - (task.waits if blocking else 0))
    time = own.computes + own.waits
    while time <= own.period:
        total = own.computes + own.waits
        for task, blocking, longer in zip(above, blocks, own_and_below[:-1], strict=True):
            late = 0 if blocking else task.response - task.computes
            total += -(-(time + longer + late) // task.period) * task.computes
        if total <= time:
            return time
        time = total
    return None


def as_jitter(above: list[Task]) -> list[bool]:
    return [False for _ in above]


def linear(above: list[Task]) -> list[bool]:
    """Equation 27."""
    shares = np.cumsum([task.share for task in above])
    return [
        task.share * (task.response - task.computes) > task.waits * share
        for task, share in zip(above, shares, strict=True)
    ]


def short_waits(above: list[Task]) -> list[bool]:
    """The proof of lemma 17."""
    return [task.waits <= task.computes for task in above]


def accepts(tasks: list[Task], vectors: Iterable[Any]) -> bool:
    """Of tasks in the order of their priorities, each with the least bound of these vectors."""
    for index, task in enumerate(tasks):
        above = tasks[:index]
        bounds = [response(task, above, vector(above)) for vector in vectors]
        known = [bound for bound in bounds if bound is not None]
        if not known:
            return False
        task.response = min(known)
    return True


def draw(rng: np.random.Generator, sets: int, load: float, least: float, most: float) -> list[Any]:
    """Sets as in the paper: each job waits for that part of its period without its computing."""
    result = []
    for shares in uunifast(sets, TASKS, load, rng):
        periods = np.sort(np.exp(rng.uniform(np.log(1e6), np.log(1e8), TASKS)).astype(np.int64))
        tasks = []
        for share, period, part in zip(
            shares, periods, rng.uniform(least, most, TASKS), strict=True
        ):
            computes = max(1, int(share * period))
            tasks.append(Task(computes, int(part * (period - computes)), int(period)))
        result.append(tasks)
    return result


def application(tasks: list[Task]) -> dict[str, Any]:
    return {
        "version": 1,
        "name": "suspension",
        "policy": "fp",
        "callbacks": [
            {
                "name": f"c{index}",
                "period": task.period,
                "execution": {"worst": task.computes},
                "suspension": task.waits,
                "priority": 90 - index,
            }
            for index, task in enumerate(tasks)
        ],
    }


@pytest.mark.parametrize("load", [0.7, 0.8])
@pytest.mark.parametrize(("least", "most"), [(0.01, 0.1), (0.1, 0.3)])
def test_no_set_that_the_published_test_accepts_is_refused(
    load: float, least: float, most: float
) -> None:
    sets = draw(np.random.default_rng(16), 200, load, least, most)
    published = [accepts(tasks, (as_jitter, linear, short_waits)) for tasks in sets]
    accepted = takt_core.analyse_many([json.dumps(application(tasks)) for tasks in sets])
    assert [i for i in range(len(sets)) if published[i] and not accepted[i]] == []
    assert sum(published) > 5


def test_sets_are_accepted_that_jitter_alone_refuses() -> None:
    sets = draw(np.random.default_rng(16), 200, 0.8, 0.01, 0.1)
    by_jitter = sum(accepts(tasks, (as_jitter,)) for tasks in sets)
    accepted = takt_core.analyse_many([json.dumps(application(tasks)) for tasks in sets])
    assert sum(accepted) > 1.3 * by_jitter


def test_bounds_name_what_they_follow_from() -> None:
    tasks = [Task(10, 0, 40), Task(3, 1, 24), Task(4, 0, 60)]
    assert accepts(tasks, (linear,))
    callbacks = takt_core.analyse(json.dumps(application(tasks)))["scenarios"][0]["callbacks"]
    assert [callback["response_us"] for callback in callbacks] == [
        task.response / 1000 for task in tasks
    ]
    assert "Chen et al. 2019" in callbacks[1]["bound_by"]
    assert "Chen, Nelissen & Huang 2016" in callbacks[2]["bound_by"]
