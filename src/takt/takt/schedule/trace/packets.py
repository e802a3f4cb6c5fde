# SPDX-License-Identifier: Apache-2.0
"""Packets of a Perfetto trace: tracks, spans and marks on them, with exact nanoseconds.

Rows come as columns. The library makes one packet for many rows, whose numbers are then filled in,
for all rows at once: where they stand in it does not change, as a varint may be longer than it need
be (https://protobuf.dev/programming-guides/encoding/#varints). Texts are written once and referred
to by number. Format: https://perfetto.dev/docs/reference/synthetic-track-event
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import (
    Trace,
    TracePacket,
    TrackDescriptor,
    TrackEvent,
)

_SEQUENCE = 1  # all packets are of one writer
_ROWS = 4096  # at a time, so that they stay in the processor's cache
_NEGATIVE = 10  # bytes of a varint below zero
_FLOW = 8  # bytes of a flow's number, no varint

Column = NDArray[Any]  # of integers


class _Shape(NamedTuple):
    """What the packets of many rows have in common."""

    types: tuple[int, ...]  # of the events: one, or the begin and the end of a span
    keys: tuple[int, ...]  # of the details, as interned
    widths: tuple[int, ...]  # of the varints: track, name, times, details
    flows: int


class _Layout(NamedTuple):
    """The packets of one row, and where in it the bytes of each number begin."""

    template: NDArray[np.uint8]
    varints: list[NDArray[np.int64]]
    flows: NDArray[np.int64]


class Packets:
    """Writes them to a file, in any order of their times; of one track and time in their order."""

    def __init__(self, file: IO[bytes]) -> None:
        self._write = file.write
        self._tracks = 0
        self._names: dict[str, int] = {}
        self._keys: dict[str, int] = {}
        self._layouts: dict[_Shape, _Layout] = {}
        self._append(
            TracePacket(
                trusted_packet_sequence_id=_SEQUENCE,
                sequence_flags=TracePacket.SEQ_INCREMENTAL_STATE_CLEARED,
                first_packet_on_sequence=True,
            )
        )

    def track(self, name: str, rank: int, parent: int | None = None) -> int:
        """Declares a track, to be shown in the order of the ranks below its parent."""
        self._tracks += 1
        packet = TracePacket(trusted_packet_sequence_id=_SEQUENCE)
        described = packet.track_descriptor
        described.uuid, described.name, described.sibling_order_rank = self._tracks, name, rank
        described.child_ordering = TrackDescriptor.EXPLICIT
        if parent is not None:
            described.parent_uuid = parent
        self._append(packet)
        return self._tracks

    def name(self, text: str) -> int:
        """The number by which events have this name."""
        return self._number(text, self._names, "event_names")

    def spans(
        self, track: Column, name: Column, begin: Column, end: Column, details: Mapping[str, Column]
    ) -> None:
        """Stretches of time; the tracks and names by their numbers, the times in ns from 0 on."""
        types = (TrackEvent.TYPE_SLICE_BEGIN, TrackEvent.TYPE_SLICE_END)
        self._rows(types, (track, name, begin, end), details)

    def marks(
        self,
        track: Column,
        name: Column,
        time: Column,
        details: Mapping[str, Column],
        flows: NDArray[np.int64] | None = None,
    ) -> None:
        """Moments; with a row of flows for each, which arrows follow from mark to mark."""
        self._rows((TrackEvent.TYPE_INSTANT,), (track, name, time), details, flows)

    def note(self, track: int, name: str, time: int, texts: Mapping[str, str]) -> None:
        """One mark with texts."""
        packet = _event(TrackEvent.TYPE_INSTANT, track, time)
        _write_name(packet, self.name(name))
        for key, text in texts.items():
            packet.track_event.debug_annotations.add(name_iid=self._key(key), string_value=text)
        self._append(packet)

    def _rows(
        self,
        types: tuple[int, ...],
        columns: Sequence[Column],
        details: Mapping[str, Column],
        flows: NDArray[np.int64] | None = None,
    ) -> None:
        numbers = [one.astype(np.int64) for one in (*columns, *details.values())]
        count = len(numbers[0])
        if not count:
            return
        if flows is None:
            flows = np.empty((count, 0), np.int64)
        keys = tuple(self._key(key) for key in details)
        shape = _Shape(types, keys, tuple(_width(one) for one in numbers), flows.shape[1])
        layout = self._layouts.get(shape)
        if layout is None:
            layout = self._layouts[shape] = _layout(shape)
        for begin in range(0, count, _ROWS):
            some = slice(begin, begin + _ROWS)
            rows = np.empty((len(flows[some]), len(layout.template)), np.uint8)
            rows[:] = layout.template
            for places, width, number in zip(layout.varints, shape.widths, numbers, strict=True):
                shown = _varint(number[some], width)
                for place in places:
                    rows[:, place : place + width] = shown
            for place, flow in zip(layout.flows, flows[some].T, strict=True):
                rows[:, place : place + _FLOW] = _fixed(flow)
            self._write(rows.data)

    def _key(self, text: str) -> int:
        return self._number(text, self._keys, "debug_annotation_names")

    def _number(self, text: str, known: dict[str, int], table: str) -> int:
        if text not in known:
            known[text] = len(known) + 1
            packet = TracePacket(
                trusted_packet_sequence_id=_SEQUENCE,
                sequence_flags=TracePacket.SEQ_NEEDS_INCREMENTAL_STATE,
            )
            getattr(packet.interned_data, table).add(iid=known[text], name=text)
            self._append(packet)
        return known[text]

    def _append(self, packet: Any) -> None:
        self._write(Trace(packet=[packet]).SerializeToString())


def _event(type_: Any, track: int, time: int) -> Any:
    packet = TracePacket(trusted_packet_sequence_id=_SEQUENCE, timestamp=time)
    packet.track_event.type, packet.track_event.track_uuid = type_, track
    return packet


def _write_name(packet: Any, name: int) -> None:
    packet.sequence_flags = TracePacket.SEQ_NEEDS_INCREMENTAL_STATE  # for the names' numbers
    packet.track_event.name_iid = name


def _layout(shape: _Shape) -> _Layout:
    """Found by looking where the bytes differ when one number does, in all of its bytes."""
    least = [-(2**63) if w == _NEGATIVE else 1 << 7 * (w - 1) for w in shape.widths]
    most = [-1 if w == _NEGATIVE else (1 << 7 * w) - 1 for w in shape.widths]
    template = _serialized(shape, least, 0)

    def places(other: NDArray[np.uint8], width: int) -> NDArray[np.int64]:
        return np.flatnonzero(template != other).reshape(-1, width)[:, 0]

    varints = [
        # The tenth byte of a negative number is always the same.
        places(_serialized(shape, [*least[:at], high, *least[at + 1 :]], 0), min(width, 9))
        for at, (high, width) in enumerate(zip(most, shape.widths, strict=True))
    ]
    return _Layout(template, varints, places(_serialized(shape, least, 2**64 - 1), _FLOW))


def _serialized(shape: _Shape, numbers: Sequence[int], flow: int) -> NDArray[np.uint8]:
    track, name, *rest = numbers
    packets = [_event(type_, track, rest.pop(0)) for type_ in shape.types]
    _write_name(packets[0], name)
    event = packets[0].track_event
    event.flow_ids.extend([flow] * shape.flows)
    for key, value in zip(shape.keys, rest, strict=True):
        event.debug_annotations.add(name_iid=key, int_value=value)
    return np.frombuffer(Trace(packet=packets).SerializeToString(), np.uint8)


def _width(numbers: NDArray[np.int64]) -> int:
    """How many bytes the varints of all these take."""
    if numbers.min() < 0:
        return _NEGATIVE
    return max(1, -(-int(numbers.max()).bit_length() // 7))


def _varint(numbers: NDArray[np.int64], width: int) -> NDArray[np.uint8]:
    """Seven bits a byte, the lowest first; all bytes but the last one say that more follow."""
    shifts = np.arange(0, 7 * width, 7, dtype=np.uint64)
    shown: NDArray[np.uint8] = (numbers.view(np.uint64)[:, None] >> shifts).astype(np.uint8)
    shown[:, :-1] |= 0x80
    return shown


def _fixed(numbers: NDArray[np.int64]) -> NDArray[np.uint8]:
    return np.ascontiguousarray(numbers, "<i8").view(np.uint8).reshape(-1, _FLOW)
