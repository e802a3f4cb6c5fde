# SPDX-License-Identifier: Apache-2.0
"""What one run of Ye et al. 2023 amounts to, besides what one of any paper does."""

from __future__ import annotations

from pathlib import Path
from statistics import fmean

import numpy as np
from scipy import stats

from takt.measure.results import histogram as histograms
from takt.measure.results.model import Cell, Percentiles
from takt.measure.statistics.series import Batch, read_batches, series_of
from takt.measure.statistics.timers import FIRST_INTERVALS, jitter_ns
from takt.reproduce.rare import Counts
from takt.reproduce.runs import batches, beyond, histogram, p50, statistics
from takt.reproduce.scatter import Missing
from takt.statistics import Floats, Int64

__all__ = ["beyond", "fairness", "highest", "p50", "spread", "statistics", "unfairness"]

BY_CHANCE = 0.6  # of √n normal values: their mean distance from their own normal fit
REJECTED = 0.01  # the level at which a test says that a jitter is not normal


def highest(cell: Cell, _: Path) -> float:
    """The highest latency in µs; of several threads the mean of what each of them has."""
    found = statistics(cell)
    threads = [one.latency.max_us for one in found.threads if one.latency]
    return fmean(threads) if threads else found.latency.max_us


def lowest(cell: Cell, _: Path) -> float:
    """The lowest latency in µs; of several threads the mean of what each of them has."""
    found = statistics(cell)
    threads = [one.latency.min_us for one in found.threads if one.latency]
    return fmean(threads) if threads else found.latency.min_us


def average(cell: Cell, _: Path) -> float:
    """The mean latency in µs; of several threads the mean of what each of them has."""
    found = statistics(cell)
    threads = [one.latency.mean_us for one in found.threads if one.latency]
    return fmean(threads) if threads else found.latency.mean_us


def spread(cell: Cell, folder: Path) -> float:
    """How wide the middle half of the executions is, in µs: a single late one moves it little."""
    found = executions_us(cell, folder)
    found = found[~np.isnan(found)]
    if len(found) < 4:
        raise Missing(f"{cell.id} has too few executions")
    low, high = np.quantile(found, [0.25, 0.75])
    return float(high - low)


def medians(cell: Cell) -> list[float]:
    """The median latency of each subscriber in µs; Missing where one heard nothing."""
    found = statistics(cell)
    each = [one.latency.p50_us for one in found.subscribers if one.latency]
    if len(each) < max(2, cell.subscribers):
        raise Missing(f"{cell.id}: {len(each)} of {cell.subscribers} subscribers have samples")
    return each


def same_address(cell: Cell, _: Path) -> float:
    """The share of messages that arrive at the address at which they were published."""
    found = cell.addresses
    if found is None or not found.compared:
        raise Missing(f"{cell.id}: no address was compared")
    return found.share


def by_period(cells: list[Cell]) -> dict[float, list[Percentiles]]:
    """The latencies of wake-ups by their period, in cells of one or of several threads."""
    found: dict[float, list[Percentiles]] = {}
    for cell in cells:
        own = statistics(cell)
        several = [(one.period_us, one.latency) for one in own.threads]
        for period, latency in several or [(cell.period_us, own.latency)]:
            if latency:
                found.setdefault(period, []).append(latency)
    return found


def bins_by_period(cells: list[Cell], folder: Path) -> dict[float, list[histograms.Bins]]:
    """The same as histograms, from the samples of each thread."""
    found: dict[float, list[histograms.Bins]] = {}
    for cell in cells:
        for (period, _), file in zip(cell.series, cell.samples, strict=False):
            bins = histograms.Bins()
            for batch in read_batches(folder / file):
                bins.add(series_of(batch).latency_ns)
            found.setdefault(period, []).append(bins)
    return found


def fairness(cell: Cell, _: Path) -> float:
    """Jain's index of the subscribers' medians: 1 is fair, 1 / n the least (Jain et al. 1984)."""
    return jain(medians(cell))


def unfairness(cell: Cell, _: Path) -> float:
    """The slowest subscriber's median as a multiple of the fastest one's."""
    each = medians(cell)
    return max(each) / min(each)


def jain(values: list[float]) -> float:
    """(sum of x)² / (n · sum of x²)."""
    found = np.asarray(values, dtype=np.float64)
    return float(found.sum() ** 2 / (len(found) * (found**2).sum()))


def jitter_beyond(cell: Cell, folder: Path, limit: float) -> Counts:
    """Cycles that are shorter or longer than they should be by a limit in µs or more."""
    values, counts = histogram(cell, folder)
    # A bin holds what was rounded down: from -60 µs on, and up to just below it.
    far = (values >= limit) | (values < -limit)
    return int(counts[far].sum()), int(counts.sum())


def jitter_within(cell: Cell, folder: Path, limit: float) -> Counts:
    """Cycles whose jitter is below a limit in µs, early or late."""
    far, of = jitter_beyond(cell, folder, limit)
    return of - far, of


def jitter_size(cell: Cell, _: Path) -> float:
    """The standard deviation of the jitter in µs."""
    return _jitter(cell).stddev_us


def jitter_highest(cell: Cell, _: Path) -> float:
    """The largest jitter in µs, early or late."""
    found = _jitter(cell)
    return max(found.max_us, -found.min_us)


def jitter_distance(cell: Cell, folder: Path) -> float:
    """How far the jitter's distribution is from its normal fit at most (Kolmogorov, Smirnov).

    Less what so many normal values have by chance, on average, with a fit of their own.
    """
    found = jitter_us(cell, folder)
    return max(0.0, distance(found) - float(BY_CHANCE / len(found) ** 0.5))


def jitter_rejected(cell: Cell, folder: Path) -> float:
    """1 where the test says at the level REJECTED that the jitter is not normal, else 0."""
    return float(normal_p(jitter_us(cell, folder)) < REJECTED)


def period_outside(cell: Cell, folder: Path, low: float, high: float) -> Counts:
    """Cycles of a master that are shorter or longer than these, in µs."""
    found = jitter_us(cell, folder) + cell.period_us
    return int(((found < low) | (found > high)).sum()), len(found)


def period_off(cell: Cell, _: Path) -> float:
    """How far the mean period is from what was asked, in µs."""
    return abs(_jitter(cell).mean_us)


def period_p999(cell: Cell, _: Path) -> float:
    """The period in µs that 99.9 % keep."""
    return cell.period_us + _jitter(cell).p999_us


def wrong_counters(cell: Cell, _: Path) -> float:
    """Cycles in which not every slave took part."""
    return float(cell.wrong_counters)


def jitter_us(cell: Cell, folder: Path) -> Floats:
    """P_k of all cycles but the first two, in µs; Missing where there are no eight."""
    called = np.concatenate([_called_ns(cell, one) for one in batches(cell, folder)])
    found = jitter_ns(called, round(cell.period_us * 1000))[FIRST_INTERVALS:] / 1000
    if len(found) < 8:
        raise Missing(f"{cell.id} has too few cycles for a normal fit")
    return found


def drift_us(cell: Cell, folder: Path) -> Floats:
    """d_k = t_k - kT of all cycles in µs, from its value at the first expiry."""
    parts = list(batches(cell, folder))
    called = np.concatenate([_called_ns(cell, one) for one in parts])
    number = np.concatenate([one.sequence for one in parts])
    came = called != 0
    if not came.any():
        raise Missing(f"{cell.id} has no samples")
    drift = called[came] - number[came] * round(cell.period_us * 1000)
    return np.asarray((drift - drift[0]) / 1000)


def distance(values: Floats) -> float:
    """Between the empirical distribution and the normal one with its mean and deviation."""
    ordered = np.sort(values)
    deviation = float(ordered.std(ddof=1))
    if deviation == 0.0:
        raise Missing("all values are equal: no normal fit")
    fit = stats.norm.cdf(ordered, float(ordered.mean()), deviation)
    count = len(ordered)
    above = np.arange(1, count + 1) / count - fit
    below = fit - np.arange(count) / count
    return float(max(above.max(), below.max()))


def normal_p(values: Floats) -> float:
    """D'Agostino and Pearson's test (1973): how likely normal values are as skewed and peaked."""
    return float(stats.normaltest(values).pvalue)


def executions_us(cell: Cell, folder: Path) -> Floats:
    """The latency of each execution in µs as it came, the first one left out; NaN: lost."""
    found = np.concatenate(
        [
            np.where(one.received_ns != 0, (one.received_ns - one.sent_ns) / 1000, np.nan)
            for one in batches(cell, folder)
        ]
    )
    return np.asarray(found[1:])


def _called_ns(cell: Cell, batch: Batch) -> Int64:
    """When a timer called, or a master sent."""
    return batch.sent_ns if cell.kind == "ethercat" else batch.received_ns


def _jitter(cell: Cell) -> Percentiles:
    if (found := statistics(cell).cyclic) is None:
        raise Missing(f"{cell.id} has no numbers of a cyclic timer")
    return found.jitter
