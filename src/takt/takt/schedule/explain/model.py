# SPDX-License-Identifier: Apache-2.0
"""The document of ``./takt explain``; times in µs unless their name says otherwise."""

from __future__ import annotations

from enum import Enum

from pydantic import BaseModel, ConfigDict

SCHEMA_VERSION = 1


class ShareKind(str, Enum):
    """Where the time of a response went."""

    executed = "executed"  # the job's own CPU time, as far as it was declared
    overran = "executed longer than declared"
    preempted = "preempted"  # others ran after the job had started
    waited = "waited for"  # others of at least its urgency ran before the job started
    blocked = "blocked by"  # a less urgent job that had begun before ran on
    lock = "lock"  # a less urgent job held a lock that it, or a more urgent one, waited for
    former = "former job"  # the task's own job before was not done
    idled = "core kept idle"  # by its policy, for a job to come that goes before it
    late = "noticed late"  # released, the core was without a traced job, and nothing started
    # Ready or started, and the kernel ran something else, or it slept.
    not_scheduled = "not scheduled"
    # Its process had used up what a reservation or a quota gives it in a period.
    throttled = "throttled"
    suspended = "suspended"  # it slept or waited for a device, for as long as it declares
    stolen = "stolen"  # the core was taken from the machine meanwhile
    interrupts = "interrupts"  # they had the core instead of the job's thread
    # Above bounds of rclcpp_events only: what arrived later was in its queue before, so that the
    # order is not that of arrival, on which its bound rests.
    overtaken = "overtaken"
    # Above bounds only, of bounds that do not count overheads: what dispatching, waking and
    # messages take, each time no more than excess.ORDINARY.
    overheads = "overheads not counted"
    # Above bounds only. Of chains: longer than the declared longest time between processes. Of
    # responses: others ran whose messages came later than the bounds of their writers allow.
    handover = "message late"
    # Above bounds of reactions only: data in between reached no end, or was never released.
    left_out = "data left out"
    switched = "scenario switched"  # above bounds only: they hold while one scenario does


#: Time that a job lost to what is no part of the application.
DISTURBANCES = (ShareKind.stolen, ShareKind.interrupts, ShareKind.not_scheduled, ShareKind.late)


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Share(_Part):
    """A part of a response. The shares add up to its response, to the nanosecond."""

    kind: ShareKind
    by: str | None  # the callback that ran instead, or on; not_scheduled: that did not, either
    us: float
    evidence: str


class Stretch(_Part):
    """A stretch of the neighbourhood, for its chart; µs from the release."""

    task: str
    job: int
    core: int
    begin_us: float
    end_us: float


class Above(_Part):
    """By how much a response is above its bound, and what the bound does not know of."""

    bound_us: float
    above_us: float
    cause: ShareKind | None  # None: all that the bound does not know of is less than it is above
    jobs: int  # that had the core in its busy period
    busy_since_us: float  # begin of its busy period, from the release: 0 or before
    unknown_us: dict[ShareKind, float]  # in that busy period


class Program(_Part):
    """A program that is no part of the trace, and had the core of a late job."""

    name: str  # of its thread
    process: int  # its id; -1: not known
    us: float


class Late(_Part):
    """One job that ended after its deadline, or responded above its bound."""

    callback: str
    job: int
    core: int
    release_ns: int
    start_us: float  # from the release, as those below
    deadline_us: float | None
    end_us: float
    missed: bool
    late_us: float  # after its deadline; below 0: before it
    above: Above | None
    # That of the response being above its bound, where that guarantees the deadline; else the kind
    # of share that explains the lateness, as causes.py says.
    cause: ShareKind
    cause_us: float  # all shares of that kind; 0 where the bound guarantees the deadline
    partly: bool  # the deadline would have been missed without this cause, too
    by: str | None
    shares: list[Share]
    programs: list[Program] = []  # that had its core between release and end, longest first
    inputs: list[str]  # data that it used and that was old, or not there
    neighbourhood: list[Stretch] = []


class CallbackLate(_Part):
    """All late jobs of one callback."""

    callback: str
    executions: int
    misses: int
    # Misses that would have been none without stolen time, other programs and late wake-ups.
    disturbed: int
    partly: int  # misses that their cause explains only in part
    by_cause: dict[ShareKind, int]
    us_by_kind: dict[ShareKind, float]  # sums of the shares of all its misses
    response_us: float  # the longest
    bound_us: float | None
    above: int  # responses above the bound


class ChainStep(_Part):
    """A part of a chain's way: the parts add up to what is above its bound."""

    job: str | None  # callback[number]; None: a message, until the next job takes it
    message: str | None  # the topic
    us: float


class LateChain(_Part):
    """One instance of a chain above its bound: which job or message on its way lost the time."""

    chain: str
    kind: str  # latency, reaction or age
    release_ns: int  # of the datum
    took_us: float
    above_us: float
    cause: ShareKind | None  # None: what was lost on its way is less than it is above
    lost_by: str | None  # callback[number], or a topic: that lost the most; None: nothing did
    lost_us: float  # by it
    unknown_us: dict[ShareKind, float]  # on its whole way, what the bounds do not know of
    steps: list[ChainStep]  # in the order of the data; empty: its way is not in the trace


class ChainAgainst(_Part):
    """How a chain stands to one of its bounds."""

    chain: str
    kind: str  # latency, reaction or age
    bound_us: float
    measured: int  # instances
    longest_us: float | None
    above: int
    by_cause: dict[ShareKind, int]
    unexplained: int
    late: list[LateChain]  # those that were most above it


class AgainstBounds(_Part):
    """How the responses stand to the bounds of ``./takt analyse``."""

    overheads: bool  # whether the bounds count them
    overheads_us: dict[str, float] = {}  # those that they count, by name
    responses: int  # of callbacks that have a bound
    above: int
    by_cause: dict[ShareKind, int]
    unexplained: int


class Explanation(_Part):
    """Everything about the late jobs of one trace."""

    schema_version: int = SCHEMA_VERSION
    trace: str
    source: str
    approach: str | None
    executions: int
    misses: int
    overdue: int  # jobs that did not end before the trace did, and are past their deadline
    unexplained: int  # misses of jobs whose release or start is not in the trace
    partly: int  # misses that their cause explains only in part: it takes less than the lateness
    by_cause: dict[ShareKind, int]
    bounds: AgainstBounds | None  # None: there are none for this trace, the remarks say why
    callbacks: list[CallbackLate]  # those with late jobs
    chains: list[ChainAgainst] = []  # for each bound that there is
    programs: list[Program] = []  # of all missed jobs, longest first
    details: list[Late]  # of all of them, or of those that were latest
    threads: dict[int, str] = {}  # of a recording: they stand where a trace has cores
    remarks: list[str]
