# SPDX-License-Identifier: Apache-2.0
"""A release of high priority while a callback of low priority burns the core."""

from __future__ import annotations

from collections.abc import Callable

from takt.bench import lateness
from takt.bench.model import Bar, Bench, interleaved, median_ratio

LIMITS = {"fp": 1.5, "edf": 1.75}
_NAMES = {"fp": "fixed priority", "edf": "EDF"}


def preempt(rounds: int, cpu: int, progress: Callable[[str], None]) -> Bench:
    """The p99 stays within 1.5 of the bare wake-up under the same burn, under EDF within 1.75."""
    measured = interleaved(
        {"under burn": lambda: lateness.measure("preempt", cpu)}, rounds, seed=1, progress=progress
    )["under burn"]
    bare = lateness.of("bare", measured)
    bars = []
    for loop, limit in LIMITS.items():
        executor = lateness.of(loop, measured)
        bars.append(
            Bar(
                name=f"release over a burning callback, {_NAMES[loop]}, p99 against the bare one",
                value=median_ratio(executor, bare, "p99_us"),
                limit=limit,
                unit="ratio",
                detail={
                    "executor": lateness.medians(executor),
                    "bare": lateness.medians(bare),
                    "ratio_p50": median_ratio(executor, bare, "p50_us"),
                },
            )
        )
    return Bench(bench="preempt", rounds=rounds, bars=bars)
