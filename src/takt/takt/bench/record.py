# SPDX-License-Identifier: Apache-2.0
"""The cost of recording one sample: time, allocations, page faults."""

from __future__ import annotations

import statistics
from collections.abc import Callable

from takt.bench import programs
from takt.bench.model import Bar, Bench
from takt.network import stacks


def record(rounds: int, cpu: int, progress: Callable[[str], None]) -> Bench:
    """Recording costs under 100 ns a sample, allocates nothing and faults nowhere."""
    answers = []
    for number in range(rounds):
        progress(f"round {number + 1} of {rounds}")
        answers.append(programs.document([stacks.program("bench_record"), "--cpu", str(cpu)]))
    figures = {
        figure: statistics.median(float(answer[figure]) for answer in answers)
        for figure in ("median_ns", "p99_ns")
    }
    bars = [
        Bar(
            name="one sample, p99 over batches",
            value=figures["p99_ns"],
            limit=100,
            unit="ns",
            detail=figures,
        )
    ]
    for figure in ("allocations", "minor_faults", "major_faults"):
        worst = max(float(answer[figure]) for answer in answers)
        bars.append(
            Bar(name=f"{figure.replace('_', ' ')} in the loop", value=worst, limit=0, unit="count")
        )
    return Bench(bench="record", rounds=rounds, bars=bars)
