# SPDX-License-Identifier: Apache-2.0
"""From publish to callback by pointer, against a bare hand-over between two threads."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from takt.bench import programs
from takt.bench.model import Bar, Bench, interleaved, median, median_ratio

DURATION_MS = 2000
SMALL, LARGE = 500, 1_000_000
SIZE_LIMIT, HANDOVER_LIMIT, SAME_THREAD_LIMIT_US = 1.2, 2.0, 1.0
_FIGURES = ("p50_us", "p99_us")


def intra(rounds: int, cpu: int, progress: Callable[[str], None]) -> Bench:
    """1 MB within 1.2 of 500 B; at most two hand-overs; within one thread at most 1 µs."""

    def measure(mode: str, **options: object) -> dict[str, float]:
        answer = programs.figures(
            "bench_rcl_executor", mode, **options, duration_ms=DURATION_MS, cpu=cpu
        )
        return {name: float(value) for name, value in answer.items() if name.endswith(_FIGURES)}

    results = interleaved(
        {
            "500 B": partial(measure, "intra", payload=SMALL),
            "1 MB": partial(measure, "intra", payload=LARGE),
            "500 B within one thread": partial(measure, "intra", payload=SMALL, same_thread=True),
            "hand-over": partial(measure, "handover"),
        },
        rounds,
        seed=1,
        progress=progress,
    )
    small, large = results["500 B"], results["1 MB"]
    medians = {name: {one: median(of, one) for one in _FIGURES} for name, of in results.items()}
    bars = [
        Bar(
            name="publish to callback between threads, p50, 1 MB against 500 B",
            value=median_ratio(large, small, "p50_us"),
            limit=SIZE_LIMIT,
            unit="ratio",
            detail=medians,
        ),
        Bar(
            name="publish to callback between threads, p50, 500 B against a futex hand-over",
            value=median_ratio(small, results["hand-over"], "p50_us"),
            limit=HANDOVER_LIMIT,
            unit="ratio",
        ),
        Bar(
            name="publish to callback within one thread, along a chain of ten, p50, 500 B",
            value=median(results["500 B within one thread"], "p50_us"),
            limit=SAME_THREAD_LIMIT_US,
            unit="µs",
            detail={
                f"first after a millisecond of sleep, {one}": median(
                    results["500 B within one thread"], f"first_{one}"
                )
                for one in _FIGURES
            },
        ),
    ]
    return Bench(bench="intra", rounds=rounds, bars=bars)
