# SPDX-License-Identifier: Apache-2.0
"""10^8 samples through statistics, histograms, the history and its page: time and memory.

As many runs as a long-term campaign has (Sticha 2014, figure 5.2: 47 runs, 94 million samples),
each by the way that a measured cell goes, in a process of its own so that its memory can be told.
"""

from __future__ import annotations

import resource
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from datetime import datetime, timedelta, timezone
from multiprocessing import get_context
from pathlib import Path
from statistics import median

import numpy as np

from takt.bench.model import Bar, Bench
from takt.history.store import History
from takt.run.scratch import MEMORY

RUNS, SAMPLES = 50, 2_000_000
LIMIT_S, LIMIT_MIB = 60.0, 2048.0
PERIOD_NS = 1_000_000


def history(rounds: int, cpu: int, progress: Callable[[str], None]) -> Bench:  # noqa: ARG001
    """Statistics, history and page of 10^8 samples take under 60 s and 2 GiB."""
    answers = []
    for number in range(rounds):
        progress(f"round {number + 1} of {rounds}")
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
            answers.append(process.submit(accumulate_runs, RUNS, SAMPLES).result())
    seconds, memory, counts = zip(*answers, strict=True)
    detail = {"samples": max(counts), "runs": RUNS}
    name = f"{max(counts)} samples in {RUNS} runs"
    return Bench(
        bench="history",
        rounds=rounds,
        bars=[
            Bar(name=name, value=median(seconds), limit=LIMIT_S, unit="s", detail=detail),
            Bar(name=f"{name}, memory", value=max(memory), limit=LIMIT_MIB, unit="MiB"),
        ],
    )


def accumulate_runs(runs: int, samples: int) -> tuple[float, float, int]:
    """Seconds without the making of the samples, MiB at most, and samples in the history."""
    from takt.history.accumulate import accumulate
    from takt.report.history import write_history

    seconds = 0.0
    with tempfile.TemporaryDirectory(dir=MEMORY) as name:
        folder = Path(name)
        with History(folder / "history.sqlite") as opened:
            for number in range(runs):
                seconds += _one_run(folder / f"run{number}", number, samples, opened)
            started = time.monotonic()
            (configuration,) = opened.configurations()
            found = accumulate(configuration, opened.entries(configuration), 400.0)
            write_history(folder / "history.html", [found])
            seconds += time.monotonic() - started
    return seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, found.count


def _one_run(folder: Path, number: int, samples: int, opened: History) -> float:
    """One cell of one run; returns the seconds, without the making of its samples."""
    from takt.results.model import Cell, Run, Status
    from takt.run.measured import add_recordings
    from takt.run.samples import RECORD, Recording

    rng = np.random.default_rng(number)
    records = np.zeros(samples, dtype=RECORD)
    records["sequence"] = np.arange(samples)
    due = (np.arange(samples, dtype=np.int64) + 1) * PERIOD_NS
    late = 55_000 + rng.gamma(3.0, 15_000, samples).astype(np.int64)
    records["intended_ns"], records["sent_ns"] = due, due + late + 9_000
    records["received_ns"] = due + late
    started = time.monotonic()
    when = datetime(2026, 3, 1, tzinfo=timezone.utc) + timedelta(hours=number)
    cell = Cell(
        id="bench-r0", key="bench", repetition=0, order=0, status=Status.complete,
        stack="rcl", kind="timer-oneshot", transport="rcl_timer", payload_bytes=0,
        policy="rr", priority=80, cpu=[], period_us=PERIOD_NS / 1000, samples_asked=samples,
        deadline_us=400.0, lost_after_us=500_000.0, subscribers=1, reliability="reliable",
        depth=10, started=when,
    )  # fmt: skip
    add_recordings(cell, [Recording(records)], folder, reports=True)
    run = Run(
        name="bench", status=Status.complete, started=when, seed=number,
        experiment={}, machine={}, versions={}, cells=[cell],
    )  # fmt: skip
    opened.add(run, folder)
    return time.monotonic() - started
