# SPDX-License-Identifier: Apache-2.0
"""The repetitions of a variant as one, in bounded memory: one recording is held at a time.

Up to MOST_EXACT samples their percentiles are exact. Above, they come from the core's histograms,
within 1 %; counts, extremes, mean and deviation stay exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import sqrt
from pathlib import Path

import pyarrow as pa
import takt_core

from takt.report import charts
from takt.results.model import Cell, Exceedance, Percentiles, Statistics
from takt.statistics.series import Series, joined, read_series
from takt.statistics.summary import CONFIDENCE, PERCENTILES, microseconds, summarise

MOST_EXACT = 10_000_000


@dataclass
class Pool:
    """What is left of the samples of a variant when they have been read."""

    latency: takt_core.Histogram
    response: takt_core.Histogram
    repetitions: list[Series] = field(default_factory=list)  # thinned: every peak is in them
    exact: list[Series] | None = field(default_factory=list)  # None: too many
    unreadable: list[str] = field(default_factory=list)


def read(folder: Path, cells: Sequence[Cell]) -> Pool:
    """Reads the samples of the cells, one after the other."""
    pool = Pool(takt_core.Histogram(), takt_core.Histogram())
    if sum(cell.count for cell in cells) > MOST_EXACT:
        pool.exact = None
    for cell in cells:
        found = []
        for name in cell.samples:
            try:
                found.append(read_series(folder / name, since_intended=cell.since_intended))
            except (OSError, pa.ArrowException, KeyError) as error:
                pool.unreadable.append(f"{name}: {error}")
        if found:
            series = joined(found)
            pool.latency.record(series.latency_ns)
            pool.response.record(series.response_ns)
            pool.repetitions.append(charts.thinned(series))
            if pool.exact is not None:
                pool.exact.append(series)
    return pool


def statistics(pool: Pool, cells: Sequence[Cell]) -> Statistics | None:
    """The statistics of all cells together; None where samples are missing."""
    measured = [cell.statistics for cell in cells if cell.statistics]
    if len(measured) == 1:
        return measured[0]
    if not measured or pool.unreadable or not pool.latency.count:
        return None
    if pool.exact is not None:
        whole = joined(pool.exact)
        deadline = measured[0].exceedance.deadline_us
        return summarise(
            whole.latency_ns, whole.response_ns, whole.first_ns, deadline, whole.sequence
        )
    firsts = [one.first_us for one in measured if one.first_us is not None]
    loops = zip(*(one.loop_exceedance for one in measured), strict=True)
    return Statistics(
        latency=_merged(pool.latency, [one.latency for one in measured]),
        response=_merged(pool.response, [one.response for one in measured]),
        first_us=max(firsts, default=None),
        highest=sorted((e for one in measured for e in one.highest), key=lambda e: -e.us)[:10],
        lowest=sorted((e for one in measured for e in one.lowest), key=lambda e: e.us)[:10],
        exceedance=_summed([one.exceedance for one in measured]),
        loop_exceedance=[_summed(list(one)) for one in loops],
    )


def _merged(histogram: takt_core.Histogram, parts: list[Percentiles]) -> Percentiles:
    count = sum(one.count for one in parts)
    mean = sum(one.count * one.mean_us for one in parts) / count
    squares = sum(one.count * (one.stddev_us**2 + one.mean_us**2) for one in parts) / count
    named = {name: microseconds(histogram.percentile(p)) for name, p in PERCENTILES.items()}
    return Percentiles(
        count=count,
        min_us=min(one.min_us for one in parts),
        mean_us=round(mean, 6),
        stddev_us=round(sqrt(max(0.0, squares - mean**2)), 6),
        max_us=max(one.max_us for one in parts),
        **named,
    )


def _summed(parts: list[Exceedance]) -> Exceedance:
    exceeded, count = sum(one.exceeded for one in parts), sum(one.count for one in parts)
    probability, upper_bound = takt_core.exceedance(exceeded, count, CONFIDENCE)
    return Exceedance(
        deadline_us=parts[0].deadline_us,
        exceeded=exceeded,
        count=count,
        probability=probability,
        upper_bound=upper_bound,
        confidence=CONFIDENCE,
    )
