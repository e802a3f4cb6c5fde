# SPDX-License-Identifier: Apache-2.0
"""The document of ``./takt metrics``; all times in µs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from takt.schedule.absence.model import Absence

SCHEMA_VERSION = 2


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Spread(_Part):
    """A series, with the columns of the thesis's tables 5.6 to 5.8 and 5.12 to 5.14."""

    count: int
    min: float
    q1: float  # quartiles: linearly interpolated
    median: float
    q3: float
    p99: float
    max: float
    mean: float
    sd: float  # of the series itself (ddof 0)


class CallbackMetrics(_Part):
    """One callback of the application."""

    callback: str
    node: str
    # Releases that the declared period asks for in the declared time, or until the run was stopped;
    # of an inactive callback none. None: not known. A callback that starves leaves no trace in the
    # baselines but this.
    expected: int | None
    executions: int  # jobs that ended
    skipped: int  # releases that were dropped
    unfinished: int  # released, and not ended when the trace did
    overdue: int = 0  # of these: past their deadline
    misses: int  # executions that ended after their deadline
    miss_ratio: float | None  # misses / executions; None: no deadline, or no execution
    on_old_data: int  # executions that began while a newer message of an input was made already
    response_us: Spread | None  # from the intended release to the end
    cpu_us: Spread | None  # CPU time of a job, delivery and publishing included


class NodeFreshness(_Part):
    """How often the timers of a node ran on old data."""

    node: str
    executions: int
    on_old_data: int
    ratio: float


class Freshness(_Part):
    """Data freshness: section 5.4.3."""

    nodes: list[NodeFreshness]
    mean_ratio: float  # over all nodes, those that read nothing included
    on_old_data: int


class DataAge(_Part):
    """From the making of a message to its use: section 5.5."""

    callback: str
    topic: str
    age_us: Spread | None
    without_data: int  # executions before the first message
    unknown: int  # uses of a message whose making is not in the trace
    # As declared, counted from the sampling of the data; of several scenarios that it comes to, the
    # strictest one's. None: any.
    max_age_us: float | None
    violations: int  # executions on data older than that, as the executor judged


class ChainMetrics(_Part):
    """A path of data, from a release of its first callback to an end of its last one."""

    chain: str
    latency_us: Spread | None  # to the first end that each datum reaches
    age_us: Spread | None  # to every end, also where the datum is used again
    reaction_us: Spread | None  # to the first end of newer data, from the datum before it
    max_latency_us: float | None
    violations: int  # latencies above it


class Overhead(_Part):
    """What the executor takes between callbacks."""

    # CPU time of a thread from the end of a callback to the begin of its next one: what the thesis
    # measures as get_next_executable(). None: the trace does not tell.
    cpu_us: Spread | None
    # From an end to the next start on that core, where the next job was released already: wall
    # clock, with whatever the kernel did in between.
    handover_us: Spread | None


class Received(_Part):
    """What the middleware's threads of a process computed, where they are described."""

    process: str
    messages: int  # that came on the topics which they are declared to receive
    cpu_ms: float  # of all of them, also of what they did unasked
    declared_ms: float  # at most, for these messages


class Metrics(_Part):
    """Everything about one trace."""

    trace: str
    source: str
    approach: str | None
    policy: list[str]
    duration_ms: float
    closed_in_order: bool
    lost: int
    not_granted: list[str]
    notes: list[str] = []  # what a recording does not contain
    declared: bool  # whether the trace carries its application
    callbacks: list[CallbackMetrics]
    absent: list[str] = []  # active callbacks of the application that the trace does not know
    absences: list[Absence] = []  # what is missing: releases, data of chains and of readers
    helpers: list[str]  # callbacks of the baselines that only store messages: not counted
    executions: int
    misses: int
    mean_miss_ratio: float | None  # of the callbacks' ratios
    freshness: Freshness | None  # None: the trace does not tell which messages were used
    data_age: list[DataAge]
    chains: list[ChainMetrics]
    overhead: Overhead
    stolen_ms: dict[int, float]  # by core
    received: list[Received] = []  # by processes with described threads that receive


class MetricsDocument(_Part):
    """``./takt metrics --json``."""

    schema_version: int = SCHEMA_VERSION
    traces: list[Metrics]


def spread(values_ns: Sequence[int] | NDArray[np.int64]) -> Spread | None:
    """The spread of times in ns; None for none."""
    if not len(values_ns):
        return None
    values = np.asarray(values_ns, dtype=np.int64) / 1000
    low, q1, median, q3, p99, high = np.percentile(values, [0, 25, 50, 75, 99, 100]).tolist()
    return Spread(
        count=len(values),
        min=low,
        q1=q1,
        median=median,
        q3=q3,
        p99=p99,
        max=high,
        mean=float(values.mean()),
        sd=float(values.std()),
    )
