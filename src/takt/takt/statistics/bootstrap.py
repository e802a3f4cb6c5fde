# SPDX-License-Identifier: Apache-2.0
"""How far a percentile of one recording may lie from the truth: the moving-block bootstrap.

Latencies of neighbouring samples resemble each other (a busy neighbour lasts longer than one
period), so samples are not drawn one by one but in blocks (Künsch 1989) that are longer than that
resemblance. Only counts between a few thresholds are resampled, never the samples themselves:
a replicate costs a row of a matrix product instead of a sort.
"""

from __future__ import annotations

import numpy as np

from takt.statistics import Floats, Int64

REPLICATES = 250  # a standard error to within 5 %
THRESHOLDS = 96
STARTS_PER_BLOCK = 4  # blocks begin at every quarter of their length, or
PIECES = 400  # at this many places of the recording, where that is fewer
BLOCKS_AT_LEAST = 10


def standard_errors(
    values: Int64, quantiles: dict[float, float], rng: np.random.Generator
) -> list[float]:
    """Give the standard error of the logarithm of each percentile of a series in recorded order.

    ``quantiles`` maps shares in 0..1 to the values found there (> 0), in the unit of ``values``.
    """
    persistence = {
        share: correlation_time(np.asarray(values <= value, dtype=np.float64))
        for share, value in quantiles.items()
    }
    length = block_length(len(values), max(persistence.values()))
    return [
        float(np.std(_replicates(values, share, persistence[share], length, rng), ddof=1))
        for share in quantiles
    ]


def correlation_time(series: Floats) -> float:
    """Integrated autocorrelation time in samples; 1 for independent samples.

    Sums the autocorrelation in pairs of lags until a pair is negative (Geyer 1992).
    """
    centred = series - series.mean()
    size = len(centred)
    spectrum = np.fft.rfft(centred, 2 * size)
    covariance = np.fft.irfft(spectrum * np.conj(spectrum))[:size]
    if covariance[0] <= 0:
        return 1.0
    correlation = covariance / covariance[0]
    pairs = correlation[: size - size % 2].reshape(-1, 2).sum(axis=1)
    negative = np.flatnonzero(pairs < 0)
    kept = pairs[: negative[0]] if len(negative) else pairs
    return max(1.0, float(2 * kept.sum() - 1))


def block_length(size: int, correlation: float) -> int:
    """Choose a block of several correlation times, while enough blocks remain to draw from."""
    wanted = max(float(np.cbrt(size)), 8 * correlation if correlation > 1.5 else 0.0)
    return max(1, min(round(wanted), size // BLOCKS_AT_LEAST))


def _replicates(
    values: Int64, share: float, correlation: float, length: int, rng: np.random.Generator
) -> Floats:
    """Draw the logarithm of the percentile REPLICATES times."""
    size = len(values)
    # The thresholds cover what the percentile can move: twelve standard errors of its share.
    error = np.sqrt(share * (1 - share) * correlation / size)
    reach = max(12 * error / (share * (1 - share)), 0.05)
    logit = np.log(share / (1 - share)) + np.linspace(-reach, reach, THRESHOLDS)
    thresholds = np.quantile(values, 1 / (1 + np.exp(-logit)))
    edges = np.unique(thresholds)

    step = max(1, length // STARTS_PER_BLOCK, size // PIECES)
    pieces = size // step  # the rest, less than one piece, is left out
    between = np.searchsorted(edges, values[: pieces * step], side="left")
    piece = np.repeat(np.arange(pieces), step)
    counts = np.bincount(piece * (len(edges) + 1) + between, minlength=pieces * (len(edges) + 1))
    counts = counts.reshape(pieces, len(edges) + 1).astype(np.float32)
    per_block = max(1, round(length / step))
    blocks = sum((np.roll(counts, -shift, axis=0) for shift in range(1, per_block)), start=counts)

    drawn = max(1, round(pieces / per_block))
    starts = rng.integers(0, pieces, (REPLICATES, drawn))
    rows = np.arange(REPLICATES)[:, None] * pieces
    times = np.bincount((rows + starts).ravel(), minlength=REPLICATES * pieces)
    found = times.reshape(REPLICATES, pieces).astype(np.float32) @ blocks
    below = np.cumsum(found, axis=1)[:, :-1] / (drawn * per_block * step)
    return np.log(np.maximum(_inverse(below, edges, share), 1.0))


def _inverse(below: Floats, edges: Floats, share: float) -> Floats:
    """Find, in each row of cumulated shares, the value at ``share``, linear between thresholds."""
    if len(edges) == 1:
        return np.full(len(below), edges[0])
    right = np.clip((below < share).sum(axis=1), 1, len(edges) - 1)
    row = np.arange(len(below))
    low, high = below[row, right - 1], below[row, right]
    part = np.divide(share - low, high - low, out=np.ones_like(low), where=high > low)
    return np.asarray(
        edges[right - 1] + np.clip(part, 0, 1) * (edges[right] - edges[right - 1]), dtype=np.float64
    )
