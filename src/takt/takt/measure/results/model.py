"""What a run leaves behind: the models of ``run.json``.

A run is one folder: ``run.json`` (this file's :class:`Run`) and ``samples/*.parquet`` with the
columns ``sequence`` (u64), ``intended_ns``, ``sent_ns``, ``received_ns`` (i64, CLOCK_MONOTONIC;
``received_ns`` is 0 for a lost sample). Everything that a report or a comparison shows is in here.
"""

from __future__ import annotations

from datetime import datetime
from enum import Enum
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from takt.doctor.finding import Finding

SCHEMA_VERSION = 1


class Model(BaseModel):
    """Base of all result models: unknown keys are errors."""

    model_config = ConfigDict(extra="forbid")


class Status(str, Enum):
    """How a cell or a run ended."""

    complete = "complete"
    partial = "partial"  # stopped before its end; what was recorded is kept
    failed = "failed"
    pending = "pending"


class Note(Model):
    """One thing that went differently from what was asked, with its remedy."""

    what: str
    why: str
    fix: str | None = None


class Extreme(Model):
    """One of the highest or lowest samples."""

    index: int
    us: float


class Exceedance(Model):
    """How often the deadline was exceeded, with a Clopper-Pearson upper bound at ``confidence``."""

    deadline_us: float
    exceeded: int
    count: int
    probability: float
    upper_bound: float
    confidence: float


class Percentiles(Model):
    """Order statistics of one series in µs (first sample and lost samples left out)."""

    count: int
    min_us: float
    mean_us: float
    stddev_us: float
    p50_us: float
    p90_us: float
    p99_us: float
    p999_us: float
    p9999_us: float
    p99999_us: float
    max_us: float


class OneShot(Model):
    """What only a one-shot timer has, in µs; None where the timer reports nothing itself."""

    reported: Percentiles | None
    difference: Percentiles | None  # reported - measured
    never_fired: int


class Cyclic(Model):
    """What only a cyclic timer has; the first two intervals are in no other number."""

    drift: Percentiles  # d_k = t_k - k T, from its value at the first expiry
    jitter: Percentiles  # P_k = t_k - t_(k-1) - T, of callbacks that follow each other
    highest: list[Extreme]  # of the jitter
    lowest: list[Extreme]
    first_two_us: list[float]  # the first two values of the jitter
    negative_share: float  # of the jitter
    callbacks: int
    expiries: int  # that passed from the first to the last callback, both counted
    rate_hz: float  # of the callbacks, over the whole measurement


class Subscriber(Model):
    """One of several subscribers; the first message is in no percentile."""

    count: int
    lost: int
    duplicated: int
    out_of_order: int
    first_us: float | None
    latency: Percentiles | None
    highest: list[Extreme] = []
    lowest: list[Extreme] = []


class Statistics(Model):
    """What is known of the samples of one cell (all subscribers together)."""

    latency: Percentiles
    response: Percentiles
    first_us: float | None  # None: the first sample was lost
    highest: list[Extreme]
    lowest: list[Extreme]
    exceedance: Exceedance
    loop_exceedance: list[Exceedance] = []  # the same at the periods of common control loops
    one_shot: OneShot | None = None
    cyclic: Cyclic | None = None
    subscribers: list[Subscriber] = []


class Thread(Model):
    """One thread of a probe, as read back from /proc while it ran."""

    tid: int
    name: str
    policy: str
    priority: int
    cpu: list[int]


class ProbeResult(BaseModel):
    """A probe's result document (docs/reference/probes.md), kept whole."""

    model_config = ConfigDict(extra="allow")

    role: str
    status: Literal["complete", "stopped", "failed"]
    sent: int = 0
    received: int = 0
    lost: int = 0
    duplicated: int = 0
    out_of_order: int = 0
    error: Note | None = None
    asked: dict[str, Any] = {}
    obtained: dict[str, Any] = {}
    notes: list[Note] = []
    versions: dict[str, str] = {}


class Cell(Model):
    """One measurement: one point of the matrix, one repetition."""

    id: str  # unique in the run: "<key>-r<repetition>"
    key: str  # the point of the matrix; equal keys are comparable between runs
    repetition: int
    order: int  # the place in the random order of the run
    status: Status
    error: Note | None = None
    # asked
    stack: str
    kind: str
    transport: str
    payload_bytes: int
    policy: str
    priority: int
    cpu: list[int]
    period_us: float  # of a one-shot timer: its timeout
    samples_asked: int
    deadline_us: float
    lost_after_us: float
    subscribers: int
    reliability: str
    depth: int
    wait: str = "idle"
    start_delay_us: float = 0.0
    load: str = "none"
    talkers: int = 0  # pairs of other nodes that talk at the same time
    talker_period_us: float = 0.0
    # measured; zero and None where nothing came
    count: int = 0
    sent: int = 0
    lost: int = 0
    duplicated: int = 0
    out_of_order: int = 0
    p50_us: float | None = None
    p99_us: float | None = None
    p999_us: float | None = None
    max_us: float | None = None
    statistics: Statistics | None = None
    probes: list[ProbeResult] = []
    notes: list[Note] = []
    histogram: str | None = None  # plain text, relative to the run folder
    samples: list[str] = []  # Parquet files, relative to the run folder
    earlier_attempts: list[str] = []  # Parquet files of attempts that were cut short
    started: datetime | None = None
    seconds: float = 0.0
    steal_seconds: float = 0.0  # CPU time stolen by the hypervisor during the cell, all CPUs

    @property
    def since_intended(self) -> bool:
        """A timer's latency counts from its programmed expiry: ``sent_ns`` is what it reports."""
        return self.kind.startswith("timer-")


class Verdict(Model):
    """The answer in words. ``level`` decides the exit code of ``check``: only ``bad`` gives 1."""

    level: Literal["good", "fair", "bad", "unknown"]
    headline: str
    reasons: list[str]


class Run(Model):
    """The whole of ``run.json``."""

    schema_version: int = SCHEMA_VERSION
    name: str
    status: Status
    started: datetime
    ended: datetime | None = None
    seed: int
    experiment: dict[str, Any]  # as asked, normalised
    machine: dict[str, Any]  # the fingerprint
    versions: dict[str, str]
    doctor: list[Finding] = []
    cells: list[Cell] = []
    verdict: Verdict | None = None
