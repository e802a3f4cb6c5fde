# SPDX-License-Identifier: Apache-2.0
"""Whole runs of the suites of Sticha 2014: what a world says of a run, as its samples.

Nothing here computes what a criterion uses: each run is a distribution, a handful of extremes and,
where the order counts, a recording, and the reproduction reads them as it reads measured ones. Runs
differ by the place of their extremes, by their levels (:data:`SCATTER`) and by their shapes.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet
from synthetic_distributions import (
    Values,
    cyclic_of,
    one_shot_of,
    spread_out,
    synthetic_cell,
    values,
)
from synthetic_suites import SCATTER, World

from takt.measure.results.model import Cell, Extreme, Note, ProbeResult, Status, Subscriber

ROWS = 2000  # of a recording in which only the drift of its ends counts
EXTREMES = 10  # at each end
STEPS = 20  # of a body, on either side of its median
ALIKE_PERIODS, NARROW = (1000.0, 10_000.0), 1200.0  # µs: of the period; of the jitter's width
TAIL_SHARE, TAIL_TIMES = 1000, 20  # one sample of so many, that many times as late


class WholeRun:
    """One planned run and what its world says of it."""

    def __init__(self, folder: Path, cell: Cell, world: World, *, tail: bool = False) -> None:
        self.folder, self.cell, self.world, self.tail = folder, cell, world, tail
        self.shift = 1 + SCATTER[cell.repetition % len(SCATTER)]
        self.rng = np.random.default_rng([cell.order, cell.repetition])
        self.count = cell.samples_requested * cell.subscribers

    def says(self, what: str, *more: Any) -> Any:
        found = self.world(self.cell, what, more)
        return found if isinstance(found, tuple) else found * self.shift

    def cases(self, what: str) -> int:
        return int(self.says(what)[0])

    def made(self) -> Cell:
        kinds: dict[str, Callable[[], Cell]] = {
            "timer-oneshot": self.one_shot, "timer-cyclic": self.cyclic,
            "pubsub": self.messages, "wakeup": self.wakeup,
        }  # fmt: skip
        made = kinds[self.cell.kind]()
        made.probes = [ProbeResult(role="both", status="complete", granted=self.granted())]
        return made

    def granted(self) -> dict[str, Any]:
        if self.cell.scheduling != "rr":
            return {}
        return {"policy": "rr", "rr_interval_ns": round(1e6 * self.says("time_slice"))}

    def late(self, body: list[tuple[float, int]], limit: float, what: str = "beyond") -> Values:
        """A body, of which so many as the world says are beyond a limit."""
        cases = self.cases(what)
        if self.tail:
            cases += self.count // TAIL_SHARE
            limit = max(limit, TAIL_TIMES * body[len(body) // 2][0])
        place = max(range(len(body)), key=lambda one: body[one][1])
        body[place] = (body[place][0], body[place][1] - cases)
        return values(*body, (1.5 * limit, cases))

    def around(self, middle: float, width: float) -> list[tuple[float, int]]:
        """Half of a body below its median, half above; a latency is not below zero."""
        below = min(0.5 * width, 0.9 * middle)
        body = [(middle, self.count - 2 * STEPS * (self.count // (2 * STEPS)))]
        for step in range(1, STEPS + 1):
            each, share = self.count // (2 * STEPS), step / STEPS
            body += [(middle - below * share, each), (middle + (width - below) * share, each)]
        return body

    def extremes(self) -> tuple[list[Extreme], list[Extreme]]:
        """Where the highest and lowest values are: around the place that the world says."""
        place, distance = self.says("peaks_place"), self.says("peaks_distance")
        if distance < 0.4:  # anywhere
            at = self.rng.uniform(0, 1, 2 * EXTREMES)
        else:  # at one end
            end = 0.0 if place < 0.5 else 1.0
            at = np.abs(end - self.rng.uniform(0, 2 * (0.5 - distance), 2 * EXTREMES))
        indices = (at * (self.cell.samples_requested - 1)).astype(int).tolist()
        found = [Extreme(us=1.0, index=index) for index in indices]
        return found[:EXTREMES], found[EXTREMES:]

    def wakeup(self) -> Cell:
        body = spread_out(0.6 * self.says("p99"), 0.4 * self.says("p99"), self.count)
        return synthetic_cell(self.folder, self.cell, self.late(body, 50.0))

    def one_shot(self) -> Cell:
        found = self.late(self.around(self.says("p50"), self.says("width")), 400.0)
        high, low = self.extremes()
        wrong, mean = self.cases("differences_from"), self.says("mean_difference")
        difference = values((mean, self.count - wrong), (5000.0, wrong))
        if wrong:  # the mean is of all of them
            difference = values((mean, self.count - 2 * wrong), (5000.0, wrong), (-5000.0, wrong))
        return synthetic_cell(
            self.folder, self.cell, found, highest=high, lowest=low, sent=self.count,
            one_shot=one_shot_of(difference, self.cases("never_fired")),
            samples=[self.reports(wrong)],
        )  # fmt: skip

    def reports(self, wrong: int) -> str:
        """A recording in which the timer reports so many latencies wrong by more than 1 ms."""
        name = f"reported-{self.count}-{wrong}.parquet"
        if not (self.folder / name).exists():
            apart = np.full(self.count + 1, 9_000, np.int64)
            apart[1 : wrong + 1] = 5_000_000
            same = np.full(self.count + 1, 10**9, np.int64)
            columns = {"sequence": same, "intended_ns": same, "received_ns": same}
            parquet.write_table(pa.table(columns | {"sent_ns": same + apart}), self.folder / name)
        return name

    def cyclic(self) -> Cell:
        early, width = self.cases("within"), self.says("width")
        outside = self.cases("outside") + self.cases("beyond")
        level = self.says("positive_p50") if self.cell.period_us in ALIKE_PERIODS else 100.0
        far = self.count // 50
        body = [(600.0, outside)]
        if early and width <= NARROW:
            body += spread_out(-855.0, 95.0, early)
        elif early:
            body += [*spread_out(-800.0, 95.0, early), (-0.6 * width, far), (0.4 * width, far)]
        else:
            body.append((600.0 - width, far))
        if self.tail:
            body.append((TAIL_TIMES * level, self.count // TAIL_SHARE))
        body += spread_out(level, 0.9 * level, self.count - sum(times for _, times in body))
        jitter = values(*body)
        if not early and self.cell.period_us not in ALIKE_PERIODS:
            jitter = jitter.scaled(width / 590)
        high, low = self.extremes()
        firsts = (self.says("first_jitter", 0), self.says("first_jitter", 1))
        made = cyclic_of(
            jitter, firsts, highest=high, lowest=low,
            callbacks=self.count - self.cases("passed_over"), expiries=self.count,
        )  # fmt: skip
        return synthetic_cell(
            self.folder, self.cell, jitter, cyclic=made, sent=self.count, samples=[self.drift()]
        )

    def drift(self) -> str:
        """A recording of calls at a rate that is wrong by as much as the world says."""
        error, period = self.says("rate_error"), round(self.cell.period_us * 1000)
        name = f"drift-{error:.9f}-{period}.parquet"
        if not (self.folder / name).exists():
            sequence = np.arange(ROWS, dtype=np.int64)
            called = 10**9 + np.round(sequence * period * (1 + error)).astype(np.int64)
            columns = {"sequence": sequence, "intended_ns": called, "sent_ns": called,
                       "received_ns": called}  # fmt: skip
            parquet.write_table(pa.table(columns), self.folder / name)
        return name

    def messages(self) -> Cell:
        cell = self.cell
        body = self.around(self.says("p50"), self.says("width"))
        found = self.late(body, 1600.0)
        first = self.says("first_message")
        high, low = self.extremes()
        hung = self.cases("hung") if cell.cpu else 0
        each = Values(found.us, found.times // cell.subscribers)
        subscribers = [
            Subscriber(count=cell.samples_requested, lost=0, duplicated=0, out_of_order=0,
                       first_us=first, latency=each.percentiles(), highest=high, lowest=low)
            for _ in range(cell.subscribers)
        ]  # fmt: skip
        error = Note(what="publisher did not end in time", why="made", fix="none") if hung else None
        return synthetic_cell(
            self.folder, cell, found, subscribers=subscribers, sent=cell.samples_requested,
            status=Status.failed if hung else Status.complete, error=error,
        )  # fmt: skip
