# SPDX-License-Identifier: Apache-2.0
"""What a run leaves behind: the models of ``run.json``.

A run is one folder: ``run.json`` (this file's :class:`Run`) and ``samples/*.parquet`` with the
columns ``sequence`` (u64), ``intended_ns``, ``sent_ns``, ``received_ns`` (i64, CLOCK_MONOTONIC;
``received_ns`` is 0 for a lost sample). Everything that a report or a comparison shows is in here.
"""

from __future__ import annotations

import re
from datetime import datetime
from enum import Enum
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict

from takt.doctor.finding import Finding
from takt.measure.results.point import Point
from takt.measure.results.supply import Taker
from takt.statistics.judgement import Outcome

SCHEMA_VERSION = 2  # 1 is read, too: former_version.py
Level = Literal["good", "fair", "bad", "unknown"]


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
    """One thing that differs from what was requested, with its fix."""

    what: str  # the setting or the step
    why: str  # what was granted, or what stopped it
    fix: str | None = None  # what to do


class Extreme(Model):
    """One of the highest or lowest samples."""

    index: int  # of the sample, from 0
    us: float  # its value


class Exceedance(Model):
    """How often the deadline was exceeded, with a Clopper-Pearson upper bound at ``confidence``."""

    deadline_us: float  # on the response
    exceeded: int  # samples beyond the deadline
    count: int  # samples in all
    probability: float  # exceeded / count
    upper_bound: float  # of the true probability
    confidence: float  # of the upper bound


class Percentiles(Model):
    """Order statistics of one series in µs (first sample and lost samples left out)."""

    count: int  # samples in the series
    min_us: float
    mean_us: float
    stddev_us: float  # standard deviation
    p50_us: float  # the median
    p90_us: float
    p99_us: float
    p999_us: float  # 99.9 %
    p9999_us: float
    p99999_us: float
    max_us: float


class OneShot(Model):
    """What only a one-shot timer has, in µs; None where the timer reports nothing itself."""

    reported: Percentiles | None  # latencies that the timer itself reports
    difference: Percentiles | None  # reported - measured
    never_fired: int  # given up after lost_after


class Cyclic(Model):
    """What is cyclic: calls of a timer, or what a master sends.

    The first two intervals are in no other number.
    """

    drift: Percentiles  # d_k = t_k - k T, from its value at the first expiry
    jitter: Percentiles  # P_k = t_k - t_(k-1) - T, of callbacks that follow each other
    highest: list[Extreme]  # of the jitter
    lowest: list[Extreme]
    first_two_us: list[float]  # the first two values of the jitter
    negative_share: float  # of the jitter
    gaps: int | None = None  # intervals of two periods or more; None: runs of before
    callbacks: int  # how often it fired
    expiries: int  # that passed from the first to the last callback, both counted
    rate_hz: float  # of the callbacks, over the whole measurement


class Subscriber(Model):
    """One of several subscribers; the first message is in no percentile."""

    count: int  # messages received
    lost: int  # messages that never came
    duplicated: int  # received more than once
    out_of_order: int  # received after a later one
    first_us: float | None  # latency of the first message
    latency: Percentiles | None  # in µs
    highest: list[Extreme] = []
    lowest: list[Extreme] = []


class ThreadSeries(Model):
    """One of several threads that wake up at once; the first sample is in no percentile."""

    period_us: float
    count: int  # samples, the first one included
    first_us: float | None  # latency of the first sample
    latency: Percentiles | None  # in µs
    highest: list[Extreme] = []
    lowest: list[Extreme] = []


class Statistics(Model):
    """What is known of the samples of one cell (all subscribers together)."""

    latency: Percentiles  # the headline of the kind
    response: Percentiles  # from the intended start
    first_us: float | None  # None: the first sample was lost
    highest: list[Extreme]  # of the latency
    lowest: list[Extreme]  # of the latency
    exceedance: Exceedance  # of the requested deadline
    loop_exceedance: list[Exceedance] = []  # the same at the periods of common control loops
    one_shot: OneShot | None = None  # one-shot timers
    cyclic: Cyclic | None = None  # cyclic timers; a fieldbus master, by when it sends
    subscribers: list[Subscriber] = []  # where there are several
    threads: list[ThreadSeries] = []  # where there are several


class Thread(Model):
    """One thread of a probe, as read back from /proc while it ran."""

    tid: int
    name: str
    policy: str
    priority: int
    cpu: list[int]


class TunedPlace(Model):
    """One place of the machine that was changed for a cell, and put back after it."""

    setting: str  # of the list that tune has
    where: str  # file, thread, interrupt, control group
    before: str
    now: str  # while it was measured, as read back


class OfMachine(Model):
    """What was found of the conditions of one machine; None: not asked."""

    load_cpu_share: float | None = None  # of the CPUs' time, used by the load
    # Of the same time, used by nobody; with load: idle, the measurement itself uses some of it.
    idle_cpu_share: float | None = None
    load_written_bytes: int | None = None  # to files, by the load
    # Of a worker on another machine: CPU time of other programs there, in seconds.
    others_seconds: float | None = None
    tuned_places: int | None = None  # that were changed for it, and put back
    tuned: list[TunedPlace] = []  # these places


class SystemProcess(Model):
    """A process of the running ROS system that a cell was measured within."""

    pid: int
    name: str
    cpu: float | None  # of one CPU, while it was measured; above 1: on several at once
    ended: bool = False  # before the measuring did


class Conditions(OfMachine):
    """What was found of the conditions that a cell declares, while they lasted; None: not asked."""

    hosts: dict[str, OfMachine] = {}  # each machine of a cell whose roles are on several
    system: list[SystemProcess] = []  # that it was measured within
    traffic_there_mbps: float | None = None  # received on the second host, payload only
    traffic_back_mbps: float | None = None  # received here
    link_there_bytes: int | None = None  # over the interface to the second host, all of it
    link_back_bytes: int | None = None
    messages_there_bytes: int | None = None  # of these, what is not traffic
    messages_back_bytes: int | None = None
    first_there_bytes: int | None = None  # of these, what left through a class of its own
    first_back_bytes: int | None = None
    segment_frames: int | None = None  # that reached the simulated segment
    segment_ignored: int | None = None  # of these, that were wrong
    delay_there_us: float | None = None  # mean, of the frames that the relay has forwarded
    delay_back_us: float | None = None
    lost_there: float | None = None  # share of the frames that the relay has dropped
    lost_back: float | None = None
    relay_late_us: float | None = None  # p99 of what its own working has added to the delay
    clock: str | None = None  # who says how far the clocks of two hosts are apart
    clock_bound_us: float | None = None  # the most by which a one-way latency is wrong by that

    def of(self, host: str) -> OfMachine:
        """Where the finds of a machine are kept; empty: the only one."""
        return self.hosts.setdefault(host, OfMachine()) if host else self


class CounterChange(Model):
    """The working counter from a cycle on, until the next change."""

    cycle: int  # from 0
    working_counter: int  # as it came back
    operational: int  # slaves that said that they took part


class BusReport(Model):
    """What a fieldbus master says of its slaves: with the samples, the counter of every cycle."""

    slaves: int  # how many there were at the start
    expected_counter: int  # the working counter of a cycle in which all of them take part
    wrong_counter: int  # cycles that came back with another one
    changes: list[CounterChange]  # the first one is of the first cycle
    changes_left_out: int  # beyond the first 1000
    foreign_frames: int  # that came and were no answer


class AddressCheck(Model):
    """Messages that arrived where they had been when they were sent: nobody copied them."""

    compared: int  # messages
    same: int  # of these, at the same address

    @property
    def share(self) -> float:
        """Of those compared."""
        return self.same / self.compared if self.compared else 0.0


class ProbeResult(BaseModel):
    """A probe's result document (docs/reference/probes.md), kept whole."""

    model_config = ConfigDict(extra="allow")

    role: str  # ping, publisher, subscriber, both, …
    status: Literal["complete", "stopped", "failed"]
    sent: int = 0
    received: int = 0
    lost: int = 0
    duplicated: int = 0
    out_of_order: int = 0
    error: Note | None = None  # why it failed
    bus: BusReport | None = None  # of a fieldbus master
    addresses: AddressCheck | None = None  # of ways that may hand memory over
    requested: dict[str, Any] = {}  # real-time settings
    granted: dict[str, Any] = {}  # real-time settings, as read back
    notes: list[Note] = []  # settings that were not granted
    versions: dict[str, str] = {}  # of the middleware


class Attempt(Model):
    """A measurement of a cell that does not count: another one was disturbed less."""

    samples: list[str]  # Parquet files, relative to the run folder
    started: datetime | None  # in UTC
    seconds: float  # that it took
    others_seconds: float | None  # CPU time of other programs and the kernel, all CPUs
    disturbed: bool
    count: int  # samples received
    lost: int
    late: int  # responses after the deadline


def _named_as_today(name: str) -> str:
    """``load_stress-limited``, which was ``load_stresslimited``."""
    return re.sub(r"(load_|\+)(cpu|fft|stress\d*)limited", r"\1\2-limited", name)


PointName = Annotated[str, AfterValidator(_named_as_today)]


class _Place(Model):
    """Which cell of a run it is, and how it ended."""

    id: PointName  # unique in the run: "<key>-r<repetition>"
    key: PointName  # the point of the matrix; equal keys are comparable between runs
    repetition: int  # from 1
    order: int  # the place in the random order of the run
    status: Status
    error: Note | None = None  # why it failed


class Cell(Point, _Place):
    """One measurement: one point of the matrix, one repetition.

    First what was requested, from ``count`` on what was measured: 0 or None where nothing came.
    """

    model_config = ConfigDict(frozen=False)

    count: int = 0  # samples received, the first one included
    sent: int = 0  # for a round trip: count + lost
    lost: int = 0  # given up, or never arrived
    duplicated: int = 0
    out_of_order: int = 0
    p50_us: float | None = None  # of the latency
    p99_us: float | None = None
    p999_us: float | None = None
    max_us: float | None = None
    statistics: Statistics | None = None  # everything else about the samples
    conditions: Conditions | None = None  # what was found of load, traffic and link
    probes: list[ProbeResult] = []  # what each probe said
    notes: list[Note] = []  # what differs from what was requested
    histogram: str | None = None  # plain text, relative to the run folder
    samples: list[str] = []  # Parquet files, relative to the run folder
    gaps: str | None = None  # of supply: the Parquet file of the gaps in its windows
    takers: list[Taker] = []  # of supply: who had the core
    earlier_attempts: list[str] = []  # Parquet files of attempts that were cut short
    started: datetime | None = None  # in UTC
    seconds: float = 0.0  # that the cell took
    steal_seconds: float = 0.0  # CPU time stolen by the hypervisor during the cell, all CPUs
    # CPU time of other programs and the kernel, all CPUs of all machines that are watched.
    others_seconds: float | None = None
    repeated: int = 0  # how often it was measured again, because other programs disturbed it
    set_aside: list[Attempt] = []  # what was measured besides
    # others_seconds is more than 5 % of all CPU time, or than one CPU; with load: idle, together
    # with steal_seconds more than 2 %, or than a fifth of one CPU.
    disturbed: bool = False

    @property
    def wrong_counters(self) -> int:
        """Cycles of a fieldbus in which not every slave took part."""
        return sum(one.bus.wrong_counter for one in self.probes if one.bus)

    @property
    def addresses(self) -> AddressCheck | None:
        """How many messages arrived where they had been; None: not compared."""
        found = [one.addresses for one in self.probes if one.addresses]
        if not found:
            return None
        return AddressCheck(
            compared=sum(one.compared for one in found), same=sum(one.same for one in found)
        )


class Verdict(Model):
    """The answer in words. ``level`` decides the exit code of ``check``: only ``bad`` gives 1."""

    level: Level
    outcome: Outcome | None = None  # of all cells that were judged; null: a run of before
    headline: str  # one sentence
    reasons: list[str]  # by which rules


class Run(Model):
    """The whole of ``run.json``."""

    schema_version: int = SCHEMA_VERSION
    name: str  # of the experiment
    status: Status
    started: datetime  # in UTC
    ended: datetime | None = None
    seed: int  # of the order
    experiment: dict[str, Any]  # as requested, normalised
    machine: dict[str, Any]  # the fingerprint
    hosts: dict[str, dict[str, Any]] = {}  # the fingerprints of others, by the roles they took
    versions: dict[str, str]  # of Takt and what it stands on
    doctor: list[Finding] = []  # what it found before the run
    cells: list[Cell] = []  # in the order of the plan
    verdict: Verdict | None = None  # of takt check
