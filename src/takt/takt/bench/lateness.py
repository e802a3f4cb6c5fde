# SPDX-License-Identifier: Apache-2.0
"""How late the most important timer of an executor with 50 tasks starts.

One round of ``bench_executor`` measures the bare loop of cyclictest and the executor with fixed
priorities and with EDF, one after the other.
"""

from __future__ import annotations

from takt.bench import programs
from takt.bench.model import median, median_ratio

PERIOD_US = 2000
DURATION_MS = 3000
LOOPS = ("bare", "fp", "edf")
FIGURES = ("p50_us", "p99_us")

Rounds = list[dict[str, float]]


def measure(mode: str, cpu: int) -> dict[str, float]:
    """One round: each figure of each loop, as ``fp.p50_us``."""
    answer = programs.figures("bench_executor", mode, rounds=1, duration_ms=DURATION_MS, cpu=cpu)
    return {
        f"{row['loop']}.{figure}": row[figure.replace("_us", "_ns")] / 1000
        for row in answer["rows"]
        for figure in FIGURES
    }


def of(loop: str, rounds: Rounds) -> Rounds:
    """The figures of one loop by round."""
    return [{figure: one[f"{loop}.{figure}"] for figure in FIGURES} for one in rounds]


def medians(rounds: Rounds) -> dict[str, float]:
    """The medians of both figures."""
    return {figure: median(rounds, figure) for figure in FIGURES}


def ratios(these: Rounds, those: Rounds) -> dict[str, float]:
    """The median ratios of both figures."""
    return {figure: median_ratio(these, those, figure) for figure in FIGURES}
