# SPDX-License-Identifier: Apache-2.0
"""How the time of an analysis grows with the callbacks of a core."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from functools import partial

from takt.bench.model import Bar, Bench, interleaved, median

FEW, MANY = 250, 1000
# Four times as many callbacks, each of which all others may delay: n² and a little.
LIMIT = 32.0
_MS = 1_000_000
_SEED = 1


def analysis(rounds: int, cpu: int, progress: Callable[[str], None]) -> Bench:  # noqa: ARG001
    """1,000 callbacks of a core take little more than 16 times as long as 250, under fp and edf."""
    variants = {
        f"{policy}, {count}": partial(_measured, _timers(policy, count))
        for policy in ("fp", "edf")
        for count in (FEW, MANY)
    }
    times = interleaved(variants, rounds, _SEED, progress)
    bars = []
    for policy in ("fp", "edf"):
        few, many = (median(times[f"{policy}, {count}"], "s") for count in (FEW, MANY))
        bars.append(
            Bar(
                name=f"analysis of {MANY} callbacks by that of {FEW}, {policy}",
                value=many / few,
                limit=LIMIT,
                unit="ratio",
                detail={f"{FEW}_s": few, f"{MANY}_s": many},
            )
        )
    return Bench(bench="analysis", rounds=rounds, bars=bars)


def _timers(policy: str, count: int) -> str:
    """Independent timers that leave most of the core free."""
    callbacks = [
        {
            "name": f"n{number}.t",
            "period": (200 + 10 * (number % 7)) * _MS,
            "priority": 1 + number % 98,
            "execution": {"worst": 5_000},
        }
        for number in range(count)
    ]
    return json.dumps({"version": 1, "name": "timers", "policy": policy, "callbacks": callbacks})


def _measured(document: str) -> dict[str, float]:
    import takt_core

    begin = time.perf_counter()
    takt_core.analyse(document)
    return {"s": time.perf_counter() - begin}
