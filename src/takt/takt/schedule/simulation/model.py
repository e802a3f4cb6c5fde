# SPDX-License-Identifier: Apache-2.0
"""What a simulation found: the document of ``takt simulate --json``."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict


class _Document(BaseModel):
    model_config = ConfigDict(frozen=True)


class Times(_Document):
    """Of a series; percentiles within 1 %, the rest exact."""

    count: int
    min_us: float
    mean_us: float
    max_us: float
    p50_us: float | None = None
    p90_us: float | None = None
    p99_us: float | None = None
    p999_us: float | None = None


class CallbackResult(_Document):
    """releases = jobs + skipped + unfinished."""

    callback: str
    cpu: int
    releases: int
    jobs: int
    unfinished: int
    skipped: int
    misses: int
    preemptions: int
    early_releases: int
    budget_overruns: int
    age_violations: int
    without_data: int  # of these: at a start before there was any
    old_data: int
    overwritten: int
    lost_arrivals: int
    computed_ms: float
    response: Times | None
    worst_response_ns: int
    start_delay: Times | None
    data_age: Times | None
    sample_age: Times | None


class CoreResult(_Document):
    """What a core did."""

    cpu: int
    busy_ms: float
    utilisation: float
    jobs: int
    preemptions: int


class ChainResult(_Document):
    """How long data took through a chain."""

    chain: str
    max_latency_us: float | None
    violations: int
    latency: Times | None
    age: Times | None
    reaction: Times | None


class SimulationResult(_Document):
    """The whole document."""

    schema_version: Literal[1]
    application: str
    duration_ms: float
    duration_from: str  # given, hyperperiod, 60 s, or what it was summed up from
    hyperperiod_ms: float | None
    interrupted: bool
    seed: int
    execution: Literal["worst", "drawn"]
    overheads: bool
    jobs: int
    misses: int
    callbacks: list[CallbackResult]
    cores: list[CoreResult]
    chains: list[ChainResult]
    trace: str | None = None

    @property
    def too_old(self) -> int:
        """Data that was above its limit when a job started on it."""
        return sum(one.age_violations - one.without_data for one in self.callbacks)

    @property
    def too_late(self) -> int:
        """Chains that took longer than they may."""
        return sum(one.violations for one in self.chains)
