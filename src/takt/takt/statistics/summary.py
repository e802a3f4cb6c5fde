# SPDX-License-Identifier: Apache-2.0
"""The numbers of one series of samples, computed by the C++ core.

Nothing here counts, sorts or bounds by itself: ``takt_core`` does, so that the tool and the C++
side can never disagree. This file only turns its nanoseconds into the models of ``run.json``.
"""

from __future__ import annotations

import takt_core

from takt.results.model import Exceedance, Extreme, Percentiles, Statistics
from takt.statistics.series import Int64

#: The names in ``Percentiles`` and the percentiles that they stand for.
PERCENTILES = {
    "p50_us": 50.0,
    "p90_us": 90.0,
    "p99_us": 99.0,
    "p999_us": 99.9,
    "p9999_us": 99.99,
    "p99999_us": 99.999,
}
EXTREMES = 10
#: Rates of common control loops; a verdict asks how often a response took longer than a period.
LOOP_RATES_HZ = (10, 20, 50, 100, 200, 250, 500, 1000, 2000, 4000, 10_000)
CONFIDENCE = 0.95


def summarise(
    latency_ns: Int64,
    response_ns: Int64,
    first_ns: int | None,
    deadline_us: float,
    sequence: Int64 | None = None,
) -> Statistics:
    """Statistics of a series of received samples, the first one left out.

    Latencies and responses in ns, of equal length and not empty (ValueError); ``first_ns`` is the
    first sample's latency, None where it was lost. An extreme's index
    is the sample's ``sequence`` where that is given, else its place in ``latency_ns``.
    """
    if len(latency_ns) == 0 or len(latency_ns) != len(response_ns):
        raise ValueError(
            f"{len(latency_ns)} latencies and {len(response_ns)} responses: "
            "statistics need at least one sample, and as many of one as of the other"
        )
    highest, lowest = takt_core.extremes(latency_ns, EXTREMES)
    return Statistics(
        latency=percentiles(latency_ns),
        response=percentiles(response_ns),
        first_us=None if first_ns is None else microseconds(first_ns),
        highest=_extremes(highest, sequence),
        lowest=_extremes(lowest, sequence),
        exceedance=exceedance(response_ns, deadline_us),
        loop_exceedance=[exceedance(response_ns, 1e6 / rate) for rate in LOOP_RATES_HZ],
    )


def percentiles(values_ns: Int64) -> Percentiles:
    """Order statistics of ``values_ns`` (ns, not empty) in µs."""
    found = takt_core.order_statistics(values_ns, list(PERCENTILES.values()))
    named = dict(zip(PERCENTILES, map(microseconds, found.percentiles), strict=True))
    return Percentiles(
        count=found.count,
        min_us=microseconds(found.min),
        mean_us=microseconds(found.mean),
        stddev_us=microseconds(found.stddev),
        max_us=microseconds(found.max),
        **named,
    )


def exceedance(response_ns: Int64, deadline_us: float) -> Exceedance:
    """How often a response came after the deadline (both since the intended time)."""
    exceeded = int((response_ns > round(deadline_us * 1000)).sum())
    probability, upper_bound = takt_core.exceedance(exceeded, len(response_ns), CONFIDENCE)
    return Exceedance(
        deadline_us=deadline_us,
        exceeded=exceeded,
        count=len(response_ns),
        probability=probability,
        upper_bound=upper_bound,
        confidence=CONFIDENCE,
    )


def microseconds(nanoseconds: float) -> float:
    """ns to µs, kept to the last ns that a clock can tell."""
    return round(nanoseconds / 1000, 6)


def _extremes(pairs: list[tuple[int, int]], sequence: Int64 | None) -> list[Extreme]:
    return [
        Extreme(index=index if sequence is None else int(sequence[index]), us=microseconds(value))
        for index, value in pairs
    ]
