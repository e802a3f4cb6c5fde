# SPDX-License-Identifier: Apache-2.0
"""Wake-ups against cyclictest: same priority, period and core, interleaved.

Compared are the bare probe, and the most important timer of an executor with 50 tasks.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from takt.bench import lateness, programs
from takt.bench.model import Bar, Bench, interleaved, median_ratio

PERIOD_US = 1000
PRIORITY = 80
COUNT = 3000
LIMITS = {"p50_us": 1.25, "p99_us": 1.5}  # of the executor's timer


def wakeup(rounds: int, cpu: int, progress: Callable[[str], None]) -> Bench:
    """The probe's median lies within 10 % of cyclictest's, whichever is higher.

    The executor's timer stays within 1.25 of cyclictest's median and within 1.5 of its p99. Its
    histogram ends at 1 ms: where a machine robs even its p99 of more, that ratio tells nothing.
    """

    def figures(latencies: NDArray[np.int64]) -> dict[str, float]:
        p50, p99 = np.percentile(latencies, [50, 99]) / 1000
        return {"p50_us": float(p50), "p99_us": float(p99)}

    settings = (COUNT, PERIOD_US, PRIORITY, cpu)
    slower = (lateness.DURATION_MS * 1000 // lateness.PERIOD_US, lateness.PERIOD_US, PRIORITY, cpu)
    results = interleaved(
        {
            "raw": lambda: figures(programs.probe_wakeups(*settings)),
            "cyclictest": lambda: figures(programs.cyclictest_wakeups(*settings)),
            "executor": lambda: lateness.measure("wakeup", cpu),
            "cyclictest with the executor's period": lambda: figures(
                programs.cyclictest_wakeups(*slower)
            ),
        },
        rounds,
        seed=1,
        progress=progress,
    )
    bars = [_probe(results["raw"], results["cyclictest"])]
    bars += _executor(results["executor"], results["cyclictest with the executor's period"])
    return Bench(bench="wakeup", rounds=rounds, bars=bars)


def _probe(raw: lateness.Rounds, cyclictest: lateness.Rounds) -> Bar:
    ratio = median_ratio(raw, cyclictest, "p50_us")
    return Bar(
        name="raw wake-up p50 against cyclictest, the higher over the lower",
        value=max(ratio, 1 / ratio),
        limit=1.10,
        unit="ratio",
        detail={
            "raw_over_cyclictest_p50": ratio,
            "raw_over_cyclictest_p99": median_ratio(raw, cyclictest, "p99_us"),
            "raw": lateness.medians(raw),
            "cyclictest": lateness.medians(cyclictest),
        },
    )


def _executor(executor: lateness.Rounds, cyclictest: lateness.Rounds) -> list[Bar]:
    loops = {loop: lateness.of(loop, executor) for loop in lateness.LOOPS}
    detail = {loop: lateness.medians(figures) for loop, figures in loops.items()}
    detail["cyclictest"] = lateness.medians(cyclictest)
    detail["edf_over_cyclictest"] = lateness.ratios(loops["edf"], cyclictest)
    detail["fp_over_bare"] = lateness.ratios(loops["fp"], loops["bare"])
    return [
        Bar(
            name=f"highest-priority timer of 50 tasks, {figure[:3]} against cyclictest",
            value=median_ratio(loops["fp"], cyclictest, figure),
            limit=limit,
            unit="ratio",
            detail=detail if figure == "p50_us" else {},
        )
        for figure, limit in LIMITS.items()
    ]
