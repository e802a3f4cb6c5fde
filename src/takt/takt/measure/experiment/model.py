# SPDX-License-Identifier: Apache-2.0
"""The experiment file: a declarative matrix of measurements.

A key that may be a list is an axis; a measurement stands for all combinations of its axes.
Durations are ns and sizes bytes here; in the file they carry their units (see ``units``).
"""

from __future__ import annotations

from collections.abc import Iterator
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
from takt.documents.yaml_file import KeyFaults
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
    Within,
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
    "period": ("wakeup", "timer-cyclic", "ethercat", "supply", *MESSAGES),
    "rate": ("wakeup", "timer-cyclic", "ethercat", *MESSAGES),
    "interface": ("ethercat",),
    "slaves": ("ethercat",),
    "fault": ("ethercat",),
}


class Measurement(Strict):
    """One block of ``measurements:``; None is the default of the kind or of the experiment."""

    kind: Kind = Field(description="kind of measurement")
    label: Name | None = Field(
        None,
        description="label in the names of its points; blocks with different labels may "
        "contain the same point, such as for a short and for a long duration",
    )
    stack: Axis[Stack] = Field(
        description='communication stacks: raw, rcl, …; "rcl,cyclonedds": ping or '
        "publisher on rcl, pong or subscribers on cyclonedds; both must be "
        "DDS"
    )
    transport: Axis[Name] | None = Field(
        None, description="transports between the roles; default: the stack's first"
    )
    executor: Axis[Name] | None = Field(
        None,
        description="stack rclcpp only: executor of the callbacks: single_threaded, "
        "multi_threaded, events, events_cbg, takt; default: the first "
        "available",
    )
    payload: Axis[Size] | None = Field(None, description="payload size of a message; default: 500B")
    content: Axis[Content] | None = Field(
        None,
        description="of messages: bytes behind a head, or a string (std_msgs/String), whose text "
        "holds both and is as long as the payload; default: bytes",
    )
    timeout: Axis[Period] | None = Field(
        None, description="timer-oneshot only, alternative to rate; at least 10us; default: 1ms"
    )
    wait: Axis[Wait] | None = Field(
        None, description="timer-oneshot only: waiting method of the loop; default: idle"
    )
    late: Axis[Late] | None = Field(
        None,
        description="pingpong only: start of the next message after a reply later than its start "
        "time; next_cycle: skip the missed start times; default: at_once",
    )
    period: Axis[Period] | None = Field(
        None,
        description="alternative to rate; default: rate 1kHz; supply: of the windows, each half a "
        "period long, from 1ms to 1s; default: 200ms",
    )
    rate: Axis[Rate] | None = Field(None, description="alternative to period")
    scheduling: Axis[Scheduling] = Field(
        ["other"],
        description="scheduling policy: other, or fifo N and rr N with a priority N from 1 to 98",
    )
    dds_priority: Axis[DdsPriority] | None = Field(
        None,
        description="priority of DDS threads, with the policy of scheduling; 70-80: 80 "
        "on the message path, 70 elsewhere; default: inherited, as "
        "scheduling",
    )
    allocator: Axis[Allocator] | None = Field(
        None,
        description="stack rcl only: allocator of rcl and of the messages; tlsf: "
        "fixed-size pool with constant-time allocation; DDS itself always "
        "uses the heap; default: heap",
    )
    cpu: Axis[Cpu] = Field(
        [UNPINNED],
        description='CPU to pin to: any, a number, or "0,1": ping, publisher or master on 0, pong, '
        "subscribers or the simulated segment on 1",
    )
    threads: Axis[Processes] | None = Field(
        None,
        description="wakeup of the stack cyclictest only: number of threads, each with separate "
        "samples; default: 1",
    )
    distance: Duration | None = Field(
        None,
        description="difference between the periods of two consecutive threads, in "
        "whole µs; default: 0s",
    )
    subscribers: Axis[Processes] | None = Field(
        None, description="pubsub only: number of subscribers; default: 1"
    )
    interface: Axis[Interface] | None = Field(
        None,
        description="ethercat only: the network interface of real slaves; default: a simulated "
        "segment in a network namespace",
    )
    slaves: Axis[Slaves] | None = Field(
        None,
        description="ethercat only: required number of slaves; default: 16 simulated, "
        "any number of real ones",
    )
    fault: Axis[SegmentFault] | None = Field(
        None,
        description="ethercat only: fault injected into the simulated segment from the "
        "middle cycle on; default: none",
    )
    reliability: Axis[Reliability] | None = Field(
        None, description="reliability of the QoS; default: reliable"
    )
    durability: Axis[Durability] | None = Field(
        None,
        description="durability of the QoS: data for late joiners; transient_local: all "
        "samples that the writer still keeps; default: volatile",
    )
    history: Axis[History] | None = Field(
        None, description="history of the QoS: keep_last (depth) or keep_all; default: keep_last"
    )
    depth: Axis[Positive] | None = Field(
        None, description="depth of history keep_last; default: 10"
    )
    talkers: Axis[Pairs] | None = Field(
        None,
        description="pubsub only: number of additional pairs of nodes, on separate "
        "topics; default: 0",
    )
    talker_rate: Rate | None = Field(
        None, description="rate of each additional pair; default: 100Hz"
    )
    cores: Axis[Cores] = Field(
        ["shared"],
        description="cores of cpu; alone: cpusets move all other processes off these "
        "cores during the cell; needs root and at least one other CPU",
    )
    load: Axis[Load] = Field(
        ["none"],
        description="background load by normal processes; idle: none, and other programs and the "
        "hypervisor take at most 2 % of all CPU time, otherwise the cell is disturbed; cpu: one "
        "busy process on each CPU; fft: the same with Fourier transforms, by stress-ng; stress: "
        "stress-ng workers for CPU, memory, sync and files, eight each "
        "(stress N: N each); cpu limited, …: the same in a control group with a quota of half "
        "of all CPU time. Where roles are on workers, each of their machines has it; two, such "
        'as "stress,stress 2", are one for each role',
    )
    tuned: Axis[Tuned] = Field(
        ["none"],
        description="settings of the machine that `takt tune` applies during the cell and restores "
        "afterwards: all, one of them, or several, such as ksoftirqd+irq-threads; needs "
        "root",
    )
    within: Axis[Within] = Field(
        [None],
        description="ROS domain of a running system that the measured processes join: its CPU time "
        "is a condition, not a disturbance; all its processes ended: the cell fails; default: "
        "none, an unused domain",
    )
    host: Axis[Hosts] = Field(
        ["here"],
        description='hosts of the roles, for pingpong and pubsub over udp; "here,namespace": ping '
        "or publisher on this machine, pong or subscribers in a network namespace behind "
        "a link; any other name: a worker of a Dask scheduler with a resource of this "
        "name, on any machine",
    )
    link: Axis[Bandwidth] | None = Field(
        None,
        description="bandwidth of the link between two hosts, in each direction; default: 100Mbps",
    )
    queue: Axis[Queue] | None = Field(
        None,
        description="transmit queue of the messages on the link: shared with the "
        "traffic, own with the highest priority, or limited: the traffic has at most half of the "
        "bandwidth; default: shared",
    )
    traffic: Axis[Traffic] | None = Field(
        None,
        description="background traffic on the link, in each direction, by iperf3; default: none",
    )
    delay: Axis[Duration] | None = Field(
        None, description="delay of each frame on the link, in each direction; default: 0s"
    )
    jitter: Axis[Duration] | None = Field(
        None,
        description="maximum deviation from the delay, uniformly distributed, for each "
        "frame; frames may overtake each other; default: 0s",
    )
    loss: Axis[Share] | None = Field(
        None,
        description="probability of losing a frame on the link, in each direction; default: 0%",
    )
    start_delay: Duration | None = Field(
        None, description="wait between ready and the first sample; default: 0s"
    )
    samples: Count | None = Field(None, description="number of samples; alternative to duration")
    duration: Duration | None = Field(
        None, description="duration of one repetition; default: the experiment's"
    )
    repetitions: Positive | None = Field(
        None, description="number of repetitions of each point; default: the experiment's"
    )
    deadline: Duration | None = Field(
        None, description="deadline of the response; default: the experiment's"
    )
    lost_after: Duration | None = Field(
        None, description="a reply counts as lost after this time; default: the experiment's"
    )

    @model_validator(mode="after")
    def _keys_go_together(self) -> Measurement:
        if faults := list(self._faults()):
            raise KeyFaults(faults)
        return self

    def _faults(self) -> Iterator[tuple[str, str]]:
        """The keys that the kind does not have, or that exclude or need each other."""
        for first, second in (("period", "rate"), ("samples", "duration")):
            if getattr(self, first) and getattr(self, second):
                yield second, f"{first} and {second} exclude each other: give one of them"
        for key, kinds in _KINDS_WITH.items():
            if getattr(self, key) is None or self.kind in kinds:
                continue
            instead = "; a one-shot timer restarts after it has fired: give timeout" * (
                self.kind == "timer-oneshot" and key in {"period", "rate"}
            )
            yield key, f"a {self.kind} has no {key} (allowed for {', '.join(kinds)}){instead}"
        for key in OF_THE_LINK if self.host == ["here"] and self.kind in MESSAGES else ():
            if getattr(self, key) is not None:
                yield key, f'{key} needs a second host: give host "here,namespace"'
        if self.depth and "keep_all" in (self.history or []):
            separate = "remove depth, or put keep_last in a separate block"
            yield "depth", f"history keep_all has no depth: {separate}"
        if self.distance and not any(one > 1 for one in self.threads or []):
            yield "distance", "distance needs threads: give the number of threads"
        if self.distance and self.distance % 1000:
            yield "distance", "distance: cyclictest counts whole microseconds"
        if self.talker_rate and not any(self.talkers or []):
            yield "talker_rate", "talker_rate needs talkers: give the number of pairs"

    @property
    def periods_ns(self) -> list[int]:
        """The axis of the pace: periods, rates, or the timeouts of a one-shot timer."""
        usual = 200_000_000 if self.kind == "supply" else 1_000_000
        return self.timeout or self.period or self.rate or [usual]


class Experiment(Strict):
    """A whole experiment file."""

    name: Name = Field(description="name of the experiment and of its results folder")
    description: str = Field("", description="description, shown in the report")
    seed: int | None = Field(
        None, ge=0, strict=True, description="random seed of the order; default: drawn"
    )
    repetitions: Positive = Field(
        3, description="number of repetitions of each point, in random order"
    )
    duration: Duration = Field(5_000_000_000, description="duration of one repetition")
    deadline: Duration | None = Field(
        None,
        description="deadline of the response; misses are counted, not enforced; "
        "default: the period, of a one-shot timer its timeout",
    )
    lost_after: Duration = Field(500_000_000, description="a reply counts as lost after this time")
    skip_missing: bool = Field(
        False, description="skip stacks that are not installed; otherwise they are an error"
    )
    measurements: Annotated[list[Measurement], Field(min_length=1)] = Field(
        description="list of blocks, each measured in all combinations of its axes"
    )


def normalised(experiment: Experiment) -> dict[str, Any]:
    """The experiment as ``run.json`` keeps it: with units, without what was not given."""
    return experiment.model_dump(mode="json", exclude_none=True)
