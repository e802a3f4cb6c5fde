# SPDX-License-Identifier: Apache-2.0
"""What a measurement is called in the report: all that was asked except scheduling, in words."""

from __future__ import annotations

from collections.abc import Iterator

from takt.documents.units import format_duration, format_period
from takt.measure.results.model import Cell
from takt.network.shaping import LIMITED, OWN, SHARED
from takt.pages import text


def title(cell: Cell) -> str:
    """Such as ``ROS 2 · UDP · 500 B · with load stress``."""
    return " · ".join([*_measured(cell), *_link(cell), *_machine(cell)])


def _measured(cell: Cell) -> Iterator[str]:
    if cell.label:
        yield cell.label
    yield text.stack(cell.stack)
    yield text.TRANSPORTS.get(cell.transport, cell.transport)
    if cell.executor:
        yield cell.executor
    if cell.payload_bytes:
        yield text.bytes_(cell.payload_bytes)
    if cell.content != "bytes":
        yield f"as a {cell.content}"
    if cell.threads > 1:
        yield f"{cell.threads} threads"
        first, last = cell.series[0][0], cell.series[-1][0]
        yield f"{first:g} µs" if first == last else f"{first:g} to {last:g} µs"
    if cell.subscribers > 1:
        yield f"{cell.subscribers} subscribers"
    if cell.kind not in {"wakeup", "pingpong"}:
        pace = round(cell.period_us * 1000)
        yield (format_duration if cell.kind == "timer-oneshot" else format_period)(pace)
    yield from _slaves(cell)
    if cell.wait != "idle":
        yield "busy waiting"
    if cell.late != "at_once":
        yield "a late reply costs its cycles"
    yield from _quality(cell)
    yield from _middleware(cell)
    if cell.talkers:
        yield f"{cell.talkers} other pairs at {1e6 / cell.talker_period_us:g} Hz"


def _quality(cell: Cell) -> Iterator[str]:
    """What of the QoS is not the default."""
    if cell.reliability != "reliable":
        yield cell.reliability.replace("_", " ")
    if cell.durability != "volatile":
        yield cell.durability.replace("_", " ")
    if cell.history != "keep_last":
        yield cell.history.replace("_", " ")
    elif cell.depth != 10:
        yield f"depth {cell.depth}"


def _middleware(cell: Cell) -> Iterator[str]:
    """Its memory and threads."""
    if cell.allocator != "heap":
        yield f"allocator {cell.allocator}"
    if cell.dds_priority:
        yield f"DDS at {cell.dds_priority}"


def _slaves(cell: Cell) -> Iterator[str]:
    """Those of EtherCAT."""
    if cell.interface:
        yield cell.interface
    if cell.slaves:
        yield f"{cell.slaves} slaves"
    if cell.fault != "none":
        yield f"fault: {cell.fault.replace('_', ' ')}"


def _link(cell: Cell) -> Iterator[str]:
    if cell.host != "here":
        at = f" at {cell.link_mbps:g} Mbit/s" if cell.link_mbps else ""
        yield f"from {cell.host.replace(',', ' to ')}{at}"
    if cell.queue != SHARED:
        yield {OWN: "in a dedicated queue", LIMITED: "beside limited traffic"}[cell.queue]
    if cell.traffic_mbps:
        yield f"with {cell.traffic_mbps:g} Mbit/s of traffic in each direction"
    if cell.delay_us:
        jitter = f" ± {text.duration(cell.jitter_us)}" if cell.jitter_us else ""
        yield f"{text.duration(cell.delay_us)}{jitter} of delay in each direction"
    if cell.loss:
        yield f"{100 * cell.loss:g} % of the frames lost in each direction"


def _machine(cell: Cell) -> Iterator[str]:
    if len(set(cell.loads.values())) > 1:
        each = cell.loads.items()
        yield ", ".join(f"load {load} on {host}" for host, load in each if load != "none")
    elif cell.load != "none":
        yield "on an idle machine" if cell.load == "idle" else f"with load {cell.load}"
    if cell.cores != "shared":
        yield "on exclusive cores"
    if cell.within is not None:
        yield f"within the system of ROS domain {cell.within}"
    if cell.tuned != "none":
        yield f"tuned: {cell.tuned.replace('+', ', ')}"
