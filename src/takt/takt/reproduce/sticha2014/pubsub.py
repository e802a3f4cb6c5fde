# SPDX-License-Identifier: Apache-2.0
"""Findings on publish/subscribe (Sticha 2014, section 4.3.2)."""

from __future__ import annotations

import numpy as np

from takt.reproduce.model import Answer, answer
from takt.reproduce.sticha2014.evidence import (
    MS_1,
    MS_10,
    REALTIME,
    Evidence,
    Missing,
    even_spread,
)
from takt.results.model import Cell, Percentiles

KIND = "pubsub"


def first_highest(evidence: Evidence) -> Answer:
    """The first message."""
    firsts, highest = [], []
    for cell in evidence.cells(KIND, policy=REALTIME):
        for one in cell.statistics.subscribers if cell.statistics else []:
            if one.first_us is not None and one.latency:
                firsts.append(one.first_us)
                highest.append(one.latency.max_us)
    if not firsts:
        raise Missing("no first message")
    times = sum(first > other for first, other in zip(firsts, highest, strict=True))
    return answer(
        "the first message is the slowest for more than half of the subscribers",
        times > len(firsts) / 2,
        times_slowest=times,
        of=len(firsts),
        first_us=float(np.median(firsts)),
        highest_other_us=float(np.median(highest)),
    )


def peaks_random(evidence: Evidence) -> Answer:
    """Where the extremes lie."""
    groups = [
        (extremes, cell.sent)
        for cell in evidence.cells(KIND, policy=REALTIME)
        for one in (cell.statistics.subscribers if cell.statistics else [])
        for extremes in (one.highest, one.lowest)
    ]
    return even_spread(groups)


def five_subscribers(evidence: Evidence) -> Answer:
    """Five subscribers instead of one, at 100 Hz."""
    one, five = (
        _latency(evidence.cells(KIND, period_us=MS_10, policy=REALTIME, load="none", subscribers=n))
        for n in (1, 5)
    )
    widths = [
        float(np.median([found.p99_us - found.min_us for found in group])) for group in (one, five)
    ]
    ranges = [
        float(np.median([found.max_us - found.min_us for found in group])) for group in (one, five)
    ]
    return answer(
        "from the fastest to p99, latencies at 100 Hz are 1.25 times as wide with five subscribers",
        widths[1] > 1.25 * widths[0],
        range_1_us=ranges[0],
        range_5_us=ranges[1],
        min_to_p99_1_us=widths[0],
        min_to_p99_5_us=widths[1],
    )


def rate_lowers(evidence: Evidence) -> Answer:
    """A higher rate."""
    slow, fast = (
        _latency(evidence.cells(KIND, period_us=p, policy=REALTIME, load="none", subscribers=1))
        for p in (MS_10, MS_1)
    )
    medians = [float(np.median([found.p50_us for found in group])) for group in (slow, fast)]
    means = [float(np.mean([found.mean_us for found in group])) for group in (slow, fast)]
    return answer(
        "the median latency at 1 kHz is below that at 100 Hz",
        medians[1] < medians[0],
        p50_100hz_us=medians[0],
        p50_1khz_us=medians[1],
        mean_100hz_us=means[0],
        mean_1khz_us=means[1],
    )


CHECKS = {
    "pubsub-first-highest": first_highest,
    "pubsub-peaks-random": peaks_random,
    "pubsub-five-subscribers-broaden": five_subscribers,
    "pubsub-rate-lowers-latency": rate_lowers,
}


def _latency(cells: list[Cell]) -> list[Percentiles]:
    return [cell.statistics.latency for cell in cells if cell.statistics]
