# SPDX-License-Identifier: Apache-2.0
"""Findings on the one-shot timer (Sticha 2014, section 4.1.2)."""

from __future__ import annotations

import numpy as np
import takt_core

from takt.reproduce.model import Answer, answer
from takt.reproduce.sticha2014.evidence import (
    MS_1,
    MS_10,
    REALTIME,
    US_800,
    Evidence,
    Missing,
    even_spread,
)
from takt.results.model import Cell, OneShot

KIND = "timer-oneshot"
DEADLINE_US = 400.0


def below_1ms(evidence: Evidence) -> Answer:
    """Timeouts below a millisecond."""
    short = _median(evidence.cells(KIND, period_us=US_800, policy="rr"))
    whole = _median(evidence.cells(KIND, period_us=MS_1, policy="rr", load="none"))
    return answer(
        "the median latency at 800 us is more than 100 us above that at 1 ms",
        short - whole > 100,
        p50_800us_us=short,
        p50_1ms_us=whole,
        extra_us=short - whole,
    )


def ignored(evidence: Evidence) -> Answer:
    """Timers that never fire."""
    normal, realtime = (
        [(_own(cell).never_fired, cell.sent) for cell in evidence.cells(KIND, policy=policy)]
        for policy in ("other", REALTIME)
    )
    (never, of), (never_rt, of_rt) = (
        map(sum, zip(*one, strict=True)) for one in (normal, realtime)
    )
    return answer(
        "some never fire without real-time priority, and none with it",
        never > 0 and never_rt == 0,
        never_fired_normal=never,
        of_normal=of,
        never_fired_realtime=never_rt,
        of_realtime=of_rt,
    )


def reported_accurate(evidence: Evidence) -> Answer:
    """What the timer says of its own latency, at real-time priority."""
    mean, peak = _difference(evidence.cells(KIND, policy=REALTIME))
    return answer(
        "the difference stays below 10 us on average and 80 us at worst",
        mean < 10 and peak < 80,
        mean_difference_us=mean,
        peak_difference_us=peak,
    )


def reported_drifts(evidence: Evidence) -> Answer:
    """The same without real-time priority."""
    _, peak = _difference(evidence.cells(KIND, policy="other"))
    return answer(
        "the greatest difference is a millisecond or more",
        peak >= 1000,
        peak_difference_us=peak,
    )


def exceeds_400us(evidence: Evidence) -> Answer:
    """The long-term deadline."""
    # Not of shorter timeouts: there the thesis's timer is late by what is missing to 1 ms.
    cells = evidence.cells(KIND, policy=REALTIME, period_us=(MS_1, MS_10))
    values = evidence.latency_us(cells)
    exceeded, count = int((values > DEADLINE_US).sum()), len(values)
    probability, upper = takt_core.exceedance(exceeded, count, 0.95)
    # What is as rare as published shows up no more often than this by chance.
    lower = 1 - takt_core.exceedance(count - exceeded, count, 0.95)[1] if exceeded else 0.0
    return answer(
        "the lower 95 % confidence bound is not above 1e-7 (fewer samples contradict less)",
        lower <= 1e-7,
        exceeded=exceeded,
        count=count,
        probability=probability,
        upper_bound=upper,
    )


def grows_with_timeout(evidence: Evidence) -> Answer:
    """Latency against timeout."""
    short, long = (
        evidence.cells(KIND, period_us=period, policy=REALTIME, load="none")
        for period in (MS_1, MS_10)
    )
    return answer(
        "the median latency at 10 ms is more than a tenth above that at 1 ms",
        _median(long) > 1.1 * _median(short),
        p50_1ms_us=_median(short),
        p50_10ms_us=_median(long),
        mean_1ms_us=_mean(short),
        mean_10ms_us=_mean(long),
    )


def peaks_random(evidence: Evidence) -> Answer:
    """Where the extremes lie."""
    cells = evidence.cells(KIND, policy=REALTIME)
    groups = [
        (extremes, cell.sent)
        for cell in cells
        if cell.statistics
        for extremes in (cell.statistics.highest, cell.statistics.lowest)
    ]
    return even_spread(groups)


def nanosleep_better(evidence: Evidence) -> Answer:
    """The middleware's timer against the kernel's."""
    own = evidence.cells(KIND, period_us=MS_1, policy=REALTIME, load="none")
    bare = [
        cell
        for cell in evidence.run.cells
        if cell.kind == "wakeup" and cell.statistics and cell.policy in REALTIME
    ]
    if not bare:
        raise Missing("no samples of bare wake-ups")
    figures = {
        f"{name}_{stack}_us": float(np.median([_latency(cell, f"{name}_us") for cell in cells]))
        for stack, cells in (
            ("oneshot", own),
            ("raw", [cell for cell in bare if cell.stack == "raw"]),
            ("cyclictest", [cell for cell in bare if cell.stack == "cyclictest"]),
        )
        if cells
        for name in ("p50", "p99", "max")
    }
    p99 = min(
        value for name, value in figures.items() if name in {"p99_raw_us", "p99_cyclictest_us"}
    )
    return answer(
        "the timer's p99 is above that of a bare nanosleep (raw or cyclictest)",
        figures["p99_oneshot_us"] > p99,
        **figures,
    )


CHECKS = {
    "oneshot-below-1ms": below_1ms,
    "oneshot-ignored-without-rt": ignored,
    "oneshot-reported-accurate": reported_accurate,
    "oneshot-reported-drifts-without-rt": reported_drifts,
    "oneshot-400us": exceeds_400us,
    "oneshot-latency-grows-with-timeout": grows_with_timeout,
    "oneshot-peaks-random": peaks_random,
    "oneshot-nanosleep-better": nanosleep_better,
}


def _own(cell: Cell) -> OneShot:
    if cell.statistics is None or cell.statistics.one_shot is None:
        raise Missing(f"{cell.id} has no numbers of a one-shot timer")
    return cell.statistics.one_shot


def _latency(cell: Cell, name: str) -> float:
    if cell.statistics is None:
        raise Missing(f"{cell.id} has no samples")
    return float(getattr(cell.statistics.latency, name))


def _median(cells: list[Cell]) -> float:
    return float(np.median([_latency(cell, "p50_us") for cell in cells]))


def _mean(cells: list[Cell]) -> float:
    return float(np.mean([_latency(cell, "mean_us") for cell in cells]))


def _difference(cells: list[Cell]) -> tuple[float, float]:
    """The largest mean and the largest peak of |reported - measured| over cells, in µs."""
    found = [own.difference for own in map(_own, cells) if own.difference]
    if not found:
        raise Missing("the timer reports nothing")
    return (
        max(abs(one.mean_us) for one in found),
        max(max(abs(one.min_us), abs(one.max_us)) for one in found),
    )
