# SPDX-License-Identifier: Apache-2.0
"""What the samples of ye2023 give: fairness, fluctuation and jitter of a cell."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from synthetic_cells import cell_of, records_of

from takt.measure.results.model import (
    Cell,
)
from takt.reproduce.scatter import Missing
from takt.reproduce.ye2023 import runs

COUNT = 60


def test_jains_index_is_one_where_all_are_served_alike_and_one_of_n_at_least() -> None:
    assert runs.jain([3.0] * 6) == pytest.approx(1.0)
    assert runs.jain([6.0, 0.0, 0.0, 0.0, 0.0, 0.0]) == pytest.approx(1 / 6)
    assert runs.jain([1.0, 2.0]) == pytest.approx(0.9)


def test_a_run_with_a_subscriber_that_received_nothing_decides_nothing(tmp_path: Path) -> None:
    mute = np.full(COUNT, np.nan)
    cell = cell_of(
        tmp_path, [records_of(np.full(COUNT, 100.0), 1e5), records_of(mute, 1e5)],
        label="mute", kind="pubsub", transport="shm", period_us=1e5,
    )  # fmt: skip
    with pytest.raises(Missing, match="1 of 2 subscribers"):
        runs.fairness(cell, tmp_path)


def test_fluctuation_is_the_middle_half_which_one_late_message_does_not_move(
    tmp_path: Path,
) -> None:
    late = 100.0 + np.arange(101.0)
    late[0] = late[-1] = 1e5
    asked = {"kind": "pubsub", "transport": "shm", "period_us": 1e5}
    cell = cell_of(tmp_path, [records_of(late, 1e5)], label="fluctuation", **asked)
    assert runs.spread(cell, tmp_path) == pytest.approx(49.5, abs=1)
    short = cell_of(tmp_path, [records_of(late[:4], 1e5)], label="short", **asked)
    with pytest.raises(Missing, match="too few"):
        runs.spread(short, tmp_path)


def timer(tmp_path: Path, label: str, late: np.ndarray) -> Cell:
    return cell_of(
        tmp_path, [records_of(late, 1000.0)], label=label, stack="raw", kind="timer-cyclic",
        transport="nanosleep",
    )  # fmt: skip


def test_jitter_counts_early_and_late_cycles_from_the_limit_on(tmp_path: Path) -> None:
    late = np.zeros(COUNT)
    late[20] = 60.0  # a cycle of 60 µs more, and then one of 60 µs less
    late[40] = 59.0
    cell = timer(tmp_path, "limit", late)
    assert runs.jitter_beyond(cell, tmp_path, 60.0)[0] in (1, 2)  # -60.0 is its own bin
    assert runs.jitter_beyond(cell, tmp_path, 59.0)[0] in (3, 4)
    cases, count = runs.jitter_within(cell, tmp_path, 10.0)
    assert count - cases == 4
    assert runs.jitter_highest(cell, tmp_path) == pytest.approx(60.0)
    assert runs.drift_us(cell, tmp_path).max() == pytest.approx(60.0)


def test_a_normal_jitter_is_nearer_to_its_fit_than_an_exponential_one() -> None:
    generator = np.random.default_rng(7)
    normal = runs.distance(generator.normal(3, 5, 5000))
    one_sided = runs.distance(generator.exponential(5, 5000))
    assert normal < 0.02
    assert one_sided == pytest.approx(0.16, abs=0.02)
    assert runs.normal_p(generator.exponential(5, 5000)) < runs.REJECTED
    with pytest.raises(Missing, match="all values are equal"):
        runs.distance(np.full(9, 4.0))
