# SPDX-License-Identifier: Apache-2.0
"""What of a point cannot be measured: the key at fault, what is wrong, what to do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from takt.documents.units import format_bandwidth, format_duration, format_period, format_size
from takt.measure.conditions import tuned
from takt.measure.conditions.load import bytes_taken
from takt.measure.experiment.model import MESSAGES, OF_THE_LINK, Measurement
from takt.measure.experiment.values import INHERITED
from takt.measure.results.model import INTERFACE, SIMULATED, SUPPLY, Cell
from takt.network.hosts import other_hosts
from takt.network.namespace import HERE
from takt.network.shaping import SHARED
from takt.network.stacks import Stack, parts

SHORTEST_PERIOD_NS = 10_000
SHORTEST_SUPPLY_NS, LONGEST_SUPPLY_NS = 1_000_000, 1_000_000_000  # as probes refuse others
LONGEST_DELAY_NS = 1_000_000_000
LARGEST_PAYLOAD = 64 * 1024 * 1024
RECORD_BYTES = 32
TEXT_HEAD_BYTES = 49  # docs/reference/probes.md
RAW = "raw"  # the machine's own limits: no middleware, no QoS
ROS1 = "ros1"
ICEORYX2 = "iceoryx2"
ZENOH = "zenoh"
TAKT = "takt"  # the executor

# Why there is no durability and no history to choose.
WITHOUT_QOS = {
    RAW: "it has no QoS",
    ROS1: "its queues keep the last messages; late joiners get none",
    ICEORYX2: "its buffers keep the last messages; late joiners get none",
    ZENOH: "its subscribers keep the last messages; late joiners get none",
}

# Why there is no reliability to choose, and what to do.
WITHOUT_RELIABILITY = {
    ROS1: (
        "ROS 1 has no reliability setting: its transport decides",
        "use the transport tcpros (reliable) or udpros (may lose messages)",
    ),
    ICEORYX2: (
        "iceoryx2 has no reliability setting: it drops messages only when the history is full",
        "remove reliability; depth is the history",
    ),
    ZENOH: (
        "Zenoh has the reliability of its transport, and tcp loses no messages",
        "remove reliability; depth is what a subscriber keeps",
    ),
}

Fault = tuple[str, str, str | None]  # key of the measurement, what is wrong, fix


@dataclass(frozen=True)
class Machine:
    """What the plan must fit into."""

    cpus: frozenset[int]
    memory_bytes: int
    lacking: Callable[[Cell], Fault | None] = lambda _: None  # for the conditions of a cell


def stack_fault(measurement: Measurement, stack: Stack, transports: list[str]) -> Fault | None:
    """What the stack cannot do at all."""
    if not transports and len(both := parts(stack.name)) > 1:
        what = f"{' and '.join(both)} cannot communicate in a {measurement.kind}"
        return "stack", what, "use two DDS stacks, such as rcl,cyclonedds"
    if not transports:
        can = ", ".join(sorted({one.kind for one in stack.capabilities})) or "nothing"
        return "stack", f"the stack {stack.name} has no {measurement.kind}", f"available: {can}"
    if stack.name == RAW:
        for key in ("reliability", "depth"):
            if getattr(measurement, key) is not None:
                return key, f"the stack raw has no QoS, so it has no {key}", f"remove {key}"
    if stack.name in WITHOUT_RELIABILITY and measurement.reliability is not None:
        return ("reliability", *WITHOUT_RELIABILITY[stack.name])
    return None


def transport_fault(kind: str, stack: Stack, point: dict[str, Any]) -> Fault | None:
    """What the transport cannot carry."""
    transport, payload = point["transport"], point["payload_bytes"]
    capability = stack.capability(kind, transport)
    if capability is None:
        what = f"the stack {stack.name} has no transport {transport} for {kind}"
        there = ", ".join(stack.transports(kind))
        fix = f"available: {there}; a stack with other transports needs a separate block"
        return "transport", what, fix
    if point["subscribers"] > 1 and "subscriber" not in capability.roles:
        what = f"{transport} runs in one process with one subscriber"
        return "subscribers", what, "use a transport between processes"
    fixed = capability.payloads
    if fixed is not None and payload not in fixed:
        sizes = ", ".join(map(format_size, fixed))
        return "payload", f"{transport} has no size {format_size(payload)}", f"sizes: {sizes}"
    own = capability.max_payload_bytes
    limit = LARGEST_PAYLOAD if own is None else min(LARGEST_PAYLOAD, own)
    if payload > limit:
        what = f"{format_size(payload)} exceeds the maximum of {transport}"
        return "payload", what, f"the maximum is {limit} bytes"
    return None


def timer_fault(kind: str, stack: Stack, point: dict[str, Any], scheduling: str) -> Fault | None:
    """What the timer cannot do."""
    transport, wait = point["transport"], point["wait"]
    capability = stack.capability(kind, transport)
    if capability is not None and wait not in capability.waits:
        others = [
            one.transport for one in stack.capabilities if one.kind == kind and wait in one.waits
        ]
        fix = f"{', '.join(others)} can" if others else f"available: {', '.join(capability.waits)}"
        return "wait", f"{transport} of {stack.name} cannot wait {wait}", fix
    if transport == "executor" and scheduling == "rr":
        what = "Takt's executor has no round robin: its threads are real-time FIFO"
        return "scheduling", what, "use fifo N, or another transport"
    return None


def executor_fault(kind: str, stack: Stack, point: dict[str, Any], scheduling: str) -> Fault | None:
    """What cannot run the callbacks."""
    executor = point["executor"]
    capability = stack.capability(kind, point["transport"])
    known = capability.executors if capability else []
    if executor and not known:
        what = f"the stack {stack.name} has no executor to choose"
        return "executor", what, "use the stack rclcpp, or remove executor"
    if executor and executor not in known:
        what = f"the stack {stack.name} has no executor {executor}"
        return "executor", what, f"available: {', '.join(known)}"
    if executor == TAKT and scheduling == "rr":
        what = "Takt's executor has no round robin: its threads are real-time FIFO"
        return "scheduling", what, "use fifo N, or another executor"
    return None


def allocator_fault(kind: str, stack: Stack, point: dict[str, Any]) -> Fault | None:
    """Memory that the stack does not take from anybody."""
    capability = stack.capability(kind, point["transport"])
    if capability is None or point["allocator"] in capability.allocators:
        return None
    what = f"the stack {stack.name} has no allocator {point['allocator']} to choose"
    return (
        "allocator",
        what,
        f"available: {', '.join(capability.allocators)}; the stack rcl has both",
    )


def dds_fault(kind: str, stack: Stack, point: dict[str, Any], scheduling: str) -> Fault | None:
    """Threads of a DDS that are not there, or without a real-time policy."""
    if point["dds_priority"] == INHERITED:
        return None
    capability = stack.capability(kind, point["transport"])
    if capability is None or not capability.dds:
        what = f"the stack {stack.name} has no threads of a DDS"
        return "dds_priority", what, "remove dds_priority, or use a DDS stack"
    if scheduling == "other":
        what = "the policy other has no priorities, and DDS threads use the policy of the loop"
        return "dds_priority", what, "use scheduling fifo N, or separate blocks"
    return None


def host_fault(measurement: Measurement, stack: Stack, point: dict[str, Any]) -> Fault | None:
    """What cannot be on two hosts."""
    if point["host"] == HERE:
        return None
    if measurement.kind not in MESSAGES:
        return "host", f"a {measurement.kind} has only one role, on this host", "remove host"
    capability = stack.capability(measurement.kind, point["transport"])
    if capability is None or capability.wire is None:
        can = [
            one.transport for one in stack.capabilities if one.wire and one.kind == measurement.kind
        ]
        what = f"{point['transport']} of {stack.name} does not go from host to host"
        fix = f"use {', '.join(can)}" if can else "use udp of rcl or of raw"
        return "host", what, fix
    if point["talkers"]:
        return "talkers", "talkers are on one host", "use host here, or traffic instead"
    return None


def link_fault(measurement: Measurement, point: dict[str, Any]) -> Fault | None:
    """What is of the link that we make, or of this machine, where another one has a role."""
    if not other_hosts(point["host"]):
        return None
    for key in OF_THE_LINK:
        if getattr(measurement, key) is not None:
            what = (
                f"{key} needs a link to a network namespace; other machines use their own network"
            )
            return key, what, f'remove {key}, or put host "here,namespace" in a separate block'
    for key in ("load", "tuned"):
        if point[key] != "none" and HERE not in point["host"].split(","):
            what = f"{key} applies to this machine, which has no role in {point['host']}"
            return key, what, f"give a role to here, or remove {key}"
    return None


def traffic_fault(point: dict[str, Any], link: int, traffic: int) -> Fault | None:
    """Traffic without a link, or more than it carries."""
    apart = 'use separate blocks for host here and host "here,namespace"'
    if point["host"] == HERE and traffic:
        return "traffic", "traffic needs two hosts; this block has one", apart
    if point["host"] == HERE and point["queue"] != SHARED:
        return "queue", "queue needs two hosts; this block has one", apart
    if traffic > link:
        what = f"{format_bandwidth(traffic)} exceed a link of {format_bandwidth(link)}"
        return "traffic", what, "use a faster link or less traffic"
    return None


def wire_fault(point: dict[str, Any]) -> Fault | None:
    """A delay, jitter or loss that no link has, or that cannot be."""
    for key in ("delay", "jitter", "loss"):
        if point["host"] == HERE and point[key]:
            what = f"{key} needs two hosts; this block has one"
            return (
                key,
                what,
                'use separate blocks for host here and host "here,namespace"',
            )
    if point["jitter"] > point["delay"]:
        what = f"{format_duration(point['jitter'])} is more than the delay"
        return "jitter", what, "a frame cannot arrive before it is sent: use at most the delay"
    if point["delay"] > LONGEST_DELAY_NS:
        return "delay", f"{format_duration(point['delay'])} is longer than 1s", "use at most 1s"
    if point["loss"] == 10**6:
        return "loss", "loss of 100% leaves no link", "use less than 100%"
    return None


def load_fault(load: str, machine: Machine) -> Fault | None:
    """A load that this machine cannot bear."""
    if (need := bytes_taken(load)) > machine.memory_bytes // 2:
        what = f"the load {load} needs {need >> 20} MiB of memory and the same space on disk"
        return "load", what, f"{machine.memory_bytes >> 20} MiB are available: use fewer workers"
    return None


def talkers_fault(measurement: Measurement, stack: Stack, point: dict[str, Any]) -> Fault | None:
    """Pairs of nodes that could not talk."""
    if measurement.talker_rate and measurement.talker_rate < SHORTEST_PERIOD_NS:
        what = f"{format_period(measurement.talker_rate)} is faster than 100kHz"
        return "talker_rate", what, "a talker sleeps between two messages, as a publisher does"
    capability = stack.capability("pubsub", point["transport"])
    if point["talkers"] and capability is not None and "subscriber" not in capability.roles:
        what = f"{point['transport']} runs in one process: talkers cannot use it"
        return "talkers", what, "use a transport between processes"
    return None


def cpu_fault(kind: str, cpus: list[int], machine: Machine, host: str) -> Fault | None:
    """CPUs that are not there, or too many; those of other machines are known to their probes."""
    hosts = host.split(",")
    of_us = [cpu for place, cpu in enumerate(cpus) if not other_hosts(hosts[place % len(hosts)])]
    if len(cpus) == 1 and HERE in hosts:  # one for each role
        of_us = cpus
    for cpu in of_us:
        if cpu not in machine.cpus:
            there = ", ".join(map(str, sorted(machine.cpus)))
            return "cpu", f"this process may not use CPU {cpu}", f"CPUs here: {there}"
    if kind == SUPPLY and not cpus:
        return "cpu", "a supply is that of one core", "give its number, or several: cpu: [0, 1]"
    if len(cpus) > 1 and kind not in (*MESSAGES, "ethercat"):
        return "cpu", f"a {kind} has one role and needs one CPU", "give one number"
    return None


def cores_fault(point: dict[str, Any], cpus: list[int]) -> Fault | None:
    """Cores alone that are not named, or of another machine."""
    if point["cores"] == tuned.SHARED:
        return None
    if not cpus:
        return "cores", "exclusive cores need a CPU number", "give cpu, such as 1"
    if other_hosts(point["host"]):
        what = "exclusive cores apply only to this machine"
        return "cores", what, 'put host here or "here,namespace" in a separate block'
    return None


def segment_fault(kind: str, point: dict[str, Any]) -> Fault | None:
    """Slaves that are real and simulated at once."""
    if kind != "ethercat":
        return None
    if point["transport"] == SIMULATED and point["interface"]:
        what = f"the slaves on {point['interface']} are not simulated"
        return "transport", what, "remove transport, or the interface"
    if point["transport"] == INTERFACE and not point["interface"]:
        return "transport", "no interface given", 'give interface, such as "eth1"'
    if point["fault"] != "none" and point["interface"]:
        return "fault", "real slaves have no simulated fault", "remove fault, or the interface"
    return None


def pace_fault(measurement: Measurement, period: int, count: int, duration: int) -> Fault | None:
    """What is too fast or too short."""
    if period < SHORTEST_PERIOD_NS:
        fix = "a sleeping thread cannot keep a period shorter than 10us"
        if measurement.timeout:
            return "timeout", f"{format_duration(period)} is shorter than 10us", fix
        key = "period" if measurement.period else "rate"
        return key, f"{format_period(period)} is faster than 100kHz", fix
    if measurement.kind == SUPPLY and not SHORTEST_SUPPLY_NS <= period <= LONGEST_SUPPLY_NS:
        what = f"windows cannot come every {format_duration(period)}"
        return "period", what, "give a period from 1ms to 1s; each window is half of it long"
    if count < 2:
        what = f"{format_duration(duration)} is too short for {format_period(period)}"
        return "duration", what, "at least two samples are needed: the first one is excluded"
    return None


def threads_fault(measurement: Measurement, stack: Stack, point: dict[str, Any]) -> Fault | None:
    """Several threads of a program that has one."""
    capability = stack.capability(measurement.kind, point["transport"])
    if point["threads"] > 1 and not (capability is not None and capability.threads):
        what = f"{point['transport']} of {stack.name} wakes one thread up"
        return "threads", what, "use the stack cyclictest, or a block for each period"
    return None


def content_fault(measurement: Measurement, stack: Stack, point: dict[str, Any]) -> Fault | None:
    """A content that a way does not carry, or a string without room for the head."""
    capability = stack.capability(measurement.kind, point["transport"])
    content, payload = point["content"], point["payload_bytes"]
    if capability is not None and content not in capability.contents:
        what = f"{point['transport']} of {stack.name} carries no {content}"
        return "content", what, f"available: {', '.join(capability.contents)}"
    if content == "string" and payload < TEXT_HEAD_BYTES:
        what = f"a string of {format_size(payload)} is too short for the message header"
        return "payload", what, f"give at least {TEXT_HEAD_BYTES}B, or content: bytes"
    return None


def quality_fault(measurement: Measurement, stack: Stack, point: dict[str, Any]) -> Fault | None:
    """A durability or a history that a way does not have."""
    capability = stack.capability(measurement.kind, point["transport"])
    for key in ("durability", "history"):
        there = []
        if capability is not None:
            there = capability.durabilities if key == "durability" else capability.histories
        if getattr(measurement, key) is None or point[key] in there:
            continue
        if why := WITHOUT_QOS.get(stack.name):
            return key, f"the stack {stack.name} has no {key} to choose: {why}", f"remove {key}"
        what = f"{point['transport']} of {stack.name} has no {key} {point[key]}"
        return key, what, f"available: {', '.join(there)}" if there else f"remove {key}"
    return None


def memory_fault(count: int, point: dict[str, Any], machine: Machine) -> Fault | None:
    """What has no room."""
    kept = count * int(point["payload_bytes"])
    if (point["durability"], point["history"]) == ("transient_local", "keep_all") and (
        kept > machine.memory_bytes // 2
    ):
        what = (
            f"keep_all with transient_local keeps all {count} messages, {kept >> 20} MiB "
            f"of memory; the limit is half of the available {machine.memory_bytes >> 20} "
            "MiB"
        )
        return "history", what, "use fewer or smaller samples, or keep_last"
    recorders = point["subscribers"] * point["threads"]
    need = count * RECORD_BYTES * recorders
    if need <= machine.memory_bytes // 2:
        return None
    what = (
        f"{count} samples for each of {recorders} recorders need {need >> 20} MiB of "
        f"memory; the limit is half of the available {machine.memory_bytes >> 20} MiB"
    )
    return "duration", what, "shorten the duration or lower the rate"
