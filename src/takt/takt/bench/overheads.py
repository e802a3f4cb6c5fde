# SPDX-License-Identifier: Apache-2.0
"""What the executor and its messages cost on this machine, for analysis and simulation.

The document is read by ``takt analyse --overheads FILE`` and ``takt simulate --overheads FILE``.
Each figure is the higher one of fixed priorities and EDF, so it holds for both.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from functools import partial

from pydantic import BaseModel, ConfigDict

from takt.bench import programs
from takt.bench.disturbed import Disturbed
from takt.bench.model import SCHEMA_VERSION, interleaved

DURATION_MS = 1000
SMALL, LARGE = 64, 256 * 1024
KIB = 1024
POLICIES = ("fp", "edf")

Rounds = list[dict[str, float]]


class Overheads(BaseModel):
    """CPU time in ns; the names are those of ``application::Overheads``."""

    model_config = ConfigDict(extra="forbid")

    dispatch: int  # per job: choosing, starting and ending it
    preemption: int  # per preemption: leaving the core and coming back to it
    release: int  # per release: what its noticing takes from whatever runs
    publish: int  # per message written
    publish_per_kib: int
    deliver: int  # per message read
    deliver_per_kib: int


class Document(BaseModel):
    """The document of ``takt bench overheads --json``."""

    model_config = ConfigDict(extra="forbid")

    schema_version: int = SCHEMA_VERSION
    overheads: Overheads  # medians over the rounds of each round's median
    upper: Overheads  # the highest p99 of any round
    rounds: int
    # A measurement is disturbed where other programs or the hypervisor took much of it. None: not
    # recorded, by a former version.
    measurements: int | None = None
    disturbed: int | None = None
    others_seconds: float | None = None  # CPU time of other programs, all measurements and CPUs
    steal_seconds: float | None = None  # CPU time that the hypervisor took


def overheads(
    rounds: int, cpu: int, progress: Callable[[str], None], disturbed: Disturbed
) -> Document:
    """Measures all of them; messages go by pointer and are published by reference.

    ``disturbed`` is told what disturbs the measurements.
    """
    measured = interleaved(
        {
            name: disturbed.watching(measure)
            for name, measure in (
                ("executor", partial(_executor, cpu)),
                ("small messages", partial(_messages, SMALL, cpu)),
                ("large messages", partial(_messages, LARGE, cpu)),
            )
        },
        rounds,
        seed=1,
        progress=progress,
    )
    return Document(
        overheads=_figures(measured, "p50", statistics.median),
        upper=_figures(measured, "p99", max),
        rounds=rounds,
        measurements=disturbed.measurements,
        disturbed=disturbed.disturbed,
        others_seconds=disturbed.others_seconds,
        steal_seconds=disturbed.steal_seconds,
    )


def _executor(cpu: int) -> dict[str, float]:
    answer = programs.figures(
        "bench_executor", "overheads", rounds=1, duration_ms=DURATION_MS, cpu=cpu
    )
    return {
        f"{row['policy']}.{row['what']}.{quantile}": float(row[f"{quantile}_ns"])
        for row in answer["rows"]
        for quantile in ("p50", "p99")
    }


def _messages(payload: int, cpu: int) -> dict[str, float]:
    answer = programs.figures(
        "bench_rcl_executor", "messages", payload=payload, duration_ms=DURATION_MS, cpu=cpu
    )
    return {
        f"{what}.{quantile}": float(answer[f"{what}_{quantile}_ns"])
        for what in ("publish", "deliver")
        for quantile in ("p50", "p99")
    }


def _figures(
    measured: dict[str, Rounds], quantile: str, over_rounds: Callable[[list[float]], float]
) -> Overheads:
    def of(program: str, what: str, which: str = quantile) -> float:
        return over_rounds([entry[f"{what}.{which}"] for entry in measured[program]])

    def preemption(policy: str) -> float:
        # A preemption is seen with the other job in it: its release, its choosing, its end.
        rest = sum(of("executor", f"{policy}.{part}", "p50") for part in ("dispatch", "release"))
        return max(0.0, of("executor", f"{policy}.preempted") - rest)

    def per_kib(what: str) -> float:
        slope = of("large messages", what) - of("small messages", what)
        return max(0.0, slope / ((LARGE - SMALL) / KIB))

    figures = {
        "dispatch": max(of("executor", f"{policy}.dispatch") for policy in POLICIES),
        "preemption": max(preemption(policy) for policy in POLICIES),
        "release": max(of("executor", f"{policy}.release") for policy in POLICIES),
    }
    for what in ("publish", "deliver"):
        figures[what] = of("small messages", what)
        figures[f"{what}_per_kib"] = per_kib(what)
    return Overheads(**{name: round(value) for name, value in figures.items()})
