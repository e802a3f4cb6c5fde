# SPDX-License-Identifier: Apache-2.0
"""A Perfetto trace as SQL tables, read with Perfetto's own messages by the rules of its importer.

Tables and columns are named as in its trace processor: slice (dur 0: a moment), track, args, flow.
"""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TrackEvent

_SLICE = pa.schema(
    {
        "id": pa.int64(),
        "ts": pa.int64(),
        "dur": pa.int64(),
        "name": pa.string(),
        "track_id": pa.int64(),
    }
)
_TRACK = pa.schema(
    {"id": pa.int64(), "name": pa.string(), "parent_id": pa.int64(), "rank": pa.int64()}
)
_ARGS = pa.schema({"slice_id": pa.int64(), "key": pa.string(), "value": pa.string()})
_FLOW = pa.schema({"slice_out": pa.int64(), "slice_in": pa.int64()})


class Importer:
    """Goes through the packets by time; those of one time in the order of the file."""

    def __init__(self, path: Path) -> None:
        raw = path.read_bytes()
        self.slices: list[dict[str, Any]] = []
        self.tracks: list[dict[str, Any]] = []
        self.args: list[dict[str, Any]] = []
        self.flows: list[dict[str, Any]] = []
        self._open: dict[int, list[int]] = {}  # by track: the slices that have not ended
        self._last_of_flow: dict[int, int] = {}
        names: dict[int, str] = {}
        keys: dict[int, str] = {}
        events: list[tuple[int, Any]] = []
        cleared = False
        for packet in Trace.FromString(
            gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw
        ).packet:
            assert packet.trusted_packet_sequence_id == 1
            cleared |= bool(packet.sequence_flags & 1)
            assert cleared or not packet.sequence_flags & 2
            for one in packet.interned_data.event_names:
                names[one.iid] = one.name
            for one in packet.interned_data.debug_annotation_names:
                keys[one.iid] = one.name
            if packet.HasField("track_descriptor"):
                self._track(packet.track_descriptor)
            if packet.HasField("track_event"):
                event = packet.track_event
                assert event.type == TrackEvent.TYPE_SLICE_END or packet.sequence_flags & 2
                assert event.name_iid == 0 or event.name_iid in names
                events.append((packet.timestamp, event))
        for time, event in sorted(events, key=lambda one: one[0]):  # stable
            self._take(time, event, names, keys)
        assert not any(self._open.values()), "a slice has no end"

    def connect(self) -> duckdb.DuckDBPyConnection:
        """The tables, for queries."""
        database = duckdb.connect()
        for name, rows, schema in (
            ("slice", self.slices, _SLICE),
            ("track", self.tracks, _TRACK),
            ("args", self.args, _ARGS),
            ("flow", self.flows, _FLOW),
        ):
            database.register(name, pa.Table.from_pylist(rows, schema))
        return database

    def _track(self, described: Any) -> None:
        parent = described.parent_uuid if described.HasField("parent_uuid") else None
        self.tracks.append(
            {
                "id": described.uuid,
                "name": described.name,
                "parent_id": parent,
                "rank": described.sibling_order_rank,
            }
        )

    def _take(self, time: int, event: Any, names: dict[int, str], keys: dict[int, str]) -> None:
        assert any(one["id"] == event.track_uuid for one in self.tracks)
        stack = self._open.setdefault(event.track_uuid, [])
        if event.type == TrackEvent.TYPE_SLICE_END:
            begun = self.slices[stack.pop()]
            begun["dur"] = time - begun["ts"]
            return
        number = len(self.slices)
        name = names[event.name_iid]
        self.slices.append(
            {"id": number, "ts": time, "dur": 0, "name": name, "track_id": event.track_uuid}
        )
        if event.type == TrackEvent.TYPE_SLICE_BEGIN:
            stack.append(number)
        for one in event.debug_annotations:
            value = str(getattr(one, one.WhichOneof("value")))
            self.args.append({"slice_id": number, "key": keys[one.name_iid], "value": value})
        for flow in event.flow_ids:
            if flow in self._last_of_flow:
                self.flows.append({"slice_out": self._last_of_flow[flow], "slice_in": number})
            self._last_of_flow[flow] = number


def query(path: Path, sql: str) -> list[tuple[Any, ...]]:
    """The rows of a query over the trace."""
    with Importer(path).connect() as database:
        return database.execute(sql).fetchall()
