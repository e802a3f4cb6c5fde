# SPDX-License-Identifier: Apache-2.0
"""The document of ``./takt explain``; all times in µs."""

from __future__ import annotations

from enum import Enum

from pydantic import BaseModel, ConfigDict

SCHEMA_VERSION = 1


class Kind(str, Enum):
    """Where the time of a response went."""

    executed = "executed"  # the job's own CPU time, as far as it was declared
    overran = "executed longer than declared"
    preempted = "preempted"  # others ran after the job had started
    waited = "waited for"  # others of at least its urgency ran before the job started
    blocked = "blocked by"  # a less urgent job that had begun before ran on
    former = "former job"  # the task's own job before was not done
    late = "noticed late"  # released, the core was without a traced job, and nothing started
    # Started, and got no CPU time, nor did the job that should have run instead.
    not_scheduled = "not scheduled"
    stolen = "stolen"  # the hypervisor gave the core to others meanwhile


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Share(_Part):
    """A part of a response. The shares of a miss add up to its response, to the nanosecond."""

    kind: Kind
    by: str | None  # the callback that ran instead; not_scheduled: that did not, either
    us: float
    evidence: str


class Bar(_Part):
    """A stretch of the neighbourhood, for its chart; µs from the release."""

    task: str
    job: int
    core: int
    begin_us: float
    end_us: float


class Miss(_Part):
    """One job that ended after its deadline."""

    callback: str
    job: int
    core: int
    release_ns: int
    start_us: float  # from the release, as those below
    deadline_us: float
    end_us: float
    late_us: float
    cause: Kind  # of the largest share but its own declared execution
    by: str | None
    shares: list[Share]
    inputs: list[str]  # data that it used and that was old, or not there
    neighbourhood: list[Bar] = []


class CallbackMisses(_Part):
    """All misses of one callback."""

    callback: str
    misses: int
    by_cause: dict[Kind, int]
    us_by_kind: dict[Kind, float]  # sums of the shares of all its misses


class Explanation(_Part):
    """Everything about the misses of one trace."""

    schema_version: int = SCHEMA_VERSION
    trace: str
    source: str
    approach: str | None
    executions: int
    misses: int
    unexplained: int  # misses of jobs whose release or start is not in the trace
    by_cause: dict[Kind, int]
    callbacks: list[CallbackMisses]
    details: list[Miss]  # of all of them, or of those that were latest
    remarks: list[str]
