# SPDX-License-Identifier: Apache-2.0
"""Recordings of the suites of Sticha 2014: as the thesis describes them, and of an ideal stack."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from synthetic_cells import cell_of, records_of

from takt.measure.results.model import Cell

COUNT = 2000
Floats = NDArray[np.float64]
RR = {"scheduling": "rr", "granted": {"policy": "rr", "rr_interval_ns": 100_000_000}}
OTHER = {"scheduling": "other", "priority": 0}
POLICIES: tuple[dict[str, Any], ...] = (RR, {"scheduling": "fifo"}, OTHER)


class Thesis:
    """Latencies as sections 4.1 to 4.4 tell them, in µs."""

    def __init__(self) -> None:
        self.rng = np.random.default_rng(2014)

    def body(self, low: float, mean: float) -> Floats:
        """A skewed cluster from ``low`` on with this mean."""
        return low + self.rng.gamma(4.0, (mean - low) / 4.0, COUNT)

    def one_shot(self, timeout: float, policy: str) -> tuple[Floats, Floats]:
        mean = {800: 300, 1000: 100, 10_000: 150}[int(timeout)]
        late = self.body(mean - 40, mean)
        if policy == "other":
            late *= self.rng.uniform(1, 30, COUNT)
            late[100::1000] = np.nan
        drift = self.rng.normal(9, 2, COUNT) if policy != "other" else 2000.0
        return late, late + drift

    def cyclic(self, period: float, policy: str) -> Floats:
        # Each call is later by as much, until one comes nearly a millisecond early.
        late = (
            np.arange(COUNT) % (8 if period <= 1000 else 7) * (105.0 if period <= 1000 else 150.0)
        )
        late += self.rng.gamma(4.0, 5.0, COUNT)
        late[:2] += (13_900, 4000)  # so that the first intervals are too short
        return late * ((30 if policy == "other" else 1) if period >= 1000 else 4)

    def messages(self, period: float, subscribers: int, policy: str) -> list[Floats]:
        written = []
        for number in range(subscribers):
            late = self.body(193, 203 if period == 1000 else 224) + 60.0 * number
            late *= self.rng.uniform(1, 30, COUNT) if policy == "other" else 1
            late[0] = 1200
            written.append(late)
        return written


class Ideal(Thesis):
    """A stack on which none of the thesis's findings on weaknesses would hold."""

    def one_shot(self, timeout: float, policy: str) -> tuple[Floats, Floats]:
        late = self.lumped(1000.0)
        return late, late + (300 if policy != "other" else 0)

    def cyclic(self, period: float, policy: str) -> Floats:
        late = self.lumped(10.0)
        if period == 1000:
            late += np.arange(COUNT) * 500.0  # a clock of its own
        return late

    def messages(self, period: float, subscribers: int, policy: str) -> list[Floats]:
        late = self.lumped(2000.0 if period == 10_000 else 2500.0)
        late[0] = 1
        return [late] * subscribers

    @staticmethod
    def lumped(level: float) -> Floats:
        """One level, with all peaks in one place."""
        late = np.full(COUNT, level)
        late[100:130:3] += 50 + np.arange(10)
        late[200:230:3] -= 5
        return late


def cells(folder: Path, stack: Thesis) -> list[Cell]:
    return [cell for turn in (0, 1) for cell in points(folder, stack, turn)]


def points(folder: Path, stack: Thesis, turn: int) -> list[Cell]:
    written = []

    def add(recordings: list[NDArray[np.void]], **asked: Any) -> None:
        written.append(cell_of(folder, recordings, turn, **asked))

    for policy in POLICIES:
        for busy in ("none", "cpu"):
            asked: dict[str, Any] = {"load": busy} | policy
            name = policy["scheduling"]
            for timeout in (800.0, 1000.0, 10_000.0)[busy == "cpu" :]:
                late, reported = stack.one_shot(timeout, name)
                add([records_of(late, timeout, reported)], period_us=timeout, **asked)
            for period in (1000.0, 10_000.0, 200.0, 500.0)[: 4 if asked["load"] == "none" else 2]:
                rows = records_of(stack.cyclic(period, name), period)
                add([rows], **asked, kind="timer-cyclic", period_us=period)
            for period in (1000.0, 10_000.0):
                for subscribers in (1, 5):
                    heard = stack.messages(period, subscribers, name)
                    talk = asked | {"kind": "pubsub", "transport": "shm", "period_us": period}
                    talk["subscribers"] = subscribers
                    add([records_of(one, period) for one in heard], **talk)
    one_core = {"kind": "pubsub", "transport": "shm", "period_us": 1000.0, "cpu": [0], **RR}
    add([records_of(one, 1000.0) for one in stack.messages(1000.0, 1, "rr")], **one_core)
    wakeup = {"kind": "wakeup", "transport": "nanosleep", "stack": "raw", "cpu": [0]}
    fast = isinstance(stack, Ideal)
    rows = records_of(np.full(COUNT, 5000.0 if fast else 20.0), 1000.0)
    add([rows], scheduling="fifo", **wakeup)
    for way in ("nanosleep", "futex"):
        add([records_of(np.full(COUNT, 20.0), 1000.0)], stack="raw", transport=way)
    return written
