# SPDX-License-Identifier: Apache-2.0
"""The document of ``takt compare-executors --json``. Times are in microseconds."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

from takt.schedule.analysis.model import Verdict


class _Document(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Measured(_Document):
    """What an execution on this machine gave, over all rounds."""

    p50_us: float  # the median of the rounds
    p99_us: float
    max_us: float  # of all rounds
    above: int  # deadlines missed, or latencies above the limit
    count: int
    p99_of_rounds_us: list[float]


class Figures(_Document):
    """A callback or a chain under one executor: proved, simulated, and measured if asked for."""

    name: str
    limit_us: float | None  # deadline, or max_latency; None: none
    bound_us: float | None  # of the response or the latency; None: no bound
    verdict: Verdict  # about the limit
    p50_us: float | None  # simulated; None: nothing ended
    p99_us: float | None
    max_us: float | None
    above: int  # deadlines missed, or latencies above the limit
    measured: Measured | None = None  # None: not asked for, or nothing ended


class Candidate(_Document):
    """An executor, Takt's with a policy."""

    # Of a robot: which process has it, or "all"; None: it is as described. Without processes: None.
    process: str | None = None
    executor: str
    policy: str | None  # None: the executor has none
    refused: str | None  # why it cannot run the application; then nothing follows
    verdict: Verdict
    # On all execution times: with it all deadlines are guaranteed, of a robot also the latencies of
    # chains. None: no factor is enough, or it was not looked for.
    factor: float | None = None
    callbacks: list[Figures]
    chains: list[Figures]
    not_measured: str = ""  # why it was not executed, although that was asked for
    besides: list[str] = []  # what else is not proved: ages of data, limits around switches

    @property
    def name(self) -> str:
        """As people call it."""
        own = self.executor if self.policy is None else f"{self.executor} {self.policy}"
        return own if self.process is None else f"{self.process}: {own}"


class Comparison(_Document):
    """The whole document."""

    schema_version: Literal[1] = 1
    application: str
    described: str  # the executor in the file; of a robot, those of its processes
    scenario: str | None  # the only one of rclcpp's executors; None: there is one anyway
    duration_ms: float  # of virtual time, of each simulation
    execution: Literal["worst", "drawn"]
    candidates: list[Candidate]
    measured_s: float | None = None  # of each execution; None: none was asked for
    rounds: int = 0  # executions of each candidate
    findings: list[str] = []  # of the executions, in words
