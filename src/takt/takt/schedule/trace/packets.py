# SPDX-License-Identifier: Apache-2.0
"""Packets of a Perfetto trace: tracks, spans and marks on them, with exact nanoseconds.

Most packets differ only in times and numbers, so one is made for each track, name and set of
details, and written again and again. Texts are written once and referred to by number.
Format: https://perfetto.dev/docs/reference/synthetic-track-event
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import IO, Any, NamedTuple

from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import (
    Trace,
    TracePacket,
    TrackDescriptor,
    TrackEvent,
)

_SEQUENCE = 1  # all packets are of one writer


class Form(NamedTuple):
    """What is filled in before it is written; messages of the library."""

    packets: list[Any]  # one, or the begin and the end of a span
    details: list[Any]  # numbers of 64 bits
    serialized: Callable[[], bytes]  # a trace: many of them in a row are a trace, too


class Packets:
    """Writes them to a file, in any order of their times; of one track and time in their order."""

    def __init__(self, file: IO[bytes]) -> None:
        self._write = file.write
        self._tracks = 0
        self._names: dict[str, int] = {}
        self._keys: dict[str, int] = {}
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

    def span_form(self, track: int, name: str, keys: Sequence[str]) -> Form:
        """For stretches of time on a track, with details."""
        return self._form(track, name, keys, TrackEvent.TYPE_SLICE_BEGIN, TrackEvent.TYPE_SLICE_END)

    def mark_form(self, track: int, name: str, keys: Sequence[str]) -> Form:
        """For moments on a track, with details."""
        return self._form(track, name, keys, TrackEvent.TYPE_INSTANT)

    def spans(self, rows: Iterable[tuple[Form, int, int, Sequence[int]]]) -> None:
        """Each with its begin, its end, and the values of as many details as its form has."""
        for (packets, details, serialized), begin, end, values in rows:
            packets[0].timestamp = begin
            packets[1].timestamp = end
            for detail, value in zip(details, values, strict=False):
                detail.int_value = value
            self._write(serialized())

    def marks(self, form: Form, times: Iterable[int], values: Iterable[Sequence[int]]) -> None:
        """All of one form."""
        (packet,), details, serialized = form
        for time, row in zip(times, values, strict=False):
            packet.timestamp = time
            for detail, value in zip(details, row, strict=True):
                detail.int_value = value
            self._write(serialized())

    def linked(self, form: Form, time: int, values: Sequence[int], flows: Sequence[int]) -> None:
        """A mark from which, or to which, arrows lead: to the next mark of the same flow."""
        (packet,), details, serialized = form
        packet.timestamp = time
        for detail, value in zip(details, values, strict=True):
            detail.int_value = value
        if flows:
            packet.track_event.flow_ids.extend(flows)
            self._write(serialized())
            packet.track_event.ClearField("flow_ids")
        else:
            self._write(serialized())

    def note(self, track: int, name: str, time: int, texts: dict[str, str]) -> None:
        """One mark with texts."""
        form = self.mark_form(track, name, list(texts))
        form.packets[0].timestamp = time
        for detail, text in zip(form.details, texts.values(), strict=True):
            detail.string_value = text
        self._write(form.serialized())

    def _form(self, track: int, name: str, keys: Sequence[str], *types: Any) -> Form:
        whole = Trace()
        for type_ in types:
            packet = whole.packet.add(trusted_packet_sequence_id=_SEQUENCE)
            packet.track_event.type, packet.track_event.track_uuid = type_, track
        first = whole.packet[0]
        first.sequence_flags = TracePacket.SEQ_NEEDS_INCREMENTAL_STATE  # for the names' numbers
        first.track_event.name_iid = self._number(name, self._names, "event_names")
        for key in keys:
            number = self._number(key, self._keys, "debug_annotation_names")
            first.track_event.debug_annotations.add(name_iid=number)
        details = list(first.track_event.debug_annotations)
        return Form(list(whole.packet), details, whole.SerializeToString)

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
