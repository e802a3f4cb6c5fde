# SPDX-License-Identifier: Apache-2.0
"""What a simulation found: the document of ``takt simulate --json``."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

from takt.schedule.absence.model import Absence, fails


class _Document(BaseModel):
    model_config = ConfigDict(frozen=True)


class Times(_Document):
    """Of a series; percentiles within 1 %, the rest exact."""

    count: int  # values in the series
    min_us: float
    mean_us: float
    max_us: float
    p50_us: float | None = None
    p90_us: float | None = None
    p99_us: float | None = None
    p999_us: float | None = None


class CallbackResult(_Document):
    """releases = jobs + skipped + unfinished."""

    callback: str  # node.callback
    cpu: int
    host: str | None = None  # of a robot with several
    releases: int
    jobs: int  # that ended
    unfinished: int  # not ended when the simulation did
    skipped: int  # dropped by the overrun policy
    misses: int  # after their deadline, unfinished ones included
    preemptions: int  # how often others interrupted it
    early_releases: int  # to keep a data age
    budget_overruns: int  # jobs above their budget
    age_violations: int  # starts on data above max_age, or without any
    without_data: int  # of these: at a start before there was any
    old_data: int  # jobs that started while a newer message of an input was pending
    overwritten: int  # messages that a newer one replaced before it took them
    lost_arrivals: int  # messages beyond twice the depth
    computed_ms: float  # without overheads of dispatching
    response: Times | None  # from the release to the end
    worst_response_ns: int  # exact
    start_delay: Times | None  # from the release to the start
    data_age: Times | None  # of what is used, at each start, since it was made
    sample_age: Times | None  # the same since it was sampled, which max_age limits


class CoreResult(_Document):
    """What a core did."""

    cpu: int
    host: str | None = None  # of a robot with several
    busy_ms: float  # with overheads
    utilization: float  # busy, as a share of the duration
    jobs: int
    preemptions: int


class ChainResult(_Document):
    """How long data took through a chain."""

    chain: str
    max_latency_us: float | None  # as declared
    violations: int  # latencies above it
    latency: Times | None  # when a datum is used first
    age: Times | None  # whenever it is used
    reaction: Times | None  # from right after the release of the datum before


class SimulationResult(_Document):
    """The whole document."""

    schema_version: Literal[1]
    application: str
    duration_ms: float  # of virtual time
    duration_from: str  # given, hyperperiod, 60 s, or what it was summed up from
    hyperperiod_ms: float | None
    interrupted: bool  # ended early by Ctrl-C
    seed: int  # of what is drawn
    execution: Literal["worst", "drawn"]
    overheads: bool  # whether any was counted
    jobs: int  # of all callbacks
    misses: int  # of all callbacks
    callbacks: list[CallbackResult]
    cores: list[CoreResult]
    chains: list[ChainResult]
    trace: str | None = None  # the file
    absences: list[Absence] = []  # what is missing: releases, data of chains and of readers

    @property
    def too_old(self) -> int:
        """Data that was above its limit when a job started on it."""
        return sum(one.age_violations - one.without_data for one in self.callbacks)

    @property
    def too_late(self) -> int:
        """Chains that took longer than they may."""
        return sum(one.violations for one in self.chains)

    @property
    def empty(self) -> list[ChainResult]:
        """Chains through which nothing arrived."""
        return [one for one in self.chains if one.latency is None]

    @property
    def holds(self) -> bool:
        """Whether every limit was seen to be kept: a limit on what is missing was not."""
        return not (self.misses or self.too_old or self.too_late or fails(self.absences))
