# SPDX-License-Identifier: Apache-2.0
"""What of a point cannot be measured: the key at fault, what is wrong, what to do.

Every rule has one signature and looks at one whole point, so their order decides nothing but the
order of the report.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from takt.documents.units import format_bandwidth, format_duration, format_period, format_size
from takt.measure.conditions import load, tuned
from takt.measure.experiment.model import MESSAGES, OF_THE_LINK, Measurement
from takt.measure.results.point import INTERFACE, SIMULATED, SUPPLY, Point
from takt.network.hosts import other_hosts
from takt.network.namespace import HERE, THERE
from takt.network.shaping import LIMITED, SHARED
from takt.network.stacks import Capability, Stack, parts

SHORTEST_PERIOD_NS = 10_000
SHORTEST_SUPPLY_NS, LONGEST_SUPPLY_NS = 1_000_000, 1_000_000_000  # as probes refuse others
LONGEST_DELAY_US = 1e6
LARGEST_PAYLOAD = 64 * 1024 * 1024
RECORD_BYTES = 32
_KEYS = {"policy": "scheduling"}  # of an experiment, where options of probes differ
BLOCKS = 'use separate blocks for host here and host "here,namespace"'

Fault = tuple[str, str, str | None]  # key of the measurement, what is wrong, fix


@dataclass(frozen=True)
class Machine:
    """What the plan must fit into."""

    cpus: frozenset[int]
    memory_bytes: int
    lacking: Callable[[Point], Iterable[Fault]] = lambda _: ()  # for the conditions of a point


@dataclass(frozen=True)
class Asked:
    """A point, the block that asks for it, and what is to measure it."""

    point: Point
    block: Measurement
    stack: Stack
    machine: Machine
    duration_ns: int

    @property
    def way(self) -> Capability | None:
        """What the stack can do for the kind over the transport; None: nothing."""
        return self.stack.capability(self.point.kind, self.point.transport)

    def gives(self, key: str) -> bool:
        """Whether the block names the key."""
        return getattr(self.block, key) is not None


def of_stack(block: Measurement, stack: Stack) -> Iterator[Fault]:
    """Why the stack has no point of this block at all."""
    if stack.transports(block.kind):
        return
    if len(both := parts(stack.name)) > 1:
        what = f"{' and '.join(both)} cannot communicate in a {block.kind}"
        yield "stack", what, "use two DDS stacks, such as rcl,cyclonedds"
        return
    can = ", ".join(sorted({one.kind for one in stack.capabilities})) or "nothing"
    yield "stack", f"the stack {stack.name} has no {block.kind}", f"available: {can}"


def of_point(asked: Asked) -> Iterator[Fault]:
    """All that cannot be measured of a point."""
    for rule in RULES:
        yield from rule(asked)
    yield from asked.machine.lacking(asked.point)


def _transport(asked: Asked) -> Iterator[Fault]:
    """What the transport cannot carry."""
    point, way = asked.point, asked.way
    if way is None:
        what = f"the stack {point.stack} has no transport {point.transport} for {point.kind}"
        there = ", ".join(asked.stack.transports(point.kind))
        fix = f"available: {there}; a stack with other transports needs a separate block"
        yield "transport", what, fix
        return
    if "subscriber" not in way.roles:
        if point.subscribers > 1:
            what = f"{point.transport} runs in one process with one subscriber"
            yield "subscribers", what, "use a transport between processes"
        if point.talkers:
            what = f"{point.transport} runs in one process: talkers cannot use it"
            yield "talkers", what, "use a transport between processes"
    payload, fixed, own = point.payload_bytes, way.payloads, way.max_payload_bytes
    limit = LARGEST_PAYLOAD if own is None else min(LARGEST_PAYLOAD, own)
    if fixed is not None and payload not in fixed:
        sizes = ", ".join(map(format_size, fixed))
        what = f"{point.transport} has no size {format_size(payload)}"
        yield "payload", what, f"sizes: {sizes}"
    elif payload > limit:
        what = f"{format_size(payload)} exceeds the maximum of {point.transport}"
        yield "payload", what, f"the maximum is {limit} bytes"


def _choices(asked: Asked) -> Iterator[Fault]:
    """A value that the way does not have; what the block leaves out has its default."""
    point, way = asked.point, asked.way
    if way is None:
        return
    for key, why in way.without.items():
        if asked.gives(key):
            what = f"the stack {point.stack} has no {key} to choose: {why}"
            yield key, what, f"remove {key}"
    for key, there in way.choices.items():
        value = getattr(point, key)
        if not asked.gives(key) or key in way.without or value in there:
            continue
        others = [
            one.transport
            for one in asked.stack.capabilities
            if one.kind == point.kind and value in one.choices[key]
        ]
        what = f"{point.transport} of {point.stack} has no {key} {value if there else 'to choose'}"
        fix = f"available: {', '.join(there)}" if there else f"remove {key}"
        yield key, what, f"{fix}; {', '.join(others)} of {point.stack} can" if others else fix
    for one in way.excluded:
        given = {_KEYS.get(option, option): value for option, value in one.values.items()}
        if all(getattr(point, key) == value for key, value in given.items()):
            both = " and ".join(f"{key} {value}" for key, value in given.items())
            what = f"{point.transport} of {point.stack} has no {both}: {one.why}"
            yield list(given)[-1], what, f"use another {' or '.join(given)}, or another transport"
    least = way.min_string_bytes
    if point.content == "string" and least and point.payload_bytes < least:
        what = f"a string of {format_size(point.payload_bytes)} is too short for the message header"
        yield "payload", what, f"give at least {least}B, or content: bytes"
    if point.threads > 1 and not way.threads:
        what = f"{point.transport} of {point.stack} wakes one thread up"
        yield "threads", what, "use the stack cyclictest, or a block for each period"


def _dds_priority(asked: Asked) -> Iterator[Fault]:
    """Priorities of threads that are not there, or that their policy does not have."""
    point, way = asked.point, asked.way
    if not point.dds_priority or way is None:
        return
    if not way.dds:
        what = f"the stack {point.stack} has no threads of a DDS"
        yield "dds_priority", what, "remove dds_priority, or use a DDS stack"
    elif point.scheduling == "other":
        what = "the policy other has no priorities, and DDS threads use the policy of the loop"
        yield "dds_priority", what, "use scheduling fifo N, or separate blocks"


def _hosts(asked: Asked) -> Iterator[Fault]:
    """What cannot be on two hosts, and what another machine cannot have."""
    point, way = asked.point, asked.way
    if "," in point.load and not other_hosts(point.host):
        what = f"the loads {point.load} are of two machines; this block has one"
        yield "load", what, "give one load, or hosts that are workers"
    if point.host == HERE:
        if way is not None and way.apart:
            what = f"{point.transport} of {point.stack} needs two hosts; this block has one"
            yield "transport", what, f"add host: {HERE},{THERE}, or use another transport"
        return
    if point.kind not in MESSAGES:
        yield "host", f"a {point.kind} has only one role, on this host", "remove host"
        return
    if way is not None and way.wire is None:
        ways = asked.stack.capabilities
        can = [one.transport for one in ways if one.wire and one.kind == point.kind]
        what = f"{point.transport} of {point.stack} does not go from host to host"
        yield "host", what, f"use {', '.join(can)}" if can else "use udp of rcl or of raw"
    if point.talkers:
        yield "talkers", "talkers are on one host", "use host here, or traffic instead"
    if not other_hosts(point.host):
        return
    for key in filter(asked.gives, sorted({*OF_THE_LINK} - {"traffic"}, key=OF_THE_LINK.index)):
        what = f"{key} needs a link to a network namespace; other machines use their own network"
        yield key, what, f'remove {key}, or put host "here,namespace" in a separate block'


def _link(asked: Asked) -> Iterator[Fault]:
    """What needs a link, or what a link cannot be."""
    point = asked.point
    if point.host == HERE:
        given = {
            "traffic": point.traffic_mbps,
            "queue": point.queue != SHARED,
            "delay": point.delay_us,
            "jitter": point.jitter_us,
            "loss": point.loss,
        }
        for key in (key for key, there in given.items() if there):
            yield key, f"{key} needs two hosts; this block has one", BLOCKS
    elif point.link_mbps and point.traffic_mbps > point.link_mbps:
        traffic, link = (
            format_bandwidth(round(one * 1e6)) for one in (point.traffic_mbps, point.link_mbps)
        )
        what = f"{traffic} exceed a link of {link}"
        yield "traffic", what, "use a faster link or less traffic"
    elif point.queue == LIMITED and not point.traffic_mbps:
        yield "queue", "there is no traffic to limit", "give traffic, or remove queue: limited"
    if point.jitter_us > point.delay_us:
        what = f"{format_duration(round(point.jitter_us * 1e3))} is more than the delay"
        yield "jitter", what, "a frame cannot arrive before it is sent: use at most the delay"
    if point.delay_us > LONGEST_DELAY_US:
        what = f"{format_duration(round(point.delay_us * 1e3))} is longer than 1s"
        yield "delay", what, "use at most 1s"
    if point.loss == 1:
        yield "loss", "loss of 100% leaves no link", "use less than 100%"


def _system(asked: Asked) -> Iterator[Fault]:
    """A running system beside what it contradicts."""
    point = asked.point
    if point.within is not None and load.IDLE in point.loads.values():
        what = "a machine with a running system is not idle"
        yield "within", what, "put within and load: idle in separate blocks"


def _segment(asked: Asked) -> Iterator[Fault]:
    """Slaves that are real and simulated at once."""
    point = asked.point
    if point.kind != "ethercat":
        return
    if point.transport == SIMULATED and point.interface:
        what = f"the slaves on {point.interface} are not simulated"
        yield "transport", what, "remove transport, or the interface"
    if point.transport == INTERFACE and not point.interface:
        yield "transport", "no interface given", 'give interface, such as "eth1"'
    if point.fault != "none" and point.interface:
        yield "fault", "real slaves have no simulated fault", "remove fault, or the interface"


def _cpus(asked: Asked) -> Iterator[Fault]:
    """CPUs that are not there, too many or not named; those of others are known to their probes."""
    point, hosts, cpus = asked.point, asked.point.hosts, asked.point.cpu
    of_us = [cpu for place, cpu in enumerate(cpus) if not other_hosts(hosts[place % len(hosts)])]
    if len(cpus) == 1 and HERE in hosts:  # one for each role
        of_us = cpus
    for cpu in of_us:
        if cpu not in asked.machine.cpus:
            there = ", ".join(map(str, sorted(asked.machine.cpus)))
            yield "cpu", f"this process may not use CPU {cpu}", f"CPUs here: {there}"
    if point.kind == SUPPLY and not cpus:
        yield "cpu", "a supply is that of one core", "give its number, or several: cpu: [0, 1]"
    if len(cpus) > 1 and point.kind not in (*MESSAGES, "ethercat"):
        yield "cpu", f"a {point.kind} has one role and needs one CPU", "give one number"
    if point.cores == tuned.SHARED:
        return
    if not cpus:
        yield "cores", "exclusive cores need a CPU number", "give cpu, such as 1"
    if other_hosts(point.host):
        what = "exclusive cores apply only to this machine"
        yield "cores", what, 'put host here or "here,namespace" in a separate block'


def _pace(asked: Asked) -> Iterator[Fault]:
    """What is too fast or too short."""
    block, period = asked.block, asked.point.period_ns
    if period < SHORTEST_PERIOD_NS:
        fix = "a sleeping thread cannot keep a period shorter than 10us"
        if block.timeout:
            yield "timeout", f"{format_duration(period)} is shorter than 10us", fix
        else:
            key = "period" if block.period else "rate"
            yield key, f"{format_period(period)} is faster than 100kHz", fix
    elif asked.point.kind == SUPPLY and not SHORTEST_SUPPLY_NS <= period <= LONGEST_SUPPLY_NS:
        what = f"windows cannot come every {format_duration(period)}"
        yield "period", what, "give a period from 1ms to 1s; each window is half of it long"
    elif asked.point.samples_requested < 2:
        what = f"{format_duration(asked.duration_ns)} is too short for {format_period(period)}"
        yield "duration", what, "at least two samples are needed: the first one is excluded"
    if block.talker_rate and block.talker_rate < SHORTEST_PERIOD_NS:
        what = f"{format_period(block.talker_rate)} is faster than 100kHz"
        yield "talker_rate", what, "a talker sleeps between two messages, as a publisher does"


def _memory(asked: Asked) -> Iterator[Fault]:
    """What has no room."""
    point, count, there = asked.point, asked.point.samples_requested, asked.machine.memory_bytes
    loads = [one for host, one in point.loads.items() if not other_hosts(host)]
    if (need := max(map(load.bytes_taken, loads), default=0)) > there // 2:
        what = f"the load {loads[0]} {load.NEEDS.format(need >> 20)}"
        yield "load", what, f"{there >> 20} MiB are available: use fewer workers"
    limit = f"of memory; the limit is half of the available {there >> 20} MiB"
    kept = count * point.payload_bytes
    if (point.durability, point.history) == ("transient_local", "keep_all") and kept > there // 2:
        what = f"keep_all with transient_local keeps all {count} messages, {kept >> 20} MiB {limit}"
        yield "history", what, "use fewer or smaller samples, or keep_last"
    recorders = point.subscribers * point.threads
    if (need := count * RECORD_BYTES * recorders) > there // 2:
        what = f"{count} samples for each of {recorders} recorders need {need >> 20} MiB {limit}"
        yield "duration", what, "shorten the duration or lower the rate"


RULES: tuple[Callable[[Asked], Iterator[Fault]], ...] = (
    _segment,
    _transport,
    _choices,
    _dds_priority,
    _hosts,
    _link,
    _system,
    _cpus,
    _pace,
    _memory,
)
