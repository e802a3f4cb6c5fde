# SPDX-License-Identifier: Apache-2.0
"""Findings on the cyclic timer (Sticha 2014, section 4.2.2)."""

from __future__ import annotations

import numpy as np

from takt.measure.results.model import Cell, Cyclic
from takt.reproduce.judgement import Missing
from takt.reproduce.model import Answer, answer
from takt.reproduce.sticha2014.confidence import effect, every, ratio, share
from takt.reproduce.sticha2014.evidence import MS_1, MS_10, REALTIME, Evidence, even_spread

KIND = "timer-cyclic"
CLUSTER_US = (-1000.0, -600.0)
DEADLINE_US = 400.0
RARE = 1e-7  # as rare as a jitter that 32 million did not show
RATE_ERROR = 1e-3
RATES = (("1khz", MS_1), ("100hz", MS_10))


def negative_cluster(evidence: Evidence) -> Answer:
    """The early callbacks."""
    runs = {name: evidence.jitter_us(period_us=at, policy=REALTIME) for name, at in RATES}
    inside = {
        name: [((run >= CLUSTER_US[0]) & (run <= CLUSTER_US[1])).astype(float) for run in found]
        for name, found in runs.items()
    }
    found = {name: effect(np.mean, [flags]) for name, flags in inside.items()}
    whole = {name: np.concatenate(one) for name, one in runs.items()}
    return answer(
        "at least 5 % of the jitter lies between -1000 and -600 us, at 1 kHz and at 100 Hz",
        every([one.above(0.05) for one in found.values()]),
        **{f"share_{name}": one.value for name, one in found.items()},
        **{f"negative_share_{name}": float((one < 0).mean()) for name, one in whole.items()},
        **{f"min_{name}_us": float(one.min()) for name, one in whole.items()},
    )


def first_two(evidence: Evidence) -> Answer:
    """The first intervals at 100 Hz."""
    cells = evidence.cells(KIND, period_us=MS_10, policy=REALTIME)
    pairs = [_own(cell).first_two_us for cell in cells]
    short = [min(pair) < -1000 for pair in pairs]
    return answer(
        "the first or the second jitter at 100 Hz is below -1 ms, in every run; undecided where "
        "the runs differ",
        short[0] if len(set(short)) == 1 else None,
        first_us=float(np.median([pair[0] for pair in pairs])),
        second_us=float(np.median([pair[1] for pair in pairs])),
        runs_with_it=sum(short),
        of_runs=len(short),
    )


def rate_kept(evidence: Evidence) -> Answer:
    """The rate over the whole run."""
    owns = [(cell, _own(cell)) for cell in evidence.cells(KIND, policy=REALTIME)]
    owns = [(cell, own) for cell, own in owns if cell.period_us >= MS_1]
    error = max((evidence.rate_error(cell) for cell, _ in owns), key=abs)
    passed_over = sum(own.expiries - own.callbacks for _, own in owns)
    expiries = sum(own.expiries for _, own in owns)
    return answer(
        "up to 1 kHz, drift and the share of expiries that are passed over stay below 1 in 1000",
        every([abs(error) <= RATE_ERROR, share(passed_over, expiries).below(RATE_ERROR)]),
        largest_rate_error=error,
        mean_jitter_us=float(np.median([own.jitter.mean_us for _, own in owns])),
        passed_over=passed_over,
        of_expiries=expiries,
    )


def exceeds_400us(evidence: Evidence) -> Answer:
    """The deadline on the jitter."""
    jitter = np.concatenate(evidence.jitter_us(policy=REALTIME, period_us=(MS_1, MS_10)))
    exceeded = int((jitter > DEADLINE_US).sum())
    found = share(exceeded, len(jitter))
    return answer(
        "the probability of more than 400 us is not above 1e-7; with 95 % confidence (so fewer "
        "than 3e7 samples can refute it, but not prove it)",
        found.below(RARE),
        exceeded=exceeded,
        count=len(jitter),
        upper_bound=found.high,
        lower_bound=found.low,
        max_us=float(jitter.max()),
    )


def grows_with_period(evidence: Evidence) -> Answer:
    """Positive jitter against the period."""

    def positive(period: float, policy: object) -> list[np.ndarray]:
        runs = evidence.jitter_us(period_us=period, policy=policy, load="none")
        return [run[run > 0] for run in runs]

    grown = ratio(
        lambda slow, fast: np.median(slow) / np.median(fast),
        *([positive(MS_10, policy), positive(MS_1, policy)] for policy in REALTIME),
    )
    return answer(
        "the median of the positive jitter at 100 Hz is more than a tenth above that at 1 kHz",
        grown.above(1.1),
        **{
            f"p50_positive_{name}_us": float(np.median(np.concatenate(positive(at, REALTIME))))
            for name, at in RATES
        },
        ratio_low=grown.low,
        ratio_high=grown.high,
    )


def peaks_random(evidence: Evidence) -> Answer:
    """Where the extremes lie."""
    owns = [(_own(cell), cell.sent) for cell in evidence.cells(KIND, policy=REALTIME)]
    return even_spread([(own.highest + own.lowest, sent) for own, sent in owns])


def above_1khz(evidence: Evidence) -> Answer:
    """Rates above 1 kHz."""
    runs = {
        name: evidence.jitter_us(period_us=period, policy="rr", load="none")
        for name, period in (("1khz", MS_1), ("2khz", 500.0), ("5khz", 200.0))
    }
    faster = [
        ratio(lambda a, b: _width(a) / _width(b), [runs[name], runs["1khz"]])
        for name in ("2khz", "5khz")
    ]
    grown = [one.above(1.5) for one in faster]
    return answer(
        "from p1 to p99 the jitter is 1.5 times as wide at 2 or 5 kHz as at 1 kHz",
        True if True in grown else None if None in grown else False,
        **{f"p1_to_p99_{name}_us": _width(np.concatenate(one)) for name, one in runs.items()},
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


def _width(values: np.ndarray) -> float:
    low, high = np.percentile(values, [1, 99])
    return max(float(high - low), 1e-3)
