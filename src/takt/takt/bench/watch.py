# SPDX-License-Identifier: Apache-2.0
"""What watching costs a running application: limits of its executor, context switches of its core.

Both sides of each comparison are interleaved in one run.
"""

from __future__ import annotations

import statistics
import threading
from collections.abc import Callable
from functools import partial

from takt.bench import programs
from takt.bench.model import Bar, Bench, interleaved, median
from takt.errors import Failure
from takt.processes.switches import Switches

DURATION_MS = 1000
LOOK_S = 0.1  # between two looks at the recorded switches, as while an application is executed
JOB_LIMIT_NS = 250.0  # three times what a quiet virtual machine showed
PREEMPTION_LIMIT_NS = 4000.0  # of which each switches twice

Rounds = list[dict[str, float]]


def watch(rounds: int, cpu: int, progress: Callable[[str], None]) -> Bench:
    """Limits cost a job less than 0.25 µs, and recorded switches a preemption less than 4 µs."""
    measured = interleaved(
        {
            "limits": partial(_limits, cpu),
            "switches not recorded": partial(_preempted, cpu),
            "switches recorded": partial(_recorded, cpu),
        },
        rounds,
        seed=1,
        progress=progress,
    )
    limits = measured["limits"]
    off, on = measured["switches not recorded"], measured["switches recorded"]
    bars = [
        _bar(
            "a job with limits, median",
            JOB_LIMIT_NS,
            _only(limits, "without limits"),
            _only(limits, "with limits"),
        ),
        _bar("a preemption with recorded switches, median", PREEMPTION_LIMIT_NS, off, on),
    ]
    return Bench(bench="watch", rounds=rounds, bars=bars)


def _bar(name: str, limit: float, off: Rounds, on: Rounds) -> Bar:
    """What is added: the median over the rounds, each of which has both sides."""
    more = [b["p50_ns"] - a["p50_ns"] for a, b in zip(off, on, strict=True)]
    detail = {
        f"{side}_{figure}": median(entries, figure)
        for side, entries in (("off", off), ("on", on))
        for figure in ("p50_ns", "p99_ns")
    }
    return Bar(name=name, value=statistics.median(more), limit=limit, unit="ns", detail=detail)


def _only(measured: Rounds, what: str) -> Rounds:
    names = ("p50_ns", "p99_ns")
    return [{name: entry[f"{what}.{name}"] for name in names} for entry in measured]


def _limits(cpu: int) -> dict[str, float]:
    answer = programs.figures("bench_executor", "watch", rounds=1, duration_ms=DURATION_MS, cpu=cpu)
    return {
        f"{row['what']}.{name}": float(row[name])
        for row in answer["rows"]
        for name in ("p50_ns", "p99_ns")
    }


def _preempted(cpu: int) -> dict[str, float]:
    """The gap that a job sees when another one preempts it, under fixed priorities."""
    answer = programs.figures(
        "bench_executor", "overheads", rounds=1, duration_ms=DURATION_MS, cpu=cpu
    )
    (row,) = (one for one in answer["rows"] if (one["policy"], one["what"]) == ("fp", "preempted"))
    return {name: float(row[name]) for name in ("p50_ns", "p99_ns")}


def _recorded(cpu: int) -> dict[str, float]:
    switches, done = Switches([cpu]), threading.Event()
    if switches.refused:
        raise Failure(
            f"the kernel records no context switches ({switches.refused})",
            fix="run it as root, or with CAP_PERFMON",
        )

    def look() -> None:
        while not done.wait(LOOK_S):
            switches.look()

    looking = threading.Thread(target=look)
    looking.start()
    try:
        return _preempted(cpu)
    finally:
        done.set()
        looking.join()
        switches.close()
