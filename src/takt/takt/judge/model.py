# SPDX-License-Identifier: Apache-2.0
"""The document of ``./takt gate``; times in µs unless their name says otherwise."""

from __future__ import annotations

from enum import Enum

from pydantic import BaseModel, ConfigDict

from takt.statistics.judgement import Outcome

SCHEMA_VERSION = 1
VALUES = "values"  # the statistic of a series of the baseline that has none here


class Quantity(str, Enum):
    """What a limit bounds."""

    response = "response"  # of the jobs of a callback, from the release; of a cell's samples
    execution = "execution"  # CPU time of the jobs of a callback
    latency = "latency"  # of a chain, to the first use of its data; of a cell's samples
    age = "age"  # of the data of a chain or of a reader, at each use
    skipped = "skipped"  # releases without a job
    unused = "unused"  # messages that a reader, or every reader of a topic, never used
    completeness = "completeness"  # jobs that the period asks for, samples that were asked for
    settings = "settings"  # of a cell, that it requests
    record = "record"  # whether the trace holds everything that happened


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid")


class DecidingJob(_Part):
    """A job above its limit that no disturbance explains."""

    job: int
    release_ns: int
    response_us: float
    over_us: float  # above the limit
    cause: str  # as ``./takt explain`` names it


class Growth(_Part):
    """How a quantity changed from a baseline; µs, or a share."""

    # p50, p99; late: the share of late ones; share: that of what is skipped or absent; values: none
    # are here.
    statistic: str
    before: float  # in the baseline
    after: float  # here
    low: float | None  # interval of after / before; of a share: of after - before
    high: float | None  # null: infinite
    limit: float  # an interval that begins above it fails


class Judgement(_Part):
    """One limit and its outcome."""

    subject: str  # callback, chain, reader ← topic, or cell
    quantity: Quantity
    limit_us: float | None  # None: the quantity is a count
    allowed: float  # share that may exceed the limit
    exceeded: int  # above the limit, or absent
    excused: int = 0  # of these: explained by time that the application did not have
    count: int  # judged, absent ones included
    worst_us: float | None = None
    outcome: Outcome
    reason: str
    # How many it would take to decide if the share stays; of a growth: repetitions on each side.
    needed: int | None = None
    growth: Growth | None = None  # of a comparison with a baseline
    jobs: list[DecidingJob] = []


class Verdict(_Part):
    """Everything about one trace, or about the traces of a folder together."""

    trace: str  # or the folder of traces, or of a run
    outcome: Outcome
    repetitions: int = 1
    confidence: float
    judgements: list[Judgement]
    remarks: list[str]

    def of(self, outcome: Outcome) -> list[Judgement]:
        """The judgements with that outcome."""
        return [one for one in self.judgements if one.outcome is outcome]


class GateDocument(_Part):
    """``./takt gate --json``."""

    schema_version: int = SCHEMA_VERSION
    outcome: Outcome  # of all traces
    verdicts: list[Verdict]
