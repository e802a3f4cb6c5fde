# SPDX-License-Identifier: Apache-2.0
"""The document of ``./takt analyse --json``; the core fills it in. Times are in microseconds."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

Verdict = Literal["meets", "not_proved", "misses"]


class Strict(BaseModel):
    """A key that is not here is a mistake."""

    model_config = ConfigDict(extra="forbid")


class CallbackBound(Strict):
    """One callback of a scenario. ``meets`` is ``verdict == "meets"``."""

    name: str  # node.callback
    cpu: int
    host: str | None = None  # of a robot with several
    priority: int | None  # None: the policy has none
    period_us: float | None  # None: no least distance of its releases is known
    deadline_us: float | None  # None: it has none
    wcet_us: float  # with overheads, where they are given
    suspension_us: float  # longest waiting in a job
    jitter_us: float  # longest time to the noticing of a release
    response_us: float | None  # None: no bound
    blocking_us: float  # by jobs of lower priority
    locks: list[str]  # that hold such jobs back in the core, and so contribute to the blocking
    meets: bool
    verdict: Verdict
    exact: bool  # a run reaches the bound
    bound_by: str  # the equation, or why there is none


class CoreBound(Strict):
    """One core; ``utilization`` is null where a release has no least distance."""

    cpu: int
    host: str | None = None  # of a robot with several
    process: str | None  # of a robot: whose jobs these are; it has a line for each
    utilization: float | None  # what its jobs need of it
    schedulable: bool  # every deadline on it is met
    verdict: Verdict
    bound_by: str | None  # the test


class LatencyTerm(Strict):
    """A part of the latency of a chain of a robot: in a process, between two, or until a timer."""

    # link: between processes of two hosts; thread: of a process, beside its executor
    kind: Literal["process", "thread", "handover", "link", "wait"]
    name: str  # the process or thread; of the others the callback that reads the data
    time_us: float


class ChainBound(Strict):
    """One chain; null where no bound is known."""

    name: str
    callbacks: list[str]  # in the order of the data
    latency_us: float | None  # from a release of the first to the end of the last
    terms: list[LatencyTerm]  # of a robot: the latency is their sum; else empty
    loss: float = 0.0  # of a robot: highest share of its data that links lose; bounds: of the rest
    max_latency_us: float | None  # as declared
    reaction_us: float | None  # from an event right after a release
    age_us: float | None  # of the data at the end
    meets: bool  # the latency keeps its limit
    bound_by: str  # the equation, or why there is none


class AgeBound(Strict):
    """The age of what a callback reads, when it starts."""

    callback: str
    topic: str
    source: str | None  # the timer that samples the data
    age_us: float | None  # None: no bound
    max_age_us: float  # as declared
    meets: bool  # the age keeps its limit
    bound_by: str  # the equation, or why there is none


class Sensitivity(Strict):
    """How much longer everything, or one callback alone, may compute; null: no factor helps."""

    factor: float | None  # on all execution times
    callbacks: dict[str, float | None]  # on those of one alone


class ProposedReservation(Strict):
    """Of the kernel (SCHED_DEADLINE); ns."""

    runtime: int
    deadline: int
    period: int


class PlacedProcess(Strict):
    """Where a process of a robot would be."""

    policy: str  # or its executor of rclcpp
    cpu: int
    priority: int  # 0: it has none
    reservation: ProposedReservation | None  # the smallest with which nothing is guaranteed less


class Proposals(Strict):
    """What would guarantee every deadline, where the description does not."""

    priorities: dict[str, int] | None  # by callback
    cpus: dict[str, int] | None  # by callback
    # Of a robot, by process: what would guarantee more of its limits; empty: nothing better found.
    processes: dict[str, PlacedProcess] = {}


class ScenarioBounds(Strict):
    """One scenario: ``schedulable`` is about deadlines, ``verdict`` also about chains and ages."""

    name: str
    policy: str
    schedulable: bool
    verdict: Verdict
    cores: list[CoreBound]
    callbacks: list[CallbackBound]
    chains: list[ChainBound]
    ages: list[AgeBound]
    sensitivity: Sensitivity | None  # None: it was not looked for
    proposals: Proposals  # None in it: nothing better was found
    remarks: list[str]  # what the bounds rest on


class Switches(Strict):
    """All limits around a switch of the scenario; or why they are not proved."""

    meets: bool
    bound_by: str  # the equation, or why there is none
    # By callback and by chain, also around switches; only of a robot whose limits are proved then.
    responses_us: dict[str, float]
    latencies_us: dict[str, float]


class Analysis(Strict):
    """The whole document; ``overheads`` is null where they are left out."""

    schema_version: int
    application: str
    policy: str
    verdict: Verdict  # of the whole
    overheads: dict[str, float] | None  # CPU times in µs
    scenarios: list[ScenarioBounds]
    switches: Switches | None  # None: there is one scenario
    remarks: list[str]  # about the whole
