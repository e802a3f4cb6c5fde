# SPDX-License-Identifier: Apache-2.0
"""The experiment file: a declarative matrix of measurements.

A key that may be a list is an axis; a measurement stands for all combinations of its axes.
Durations are ns and sizes bytes here; in the file they carry their units (see ``units``).
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, model_validator

from takt.documents.quantities import (
    Bandwidth,
    Duration,
    Period,
    Rate,
    Share,
    Size,
    Strict,
)
from takt.measure.experiment.values import (
    UNPINNED,
    Allocator,
    Axis,
    Content,
    Cores,
    Count,
    Cpu,
    DdsPriority,
    Durability,
    History,
    Hosts,
    Interface,
    Kind,
    Late,
    Load,
    Name,
    Pairs,
    Positive,
    Processes,
    Queue,
    Reliability,
    Scheduling,
    SegmentFault,
    Slaves,
    Stack,
    Traffic,
    Tuned,
    Wait,
)

MESSAGES = ("pingpong", "pubsub")
OF_THE_LINK = ("link", "queue", "traffic", "delay", "jitter", "loss")
OF_MESSAGES = (
    "payload content reliability durability history depth allocator dds_priority "
    "link queue traffic delay jitter loss"
)
# Which kinds have a key; a key that is not here belongs to all of them.
_KINDS_WITH: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(OF_MESSAGES.split(), MESSAGES),
    "executor": ("timer-oneshot", "timer-cyclic", *MESSAGES),
    "subscribers": ("pubsub",),
    "threads": ("wakeup",),
    "distance": ("wakeup",),
    "talkers": ("pubsub",),
    "talker_rate": ("pubsub",),
    "timeout": ("timer-oneshot",),
    "wait": ("timer-oneshot",),
    "late": ("pingpong",),
    "period": ("wakeup", "timer-cyclic", "ethercat", *MESSAGES),
    "rate": ("wakeup", "timer-cyclic", "ethercat", *MESSAGES),
    "interface": ("ethercat",),
    "slaves": ("ethercat",),
    "fault": ("ethercat",),
}


class Measurement(Strict):
    """One block of ``measurements:``; None is the default of the kind or of the experiment."""

    kind: Kind = Field(description="what one sample is")
    label: Name | None = Field(
        None,
        description="in the names of its points; with a label each, blocks may ask for the same "
        "point, such as for a short time and for hours",
    )
    stack: Axis[Stack] = Field(
        description='communication stacks: raw, rcl, …; "rcl,cyclonedds": ping or publisher on '
        "rcl, pong or subscribers on cyclonedds; both are DDS"
    )
    transport: Axis[Name] | None = Field(
        None, description="ways from one role to the other; default: the first one that it has"
    )
    executor: Axis[Name] | None = Field(
        None,
        description="stack rclcpp only: what runs the callbacks: single_threaded, multi_threaded, "
        "events, events_cbg, takt; default: the first one that it has",
    )
    payload: Axis[Size] | None = Field(None, description="of messages; default: 500B")
    content: Axis[Content] | None = Field(
        None,
        description="of messages: bytes behind a head, or a string (std_msgs/String), whose text "
        "holds both and is as long as the payload; default: bytes",
    )
    timeout: Axis[Period] | None = Field(
        None, description="timer-oneshot only, instead of a rate; from 10us; default: 1ms"
    )
    wait: Axis[Wait] | None = Field(
        None, description="timer-oneshot only: how the loop waits; default: idle"
    )
    late: Axis[Late] | None = Field(
        None,
        description="pingpong only: when the next message goes after a reply that came later than "
        "its start time; next_cycle: those start times are left out; default: at_once",
    )
    period: Axis[Period] | None = Field(None, description="this or rate; default: rate 1kHz")
    rate: Axis[Rate] | None = Field(None, description="this or period")
    scheduling: Axis[Scheduling] = Field(
        ["other"], description="other, or fifo N and rr N with a priority from 1 to 98"
    )
    dds_priority: Axis[DdsPriority] | None = Field(
        None,
        description="of the threads that a DDS starts, at the policy of scheduling; 70-80: 80 "
        "where messages pass, 70 elsewhere; default: inherited, as scheduling",
    )
    allocator: Axis[Allocator] | None = Field(
        None,
        description="stack rcl only: of rcl's memory and of the messages; tlsf: a pool of fixed "
        "size in constant time; what a DDS allocates is the heap's; default: heap",
    )
    cpu: Axis[Cpu] = Field(
        [UNPINNED],
        description='any, a number, or "0,1": ping, publisher or master on 0, pong, subscribers '
        "or the simulated segment on 1",
    )
    threads: Axis[Processes] | None = Field(
        None,
        description="wakeup of the stack cyclictest only: how many at once, each with samples of "
        "its own; default: 1",
    )
    distance: Duration | None = Field(
        None,
        description="from the period of one of these threads to that of the next, in whole us; "
        "default: 0s",
    )
    subscribers: Axis[Processes] | None = Field(
        None, description="pubsub only: how many; default: 1"
    )
    interface: Axis[Interface] | None = Field(
        None,
        description="ethercat only: the network interface of real slaves; default: a simulated "
        "segment in a network namespace",
    )
    slaves: Axis[Slaves] | None = Field(
        None,
        description="ethercat only: how many there have to be; default: 16 simulated ones, any "
        "number of real ones",
    )
    fault: Axis[SegmentFault] | None = Field(
        None,
        description="ethercat only: what goes wrong on the simulated segment from the middle "
        "cycle on; default: none",
    )
    reliability: Axis[Reliability] | None = Field(None, description="of the QoS; default: reliable")
    durability: Axis[Durability] | None = Field(
        None,
        description="of the QoS: what who comes late gets; transient_local: what its writer still "
        "keeps; default: volatile",
    )
    history: Axis[History] | None = Field(
        None, description="of the QoS: keep_last (depth) or keep_all; default: keep_last"
    )
    depth: Axis[Positive] | None = Field(None, description="of history keep_last; default: 10")
    talkers: Axis[Pairs] | None = Field(
        None, description="pubsub only: pairs of other nodes on topics of their own; default: 0"
    )
    talker_rate: Rate | None = Field(None, description="of each of these pairs; default: 100Hz")
    cores: Axis[Cores] = Field(
        ["shared"],
        description="of cpu; alone: everything else is moved off them for the cell, by cpusets; "
        "takes root, and a CPU for the rest",
    )
    load: Axis[Load] = Field(
        ["none"],
        description="meanwhile, of normal processes; cpu: one on each CPU that computes all along; "
        "fft: the same with Fourier transforms, by stress-ng; stress: its workers for CPU, memory, "
        "sync and files, eight each (stress N: N each)",
    )
    tuned: Axis[Tuned] = Field(
        ["none"],
        description="settings of the machine that `takt tune` changes for the cell and puts back "
        "after it: all, one of them, or several, such as ksoftirqd+irq-threads; takes root",
    )
    host: Axis[Hosts] = Field(
        ["here"],
        description='pingpong and pubsub over udp; "here,namespace": ping or publisher on this '
        "machine, pong or subscribers in a network namespace behind a link; other names are "
        "workers of a Dask scheduler with a resource of this name, on any machine",
    )
    link: Axis[Bandwidth] | None = Field(
        None, description="of the link between two hosts, each way; default: 100Mbps"
    )
    queue: Axis[Queue] | None = Field(
        None,
        description="of the messages on this link: shared with the traffic, or own, which leaves "
        "first; default: shared",
    )
    traffic: Axis[Traffic] | None = Field(
        None, description="on this link meanwhile, each way, by iperf3; default: none"
    )
    delay: Axis[Duration] | None = Field(
        None, description="of each frame on this link, each way, as of a longer way; default: 0s"
    )
    jitter: Axis[Duration] | None = Field(
        None,
        description="of this delay, evenly drawn up and down for each frame, which may overtake "
        "others then; default: 0s",
    )
    loss: Axis[Share] | None = Field(
        None, description="of the frames on this link, each way, by chance; default: 0%"
    )
    start_delay: Duration | None = Field(
        None, description="between being ready and the first sample; default: 0s"
    )
    samples: Count | None = Field(None, description="how many, instead of a duration")
    duration: Duration | None = Field(
        None, description="of one repetition; default: the experiment's"
    )
    repetitions: Positive | None = Field(
        None, description="of each point; default: the experiment's"
    )
    deadline: Duration | None = Field(
        None, description="on the response; default: the experiment's"
    )
    lost_after: Duration | None = Field(
        None, description="a reply later than this is lost; default: the experiment's"
    )

    @model_validator(mode="after")
    def _one_pace(self) -> Measurement:
        if self.period and self.rate:
            raise ValueError("period and rate say the same thing: give one of them")
        return self

    @model_validator(mode="after")
    def _one_length(self) -> Measurement:
        if self.samples and self.duration:
            raise ValueError("samples and duration say the same thing: give one of them")
        return self

    @model_validator(mode="after")
    def _fits_the_kind(self) -> Measurement:
        for key, kinds in _KINDS_WITH.items():
            if getattr(self, key) is not None and self.kind not in kinds:
                instead = "; it starts anew when it has fired: give timeout" * (
                    self.kind == "timer-oneshot" and key in {"period", "rate"}
                )
                raise ValueError(
                    f"a {self.kind} has no {key} (that is for {', '.join(kinds)}){instead}"
                )
        if self.host == ["here"]:
            for key in OF_THE_LINK:
                if getattr(self, key) is not None:
                    raise ValueError(f'{key} needs a second host: give host "here,namespace"')
        if self.depth and "keep_all" in (self.history or []):
            raise ValueError(
                "history keep_all has no depth: remove depth, or give keep_last a block of its own"
            )
        if self.distance and not any(one > 1 for one in self.threads or []):
            raise ValueError("distance is from one thread to the next: how many threads?")
        if self.distance and self.distance % 1000:
            raise ValueError("distance: cyclictest counts whole microseconds")
        if self.talker_rate and not any(self.talkers or []):
            raise ValueError("talker_rate needs talkers: how many pairs?")
        return self

    @property
    def periods_ns(self) -> list[int]:
        """The axis of the pace: periods, rates, or the timeouts of a one-shot timer."""
        return self.timeout or self.period or self.rate or [1_000_000]


class Experiment(Strict):
    """A whole experiment file."""

    name: Name = Field(description="names the results folder")
    description: str = Field("", description="for people; shown in the report")
    seed: int | None = Field(None, ge=0, strict=True, description="of the order; default: drawn")
    repetitions: Positive = Field(3, description="of each point, in random order")
    duration: Duration = Field(5_000_000_000, description="of one repetition")
    deadline: Duration | None = Field(
        None,
        description="on the response; counted, not enforced; default: the period, of a one-shot "
        "timer its timeout",
    )
    lost_after: Duration = Field(500_000_000, description="a reply later than this is lost")
    skip_missing: bool = Field(
        False, description="leave out stacks that are not installed, instead of refusing to run"
    )
    measurements: Annotated[list[Measurement], Field(min_length=1)] = Field(
        description="blocks, each all combinations of its axes"
    )


def normalised(experiment: Experiment) -> dict[str, Any]:
    """The experiment as ``run.json`` keeps it: with units, without what was not given."""
    return experiment.model_dump(mode="json", exclude_none=True)
