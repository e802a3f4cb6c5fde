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

from takt.measure.results.model import Cell, Extreme, Run
from takt.measure.statistics.series import Int64, read_series
from takt.measure.statistics.timers import FIRST_INTERVALS, jitter_ns
from takt.reproduce.judgement import Missing
from takt.reproduce.model import Answer, answer
from takt.reproduce.sticha2014.confidence import Floats, Runs

MS_1, MS_10, US_800 = 1000.0, 10_000.0, 800.0  # timeouts and periods in µs
REALTIME = ("rr", "fifo")
# The timers and the transport of each stack that stand for those of the thesis.
TRANSPORTS = {
    "rcl": {"timer-oneshot": "rcl_timer", "timer-cyclic": "rcl_timer", "pubsub": "shm"},
    "ros1": {"timer-oneshot": "ros_timer", "timer-cyclic": "ros_timer", "pubsub": "tcpros"},
}
UNEVEN_P, EVEN_P = 0.01, 0.05  # peaks are not spread evenly below the one, they are above the other
LEAST_RUNS = 5


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


def even_spread(runs: list[tuple[list[Extreme], int]]) -> Answer:
    """Whether the peaks of different runs share a pattern.

    Each run gives its extremes and its number of samples; neighbours count once. What disturbs one
    run may disturb it for a while, so runs are the witnesses and not peaks: t-tests of a run's mean
    place (early or late) and of its mean distance from the middle (both ends or the middle) against
    those of an even spread, Bonferroni over the two.
    """
    means, distances, peaks = [], [], 0
    for extremes, count in runs:
        found, last = [], -2
        for index in sorted(one.index for one in extremes):
            if index > last + 1:
                found.append((index + 0.5) / max(count, index + 1))
            last = index
        if found:
            places = np.array(found)
            means.append(float(places.mean()))
            distances.append(float(np.abs(places - 0.5).mean()))
            peaks += len(found)
    if not means:
        raise Missing("no peaks")
    single = np.sqrt(1 / 12 / peaks)  # the error if every peak were a witness; never less
    p = min(1.0, 2 * min(_off_p(means, 0.5, single), _off_p(distances, 0.25, single / 2)))
    even = True if p > EVEN_P else False if p < UNEVEN_P else None
    return answer(
        "t-tests over the runs do not refuse an even spread of their peaks (p > 0.05, not below "
        f"0.01; at least {LEAST_RUNS} runs)",
        even if len(means) >= LEAST_RUNS else None,
        p_value=p,
        peaks=peaks,
        runs=len(means),
        mean_place=float(np.mean(means)),
    )


def _off_p(values: list[float], expected: float, least_error: float) -> float:
    """How probable values like these are where their mean is the expected one."""
    if len(values) < 2:
        return 1.0
    off = abs(float(np.mean(values)) - expected)
    error = max(least_error, float(np.std(values, ddof=1) / np.sqrt(len(values))))
    return float(2 * stats.t.sf(off / error, len(values) - 1))
