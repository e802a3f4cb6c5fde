# SPDX-License-Identifier: Apache-2.0
"""How the time of an analysis grows with the callbacks of a core, and with chains across cores."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from takt.bench.model import Bar, Bench, interleaved, median

FEW, MANY = 250, 1000
# Four times as many callbacks, each of which all others may delay: n² and a little.
LIMIT = 32.0
CHAINS, LENGTH, CORES = 400, 5, 16
# The jitters of messages take rounds of bounds, and each factor on execution times takes rounds
# again: no more than so many times the analysis of one core whose bounds need none.
LIMIT_OF_CHAINS = 64.0
_MS = 1_000_000
_SEED = 1


def analysis(rounds: int, cpu: int, progress: Callable[[str], None]) -> Bench:  # noqa: ARG001
    """1,000 callbacks of a core take little more than 16 times as long as 250, under fp and edf.

    2,000 callbacks in chains across 16 cores take at most 64 times as long as 1,000 on one.
    """
    variants = {
        f"{policy}, {count}": partial(_measured, _timers(policy, count))
        for policy in ("fp", "edf")
        for count in (FEW, MANY)
    } | {"chains": partial(_measured, _chains())}
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
    chains, timers = median(times["chains"], "s"), median(times[f"fp, {MANY}"], "s")
    bars.append(
        Bar(
            name=f"analysis of {CHAINS * LENGTH} callbacks in chains across {CORES} cores by that "
            f"of {MANY} on one, fp",
            value=chains / timers,
            limit=LIMIT_OF_CHAINS,
            unit="ratio",
            detail={"chains_s": chains, f"{MANY}_s": timers},
        )
    )
    return Bench(bench="analysis", rounds=rounds, bars=bars)


def _document(policy: str, callbacks: list[dict[str, Any]], **others: Any) -> str:
    return json.dumps(
        {"version": 1, "name": "bench", "policy": policy, "callbacks": callbacks} | others
    )


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
    return _document(policy, callbacks)


def _chains() -> str:
    """Chains whose callbacks lie on cores in turn and use two fifths of each."""
    callbacks = []
    for chain in range(CHAINS):
        period = (200 + 10 * (chain % 7)) * _MS
        for place in range(LENGTH):
            number = chain * LENGTH + place
            callback: dict[str, Any] = {
                "name": f"n{number}.c",
                "cpu": (chain + 3 * place) % CORES,
                "priority": 1 + 37 * number % 98,
                "execution": {"worst": period * 2 * CORES // (5 * CHAINS * LENGTH)},
                "deadline": period,
            }
            if place == 0:
                callback["period"] = period
            else:
                callback |= {"kind": "message", "trigger": f"t{number - 1}", "overrun": "catch_up"}
            if place < LENGTH - 1:
                callback["writes"] = [f"t{number}"]
            callbacks.append(callback)
    return _document("fp", callbacks, cpus=list(range(CORES)))


def _measured(document: str) -> dict[str, float]:
    import takt_core

    begin = time.perf_counter()
    takt_core.analyse(document)
    return {"s": time.perf_counter() - begin}
