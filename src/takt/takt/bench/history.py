# SPDX-License-Identifier: Apache-2.0
"""10^8 samples through Parquet, statistics, histograms, report and history: time and memory.

As many runs as a long-term campaign has (Sticha 2014, figure 5.2: 47 runs, 94 million samples), and
the same number in a single cell; by the way that a measured cell goes, in a process of its own so
that its memory can be told.
"""

from __future__ import annotations

import os
import resource
import shutil
import signal
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from datetime import datetime, timedelta, timezone
from multiprocessing import get_context
from pathlib import Path
from statistics import median

import numpy as np

from takt.bench.model import Bar, Bench
from takt.measure.history.store import History
from takt.processes.guard import end_with
from takt.processes.scratch import temporary

SAMPLES = 100_000_000
RUNS = (50, 1)
LIMIT_S, LIMIT_MIB = 60.0, 2048.0
PERIOD_NS = 1_000_000


def history(rounds: int, cpu: int, progress: Callable[[str], None]) -> Bench:  # noqa: ARG001
    """Statistics, report and history of 10^8 samples take under 60 s and 2 GiB."""
    bars = []
    for runs in RUNS:
        answers = []
        for number in range(rounds):
            progress(f"{runs} runs, round {number + 1} of {rounds}")
            with ProcessPoolExecutor(
                1, get_context("spawn"), initializer=_ending_with, initargs=(os.getpid(),)
            ) as process:
                answers.append(process.submit(accumulate_runs, runs, SAMPLES // runs).result())
        seconds, memory, counts = zip(*answers, strict=True)
        detail = {"samples": max(counts), "runs": runs}
        name = f"{max(counts)} samples in {runs} run" + "s" * (runs > 1)
        bars += [
            Bar(name=name, value=median(seconds), limit=LIMIT_S, unit="s", detail=detail),
            Bar(name=f"{name}, memory", value=max(memory), limit=LIMIT_MIB, unit="MiB"),
        ]
    return Bench(bench="history", rounds=rounds, bars=bars)


def _ending_with(parent: int) -> None:
    if not end_with(parent, signal.SIGKILL):
        os._exit(1)


def accumulate_runs(runs: int, samples: int) -> tuple[float, float, int]:
    """Seconds without the making of the samples, MiB at most, and samples in the history."""
    from takt.measure.history.accumulate import accumulate
    from takt.measure.history.page import write_history

    seconds = 0.0
    with temporary() as folder, History(folder / "history.sqlite") as opened:
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
    from takt.measure.report.html import write_report
    from takt.measure.results import store
    from takt.measure.results.model import Cell, Run, Status
    from takt.measure.run.measured import add_measured

    folder.mkdir()
    recorded = _record(folder / "bench.taktsamples", number, samples)
    started = time.monotonic()
    when = datetime(2026, 3, 1, tzinfo=timezone.utc) + timedelta(hours=number)
    cell = Cell(
        id="bench-r0", key="bench", repetition=0, order=0, status=Status.complete,
        stack="rcl", kind="timer-oneshot", transport="rcl_timer", payload_bytes=0,
        scheduling="rr", priority=80, cpu=[], period_us=PERIOD_NS / 1000, samples_requested=samples,
        deadline_us=400.0, lost_after_us=500_000.0, subscribers=1, reliability="reliable",
        depth=10, started=when,
    )  # fmt: skip
    add_measured(cell, [recorded], folder, reports=True)
    run = Run(
        name="bench", status=Status.complete, started=when, seed=number,
        experiment={}, machine={}, versions={}, cells=[cell],
    )  # fmt: skip
    store.write(run, folder)
    write_report(folder, run)
    opened.add(run, folder)
    seconds = time.monotonic() - started
    shutil.rmtree(folder)  # the history outlives it
    return seconds


def _record(file: Path, seed: int, samples: int) -> Path:
    """Writes a sample file as a probe does, batch by batch."""
    from takt.measure.run.samples import RECORD, header
    from takt.measure.statistics.series import BATCH

    rng = np.random.default_rng(seed)
    with file.open("wb") as recording:
        recording.write(header(samples))
        for start in range(0, samples, BATCH):
            number = np.arange(start, min(start + BATCH, samples))
            due = (number + 1) * PERIOD_NS
            late = 55_000 + rng.gamma(3.0, 15_000, len(number)).astype(np.int64)
            records = np.zeros(len(number), dtype=RECORD)
            records["sequence"], records["intended_ns"] = number, due
            records["sent_ns"], records["received_ns"] = due + late + 9_000, due + late
            recording.write(records.tobytes())
    return file
