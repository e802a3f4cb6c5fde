# SPDX-License-Identifier: Apache-2.0
"""Findings on publish/subscribe (Sticha 2014, section 4.3.2)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from takt.reproduce.judgement import Missing
from takt.reproduce.model import Answer, answer
from takt.reproduce.sticha2014.confidence import Effect, Runs, ratio, share
from takt.reproduce.sticha2014.evidence import MS_1, MS_10, REALTIME, Evidence, even_spread

KIND = "pubsub"


def first_highest(evidence: Evidence) -> Answer:
    """The first message."""
    firsts, highest, runs = [], [], []
    for cell in evidence.cells(KIND, policy=REALTIME):
        pairs = [
            (one.first_us, one.latency.max_us)
            for one in (cell.statistics.subscribers if cell.statistics else [])
            if one.first_us is not None and one.latency
        ]
        if pairs:
            firsts += [first for first, _ in pairs]
            highest += [other for _, other in pairs]
            runs.append(sum(first > other for first, other in pairs) > len(pairs) / 2)
    if not runs:
        raise Missing("no first message")
    return answer(
        "the first message is the slowest for more than half of the subscribers, in more than "
        "half of the runs",
        share(sum(runs), len(runs)).above(0.5),
        times_slowest=sum(first > other for first, other in zip(firsts, highest, strict=True)),
        of=len(firsts),
        runs_with_it=sum(runs),
        of_runs=len(runs),
        first_us=float(np.median(firsts)),
        highest_other_us=float(np.median(highest)),
    )


def peaks_random(evidence: Evidence) -> Answer:
    """Where the extremes lie."""
    runs = []
    for cell in evidence.cells(KIND, policy=REALTIME):
        heard = cell.statistics.subscribers if cell.statistics else []
        runs.append(([peak for one in heard for peak in one.highest + one.lowest], cell.sent))
    return even_spread(runs)


def five_subscribers(evidence: Evidence) -> Answer:
    """Five subscribers instead of one, at 100 Hz."""
    asked = [{"period_us": MS_10, "load": "none", "subscribers": number} for number in (1, 5)]
    wider = _of_policies(evidence, asked, lambda one, five: _width(five) / _width(one))
    one, five = (np.concatenate(evidence.latency_us(KIND, policy=REALTIME, **a)) for a in asked)
    return answer(
        "from p1 to p99, latencies at 100 Hz are 1.25 times as wide with five subscribers",
        wider.above(1.25),
        range_1_us=float(np.ptp(one)),
        range_5_us=float(np.ptp(five)),
        p1_to_p99_1_us=_width(one),
        p1_to_p99_5_us=_width(five),
        ratio_low=wider.low,
        ratio_high=wider.high,
    )


def rate_lowers(evidence: Evidence) -> Answer:
    """A higher rate."""
    asked = [{"period_us": at, "load": "none", "subscribers": 1} for at in (MS_10, MS_1)]
    lower = _of_policies(evidence, asked, lambda slow, fast: np.median(fast) / np.median(slow))
    slow, fast = (np.concatenate(evidence.latency_us(KIND, policy=REALTIME, **a)) for a in asked)
    return answer(
        "the median latency at 1 kHz is below that at 100 Hz",
        lower.below(1),
        p50_100hz_us=float(np.median(slow)),
        p50_1khz_us=float(np.median(fast)),
        mean_100hz_us=float(slow.mean()),
        mean_1khz_us=float(fast.mean()),
        ratio_low=lower.low,
        ratio_high=lower.high,
    )


CHECKS = {
    "pubsub-first-highest": first_highest,
    "pubsub-peaks-random": peaks_random,
    "pubsub-five-subscribers-broaden": five_subscribers,
    "pubsub-rate-lowers-latency": rate_lowers,
}


def _of_policies(
    evidence: Evidence, asked: list[dict[str, Any]], statistic: Callable[..., float]
) -> Effect:
    """A ratio of some points, asked of either real-time policy."""
    replicates: list[list[Runs]] = [
        [evidence.latency_us(KIND, policy=policy, **one) for one in asked] for policy in REALTIME
    ]
    return ratio(statistic, *replicates)


def _width(values: np.ndarray) -> float:
    low, high = np.percentile(values, [1, 99])
    return max(float(high - low), 1e-3)
