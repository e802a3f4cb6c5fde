# SPDX-License-Identifier: Apache-2.0
"""A point of the matrix: one combination of all axes, as a cell asks for it."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

BY_JITTER = ("timer-cyclic", "ethercat")  # kinds whose histogram is that of their jitter
SUPPLY = "supply"  # the kind
SIMULATED, INTERFACE = "simulated", "interface"  # the transports of EtherCAT


class Point(BaseModel):
    """One combination of all axes of an experiment."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    stack: str  # communication stack, or of each role
    kind: str  # what one sample is
    label: str = ""  # of its block: points of the same measurement are told apart by it
    transport: str  # the way between the roles
    payload_bytes: int  # of a message
    content: str = "bytes"  # of a message: bytes, string
    scheduling: str  # other, fifo, rr
    priority: int  # 0: none
    dds_priority: str = ""  # of the threads of DDS: N, or N-M; empty: as the loop's
    allocator: str = "heap"  # of the client library and messages: heap, tlsf
    cpu: list[int]  # empty: not pinned
    period_us: float  # of a one-shot timer: its timeout
    samples_requested: int  # how many
    deadline_us: float  # counted, not enforced
    lost_after_us: float  # a reply later than this is lost
    subscribers: int  # how many
    reliability: str  # of the QoS
    depth: int  # of the QoS, where its history is keep_last
    durability: str = "volatile"  # of the QoS: volatile, transient_local
    history: str = "keep_last"  # of the QoS: keep_last, keep_all
    threads: int = 1  # that wake up beside each other, with a recording each
    distance_us: float = 0.0  # from the period of one of them to that of the next
    wait: str = "idle"  # idle, busy
    executor: str = ""  # what ran the callbacks; empty: nothing to choose
    late: str = "at_once"  # the message after a late reply: at_once, next_cycle
    start_delay_us: float = 0.0  # before the first sample
    load: str = "none"  # of each machine, or of each role's: none, idle, cpu, fft, stress, stress N
    cores: str = "shared"  # of cpu: shared with all, or for the measured processes alone
    tuned: str = "none"  # by takt tune, for this cell: none, all, settings
    within: int | None = None  # the ROS domain of a running system; None: an own domain
    host: str = "here"  # here, or of each role
    link_mbps: float = 0.0  # of the link between two hosts
    queue: str = "shared"  # of the messages on this link: shared with the traffic, own, limited
    traffic_mbps: float = 0.0  # of other traffic on it, each way
    delay_us: float = 0.0  # of each frame on it, each way
    jitter_us: float = 0.0  # of this delay, up and down
    loss: float = 0.0  # probability that a frame on it is lost, each way
    interface: str = ""  # of real EtherCAT slaves
    slaves: int = 0  # of EtherCAT, that there have to be; 0: any number
    fault: str = "none"  # of the simulated segment: none, slave_lost, wrong_counter, silent
    talkers: int = 0  # pairs of other nodes that talk at the same time
    talker_period_us: float = 0.0  # of each such pair

    @property
    def hosts(self) -> list[str]:
        """Those of the roles."""
        return self.host.split(",")

    @property
    def loads(self) -> dict[str, str]:
        """The load of each host."""
        each = self.load.split(",")
        both = each if len(each) > 1 else each * len(self.hosts)
        return dict(zip(self.hosts, both, strict=False))

    @property
    def period_ns(self) -> int:
        """Of a one-shot timer: its timeout."""
        return round(self.period_us * 1000)

    @property
    def simulated(self) -> bool:
        """Whether its slaves are ours, behind a link."""
        return self.kind == "ethercat" and self.transport == SIMULATED

    @property
    def series(self) -> list[tuple[float, int]]:
        """The period in µs of each thread, and how many samples are asked of it."""
        first, distance = round(self.period_us * 1000), round(self.distance_us * 1000)
        periods = [first + place * distance for place in range(self.threads)]
        span = self.samples_requested * first
        return [(one / 1000, max(1, span // one)) for one in periods]

    @property
    def by_jitter(self) -> bool:
        """Whether its histogram is that of the jitter of a cycle, not of a latency."""
        return self.kind in BY_JITTER

    @property
    def since_intended(self) -> bool:
        """A timer's latency counts from its programmed expiry: ``sent_ns`` is what it reports."""
        return self.kind.startswith("timer-")
