# SPDX-License-Identifier: Apache-2.0
"""Findings on the cyclic timer (Sticha 2014, section 4.2.2)."""

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
from takt.results.model import Cell, Cyclic

KIND = "timer-cyclic"
CLUSTER_US = (-1000.0, -600.0)
DEADLINE_US = 400.0
RATE_ERROR = 1e-3


def negative_cluster(evidence: Evidence) -> Answer:
    """The early callbacks."""
    share = {}
    for name, period in (("1khz", MS_1), ("100hz", MS_10)):
        cells = evidence.cells(KIND, period_us=period, policy=REALTIME)
        jitter = evidence.jitter_us(cells)
        inside = (jitter >= CLUSTER_US[0]) & (jitter <= CLUSTER_US[1])
        share[name] = (float(inside.mean()), float((jitter < 0).mean()), float(jitter.min()))
    return answer(
        "at least 5 % of the jitter lies between -1000 and -600 us, at 1 kHz and at 100 Hz",
        all(one[0] >= 0.05 for one in share.values()),
        **{f"share_{name}": one[0] for name, one in share.items()},
        **{f"negative_share_{name}": one[1] for name, one in share.items()},
        **{f"min_{name}_us": one[2] for name, one in share.items()},
    )


def first_two(evidence: Evidence) -> Answer:
    """The first intervals at 100 Hz."""
    cells = evidence.cells(KIND, period_us=MS_10, policy=REALTIME, load="none")
    first, second = (
        float(np.median([_own(cell).first_two_us[n] for cell in cells])) for n in (0, 1)
    )
    return answer(
        "the first or the second jitter at 100 Hz is below -1 ms",
        min(first, second) < -1000,
        first_us=first,
        second_us=second,
    )


def rate_kept(evidence: Evidence) -> Answer:
    """The rate over the whole run."""
    owns = [(cell, _own(cell)) for cell in evidence.cells(KIND, policy=REALTIME)]
    owns = [(cell, own) for cell, own in owns if cell.period_us >= MS_1]
    error = max((evidence.rate_error(cell) for cell, _ in owns), key=abs)
    passed_over = sum(own.expiries - own.callbacks for _, own in owns)
    return answer(
        "up to 1 kHz no expiry is passed over, and the drift stays below one in a thousand",
        abs(error) <= RATE_ERROR and passed_over == 0,
        largest_rate_error=error,
        mean_jitter_us=float(np.median([own.jitter.mean_us for _, own in owns])),
        passed_over=passed_over,
        of_expiries=sum(own.expiries for _, own in owns),
    )


def exceeds_400us(evidence: Evidence) -> Answer:
    """The deadline on the jitter."""
    cells = evidence.cells(KIND, policy=REALTIME, period_us=(MS_1, MS_10))
    jitter = evidence.jitter_us(cells)
    exceeded = int((jitter > DEADLINE_US).sum())
    return answer(
        "no jitter above 400 us",
        exceeded == 0,
        exceeded=exceeded,
        count=len(jitter),
        max_us=float(jitter.max()),
    )


def grows_with_period(evidence: Evidence) -> Answer:
    """Positive jitter against the period."""
    means = {}
    for name, period in (("1khz", MS_1), ("100hz", MS_10)):
        jitter = evidence.jitter_us(
            evidence.cells(KIND, period_us=period, policy=REALTIME, load="none")
        )
        positive = jitter[jitter > 0]
        if not len(positive):
            raise Missing("no positive jitter")
        means[name] = float(np.median(positive))
    return answer(
        "the median of the positive jitter at 100 Hz is more than a tenth above that at 1 kHz",
        means["100hz"] > 1.1 * means["1khz"],
        **{f"p50_positive_{name}_us": value for name, value in means.items()},
    )


def peaks_random(evidence: Evidence) -> Answer:
    """Where the extremes lie."""
    owns = [(_own(cell), cell.sent) for cell in evidence.cells(KIND, policy=REALTIME)]
    return even_spread(
        [(extremes, sent) for own, sent in owns for extremes in (own.highest, own.lowest)]
    )


def above_1khz(evidence: Evidence) -> Answer:
    """Rates above 1 kHz."""
    width = {}
    for name, periods in (("1khz", MS_1), ("2khz", 500.0), ("5khz", 200.0)):
        cells = evidence.cells(KIND, period_us=periods, policy="rr", load="none")
        low, high = np.percentile(evidence.jitter_us(cells), [1, 99])
        width[name] = float(high - low)
    return answer(
        "from p1 to p99 the jitter is 1.5 times as wide at 2 or 5 kHz as at 1 kHz",
        max(width["2khz"], width["5khz"]) > 1.5 * width["1khz"],
        **{f"p1_to_p99_{name}_us": value for name, value in width.items()},
    )


CHECKS = {
    "cyclic-negative-cluster": negative_cluster,
    "cyclic-first-two-negative": first_two,
    "cyclic-rate-kept": rate_kept,
    "cyclic-400us": exceeds_400us,
    "cyclic-jitter-grows-with-period": grows_with_period,
    "cyclic-peaks-random": peaks_random,
    "cyclic-above-1khz": above_1khz,
}


def _own(cell: Cell) -> Cyclic:
    if cell.statistics is None or cell.statistics.cyclic is None:
        raise Missing(f"{cell.id} has no numbers of a cyclic timer")
    return cell.statistics.cyclic
