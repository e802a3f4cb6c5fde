# SPDX-License-Identifier: Apache-2.0
"""What only timers have: reported latencies, and the jitter of a cyclic timer.

The definitions are those of docs/reference/probes.md, after Sticha 2014, sections 4.1 and 4.2.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from takt.measure.results.model import Cyclic, OneShot
from takt.measure.statistics.distribution import Distribution, Extremes, microseconds
from takt.measure.statistics.series import Batch
from takt.statistics import Int64

FIRST_INTERVALS = 2  # set apart: roscpp settles in them (Sticha 2014, 4.2.2)


class OneShots:
    """Reported latency and its difference to the measured one; the first sample left out."""

    def __init__(self, *, reports: bool) -> None:
        self._reports = reports  # whether the timer says itself how late it was
        self._reported, self._difference = Distribution(), Distribution()
        self._never = 0

    def add(self, batch: Batch) -> None:
        """Takes in the next rows."""
        fired = batch.received_ns != 0
        self._never += int((~fired).sum())
        if self._reports:
            fired[: batch.start == 0] = False
            sent = batch.sent_ns[fired]
            self._reported.add(sent - batch.intended_ns[fired])
            self._difference.add(sent - batch.received_ns[fired])

    def result(self) -> OneShot:
        """What they amount to."""
        return OneShot(
            reported=self._reported.percentiles(),
            difference=self._difference.percentiles(),
            never_fired=self._never,
        )


def jitter_ns(received_ns: NDArray[np.integer], period_ns: int) -> Int64:
    """P_k in ns of all callbacks that follow each other, the first two intervals included.

    ``received_ns`` are the times of all expiries, 0 for one that was passed over; the callback
    after it is late by a period.
    """
    times = received_ns[received_ns != 0].astype(np.int64)
    jitter: Int64 = np.diff(times) - period_ns
    return jitter


class Calls:
    """Drift and jitter of one cyclic timer."""

    def __init__(self, period_ns: int) -> None:
        self._period_ns = period_ns
        self._drift, self._jitter, self._extremes = Distribution(), Distribution(), Extremes()
        self._first_two: list[int] = []
        self._negative = self._calls = self._gaps = 0
        self._first = self._last = (0, 0)  # sequence, time

    def add(self, batch: Batch) -> Int64:
        """Takes in the next rows; returns their jitter, without that of the first two intervals."""
        fired = batch.received_ns != 0
        times, numbers = batch.received_ns[fired], batch.sequence[fired]
        if not len(times):
            return np.empty(0, dtype=np.int64)
        if not self._calls:
            self._first = (int(numbers[0]), int(times[0]))
        before = np.array([self._last[1]][: self._calls], dtype=np.int64)
        jitter = jitter_ns(np.concatenate([before, times]), self._period_ns)
        ended = self._calls + (not self._calls)  # interval i ends at callback i
        apart = max(0, FIRST_INTERVALS + 1 - ended)
        self._first_two += jitter[:apart].tolist()
        settled = jitter[apart:]
        self._jitter.add(settled)
        self._extremes.add(settled, np.arange(len(settled)) + ended + apart)
        self._negative += int((settled < 0).sum())
        self._gaps += int((settled >= self._period_ns).sum())
        drift = (times - self._first[1]) - (numbers - self._first[0]) * self._period_ns
        self._drift.add(drift[not self._calls :])
        self._last = (int(numbers[-1]), int(times[-1]))
        self._calls += len(times)
        return settled

    def result(self) -> Cyclic | None:
        """What they amount to; None where fewer than four callbacks came."""
        drift, jitter = self._drift.percentiles(), self._jitter.percentiles()
        if drift is None or jitter is None:
            return None
        return Cyclic(
            drift=drift,
            jitter=jitter,
            highest=self._extremes.highest,
            lowest=self._extremes.lowest,
            first_two_us=[microseconds(one) for one in self._first_two],
            negative_share=self._negative / jitter.count,
            gaps=self._gaps,
            callbacks=self._calls,
            expiries=self._last[0] - self._first[0] + 1,
            rate_hz=(self._calls - 1) * 1e9 / max(1, self._last[1] - self._first[1]),
        )
