# SPDX-License-Identifier: Apache-2.0
"""The measured points of the thesis's experiments, chosen by what was asked of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from pyarrow import parquet
from scipy import stats

from takt.reproduce.model import Answer, answer
from takt.reproduce.sticha2014.confidence import Floats, Missing, Runs
from takt.results.model import Cell, Extreme, Run
from takt.statistics.series import Int64, read_series
from takt.statistics.timers import FIRST_INTERVALS, jitter_ns

MS_1, MS_10, US_800 = 1000.0, 10_000.0, 800.0  # timeouts and periods in µs
REALTIME = ("rr", "fifo")
# The timers and the transport of each stack that stand for those of the thesis.
TRANSPORTS = {
    "rcl": {"timer-oneshot": "rcl_timer", "timer-cyclic": "rcl_timer", "pubsub": "shm"},
    "ros1": {"timer-oneshot": "ros_timer", "timer-cyclic": "ros_timer", "pubsub": "tcpros"},
}
UNEVEN_P, EVEN_P = 0.01, 0.05  # peaks are not spread evenly below the one, they are above the other
LEAST_PEAKS = 20


@dataclass(frozen=True)
class Evidence:
    """One stack's part of a run."""

    run: Run
    folder: Path
    stack: str

    @cached_property
    def measured(self) -> list[Cell]:
        """The stack's cells that have samples, without the executor's and other extras."""
        ways = TRANSPORTS.get(self.stack, {})
        return [
            cell
            for cell in self.run.cells
            if cell.stack == self.stack
            and cell.statistics
            and cell.transport == ways.get(cell.kind, cell.transport)
        ]

    def cells(self, kind: str, **asked: Any) -> list[Cell]:
        """All points of a kind that were asked like this; a tuple stands for any of its values.

        Without other talkers, unless these are asked for. Raises Missing where there is none.
        """
        asked = {"talkers": 0} | asked
        found = [
            cell
            for cell in self.measured
            if cell.kind == kind
            and all(
                getattr(cell, name) in (value if isinstance(value, tuple) else (value,))
                for name, value in asked.items()
            )
        ]
        if not found:
            words = " ".join(f"{name}={value}" for name, value in asked.items())
            raise Missing(f"no samples of {kind} {words}")
        return found

    def latency_us(self, kind: str, **asked: Any) -> Runs:
        """Latencies in µs of the points, one array a recording."""
        return [
            read_series(self.folder / name, since_intended=cell.since_intended).latency_ns / 1000
            for cell in self.cells(kind, **asked)
            for name in cell.samples
        ]

    def jitter_us(self, **asked: Any) -> Runs:
        """Jitter in µs of the cyclic timers, one array a run, without its first two intervals."""
        return [self._jitter(cell) / 1000 for cell in self.cells("timer-cyclic", **asked)]

    def difference_us(self, cell: Cell) -> Floats:
        """What a one-shot timer reports, less what was measured, without the first one."""
        columns = ["sent_ns", "received_ns"]
        table = parquet.read_table(self.folder / cell.samples[0], columns=columns)
        sent, received = (table[name].to_numpy()[1:] for name in columns)
        return np.asarray((sent - received)[received != 0] / 1000)

    def rate_error(self, cell: Cell) -> float:
        """How far the callbacks' rate is from the one asked for, as a share of it.

        From the median drift of the first and of the last tenth, so that no single late callback
        at an end of a short run decides.
        """
        columns = ["sequence", "received_ns"]
        table = parquet.read_table(self.folder / cell.samples[0], columns=columns)
        times = table["received_ns"].to_numpy()
        numbers = table["sequence"].to_numpy().astype(np.int64)[times != 0]
        period = round(cell.period_us * 1000)
        drift = times[times != 0] - numbers * period
        tenth = max(1, len(drift) // 10)
        change = float(np.median(drift[-tenth:]) - np.median(drift[:tenth]))
        return change / ((len(drift) - tenth) * period)

    def _jitter(self, cell: Cell) -> Int64:
        column = parquet.read_table(self.folder / cell.samples[0], columns=["received_ns"])
        times = column["received_ns"].to_numpy()
        return jitter_ns(times, round(cell.period_us * 1000))[FIRST_INTERVALS:]


def even_spread(groups: list[tuple[list[Extreme], int]]) -> Answer:
    """Whether nothing but chance places the peaks.

    Each group holds the extremes of one run and the run's number of samples. Neighbours count once:
    one stall delays several samples. Kolmogorov-Smirnov against the uniform distribution.
    """
    places: list[float] = []
    for extremes, count in groups:
        last = -2
        for index in sorted(one.index for one in extremes):
            if index > last + 1:
                places.append((index + 0.5) / max(count, index + 1))
            last = index
    if not places:
        raise Missing("no peaks")
    p = float(stats.kstest(places, "uniform").pvalue)
    even = True if p > EVEN_P else False if p < UNEVEN_P else None
    return answer(
        "a Kolmogorov-Smirnov test does not refuse an even spread: p > 0.05, not below 0.01",
        even if len(places) >= LEAST_PEAKS else None,
        p_value=p,
        peaks=len(places),
    )
