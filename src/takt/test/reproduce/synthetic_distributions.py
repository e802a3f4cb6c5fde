# SPDX-License-Identifier: Apache-2.0
"""Cells whose distributions have the numbers that a paper publishes: made from these alone.

Nothing here is what a criterion computes with: a distribution is a list of values and of how often
each occurs, from which the document of a cell and its histogram are written.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from takt.measure.results.model import (
    Cell,
    Cyclic,
    Exceedance,
    OneShot,
    Percentiles,
    ProbeResult,
    Statistics,
    Status,
)

BODY = np.linspace(-1.0, 1.0, 41)
WEIGHTS = 1.05 - np.abs(BODY)


@dataclass(frozen=True)
class Values:
    """Values in µs, ascending, and how often each occurs."""

    us: np.ndarray
    times: np.ndarray

    @property
    def count(self) -> int:
        return int(self.times.sum())

    @property
    def mean(self) -> float:
        return float((self.us * self.times).sum() / self.count)

    def at(self, share: float) -> float:
        """The value that so large a share does not exceed."""
        place = int(np.searchsorted(np.cumsum(self.times), share * self.count))
        return float(self.us[min(place, len(self.us) - 1)])

    def percentiles(self) -> Percentiles:
        deviation = float(np.sqrt((self.times * (self.us - self.mean) ** 2).sum() / self.count))
        return Percentiles(
            count=self.count, min_us=float(self.us[0]), mean_us=self.mean, stddev_us=deviation,
            p50_us=self.at(0.5), p90_us=self.at(0.9), p99_us=self.at(0.99), p999_us=self.at(0.999),
            p9999_us=self.at(0.9999), p99999_us=self.at(0.99999), max_us=float(self.us[-1]),
        )  # fmt: skip

    def scaled(self, by: float) -> Values:
        return Values(self.us * by, self.times)


def values(*pairs: tuple[float, int]) -> Values:
    """Of values and how often each occurs; what occurs not once is left out."""
    there = sorted((us, times) for us, times in pairs if times > 0)
    return Values(np.array([us for us, _ in there], float), np.array([times for _, times in there]))


def spread_out(middle: float, reach: float, count: int) -> list[tuple[float, int]]:
    """So many values around a middle, within a reach of it."""
    times = np.floor(count * WEIGHTS / WEIGHTS.sum()).astype(int)
    times[len(times) // 2] += count - int(times.sum())
    return [(middle + reach * at, int(some)) for at, some in zip(BODY, times, strict=True)]


def of_row(
    low: float, mean: float, high: float, count: int, late: int = 0, deadline: float = 0.0
) -> Values:
    """Values with this lowest, mean and highest, of which so many are beyond a deadline."""
    few = [(low, 1), (high, 1)]
    if late:
        few.append((deadline + 0.05 * max(high - deadline, 1.0), late - 1))
    rest = count - sum(times for _, times in few)
    middle = (mean * count - sum(us * times for us, times in few)) / rest
    top = min(high, deadline) if deadline and mean < deadline else high
    reach = 0.9 * max(0.0, min(middle - low, top - middle, 0.3 * middle))
    return values(*few, *spread_out(middle, reach, rest))


def with_tail(found: Values) -> Values:
    """One value of a thousand, one at least, is twenty times the mean."""
    times, few = found.times.copy(), max(1, found.count // 1000)
    times[int(times.argmax())] -= few
    pairs = zip(found.us.tolist(), times.tolist(), strict=True)
    return values(*pairs, (20 * found.mean, few))


def keep_histogram(folder: Path, name: str, found: Values) -> str:
    """Writes whole microseconds and how often each occurs; returns the file's name."""
    file = folder / f"{name}.histogram.txt"
    whole: dict[int, int] = {}
    for us, times in zip(
        np.floor(found.us).astype(int).tolist(), found.times.tolist(), strict=True
    ):
        whole[us] = whole.get(us, 0) + times
    lines = [f"{us} {whole[us]}" for us in sorted(whole)]
    file.write_text("\n".join(["# made", *lines]) + "\n", encoding="utf-8")
    return file.name


def synthetic_cell(folder: Path, one: Cell, found: Values, **more: Any) -> Cell:
    """A planned run that has these latencies, or this jitter; ``more`` are its own numbers."""
    statistics = {
        name: more.pop(name)
        for name in (
            "one_shot",
            "cyclic",
            "subscribers",
            "threads",
            "first_us",
            "highest",
            "lowest",
        )
        if name in more
    }
    latency = more.pop("latency", None) or found.percentiles()
    known = Statistics(
        **{
            "latency": latency, "response": latency, "first_us": None, "highest": [], "lowest": [],
            "exceedance": Exceedance(deadline_us=one.deadline_us, exceeded=0, count=found.count,
                                     probability=0.0, upper_bound=1.0, confidence=0.95),
            **statistics,
        }
    )  # fmt: skip
    fields = {
        "status": Status.complete, "statistics": known, "sent": found.count + 1, "lost": 0,
        "count": found.count, "histogram": keep_histogram(folder, one.id, found),
        "probes": [ProbeResult(role="both", status="complete")],
    }  # fmt: skip
    return one.model_copy(update=fields | more)


def cyclic_of(jitter: Values, first_two: tuple[float, float] = (0.0, 0.0), **more: Any) -> Cyclic:
    """What is known of a cyclic timer with this jitter."""
    found = jitter.percentiles()
    fields = {"highest": [], "lowest": [], "callbacks": jitter.count, "expiries": jitter.count}
    return Cyclic(
        drift=found, jitter=found, first_two_us=list(first_two), negative_share=0.0, rate_hz=0.0,
        **fields | more,
    )  # fmt: skip


def one_shot_of(difference: Values, never_fired: int = 0) -> OneShot:
    """What is known of a one-shot timer that reports its latency with this difference."""
    found = difference.percentiles()
    return OneShot(reported=found, difference=found, never_fired=never_fired)
