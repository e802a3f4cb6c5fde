# SPDX-License-Identifier: Apache-2.0
"""The jobs of one task, as a trace has them, and what follows from their times."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from takt.schedule.metrics.series import Series
from takt.schedule.model.observed import Times
from takt.schedule.model.written import Written
from takt.schedule.trace.file import recorded


@dataclass
class Jobs:
    """What is gathered of one task: some tens of bytes a job."""

    job: Series = field(default_factory=Series)
    release: Series = field(default_factory=Series)
    start: Series = field(default_factory=Series)
    end: Series = field(default_factory=Series)
    deadline: Series = field(default_factory=Series)
    cpu_time: Series = field(default_factory=Series)
    running: Series = field(default_factory=Series)
    waited: Series = field(default_factory=Series)
    sleeps: Series = field(default_factory=Series)
    early: Series = field(default_factory=Series)  # jobs that were released early
    noticing: list[Times] = field(default_factory=list)
    priorities: set[int] = field(default_factory=set)
    cores: Counter[int] = field(default_factory=Counter)
    # By topic.
    written: dict[int, Written] = field(default_factory=lambda: defaultdict(Written))
    reads: Counter[int] = field(default_factory=Counter)
    skipped: int = 0
    # By topic, the jobs that published on it and when, and those that used it.
    publishing: dict[int, Series] = field(default_factory=lambda: defaultdict(Series))
    published_at: dict[int, Series] = field(default_factory=lambda: defaultdict(Series))
    using: dict[int, Series] = field(default_factory=lambda: defaultdict(Series))


def execution_of(of: Jobs, rows: NDArray[np.bool_]) -> tuple[Times, str]:
    """CPU time where it was measured for all jobs, else the time on the core."""
    cpu = of.cpu_time.all()[rows]
    if len(cpu) and bool((recorded(cpu) & (cpu >= 0)).all()):
        return cpu, "CPU time"
    return of.running.all()[rows], "time on the core"


def on_idle_core(of: Jobs, rows: NDArray[np.bool_], busy: dict[int, tuple[Times, Times]]) -> Times:
    """From release to start, of jobs whose core had nothing else to do meanwhile."""
    if len(of.cores) != 1 or not rows.any():
        return np.empty(0, np.int64)
    (core,) = of.cores
    if core not in busy:
        return np.empty(0, np.int64)
    begins, ends = busy[core]
    order = np.argsort(of.job.all()[rows], kind="stable")
    job, release, start, end = (
        series.all()[rows][order] for series in (of.job, of.release, of.start, of.end)
    )
    ends_before = np.maximum.accumulate(np.where(recorded(end), end, np.iinfo(np.int64).max))
    waits = np.concatenate([[False], ends_before[:-1] > release[1:]])  # for the job before it
    before = np.searchsorted(begins, start, side="left") - 1  # the last slice that began earlier
    free = np.where(before >= 0, ends[np.maximum(before, 0)], np.iinfo(np.int64).min) <= release
    free &= ~waits & ~np.isin(job, of.early.all())
    found: Times = np.maximum(0, (start - release)[free])
    return found


def in_order(begin: Series, end: Series) -> tuple[Times, Times]:
    """The slices of one core by their begins."""
    begins, ends = begin.all(), end.all()
    order = np.argsort(begins, kind="stable")
    return begins[order], np.maximum.accumulate(ends[order]) if len(ends) else ends
