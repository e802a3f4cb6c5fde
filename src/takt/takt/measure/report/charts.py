# SPDX-License-Identifier: Apache-2.0
"""The data of the charts: small, and honest about rare events.

Distributions come from ``takt_core.Histogram``; no raw sample enters the report. The time plot
keeps the least and the greatest value of every bin, so no peak is lost however long the run was.
Values are µs, cut to four significant digits.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import takt_core

from takt.measure.results.model import Percentiles
from takt.measure.statistics.series import Series
from takt.statistics import Int64

Json = dict[str, Any]
Bin = tuple[float, float, int]  # lower and upper edge in µs, samples

HISTOGRAM_BINS = 120
JITTER_BINS = 240
TIME_BINS = 400
THIN_ABOVE, THIN_STRETCHES = 100_000, 4 * TIME_BINS
EARLY_NS = 100
TAIL_POINTS = 200
#: What the cumulative distribution marks, with the share of samples above it.
MARKS = {"p50": 0.5, "p90": 0.1, "p99": 0.01, "p99.9": 1e-3, "p99.99": 1e-4, "p99.999": 1e-5}


def fine_bins(values_ns: Int64) -> list[Bin]:
    """Count values in the core's bins (relative width about 1 %); empty bins are left out."""
    histogram = takt_core.Histogram()
    histogram.record(values_ns)
    return bins_of(histogram)


def bins_of(histogram: takt_core.Histogram) -> list[Bin]:
    """The filled bins of a histogram.

    A cyclic timer may call early; on a logarithmic axis that stands at its left end.
    """
    lower, upper, number = (column.tolist() for column in histogram.buckets())
    bins: list[Bin] = []
    early = 0
    for least, above, found in zip(lower, upper, number, strict=True):
        if least < EARLY_NS and lower[0] < 1:
            early += found
        else:
            bins.append((least / 1000, above / 1000, found))
    return [(EARLY_NS / 1000, (EARLY_NS + 1) / 1000, early), *bins] if early else bins


def stretch(count: int) -> int:
    """How many samples of so many may stand for themselves by their ends in a time plot."""
    return 1 if count <= THIN_ABOVE else -(-count // THIN_STRETCHES)


def thinned(series: Series, stretch: int) -> Series:
    """What a time plot needs of a series: the ends of each short stretch, and what was lost."""
    count = len(series)
    if stretch == 1 or not count:
        return series
    places = []
    for start in range(0, count, stretch):
        part = series.response_ns[start : start + stretch]
        places += [start + int(part.argmin()), start + int(part.argmax())]
    kept = np.unique([0, *places, count - 1])
    lost = series.lost_ns[:: max(1, len(series.lost_ns) // THIN_STRETCHES)]
    return Series(
        sequence=series.sequence[kept],
        intended_ns=series.intended_ns[kept],
        latency_ns=series.latency_ns[kept],
        response_ns=series.response_ns[kept],
        lost_ns=lost,
        first_ns=series.first_ns,
    )


def histogram(named: Sequence[tuple[str, int, list[Bin]]]) -> Json:
    """Samples per bin of latency, several series over one common set of bins.

    ``named`` holds name, colour and fine bins. Each series gives edges ``x`` and counts ``y``, one
    less; bins are equally wide on a logarithmic axis.
    """
    low = min(bins[0][0] for _, _, bins in named)
    high = max(bins[-1][1] for _, _, bins in named)
    step = max(math.log(high / low) / HISTOGRAM_BINS, 0.01)
    return {
        "type": "histogram",
        "series": [
            {"name": name, "colour": colour, **_merged(bins, low, step)}
            for name, colour, bins in named
        ],
    }


def _merged(bins: list[Bin], low: float, step: float) -> Json:
    places = [int(math.log(math.sqrt(lower * upper) / low) / step) for lower, upper, _ in bins]
    first, last = places[0], places[-1]
    counts = [0] * (last - first + 1)
    for place, (_, _, number) in zip(places, bins, strict=True):
        counts[place - first] += number
    edges = [low * math.exp(step * place) for place in range(first, last + 2)]
    return {"x": [short(edge) for edge in edges], "y": counts}


def jitter(named: Sequence[tuple[str, int, Int64, Int64]]) -> Json:
    """Samples per bin of jitter, which has a sign, on a linear axis.

    ``named`` holds name, colour, whole µs (ascending) and counts. No count is lost.
    """
    low = min(int(values[0]) for _, _, values, _ in named)
    high = max(int(values[-1]) for _, _, values, _ in named) + 1
    width = max(1, -(-(high - low) // JITTER_BINS))
    bins = -(-(high - low) // width)
    edges = [low + width * place for place in range(bins + 1)]
    series = []
    for name, colour, values, counts in named:
        filled = np.bincount((values - low) // width, weights=counts, minlength=bins)
        series.append(
            {"name": name, "colour": colour, "x": edges, "y": filled.astype(int).tolist()}
        )
    return {"type": "jitter", "series": series}


def tail(named: Sequence[tuple[str, int, list[Bin], Percentiles]]) -> Json:
    """Share of samples that took longer than a latency, down to the last one."""
    return {
        "type": "tail",
        "series": [
            {"name": name, "colour": colour, **_tail(bins, found)}
            for name, colour, bins, found in named
        ],
    }


def _tail(bins: list[Bin], found: Percentiles) -> Json:
    counts = np.array([number for _, _, number in bins], dtype=np.int64)
    total = int(counts.sum())
    above = total - np.cumsum(counts)
    x = [found.min_us] + [min(upper, found.max_us) for _, upper, _ in bins[:-1]] + [found.max_us]
    # The largest sample itself is one of `total`: the curve ends at its share, not at zero.
    share = np.concatenate([[total], above[:-1], [1]]) / total
    keep = _thinned(len(x))
    values = (
        found.p50_us,
        found.p90_us,
        found.p99_us,
        found.p999_us,
        found.p9999_us,
        found.p99999_us,
    )
    marks = [
        {"name": name, "x": short(value), "y": above_it}
        for (name, above_it), value in zip(MARKS.items(), values, strict=True)
        if above_it * total >= 1
    ]
    return {
        "x": [short(x[place]) for place in keep],
        "y": [short(float(share[place])) for place in keep],
        "marks": marks,
    }


def _thinned(points: int) -> list[int]:
    """Choose points of a curve: the ends always, between them evenly, at most TAIL_POINTS."""
    if points <= TAIL_POINTS:
        return list(range(points))
    return sorted({round(place) for place in np.linspace(0, points - 1, TAIL_POINTS)})


def over_time(
    repetitions: Sequence[Series], name: str, colour: int, deadline_us: float | None
) -> Json:
    """Least and greatest response per bin of time, repetitions one after another.

    Each part is one repetition; ``x`` is measured time in s, without the pauses between
    repetitions, whose places are ``breaks``. ``lost`` holds the times of lost samples, at most one
    a bin.
    """
    spans = [_span(series) for series in repetitions]
    whole = sum(length for _, length in spans) or 1.0
    width = whole / TIME_BINS
    parts: list[Json] = []
    lost: list[float] = []
    breaks: list[float] = []
    offset = 0.0
    for series, (start, length) in zip(repetitions, spans, strict=True):
        if offset:
            breaks.append(short(offset))
        places = ((series.intended_ns - start) / 1e9 / width).astype(np.int64)
        order = np.argsort(places, kind="stable")
        filled, starts = np.unique(places[order], return_index=True)
        if len(filled):
            values = series.response_ns[order] / 1000
            part = {
                "x": [short(offset + (place + 0.5) * width) for place in filled],
                "low": [short(value) for value in np.minimum.reduceat(values, starts)],
                "high": [short(value) for value in np.maximum.reduceat(values, starts)],
            }
            parts.append(part)
        lost_places = np.unique(((series.lost_ns - start) / 1e9 / width).astype(np.int64))
        lost += [short(offset + (place + 0.5) * width) for place in lost_places]
        offset += length
    return {
        "type": "time",
        "name": name,
        "colour": colour,
        "deadline": deadline_us,
        "parts": parts,
        "breaks": breaks,
        "lost": lost,
    }


def _span(series: Series) -> tuple[int, float]:
    """Return the first intended time in ns and the length in s."""
    times = [
        int(edge)
        for array in (series.intended_ns, series.lost_ns)
        if len(array)
        for edge in (array.min(), array.max())
    ]
    return (min(times), (max(times) - min(times)) / 1e9) if times else (0, 0.0)


def short(value: float) -> float:
    """Cut to four significant digits: enough for a picture, and small in the file."""
    return float(f"{value:.4g}")
