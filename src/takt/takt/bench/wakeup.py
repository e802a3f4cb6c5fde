# SPDX-License-Identifier: Apache-2.0
"""The bare wake-up probe against cyclictest: same priority, period and core, interleaved."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from takt.bench import programs
from takt.bench.model import Bar, Bench, interleaved, median, median_ratio

PERIOD_US = 1000
PRIORITY = 80
COUNT = 3000


def wakeup(rounds: int, cpu: int, progress: Callable[[str], None]) -> Bench:
    """The medians lie within 10 % of each other, whichever is higher."""

    def figures(latencies: NDArray[np.int64]) -> dict[str, float]:
        p50, p99 = np.percentile(latencies, [50, 99]) / 1000
        return {"p50_us": float(p50), "p99_us": float(p99)}

    settings = (COUNT, PERIOD_US, PRIORITY, cpu)
    results = interleaved(
        {
            "raw": lambda: figures(programs.probe_wakeups(*settings)),
            "cyclictest": lambda: figures(programs.cyclictest_wakeups(*settings)),
        },
        rounds,
        seed=1,
        progress=progress,
    )
    raw, cyclictest = results["raw"], results["cyclictest"]
    ratio = median_ratio(raw, cyclictest, "p50_us")
    bar = Bar(
        name="raw wake-up p50 against cyclictest, the higher over the lower",
        value=max(ratio, 1 / ratio),
        limit=1.10,
        unit="ratio",
        detail={
            "raw_over_cyclictest_p50": ratio,
            "raw_over_cyclictest_p99": median_ratio(raw, cyclictest, "p99_us"),
            "raw": {figure: median(raw, figure) for figure in ("p50_us", "p99_us")},
            "cyclictest": {figure: median(cyclictest, figure) for figure in ("p50_us", "p99_us")},
        },
    )
    return Bench(bench="wakeup", rounds=rounds, bars=[bar])
