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

    name: str
    cpu: int
    priority: int | None
    period_us: float | None
    deadline_us: float | None
    wcet_us: float
    suspension_us: float
    jitter_us: float
    response_us: float | None
    blocking_us: float
    meets: bool
    verdict: Verdict
    exact: bool
    bound_by: str


class CoreBound(Strict):
    """One core; ``utilization`` is null where a release has no least distance."""

    cpu: int
    utilization: float | None
    schedulable: bool
    verdict: Verdict
    bound_by: str | None


class ChainBound(Strict):
    """One chain; null where no bound is known."""

    name: str
    callbacks: list[str]
    latency_us: float | None
    max_latency_us: float | None
    reaction_us: float | None
    age_us: float | None
    meets: bool
    bound_by: str


class AgeBound(Strict):
    """The age of what a callback reads, when it starts."""

    callback: str
    topic: str
    source: str | None
    age_us: float | None
    max_age_us: float
    meets: bool
    bound_by: str


class Sensitivity(Strict):
    """How much longer everything, or one callback alone, may compute; null: no factor helps."""

    factor: float | None
    callbacks: dict[str, float | None]


class Proposals(Strict):
    """What would guarantee every deadline, where the description does not."""

    priorities: dict[str, int] | None
    cpus: dict[str, int] | None


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
    sensitivity: Sensitivity | None
    proposals: Proposals
    remarks: list[str]


class Switches(Strict):
    """All limits around a switch of the scenario; or why they are not proved."""

    meets: bool
    bound_by: str


class Analysis(Strict):
    """The whole document; ``overheads`` is null where they are left out."""

    schema_version: int
    application: str
    policy: str
    verdict: Verdict
    overheads: dict[str, float] | None
    scenarios: list[ScenarioBounds]
    switches: Switches | None
    remarks: list[str]
