# SPDX-License-Identifier: Apache-2.0
"""What one run of a suite amounts to, besides what one of any paper does."""

from __future__ import annotations

from pathlib import Path
from statistics import fmean, median

import numpy as np
from numpy.typing import NDArray

from takt.measure.results.model import Cell, Cyclic, OneShot, Subscriber
from takt.reproduce.rare import Counts
from takt.reproduce.runs import (
    OfRun,
    batches,
    beyond,
    histogram,
    p50,
    p99,
    statistics,
    within,
)
from takt.reproduce.scatter import Missing

# What every paper has, beside what only the suites have.
__all__ = ["OfRun", "beyond", "p50", "p99", "within"]

MIDDLE = (0.005, 0.995)  # the middle 99 % of the values


def width(cell: Cell, folder: Path) -> float:
    """How far the middle 99 % of the latencies, or of the jitter, lie apart, in µs."""
    values, counts = histogram(cell, folder)
    low, high = _quantiles(values, counts, MIDDLE)
    return max(1.0, high - low)


def positive_p50(cell: Cell, folder: Path) -> float:
    """The median of the positive jitter, in µs."""
    values, counts = histogram(cell, folder)
    late = values >= 0
    if not late.any():
        raise Missing(f"no positive jitter in {cell.id}")
    return _quantiles(values[late], counts[late], (0.5,))[0]


def outside(cell: Cell, folder: Path, *ranges: tuple[float, float]) -> Counts:
    """Latencies or jitter in none of the ranges, in µs."""
    inside = [within(cell, folder, low, high) for low, high in ranges]
    return inside[0][1] - sum(cases for cases, _ in inside), inside[0][1]


def beyond_with_first(cell: Cell, folder: Path, limit: float) -> Counts:
    """The same, with the first message of each subscriber."""
    cases, of = beyond(cell, folder, limit)
    firsts = [one.first_us for one in subscribers(cell) if one.first_us is not None]
    return cases + sum(first >= limit for first in firsts), of + len(firsts)


def never_fired(cell: Cell, _: Path) -> Counts:
    """One-shot timers that never called back."""
    return _one_shot(cell).never_fired, cell.sent


def mean_difference(cell: Cell, _: Path) -> float:
    """Size of the mean difference between the latency that the timer reports and the measured."""
    found = _one_shot(cell).difference
    if found is None:
        raise Missing("no samples of the latency that the timer reports")
    return abs(found.mean_us)


def differences_from(cell: Cell, folder: Path, limit: float) -> Counts:
    """Latencies that the timer reports wrong by a limit in µs or more; the first one left out."""
    if _one_shot(cell).difference is None:
        raise Missing("no samples of the latency that the timer reports")
    cases = of = 0
    for batch in batches(cell, folder):
        fired = batch.received_ns != 0
        fired[: batch.start == 0] = False
        apart = np.abs(batch.sent_ns - batch.received_ns)[fired]
        cases, of = cases + int((apart >= limit * 1000).sum()), of + len(apart)
    return cases, of


def first_jitter(cell: Cell, _: Path, place: int) -> float:
    """The jitter of the first interval (0) or the second (1), in µs."""
    found = _cyclic(cell).first_two_us
    if len(found) <= place:
        raise Missing(f"{cell.id} has no {place + 1} intervals")
    return found[place]


def jitter_deviation(cell: Cell, _: Path) -> float:
    """Standard deviation of the jitter in µs."""
    return _cyclic(cell).jitter.stddev_us


def passed_over(cell: Cell, _: Path) -> Counts:
    """Expiries of a cyclic timer without a call."""
    found = _cyclic(cell)
    return found.expiries - found.callbacks, found.expiries


def rate_error(cell: Cell, folder: Path) -> float:
    """How far the calls' rate is from the one asked for, as a share of it.

    From the median drift of the first and of the last tenth, so that no single late call at an end
    of a short run decides.
    """
    period = round(cell.period_us * 1000)
    drift = np.concatenate(
        [
            (batch.received_ns - batch.sequence * period)[batch.received_ns != 0]
            for batch in batches(cell, folder)
        ]
    )
    tenth = max(1, len(drift) // 10)
    change = float(np.median(drift[-tenth:]) - np.median(drift[:tenth]))
    return abs(change) / (max(1, len(drift) - tenth) * period)


def peaks_place(cell: Cell, _: Path) -> float:
    """Where the highest and lowest values lie on average: 0 is the start of the run, 1 its end."""
    return fmean(_peaks(cell))


def peaks_distance(cell: Cell, _: Path) -> float:
    """How far they lie from the middle of the run on average: from 0 to 0.5."""
    return fmean(abs(place - 0.5) for place in _peaks(cell))


def first_message(cell: Cell, _: Path) -> float:
    """Latency of the first message in µs, the median over the subscribers."""
    firsts = [one.first_us for one in subscribers(cell) if one.first_us is not None]
    if not firsts:
        raise Missing("no first message")
    return median(firsts)


def first_above(cell: Cell, _: Path) -> Counts:
    """Subscribers whose first message came later than 99 % of the others."""
    pairs = [
        (one.first_us, one.latency.p99_us)
        for one in subscribers(cell)
        if one.first_us is not None and one.latency
    ]
    return sum(first > others for first, others in pairs), len(pairs)


def time_slice(cell: Cell, _: Path) -> float:
    """Round robin's time slice in ms, as sched_rr_get_interval tells it."""
    found = [
        probe.granted.get("rr_interval_ns", 0) / 1e6
        for probe in cell.probes
        if probe.granted.get("policy") == "rr"
    ]
    if not found:
        raise Missing("no process was granted round robin")
    return float(max(found))


def hung(cell: Cell, _: Path) -> Counts:
    """Whether a probe had to be ended because it did not end in time: a case of one run."""
    return int(cell.error is not None and "did not end in time" in cell.error.what), 1


def subscribers(cell: Cell) -> list[Subscriber]:
    """The subscribers of a run of publish/subscribe."""
    return cell.statistics.subscribers if cell.statistics else []


def _one_shot(cell: Cell) -> OneShot:
    if (found := statistics(cell).one_shot) is None:
        raise Missing(f"{cell.id} has no numbers of a one-shot timer")
    return found


def _cyclic(cell: Cell) -> Cyclic:
    if (found := statistics(cell).cyclic) is None:
        raise Missing(f"{cell.id} has no numbers of a cyclic timer")
    return found


def _peaks(cell: Cell) -> list[float]:
    """Places of the highest and lowest values; neighbours are one disturbance and count once."""
    found = statistics(cell)
    if cell.kind == "timer-cyclic":
        extremes = _cyclic(cell).highest + _cyclic(cell).lowest
    elif cell.kind == "pubsub":
        extremes = [peak for one in found.subscribers for peak in one.highest + one.lowest]
    else:
        extremes = found.highest + found.lowest
    places, last = [], -2
    for index in sorted(one.index for one in extremes):
        if index > last + 1:
            places.append((index + 0.5) / max(cell.sent, index + 1))
        last = index
    if not places:
        raise Missing(f"no peaks in {cell.id}")
    return places


def _quantiles(
    values: NDArray[np.int64], counts: NDArray[np.int64], shares: tuple[float, ...]
) -> list[float]:
    """Of a histogram, spread evenly within each of its microseconds."""
    upto = np.concatenate([[0], np.cumsum(counts)])
    found = []
    for one in shares:
        wanted = one * upto[-1]
        place = min(int(np.searchsorted(upto, wanted, side="right")) - 1, len(values) - 1)
        found.append(float(values[place] + (wanted - upto[place]) / counts[place]))
    return found
