# SPDX-License-Identifier: Apache-2.0
"""What ``takt lab --json`` prints and the folder of a comparison keeps as ``lab.json``."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from takt.lab.modes import Mode
from takt.statistics.judgement import Outcome

DOCUMENT = "lab.json"
SCHEMA_VERSION = 1


class Model(BaseModel):
    """Base of these models: unknown keys are errors."""

    model_config = ConfigDict(extra="forbid")


class Latency(Model):
    """One measurement of one kernel under one load, in µs of the mode's time."""

    what: str  # cyclictest (all its threads), the key of a cell, or a callback that was executed
    load: str  # idle, loaded
    count: int  # samples
    min_us: float | None = None  # null: nothing was measured
    avg_us: float | None = None
    p50_us: float | None = None
    p99_us: float | None = None
    max_us: float | None = None
    outcome: Outcome  # of its deadlines: the period, where none is declared
    reasons: list[str]  # how many are late or missing, and what else speaks against it


class Trial(Model):
    """Something that was tried in the guest, for its own sake."""

    trial: str  # doctor, tune, clock-step, cpu-offline
    holds: bool
    why: str  # what was found


class KernelResult(Model):
    """One kernel."""

    kernel: str  # stock, stock-full, rt
    release: str  # as uname says it
    mode: Mode
    preemption: str  # as the running kernel says it
    idle_max_us: float  # of cyclictest
    loaded_max_us: float
    outcome: Outcome  # of all its latencies
    latencies: list[Latency]
    results: str  # its run folder, for takt report and takt compare
    trials: list[Trial] = []  # of the RT kernel, in the mode functional
    faults: list[str] = []  # what did not work out inside


class Verdict(Model):
    """Whether the RT kernel meets the deadlines; undecided where the mode's times say nothing."""

    outcome: Outcome
    headline: str


class Lab(Model):
    """The whole of a comparison."""

    schema_version: int = SCHEMA_VERSION
    mode: Mode
    numbers: str  # what the times are: "instruction time, one virtual CPU"
    load: str  # what "loaded" is
    seed: int
    seconds: float  # that it took
    kernels: list[KernelResult]
    stock_over_rt_loaded_max: float | None  # of cyclictest
    verdict: Verdict
    results: str  # the folder of all of it
