# SPDX-License-Identifier: Apache-2.0
"""The numbers of samples that are together one measurement."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import takt_core

from takt.measure.results.model import Exceedance, Statistics
from takt.measure.statistics.distribution import Distribution, Extremes, microseconds
from takt.measure.statistics.series import Series

#: Rates of common control loops; a verdict asks how often a response took longer than a period.
LOOP_RATES_HZ = (10, 20, 50, 100, 200, 250, 500, 1000, 2000, 4000, 10_000)
CONFIDENCE = 0.95


class Summary:
    """Statistics of received samples, first ones left out, that come part by part."""

    def __init__(self, deadline_us: float) -> None:
        self.latency = Distribution()
        self._response = Distribution()
        self._extremes = Extremes()
        self._firsts: list[int] = []
        self._limits_us = [deadline_us, *(1e6 / rate for rate in LOOP_RATES_HZ)]
        self._exceeded = [0] * len(self._limits_us)

    def add(self, series: Series) -> None:
        """Takes in more samples."""
        self.latency.add(series.latency_ns)
        self._response.add(series.response_ns)
        self._extremes.add(series.latency_ns, series.sequence)
        self._firsts += [] if series.first_ns is None else [series.first_ns]
        late = series.response_ns
        for place in np.argsort(self._limits_us):  # each only among those that exceed a lower one
            late = late[late > round(self._limits_us[place] * 1000)]
            self._exceeded[place] += len(late)

    def statistics(self) -> Statistics | None:
        """What they amount to; None without samples."""
        latency, response = self.latency.percentiles(), self._response.percentiles()
        if latency is None or response is None:
            return None
        deadline, *loops = (
            exceedance(limit, exceeded, latency.count)
            for limit, exceeded in zip(self._limits_us, self._exceeded, strict=True)
        )
        return Statistics(
            latency=latency,
            response=response,
            first_us=microseconds(max(self._firsts)) if self._firsts else None,
            highest=self._extremes.highest,
            lowest=self._extremes.lowest,
            exceedance=deadline,
            loop_exceedance=loops,
        )


def summarise(parts: Iterable[Series], deadline_us: float) -> Statistics | None:
    """Statistics of several recordings or batches together; None without samples."""
    summary = Summary(deadline_us)
    for part in parts:
        summary.add(part)
    return summary.statistics()


def exceedance(deadline_us: float, exceeded: int, count: int) -> Exceedance:
    """``exceeded`` of ``count`` responses came after the deadline, with the bound on how often."""
    probability, upper_bound = takt_core.exceedance(exceeded, count, CONFIDENCE)
    return Exceedance(
        deadline_us=deadline_us,
        exceeded=exceeded,
        count=count,
        probability=probability,
        upper_bound=upper_bound,
        confidence=CONFIDENCE,
    )
